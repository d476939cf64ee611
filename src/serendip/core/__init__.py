"""The few ideas everything else is built from; imports none of the other packages."""
