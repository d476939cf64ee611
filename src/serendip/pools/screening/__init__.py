"""Pools that leave out, unread, who cannot matter: `BoundedPool`."""
