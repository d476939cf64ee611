"""Thin shells: they parse, call the library and show."""
