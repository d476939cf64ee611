"""Names that people write, checked against those there are."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from serendip.core.arguments import shown
from serendip.core.errors import InvalidInput


def known(name: str, names: Mapping[str, object], one: str, many: str) -> str:
    """The name, if it is among those known; else an error that lists them and guesses."""
    choices = ", ".join(names) or "none"
    if not isinstance(name, str):
        raise InvalidInput(
            f"A {one} is given by its name; got {shown(name)}. The {many} are: {choices}."
        )
    if name in names:
        return name
    near = get_close_matches(name, names, n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise InvalidInput(f"There is no {one} {name!r}.{guess} The {many} are: {choices}.")


def listed(names: str | Iterable[str], what: str = "names") -> tuple[str, ...]:
    """Several names, or one that was written without a list around it."""
    if not isinstance(names, Iterable):
        raise InvalidInput(f"{what} must be a text or a list of texts; got {shown(names)}.")
    return (names,) if isinstance(names, str) else tuple(names)
