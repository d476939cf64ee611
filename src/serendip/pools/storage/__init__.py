"""Pools in files, read in blocks: `mapped_pool`, `FingerprintRows`."""
