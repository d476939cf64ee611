"""Several models at once, weighted by how well they predict: `AutoModel`."""
