"""Planes: `LinearModel`, `LogisticModel`, `SparseLinearModel`."""
