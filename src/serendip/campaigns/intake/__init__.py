"""What comes in: `Outcome`, `decide`, `objections`, `misfits`, `guessed_roles`."""
