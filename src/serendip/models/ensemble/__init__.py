"""Ensembles, calibrated by labels left out: `ForestModel`, `NeuralModel`, `EstimatorModel`."""
