"""Users' files in: CSV, TSV, XLSX and Parquet, with bad rows named as a spreadsheet shows them."""

import difflib
from collections.abc import Callable, Container
from pathlib import Path
from typing import TYPE_CHECKING

from serendip.core.errors import InvalidInput
from serendip.tables import first_rules
from serendip.tables.delimited import text_table
from serendip.tables.parquet import read_parquet
from serendip.tables.settling import settled
from serendip.tables.sheets import read_xlsx

if TYPE_CHECKING:
    import pandas as pd

CURRENT = 2
"""The reading rules of today. Whoever changes what a file is read as, and be it a single cell,
adds a number, keeps the old rules for pools that campaigns have pinned, and says here what differs.

1. Ids follow the type of their column: 2.10 is read as 2.1, "1 000" as 1000, and a whole number
   beyond 2⁵³ may lose its last digit. 1.234 in a semicolon-separated file is 1234 or 1.234 by what
   else is in the file. 72 % is 0.72 in a workbook and text elsewhere; formulas that were never
   computed are empty cells. A workbook is held with all cells up to its last.
2. Names are text, exactly as the file has it or the spreadsheet shows it. Numbers are read in one
   way wherever they stand, 72 % as 72 or, in a label, by the range of the labels; what can be read
   in two ways is refused where it is used. Formulas without a result and cells far outside the
   table are refused.
"""


def read_table(
    path: str | Path,
    rules: int = CURRENT,
    *,
    names: Container[str | None] = (),
    labels: Container[str | None] = (),
) -> "pd.DataFrame":
    """The table in a .csv, .tsv, .xlsx (first sheet) or .parquet file.

    Text files may be UTF-8 (with or without a byte order mark), UTF-16, or Windows-1252; a .csv
    may be separated by commas, semicolons or tabs. Decimal commas and grouped thousands are
    numbers where a whole column agrees; codes with leading zeros (007) stay text. Blank rows are
    skipped. The index, named "spreadsheet row", holds the row numbers a spreadsheet shows: the
    header is row 1 and the first candidate row 2.

    Args:
        path: The file.
        rules: The number of the reading rules, those that a campaign began with.
        names: Columns of names, such as ids, whose texts are kept; rules 1 take no notice.
        labels: Columns of labels, where nothing is guessed; rules 1 take no notice.
    """
    file = _existing(Path(path))
    ending = file.suffix.lower()
    if rules == 1:
        frame = _FIRST_RULES[ending](file)
    elif rules == CURRENT:
        frame = _READERS[ending](file, names, labels)
    else:
        raise InvalidInput(
            f"{file.name} is to be read by rules {rules}, and this version of serendip knows rules "
            f"up to {CURRENT}; upgrade serendip."
        )
    frame = frame.dropna(how="all")
    if frame.empty:
        raise InvalidInput(
            f"{file.name} has a header but no rows; add at least one row below the header."
        )
    return frame


def _existing(file: Path) -> Path:
    if file.is_dir():
        raise InvalidInput(f"{file} is a folder; give the path of one file inside it.")
    if file.suffix.lower() not in _READERS:
        endings = ", ".join(_READERS)
        raise InvalidInput(
            f"A table must be a file ending in {endings}; got {file.name!r}. "
            "Save or export it in one of these formats."
        )
    if not file.is_file():
        try:
            near = difflib.get_close_matches(file.name, [p.name for p in file.parent.iterdir()], 1)
        except (OSError, ValueError):
            near = []
        hint = f"did you mean {near[0]}?" if near else "check the path."
        raise InvalidInput(f"There is no file {file}; {hint}")
    return file


def _read_delimited(
    file: Path, names: Container[str | None], labels: Container[str | None]
) -> "pd.DataFrame":
    with text_table(file) as table:
        cells = table.frame().dropna(how="all")
        return settled(cells, table.separator, names, labels)


_READERS: dict[
    str, Callable[[Path, Container[str | None], Container[str | None]], "pd.DataFrame"]
] = {
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".xlsx": read_xlsx,
    ".parquet": read_parquet,
}

_FIRST_RULES: dict[str, Callable[[Path], "pd.DataFrame"]] = {
    ".csv": first_rules.read_delimited,
    ".tsv": first_rules.read_delimited,
    ".xlsx": first_rules.read_xlsx,
    ".parquet": first_rules.read_parquet,
}
