"""REST under /api/v1: what a robot needs to close the loop."""
