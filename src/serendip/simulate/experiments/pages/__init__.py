"""The pages of results, from the runs that were kept: claims, figures, the table."""
