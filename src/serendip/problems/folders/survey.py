"""What a column holds, found out piece by piece: numbers or texts, their spread, their levels.

The rules are those of `serendip.tables.encoding`, for tables that do not fit into memory.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.problems.folders.arrow import compute
from serendip.tables.numerals import is_number, is_share

MOST_LEVELS = 1000
"""Most different texts a column of categories may have."""

_PLAIN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_CODE = r"^0[0-9]+$"
_GROUPED = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+$"


@dataclass(frozen=True, slots=True)
class Numbers:
    """Count, mean, spread and range of some numbers; joined without their squares, which overflow.

    spread = √(Σ(x − mean)² / count)
    """

    count: int = 0
    mean: float = 0.0
    spread: float = 0.0
    low: float = math.inf
    high: float = -math.inf

    @classmethod
    def of(cls, values: Floats) -> "Numbers":
        """Of finite values."""
        if len(values) == 0:
            return cls()
        top = float(np.abs(values).max())
        scaled = values / top if top > 0 else values
        low, high = float(values.min()), float(values.max())
        return cls(len(values), top * float(scaled.mean()), top * float(scaled.std()), low, high)

    def joined(self, other: "Numbers") -> "Numbers":
        """Of both."""
        count = self.count + other.count
        if self.count == 0 or other.count == 0:
            return self if other.count == 0 else other
        own, new = self.count / count, other.count / count
        apart = math.sqrt(own * new)
        spread = math.hypot(
            math.sqrt(own) * self.spread,
            math.sqrt(new) * other.spread,
            apart * other.mean - apart * self.mean,
        )
        mean = own * self.mean + new * other.mean
        low, high = min(self.low, other.low), max(self.high, other.high)
        return Numbers(count, mean, spread, low, high)


@dataclass(frozen=True, slots=True)
class ColumnSurvey:
    """A column as far as it was read."""

    name: str
    rows: int = 0
    missing: int = 0
    numbers: Numbers = Numbers()
    """Of the cells that are numbers, or are written as such."""
    typed: str = ""
    """What the file says the column is: number or text; the first file decides."""
    category: bool = False
    """Whether the file says its texts are categories, even where they look like numbers."""
    words: int = 0
    """Texts that are no numbers."""
    first_word: tuple[str, str] = ("", "")
    """Where the first stands, and what it is."""
    first_gap: str = ""
    """Where the first cell without a value is."""
    first_odd: str = ""
    """A number that is not written plainly, such as 0,73 or 85 %."""
    grouped: str = ""
    """Where the first number stands whose point may group thousands, such as 1.234."""
    pointed: bool = False
    """Whether there is a point that can only be a decimal mark."""
    coded: bool = False
    """Whether there is a code such as 007."""
    levels: Mapping[str, int] | None = None
    """How often each text stands there; None once there are too many."""

    @property
    def filled(self) -> int:
        """Cells that hold something."""
        return self.rows - self.missing


def fresh(name: str) -> ColumnSurvey:
    """A column of which nothing is known."""
    return ColumnSurvey(name, levels={})


def revived(plain: Mapping[str, Any]) -> ColumnSurvey:
    """A survey from its JSON."""
    numbers = Numbers(**plain["numbers"])
    where, what = plain["first_word"]
    return ColumnSurvey(**{**plain, "numbers": numbers, "first_word": (where, what)})


def plain(survey: ColumnSurvey) -> dict[str, Any]:
    """A survey as JSON; floats come back as they were."""
    return asdict(survey)


def grown(survey: ColumnSurvey, column: Any, where: "Where") -> ColumnSurvey:
    """The survey once another piece of the column is read.

    Args:
        survey: What was found before.
        column: An Arrow column.
        where: What to call its rows.
    """
    kind = kind_of(column.type)
    if kind == "other":
        raise InvalidInput(
            f"Column {survey.name!r} of {where.file} holds {column.type}; only numbers and text "
            "can be used, so convert the column or leave it out with --ignore."
        )
    if kind and survey.typed and kind != survey.typed:
        raise InvalidInput(
            f"Column {survey.name!r} holds {kind}s in {where.file} and {survey.typed}s in the "
            "files before; give it one type in all files, or leave it out with --ignore."
        )
    typed = survey.typed or kind
    gaps = missing_cells(column)
    found = replace(
        survey,
        typed=typed,
        rows=survey.rows + len(column),
        missing=survey.missing + int(gaps.sum()),
        first_gap=survey.first_gap or (where.row(int(np.argmax(gaps))) if gaps.any() else ""),
    )
    if kind == "number":
        values = numbers_in(column)
        _refuse_infinite(survey.name, values, where)
        return replace(found, numbers=survey.numbers.joined(Numbers.of(values[~gaps])))
    return _with_texts(found, column, where) if kind == "text" else found


@dataclass(frozen=True, slots=True)
class Where:
    """Where a piece of a file stands."""

    file: str
    first: int
    """What its first row is called."""

    def row(self, place: int) -> str:
        """A row in words."""
        return f"row {self.first + place} of {self.file}"


def kind_of(arrow_type: Any) -> str:
    """number, text, other; nothing for a column without any value."""
    from pyarrow import types

    if types.is_null(arrow_type):
        return ""
    if types.is_dictionary(arrow_type):
        return "text" if kind_of(arrow_type.value_type) in ("text", "number") else "other"
    checks = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    if any(check(arrow_type) for check in checks):
        return "number"
    texts = (types.is_string, types.is_large_string, types.is_string_view)
    return "text" if any(check(arrow_type) for check in texts) else "other"


def missing_cells(column: Any) -> Any:
    """(n,) whether a cell has no value; a number that is none counts as such."""
    return column.is_null(nan_is_null=True).to_numpy()


def numbers_in(column: Any) -> Floats:
    """(n,) the column as float64, not-a-number where it has no value."""
    import pyarrow as pa

    plain_column = texts_in(column) if kind_of(column.type) == "text" else column
    wide = plain_column.cast(pa.float64(), safe=False)
    return np.asarray(wide.to_numpy(), dtype=np.float64)


def texts_in(column: Any) -> Any:
    """The column as text without the blanks around it, null where it has no value."""
    import pyarrow as pa

    pc = compute()
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.utf8_trim_whitespace(column.cast(pa.string()))


def _refuse_infinite(name: str, values: Floats, where: Where) -> None:
    wrong = np.flatnonzero(np.isinf(values))
    if len(wrong):
        raise InvalidInput(
            f"Numbers must be finite; column {name!r} holds {values[wrong[0]]} in "
            f"{where.row(int(wrong[0]))}. Correct or remove such rows."
        )


def _with_texts(survey: ColumnSurvey, column: Any, where: Where) -> ColumnSurvey:
    import pyarrow as pa

    pc = compute()
    texts = texts_in(column)
    category = survey.category or pa.types.is_dictionary(column.type)
    levels = _joined_levels(survey.levels, texts)
    is_plain = pc.match_substring_regex(texts, _PLAIN)
    coded = survey.coded or bool(pc.any(pc.match_substring_regex(texts, _CODE)).as_py())
    values = numbers_in(pc.if_else(is_plain, texts, pa.scalar(None, pa.string())))
    _refuse_infinite(survey.name, values, where)
    words, first_word, first_odd = survey.words, survey.first_word, survey.first_odd
    others = texts.filter(pc.invert(is_plain))
    if len(others):
        for text, count in _counts(others).items():
            if not is_number(text) and not is_share(text):
                words += count
            elif not first_odd:
                place = pc.index(texts, pa.scalar(text, texts.type)).as_py()
                first_odd = f"{text!r} in {where.row(place)}"
        if words and not first_word[0]:
            place, text = next(
                (at, text)
                for at, text in enumerate(texts.to_pylist())
                if text is not None and not is_number(text) and not is_share(text)
            )
            first_word = (where.row(place), text)
    is_grouped = pc.fill_null(pc.match_substring_regex(texts, _GROUPED), False)
    is_pointed = pc.and_not(pc.and_(is_plain, pc.match_substring(texts, ".")), is_grouped)
    grouped = survey.grouped
    if not grouped and pc.any(is_grouped).as_py():
        place = pc.index(is_grouped, True).as_py()
        grouped = f"{texts[place].as_py()!r} in {where.row(place)}"
    return replace(
        survey,
        category=category,
        numbers=survey.numbers.joined(Numbers.of(values[~np.isnan(values)])),
        words=words,
        first_word=first_word,
        first_odd=first_odd,
        grouped=grouped,
        pointed=survey.pointed or bool(pc.any(is_pointed).as_py()),
        coded=coded,
        levels=levels,
    )


def _counts(texts: Any) -> dict[str, int]:
    """How often each text stands there."""
    pc = compute()
    found = pc.value_counts(texts).to_pylist()
    return {one["values"]: one["counts"] for one in found if one["values"] is not None}


def _joined_levels(levels: Mapping[str, int] | None, texts: Any) -> Mapping[str, int] | None:
    if levels is None:
        return None
    counts = dict(levels)
    for text, count in _counts(texts).items():
        counts[text] = counts.get(text, 0) + count
    return counts if len(counts) <= MOST_LEVELS else None
