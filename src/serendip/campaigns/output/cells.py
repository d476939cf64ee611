"""Tables out: cells that a spreadsheet would run as formulas are made plain text.

A text that begins with =, +, - or @ and is no number gets an apostrophe in front, which is what
spreadsheets themselves use; `original` of `tables.label_cells` takes it away again.
"""

import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serendip.core.errors import InvalidInput
from serendip.core.text import escaped
from serendip.tables.numerals import is_number

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"\s*'*[=+\-@\t\r\n＝＋－＠]")


def plain_text(text: str) -> str:
    """The text, with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) and not is_number(text) else text


def harmless(frame: "pd.DataFrame") -> "pd.DataFrame":
    """A copy without formulas, in cells or in names of columns; numbers stay numbers."""
    import pandas as pd

    safe = frame.rename(columns={name: plain_text(str(name)) for name in frame.columns})
    for name in safe.columns:
        column = safe[name]
        if column.dtype == object or pd.api.types.is_string_dtype(column):
            cells = [plain_text(cell) if isinstance(cell, str) else cell for cell in column]
            safe[name] = pd.Series(cells, index=safe.index, dtype=object)
    return safe


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Rows as dictionaries of plain values, as JSON holds them; no value is None."""
    rows = frame.astype(object).to_dict("records")
    return [{str(name): plain_value(value) for name, value in row.items()} for row in rows]


def plain_value(value: Any) -> Any:
    """Text, a truth value, a finite number or None."""
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if str(value) in ("<NA>", "NaT") else str(value)


def check_free(file: Path, force: bool, own: Sequence[Path] = ()) -> None:
    """Refuses to write over a file, before anything is recorded that would then not be shown.

    Args:
        file: Where to write.
        force: Whether an existing file may be written over.
        own: The user's own files, which are never written over.
    """
    if file.suffix.lower() not in _WRITERS:
        raise InvalidInput(
            f"A table is written to a file ending in {', '.join(_WRITERS)}; got {file.name!r}."
        )
    check_place(file, force, own)


def check_place(file: Path, force: bool, own: Sequence[Path] = ()) -> None:
    """`check_free` for a file of any kind."""
    if any(file.resolve() == mine.resolve() for mine in own):
        raise InvalidInput(f"{file} is a file of your own, which is never written over.")
    if file.is_dir() or not file.resolve().parent.is_dir():
        raise InvalidInput(
            f"{file} cannot be written: there must be a folder, and no folder there."
        )
    if file.exists() and not force:
        raise InvalidInput(
            f"{file} is there already; choose another name, or add --force to write over it."
        )


def write_table(frame: "pd.DataFrame", file: Path) -> None:
    """A table as .csv, .tsv, .xlsx or .parquet; the file is there in whole or not at all."""
    written(file, lambda part: _WRITERS[file.suffix.lower()](frame, part))


def write_text(text: str, file: Path) -> None:
    """A text file, in whole or not at all."""
    written(file, lambda part: part.write_text(text, encoding="utf-8", errors="backslashreplace"))


def written(file: Path, write: Callable[[Path], object]) -> None:
    """Writes beside the file and then puts it in its place."""
    part = file.with_name(f".{file.stem}.{os.getpid()}{file.suffix}")
    try:
        write(part)
        with part.open("rb+") as data:
            os.fsync(data.fileno())
        os.replace(part, file)
    except OSError as problem:
        raise InvalidInput(
            f"{file} could not be written ({problem.strerror or problem}); "
            "free some space or choose another place."
        ) from None
    finally:
        part.unlink(missing_ok=True)  # also where somebody interrupted


def _csv(frame: "pd.DataFrame", file: Path) -> None:
    harmless(frame).to_csv(file, index=False, encoding="utf-8")


def _tsv(frame: "pd.DataFrame", file: Path) -> None:
    harmless(frame).to_csv(file, index=False, sep="\t", encoding="utf-8")


def _xlsx(frame: "pd.DataFrame", file: Path) -> None:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    def legal(cell: Any) -> Any:
        """Control characters, which a workbook cannot hold, are written out."""
        if not isinstance(cell, str):
            return cell
        return ILLEGAL_CHARACTERS_RE.sub(lambda one: escaped(one[0]), cell)

    harmless(frame).rename(columns=legal).map(legal).to_excel(file, index=False)


def _parquet(frame: "pd.DataFrame", file: Path) -> None:
    frame.to_parquet(file, index=False)


_WRITERS: dict[str, Callable[["pd.DataFrame", Path], None]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".xlsx": _xlsx,
    ".parquet": _parquet,
}
