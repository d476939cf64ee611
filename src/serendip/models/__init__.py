"""Models: settings that turn observations into posteriors, one package a family."""
