"""Text tables: the encoding, the separator and the widths are found out, then pandas reads."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from serendip.core.errors import InvalidInput
from serendip.tables.cells import (
    MISSING,
    ROW,
    bytes_of,
    check_header,
    column_names,
    reason,
    stripped,
    without_empty_columns,
)

if TYPE_CHECKING:
    import pandas as pd

_SEPARATORS = (",", ";", "\t")
_SAMPLE = 1 << 16


def _utf8(file: Path, data: bytes) -> bytes:
    """The same text in UTF-8 without a byte order mark."""
    try:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            data = data.decode("utf-16").encode()
        data = data.removeprefix(b"\xef\xbb\xbf")
        data.decode("utf-8")
    except UnicodeError:
        try:
            data = data.decode("cp1252").encode()
        except UnicodeError:
            data = data.decode("latin-1").encode()
    if b"\0" in data:
        raise InvalidInput(
            f"{file.name} is not a text file; export it again as CSV, or rename it if it is "
            "really .xlsx or .parquet."
        )
    return data


def _records(data: bytes, separator: str) -> Iterator[list[str]]:
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace", newline="")
    return csv.reader(text, delimiter=separator)


def _blank(cells: Iterable[str]) -> bool:
    return not any(cell.strip() for cell in cells)


def separator_of(file: Path, data: bytes) -> tuple[str, bytes]:
    """What separates the fields, and the data without a leading `sep=;` line."""
    if file.suffix.lower() == ".tsv":
        return "\t", data
    told = re.match(rb"sep=([,;\t|])\r?\n", data)
    if told:
        return told[1].decode(), data[told.end() :]
    best, best_score = ",", (0.0, 1)
    for separator in _SEPARATORS:
        try:
            rows = [row for row in _records(data[:_SAMPLE], separator) if not _blank(row)]
        except csv.Error:
            continue
        if len(data) > _SAMPLE:
            rows = rows[:-1]
        width = len(rows[0]) if rows else 1
        score = (sum(len(row) == width for row in rows) / max(len(rows), 1), width)
        if width > 1 and score > best_score:
            best, best_score = separator, score
    return best, data


def _check_widths(file: Path, data: bytes, separator: str, start: int, width: int) -> None:
    """Refuses the first row with more or fewer fields than the header."""
    rows: Iterable[tuple[int, int]]
    if b'"' in data:
        cells = enumerate(_records(data, separator), start=1)
        rows = ((row, len(fields)) for row, fields in cells if not _blank(fields))
    else:
        mark = separator.encode()
        lines = enumerate(data.splitlines(), start=1)
        rows = ((row, line.count(mark) + 1) for row, line in lines if line.strip(b" ;,\t"))
    for row, found in rows:
        if row > start and found != width:
            shown = {"\t": "tab"}.get(separator, repr(separator))
            raise InvalidInput(
                f"Row {row} of {file.name} has {found} fields where the header has {width}; "
                f"check that row, and put fields that contain the separator {shown} in quotes."
            )


@dataclass(frozen=True, slots=True)
class TextTable:
    """A text table whose separator, header and widths are known."""

    separator: str
    data: bytes
    """In UTF-8."""
    start: int
    """The row of the header, from 1."""
    header: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, file: Path) -> "TextTable":
        """The table in a .csv or .tsv file; refuses rows of another width than the header's."""
        separator, data = separator_of(file, _utf8(file, bytes_of(file)))
        numbered = enumerate(_records(data, separator), start=1)
        start, header = next(((at, row) for at, row in numbered if not _blank(row)), (0, []))
        if not header:
            raise InvalidInput(f"{file.name} is empty; it needs a header row and rows below it.")
        check_header(file, header)
        names = column_names(file, header)
        _check_widths(file, data, separator, start, len(names))
        return cls(separator, data, start, tuple(header), tuple(names))

    def frame(self, dtype: type[str] | None = str) -> "pd.DataFrame":
        """The cells as text, or as what pandas takes them for; blank rows are still there."""
        import pandas as pd

        frame = pd.read_csv(
            io.BytesIO(self.data),
            sep=self.separator,
            header=self.start - 1,
            names=list(self.names),
            index_col=False,
            dtype=dtype,
            na_values=list(MISSING),
            keep_default_na=False,
            skip_blank_lines=False,
            low_memory=False,
            encoding="utf-8",
        )
        first = self.start + 1
        frame.index = pd.RangeIndex(first, first + len(frame), name=ROW)
        return stripped(without_empty_columns(frame, self.header))


@contextmanager
def text_table(file: Path) -> Iterator[TextTable]:
    """A text table; whatever a parser makes of a broken file, users get a sentence."""
    try:
        yield TextTable.of(file)
    except InvalidInput:
        raise
    except Exception as problem:
        raise InvalidInput(
            f"{file.name} could not be read as a table ({reason(problem)}); "
            "look for unbalanced quotes, or open it in a spreadsheet and save it again."
        ) from None
