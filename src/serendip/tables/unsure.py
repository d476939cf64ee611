"""Cells that cannot be taken as they stand: kept until it is known whether they matter."""


class Unsure(str):
    """The text of a cell that may mean one thing or another; whoever needs to know refuses it."""

    says: str
    """Why, and what to write instead: `'1.234' can be read in two ways; write 1234 or 1.2340`."""

    def __new__(cls, text: str, says: str = "") -> "Unsure":
        """The text, with what is to be said of it."""
        made = super().__new__(cls, text)
        made.says = says
        return made
