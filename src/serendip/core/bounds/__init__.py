"""Who cannot matter, told by bounds: `Ellipsoid`, `Sight`, `Screen`."""
