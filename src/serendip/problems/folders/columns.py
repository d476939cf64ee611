"""From surveys to features: what becomes of each column, and the numbers that come out."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from serendip.core.arrays import Array, Floats
from serendip.core.errors import InvalidInput
from serendip.problems.folders.arrow import compute
from serendip.problems.folders.survey import MOST_LEVELS, ColumnSurvey, Where, numbers_in, texts_in

NO_VALUE = "(missing)"
_TRUTH = ("true", "false")


@dataclass(frozen=True, slots=True)
class NumberColumn:
    """(x − mean) / std, missing values at the mean."""

    name: str
    mean: float
    std: float
    truth: bool = False
    """Whether the numbers are written as true and false."""

    @property
    def features(self) -> tuple[str, ...]:
        """Its own name."""
        return (self.name,)

    def encoded(self, column: Any) -> Floats:
        """(n, 1)"""
        values = _truth(column) if self.truth else numbers_in(column)
        scaled = (values - self.mean) / self.std
        return np.where(np.isnan(scaled), 0.0, scaled)[:, None]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """(1 − share) / scale for the level that is there, −share / scale for the others."""

    name: str
    levels: tuple[str, ...]
    shares: tuple[float, ...]
    scale: float

    @property
    def features(self) -> tuple[str, ...]:
        """One for each level."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encoded(self, column: Any) -> Floats:
        """(n, levels)"""
        import pyarrow as pa

        pc = compute()
        texts = pc.fill_null(texts_in(column), NO_VALUE)
        codes = pc.index_in(texts, value_set=pa.array(self.levels))
        if codes.null_count:
            raise InvalidInput(
                f"Column {self.name!r} holds a text that was not there before: the file changed "
                "while it was imported. Begin again with an empty folder."
            )
        x = np.zeros((len(codes), len(self.levels)))
        x[np.arange(len(codes)), codes.to_numpy()] = 1.0
        return np.asarray((x - np.array(self.shares)) / self.scale)


Encoding = NumberColumn | TextColumn


def plain_encoding(encoding: Encoding) -> dict[str, Any]:
    """An encoding as JSON."""
    kind = "number" if isinstance(encoding, NumberColumn) else "text"
    return {"kind": kind, **asdict(encoding)}


