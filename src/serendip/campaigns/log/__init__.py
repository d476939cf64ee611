"""The log, and what follows from it: `Store`, `Chronicle`, `State`, `Request`."""
