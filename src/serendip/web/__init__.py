"""The page and the REST API: thin shells over campaigns, in one process."""
