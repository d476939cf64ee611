"""Tables in Parquet files: names as the file has them, whatever their type."""

import re
from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serendip.core.errors import InvalidInput
from serendip.tables.cells import MISSING, ROW, bytes_of, column_names, reason
from serendip.tables.settling import settled
from serendip.tables.unsure import Unsure

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(
    file: Path, names: Container[str | None], labels: Container[str | None]
) -> "pd.DataFrame":
    """The table in a .parquet file.

    Args:
        file: The file.
        names: Columns of names.
        labels: Columns of labels.
    """
    import pandas as pd
    import pyarrow.parquet

    data = bytes_of(file)
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(data))
        found = column_names(file, [str(name) for name in table.column_names])
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True)
        frame.columns = pd.Index(found)
        frame.index = pd.RangeIndex(2, 2 + len(frame), name=ROW)
        for place, name in enumerate(found):
            if name in names:
                cells = [_name(value) for value in table.column(place).to_pylist()]
                frame[name] = pd.Series(cells, index=frame.index, dtype=object)
        keep = [name for name in frame.columns if not re.fullmatch(r"__index_level_\d+__", name)]
        texts = {
            name
            for name, column in zip(found, table.columns, strict=True)
            if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type)
        }
        as_they_are = {name for name in keep if name in names or name not in texts}
        return settled(frame[keep].copy(), None, as_they_are, labels)
    except InvalidInput:
        raise
    except Exception as problem:  # pyarrow raises many kinds for a broken file
        raise InvalidInput(
            f"{file.name} is not a readable .parquet file ({reason(problem)}); "
            "write it again, or save the table as .csv."
        ) from None


def _name(value: Any) -> str | None:
    """A value of a file as a name; whole floating-point numbers without a point."""
    if value is None or value != value:
        return None
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        if abs(value) >= 2**53:
            says = f"{value!r} has lost its last digits; write names as text or as whole numbers"
            return Unsure(repr(value), says)
        return repr(value)
    text = str(value).strip()
    return None if text in MISSING else text
