"""From a table with the user's own columns to the features a model sees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.tables.columns import check_finite, known_column, numbers_of, refuse_unsure, row_list

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any]

MAX_LEVELS = 1000
"""Different texts a column may hold and still be categories."""

_MAX_CELLS = 250_000_000
"""Most cells one text column may take once encoded: two gigabytes."""

MAX_FEATURES = 50_000
"""Features beyond which models take more memory than computers have, whatever the rows."""

_MAX_NUMBERS = 1_000_000_000
"""Most numbers a table may come to once encoded: eight gigabytes."""

_NO_VALUE = "(missing)"


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Features a model can use, with what was done to get them."""

    x: Floats
    """(n, d), finite."""
    names: tuple[str, ...]
    """(d,) the column each feature comes from; `column=level` for a level of a text column."""
    sizes: Floats
    """(d,) what a feature of size 1 is in the unit of its column; 1 for what is no number."""
    notes: tuple[str, ...]
    """What was dropped, filled in or turned into categories; one sentence each."""


def encode_features(
    frame: "pd.DataFrame",
    columns: Sequence[str] | None = None,
    ignore: Iterable[str] = (),
    *,
    categories: Iterable[str] = (),
    missing: Literal["error", "impute"] = "error",
    scaling: Literal["standardise", "unit-norm"] = "standardise",
    constant: bool = False,
) -> Encoded:
    """Numbers, truth values and text as one array of features.

    Numeric columns are standardised: mean 0, standard deviation 1. A text column becomes one
    column per level, all levels, centred and divided by the same number, √Σp(1 − p) over the
    shares p of its levels: the text column as a whole then has variance 1, as much as a numeric
    one, however many levels it has, and a rare level is not blown up. With scaling="unit-norm"
    nothing is centred: a numeric column is divided by its Euclidean norm, as the authors
    of [ASD] did, and the levels of a text column by the norm of them all, √n.

    Args:
        frame: The table.
        columns: Columns to use; None for all.
        ignore: Columns to leave out: ids, labels, comments.
        categories: Columns to treat as text even where they hold numbers.
        missing: "error" refuses missing values; "impute" fills in the mean of a numeric column
            and gives a text column a level of its own, and says so in the notes.
        scaling: "standardise" or "unit-norm".
        constant: Whether to append a column of ones.
    """
    if missing not in ("error", "impute"):
        raise InvalidInput(f"missing must be 'error' or 'impute'; got {missing!r}.")
    if scaling not in ("standardise", "unit-norm"):
        raise InvalidInput(f"scaling must be 'standardise' or 'unit-norm'; got {scaling!r}.")
    used = _used(frame, columns, ignore)
    texts = {known_column(frame, name) for name in categories}
    blocks: list[Floats] = []
    names: list[str] = []
    sizes: list[float] = []
    notes: list[str] = []
    remedy = ", or name the column as categories"
    for name in used:
        column = frame[name]
        if column.isna().all():
            if missing == "error":
                raise InvalidInput(f"Column {name!r} is empty; add it to --ignore.")
            notes.append(f"Column {name!r} is empty and was dropped.")
            continue
        numbers = None if name in texts else numbers_of(column, remedy)
        if numbers is None:
            levels, block, note = _indicators(column, missing, scaling)
            blocks.append(block)
            names += [f"{name}={level}" for level in levels]
            sizes += [1.0] * len(levels)
            notes.append(note)
        else:
            scaled, size, note = _scaled(column, numbers, missing, scaling)
            if scaled is not None:
                blocks.append(scaled[:, None])
                names.append(str(name))
                sizes.append(size)
            notes += [note] if note else []
    if not names:
        raise InvalidInput(
            f"None of the {len(used)} columns holds more than one value; "
            "a pool needs at least one feature that varies."
        )
    if constant:
        blocks.append(np.ones((len(frame), 1)))
        names.append("constant")
        sizes.append(1.0)
    _check_size(len(frame), len(names))
    x = np.concatenate(blocks, axis=1)
    return Encoded(x, tuple(names), np.array(sizes), tuple(notes))


