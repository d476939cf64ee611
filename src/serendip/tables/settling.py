"""Reading rules 2: from cells as they are written to names, labels, numbers and truth values.

A number that can be read in two ways, such as 1.234, is read as the rest of its column says, else
as the columns of the same file that can be read in one way only, else as the separator says: where
commas separate, a point is the decimal mark and a comma groups thousands; where semicolons do, a
comma is the decimal mark, and a point may be either. For labels, which are kept for ever, only the
point of a comma-separated file is certain. What nothing decides is not read as a number.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from serendip.tables.cells import texts_of
from serendip.tables.numerals import (
    COMMA,
    POINT,
    Reading,
    Style,
    is_code,
    is_number,
    is_share,
    reading_of,
    reading_of_shares,
    share_in,
    two_ways,
)
from serendip.tables.unsure import Unsure

if TYPE_CHECKING:
    import pandas as pd

    Column = pd.Series[Any]

_PLAIN = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_CODE = r"^0[0-9]+$"
_GROUPED = r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+$"
"""Points that might stand between thousands."""


def settled(
    frame: "pd.DataFrame",
    separator: str | None = None,
    names: Container[str | None] = (),
    labels: Container[str | None] = (),
) -> "pd.DataFrame":
    """The table with numbers where its texts are numbers.

    Args:
        frame: Columns of text, or of values with text among them.
        separator: Of a text file.
        names: Columns of names, which stay as they are.
        labels: Columns of labels, whose numbers may stand beside words.
    """
    read = frame[[name for name in frame.columns if name not in names]]
    columns = {
        str(name): _Texts.of(frame[name], texts, name in labels) for name, texts in texts_of(read)
    }
    decided = {one.reading.styles[0] for one in columns.values() if one.decides}
    common = decided.pop() if len(decided) == 1 else None
    for name, one in columns.items():
        if one.is_label:
            usual = common or (POINT if separator == "," and not one.has(",") else None)
            frame[name] = _labels(frame[name], one, usual)
        else:
            frame[name] = _values(frame[name], one, common or _habit(separator, one))
    return frame


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a column, and how those that are numbers can be read."""

    texts: Sequence[str]
    reading: Reading
    is_label: bool
    plain: bool = False
    """Whether all of them are numbers as Python writes them."""

    @classmethod
    def of(cls, column: "Column", texts: Sequence[str], is_label: bool) -> "_Texts":
        if is_label:
            numbers = [text.removesuffix("%").rstrip() for text in texts]
            return cls(texts, reading_of(filter(_is_amount, numbers)), True)
        quick = _plain_reading(column)
        if quick is not None:
            return cls(texts, quick, False, plain=True)
        shares = any(text.endswith("%") for text in texts)
        return cls(texts, reading_of_shares(texts) if shares else reading_of(texts), False)

    @property
    def decides(self) -> bool:
        """Whether the numbers can be read in one way only."""
        return self.reading.marked and len(self.reading.styles) == 1

    def has(self, mark: str) -> bool:
        """Whether a mark stands in any of the texts that are numbers."""
        return any(mark in text for text in self.texts if is_number(text) or is_share(text))


def _is_amount(text: str) -> bool:
    return is_number(text) and not is_code(text)


def _habit(separator: str | None, one: _Texts) -> Style | None:
    """What a separator says of marks that could be either."""
    if separator == ",":
        return POINT
    return COMMA if separator == ";" and not one.has(".") else None


