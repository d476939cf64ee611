"""Models: settings that turn observations into posteriors, one algorithm a file."""
