"""What to try next: adaptive sampling for discovery over a finite pool, with a budget."""
