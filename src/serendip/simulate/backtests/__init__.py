"""Campaigns replayed on a table whose labels are known: `backtest`."""
