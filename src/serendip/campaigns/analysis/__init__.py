"""What the labels say: `predictions`, `forecast`, `reasons`, `course`, `pool_map`."""
