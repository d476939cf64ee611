"""Runs on known labels: `play`, `suggest`, `Trace`, environments, backtests, experiments."""
