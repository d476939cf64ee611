"""Policies: rules for what to label next, one algorithm a file."""
