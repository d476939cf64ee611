"""Tables in memory, from whichever library they come."""

from typing import TYPE_CHECKING, Any

from serendip.core.arguments import instance

if TYPE_CHECKING:
    import pandas as pd


def data_frame(name: str, table: Any, example: str) -> "pd.DataFrame":
    """The table as pandas has it; those of polars, Arrow and others say `to_pandas`."""
    import pandas as pd

    if not isinstance(table, pd.DataFrame | type) and hasattr(table, "to_pandas"):
        table = table.to_pandas()
    instance(name, table, pd.DataFrame, example)
    assert isinstance(table, pd.DataFrame)
    return table
