"""Nodes whose labels come with those of their neighbours: `GraphModel`."""
