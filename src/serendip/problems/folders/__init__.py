"""Pool folders: candidates on disk, with a manifest that says what they are and where from."""