@dataclass(frozen=True, slots=True)
class Encodings:
    """What becomes of a table."""

    columns: tuple[Encoding, ...]
    notes: tuple[str, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """(d,) names; the constant is last."""
        return (*(name for column in self.columns for name in column.features), "constant")

    def encoded(self, table: Any, dtype: str, where: Where) -> Array:
        """(n, d) in the type they are kept in, which must hold them.

        Args:
            table: An Arrow table with all columns.
            dtype: float16, float32 or float64.
            where: What to call its rows.
        """
        x = np.ones((table.num_rows, len(self.features)), dtype=dtype)
        start = 0
        with np.errstate(over="ignore"):
            for column in self.columns:
                stop = start + len(column.features)
                x[:, start:stop] = column.encoded(table.column(column.name))
                start = stop
        if not np.isfinite(x).all():
            place, feature = np.argwhere(~np.isfinite(x))[0]
            raise InvalidInput(
                f"Feature {self.features[feature]!r} is too large for {dtype} in "
                f"{where.row(int(place))}; correct it, or choose float64."
            )
        return x


def encodings_of(
    surveys: Sequence[ColumnSurvey], impute: bool, standardise: bool, from_text: bool
) -> Encodings:
    """What becomes of each column, by the rules of `encode_features`.

    Args:
        surveys: Of all columns that are used, complete.
        impute: Whether missing values are filled in.
        standardise: Whether columns are centred and scaled.
        from_text: Whether the files are text, where true and false are truth values.
    """
    columns: list[Encoding] = []
    notes: list[str] = []
    for survey in surveys:
        made, note = _encoding(survey, impute, standardise, from_text)
        columns += [made] if made is not None else []
        notes += [note] if note else []
    if not columns:
        raise InvalidInput(
            f"None of the {len(surveys)} columns holds more than one value; "
            "a pool needs at least one feature that varies."
        )
    return Encodings(tuple(columns), tuple(notes))


def _encoding(
    survey: ColumnSurvey, impute: bool, standardise: bool, from_text: bool
) -> tuple[Encoding | None, str]:
    name = survey.name
    if survey.filled == 0:
        if not impute:
            raise InvalidInput(f"Column {name!r} is empty; add it to --ignore.")
        return None, f"Column {name!r} is empty and was dropped."
    if survey.missing and not impute:
        more = f" and {survey.missing - 1} more" if survey.missing > 1 else ""
        raise InvalidInput(
            f"Column {name!r} has no value in {survey.first_gap}{more}; fill in the values, remove "
            "the rows, leave the column out with --ignore, or choose --missing impute."
        )
    levels = survey.levels
    if from_text and levels and {text.lower() for text in levels} <= set(_TRUTH):
        yes = sum(count for text, count in levels.items() if text.lower() == "true")
        share = yes / survey.filled
        spread = math.sqrt(share * (1.0 - share))
        return _number(survey, share, spread, 0 < yes < survey.filled, standardise, truth=True)
    if survey.typed == "number" or _is_number(survey):
        found = survey.numbers
        return _number(survey, found.mean, found.spread, found.low < found.high, standardise)
    return _text(survey, standardise)


def check_points(surveys: Sequence[ColumnSurvey]) -> None:
    """Refuses points that may group thousands, where commas do not separate and nothing decides."""
    if any(survey.pointed for survey in surveys):
        return
    for survey in surveys:
        if survey.grouped and not (survey.category or survey.coded or survey.words):
            raise InvalidInput(
                f"Column {survey.name!r} holds {survey.grouped}, which can be read in two ways; "
                "write numbers with a decimal point and another number of digits behind it, or "
                "separate the columns by commas."
            )


def _is_number(survey: ColumnSurvey) -> bool:
    """Whether a column of texts is one of numbers."""
    if survey.category or survey.coded:
        return False
    if survey.words == 0 and survey.first_odd:
        raise InvalidInput(
            f"Column {survey.name!r} holds numbers such as {survey.first_odd}; write them with a "
            "decimal point, without marks between thousands and without per cent signs."
        )
    if 0 < 2 * survey.words < survey.filled:
        where, text = survey.first_word
        more = f" (and text in {survey.words - 1} more rows)" if survey.words > 1 else ""
        raise InvalidInput(
            f"Column {survey.name!r} holds numbers, but {text!r} in {where}{more}; correct that, "
            "or leave the cell empty."
        )
    return survey.words == 0


def check_numbers(survey: ColumnSurvey) -> None:
    """Refuses a column of labels that is not one of numbers; it may have gaps."""
    if survey.typed == "text" and not _is_number(survey):
        where, text = survey.first_word
        raise InvalidInput(
            f"Labels must be numbers; column {survey.name!r} holds {text!r} in {where}. Correct "
            "the column or choose another for the labels."
        )


def _number(
    survey: ColumnSurvey,
    mean: float,
    spread: float,
    varies: bool,
    standardise: bool,
    truth: bool = False,
) -> tuple[Encoding | None, str]:
    spread *= math.sqrt(survey.filled / survey.rows)  # gaps are filled in with the mean
    if not varies or spread == 0:
        return None, f"Column {survey.name!r} is the same in every row and was dropped."
    gaps = f"Column {survey.name!r} has no value in {survey.missing} rows; the mean was filled in."
    note = gaps if survey.missing else ""
    if standardise:
        return NumberColumn(survey.name, mean, spread, truth), note
    if survey.missing:
        raise InvalidInput(
            f"Column {survey.name!r} has no value in {survey.first_gap}; without scaling there is "
            "nothing to fill in. Fill in the values, or remove the rows."
        )
    return NumberColumn(survey.name, 0.0, 1.0, truth), note


def _text(survey: ColumnSurvey, standardise: bool) -> tuple[Encoding | None, str]:
    name = survey.name
    if survey.levels is None:
        raise InvalidInput(
            f"Column {name!r} has more than {MOST_LEVELS} different texts, too many to be "
            f"categories; name it as --id {name}, describe them by numbers, or use --ignore {name}."
        )
    counts: Mapping[str, int] = dict(survey.levels)
    if survey.missing:
        counts = {**counts, NO_VALUE: counts.get(NO_VALUE, 0) + survey.missing}
    levels = tuple(sorted(counts))
    if len(levels) == 1:
        return None, f"Column {name!r} is the same in every row and was dropped."
    if len(levels) == survey.rows:
        raise InvalidInput(
            f"Every value of column {name!r} is a different text ({levels[0]!r}, …), which tells a "
            f"model nothing; name it as --id {name} or --ignore {name}."
        )
    filled = f", {NO_VALUE} in {survey.missing} rows" if survey.missing else ""
    note = f"Column {name!r} is text: {len(levels)} categories{filled}."
    if not standardise:
        return TextColumn(name, levels, (0.0,) * len(levels), 1.0), note
    shares = tuple(counts[level] / survey.rows for level in levels)
    scale = math.sqrt(sum(share * (1.0 - share) for share in shares))
    return TextColumn(name, levels, shares, scale), note


def _truth(column: Any) -> Floats:
    pc = compute()
    is_true = pc.equal(pc.utf8_lower(texts_in(column)), "true")
    return numbers_in(is_true)
