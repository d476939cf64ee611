"""Steps from an empty or older database to the current one, run when a store is opened."""