def _arrow(column: "Column") -> Any:
    """The column as Arrow text; None where other values stand among the texts."""
    import pyarrow as pa

    try:
        texts: Any = pa.array(column, type=pa.large_string(), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _plain_reading(column: "Column") -> Reading | None:
    """How a column of numbers as Python writes them can be read, found out without a loop."""
    import pyarrow.compute

    pc: Any = pyarrow.compute
    texts = _arrow(column)
    if texts is None:
        return None

    def found(pattern: str) -> Any:
        return pc.match_substring_regex(texts, pattern)

    if not pc.all(found(_PLAIN)).as_py() or pc.any(found(_CODE)).as_py():
        return None
    pointed = pc.match_substring(texts, ".")
    if not pc.any(pointed).as_py():
        return Reading((POINT, COMMA), marked=False)
    if pc.any(pc.and_not(pointed, found(_GROUPED))).as_py():
        return Reading((POINT,), marked=True)
    return Reading((POINT, COMMA), marked=True)


def _plain_numbers(column: "Column") -> "Column":
    """Whole numbers as integers where they fit and none is missing, else floating-point numbers."""
    import pandas as pd
    import pyarrow.compute

    pc: Any = pyarrow.compute
    texts = pc.utf8_ltrim(_arrow(column), characters="+")
    whole = pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,18}$")).as_py()
    kind = "int64" if whole and not texts.null_count else "float64"
    values = texts.cast(kind).to_numpy(zero_copy_only=False)
    return pd.Series(values, index=column.index, name=column.name)


def _values(column: "Column", one: _Texts, usual: Style | None) -> "Column":
    """A feature, or whatever else is neither a name nor a label."""
    import pandas as pd

    style = one.reading.style(usual)
    if style is POINT and one.plain:
        return _plain_numbers(column)
    values: list[Any] = column.tolist()
    if {text.lower() for text in one.texts} <= {"true", "false"}:
        truth = [v.lower() == "true" if isinstance(v, str) else v for v in values]
        return pd.Series(truth, index=column.index, dtype=object).infer_objects()
    shares = any(map(is_share, one.texts))
    beside = any(isinstance(v, int | float) and v == v for v in values)
    if style is not None and not (shares and beside):
        read = share_in if shares else _read
        plain = [read(v, style) if isinstance(v, str) else _number(v) for v in values]
        numbers: Column = pd.to_numeric(pd.Series(plain, index=column.index, dtype=object))
        return numbers
    if shares and all(is_share(text) or is_number(text) for text in one.texts):
        unsure = [_beside_numbers(v) if isinstance(v, str) and is_share(v) else v for v in values]
        return pd.Series(unsure, index=column.index, name=column.name, dtype=object)
    return column


def _read(text: str, style: Style) -> str:
    return style.plain(text)


def _beside_numbers(share: str) -> Unsure:
    return Unsure(
        share,
        f"{share!r} stands in a column with numbers that are not per cent; write all of them in "
        "one way",
    )


def _labels(column: "Column", one: _Texts, usual: Style | None) -> "Column":
    """Labels: numbers where that is certain; words, and per cent with their sign, as they are."""
    import pandas as pd

    style = one.reading.style(usual)
    truth = {text.lower() for text in one.texts} <= {"true", "false"}
    cells: list[Any] = column.tolist()
    if truth:
        made = [v.lower() == "true" if isinstance(v, str) else v for v in cells]
    else:
        made = [_label(v, one.reading, style) if isinstance(v, str) else v for v in cells]
    values = pd.Series(made, index=column.index, dtype=object, name=column.name)
    return values if any(isinstance(v, str) for v in made) else values.infer_objects()


def _label(text: str, reading: Reading, style: Style | None) -> object:
    share = is_share(text)
    if not share and not _is_amount(text):
        return text
    if style is not None:
        return f"{share_in(text, style)}%" if share else _plain(style.plain(text))
    if not reading.styles:  # some of the column are of one style and some of the other
        return text
    bare = text.removesuffix("%").rstrip()
    if reading_of([bare]).style() is None:
        return Unsure(text, f"{text!r} {two_ways(bare)}{'%' if share else ''}")
    return f"{bare}%" if share else _plain(POINT.plain(bare))


def _plain(number: str) -> int | float:
    try:
        return int(number)
    except ValueError:
        return float(number)


def _number(value: object) -> object:
    """A cell that is not text, as it goes beside numbers."""
    return value if isinstance(value, int | float) else None
