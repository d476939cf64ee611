"""What every kind of file shares once its cells are there: names, missing marks, numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from serendip.core.errors import InvalidInput
from serendip.tables.numerals import is_number

if TYPE_CHECKING:
    import pandas as pd

MISSING = ("", "NA", "N/A", "n/a", "#N/A", "#NA", "NaN", "nan", "NULL", "null", "<NA>")
"""What counts as no value. "None" does not: it is a fair name for "no additive"."""

ROW = "spreadsheet row"
"""Name of the index of a table we read: the row numbers a spreadsheet shows."""


def bytes_of(file: Path) -> bytes:
    """The file's contents, which must not be blank."""
    try:
        data = file.read_bytes()
    except OSError as problem:
        raise InvalidInput(
            f"{file.name} could not be read ({problem.strerror}); check its permissions."
        ) from None
    if not data.strip():
        raise InvalidInput(f"{file.name} is empty; it needs a header row and at least one row.")
    return data


def column_names(file: Path, header: Sequence[str]) -> list[str]:
    """Column names: stripped, all different; a column without one is called by its place."""
    names = [name.strip() or f"column {place}" for place, name in enumerate(header, start=1)]
    for name, count in Counter(names).items():
        if count > 1:
            raise InvalidInput(
                f"{file.name} has {count} columns named {name!r}; give each column its own name."
            )
    return names


def check_header(file: Path, header: Sequence[str]) -> None:
    """Refuses a first row that is data rather than names."""
    if all(is_number(name.strip()) for name in header):
        raise InvalidInput(
            f"The first row of {file.name} holds only numbers ({', '.join(header[:4])}); "
            "add a header row with a name for each column."
        )


def reason(problem: Exception) -> str:
    """The first line of what another library said."""
    lines = str(problem).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(problem).__name__


def without_empty_columns(frame: "pd.DataFrame", header: Sequence[str]) -> "pd.DataFrame":
    """Columns with neither name nor values, such as a trailing separator leaves, are dropped."""
    nameless = [place for place, name in enumerate(header) if not name.strip()]
    empty = [place for place in nameless if frame.iloc[:, place].isna().all()]
    return frame.drop(columns=frame.columns[empty]) if empty else frame


def texts_of(frame: "pd.DataFrame") -> Iterator[tuple[str, list[str]]]:
    """Each column that holds text, with the different texts in it."""
    import pandas as pd

    for name in frame.columns:
        column = frame[name]
        if column.dtype == object or pd.api.types.is_string_dtype(column):
            texts = [value for value in column.dropna().unique() if isinstance(value, str)]
            if texts:
                yield name, texts


def stripped(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Text without the blanks around it; what is then empty or a missing mark has no value."""
    for name, texts in texts_of(frame):
        padded = {text: text.strip() for text in texts if text != text.strip()}
        if padded:
            clean = {old: None if new in MISSING else new for old, new in padded.items()}
            column = frame[name].astype(object)
            frame[name] = column.map(lambda value, clean=clean: clean.get(value, value))
    return frame
