"""Pools: where candidates live and how they are walked."""
