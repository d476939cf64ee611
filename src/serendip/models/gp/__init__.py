"""Gaussian processes: `GaussianProcessModel`, and their kernels."""