def _used(frame: "pd.DataFrame", columns: Sequence[str] | None, ignore: Iterable[str]) -> list[str]:
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InvalidInput(f"The table has two columns named {twice!r}; rename one of them.")
    if frame.empty:
        raise InvalidInput(f"The table has shape {frame.shape}; it needs a row and a column.")
    left_out = {known_column(frame, name) for name in ignore}
    chosen = list(frame.columns) if columns is None else [known_column(frame, n) for n in columns]
    used = [name for name in dict.fromkeys(chosen) if name not in left_out]
    if not used:
        raise InvalidInput("Every column is left out; keep at least one as a feature.")
    return used


def _check_size(rows: int, features: int) -> None:
    """Refuses what would not fit, before it is made."""
    if features > MAX_FEATURES:
        raise InvalidInput(
            f"The columns come to {features:,} features; a table may have {MAX_FEATURES:,} at "
            "most. Leave columns out with --ignore, or name those to use with --features."
        )
    if rows * features > _MAX_NUMBERS:
        raise InvalidInput(
            f"{rows:,} rows of {features:,} features take {8e-9 * rows * features:.0f} GB, more "
            f"than the {8e-9 * _MAX_NUMBERS:.0f} GB that a table may have; use fewer columns, or "
            "import the table as a pool folder with `serendip pool import`."
        )


def refuse_gaps(column: "Column", gaps: Ints) -> None:
    """Says which cells are empty, and what can be done."""
    raise InvalidInput(
        f"Column {column.name!r} has no value in {row_list(column, gaps)}; fill in the values, "
        "remove the rows, leave the column out with --ignore, or choose --missing impute."
    )


def _scaled(
    column: "Column", numbers: Floats, missing: str, scaling: str
) -> tuple[Floats | None, float, str]:
    """A numeric column, scaled, what it was divided by, and a note where something was done to it.

    None if it is constant.
    """
    check_finite(column, numbers)
    gaps = np.flatnonzero(np.isnan(numbers))
    if len(gaps) and missing == "error":
        refuse_gaps(column, gaps)
    top = float(np.nanmax(np.abs(numbers)))
    values = numbers / top if top > 0 else numbers  # so that squares neither overflow nor vanish
    values = np.where(np.isnan(values), np.nanmean(values), values)
    spread = float(values.std())
    if values.max() == values.min() or spread == 0:
        return None, 0.0, f"Column {column.name!r} is the same in every row and was dropped."
    note = (
        f"Column {column.name!r} has no value in {row_list(column, gaps)}; the mean was filled in."
        if len(gaps)
        else ""
    )
    if scaling == "unit-norm":
        norm = float(np.linalg.norm(values))
        return values / norm, top * norm, note
    return (values - values.mean()) / spread, top * spread, note


def _indicators(column: "Column", missing: str, scaling: str) -> tuple[list[str], Floats, str]:
    """A text column as one column per level, scaled together."""
    refuse_unsure(column)
    gaps = np.flatnonzero(column.isna())
    if len(gaps) and missing == "error":
        refuse_gaps(column, gaps)
    texts = [str(value).strip() for value in column.astype(object).tolist()]
    for gap in gaps:
        texts[gap] = _NO_VALUE
    found, codes = np.unique(np.array(texts, dtype=object), return_inverse=True)
    levels = [str(level) for level in found]
    n, n_levels = len(texts), len(levels)
    if n_levels == 1:
        note = f"Column {column.name!r} is the same in every row and was dropped."
        return [], np.empty((n, 0)), note
    if n_levels == n:
        raise InvalidInput(
            f"Every value of column {column.name!r} is a different text ({levels[0]!r}, …), which "
            f"tells a model nothing; name it as --id {column.name} or --ignore {column.name}."
        )
    if n_levels > MAX_LEVELS or n * n_levels > _MAX_CELLS:
        raise InvalidInput(
            f"Column {column.name!r} has {n_levels} different texts in {n} rows, too many to be "
            f"categories; describe them by numbers, or use --ignore {column.name}."
        )
    block = np.zeros((n, n_levels))
    block[np.arange(n), codes] = 1.0
    if scaling == "unit-norm":
        block /= np.sqrt(n)
    else:
        share = block.mean(axis=0)
        block -= share
        block /= np.sqrt(share @ (1.0 - share))
    filled = f", {_NO_VALUE} in {row_list(column, gaps)}" if len(gaps) else ""
    return levels, block, f"Column {column.name!r} is text: {n_levels} categories{filled}."
