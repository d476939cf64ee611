"""Pools on a GPU: scanned in float16 with rigorous bounds, decided in float64 (docs/scale.md)."""
