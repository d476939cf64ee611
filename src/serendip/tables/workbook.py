"""Workbooks, streamed: the cells of the first sheet as they are stored, and how they are shown.

Only cells that hold something are kept, so that a workbook takes memory by what is in it; what
would unpack to more than a table needs, or lies far outside one, is refused before that.
"""

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

from serendip.core.errors import InvalidInput
from serendip.tables.cells import reason
from serendip.tables.markup import elements, local

MOST_CELLS = 20_000_000
"""Most cells a table may have between its first and its last; more do not fit a spreadsheet's."""

MOST_COLUMNS, MOST_ROWS = 16384, 1 << 20
_MOST_KNOWN = 100_000
"""Texts that are compared, so that equal ones are kept once."""
_MOST_BYTES = 1 << 30
"""Most that a part of a workbook may unpack to."""
_MOST_TIMES = 250
"""Most that a part may unpack to beside its packed size, unless it is small; sheets come to 30."""
_SMALL = 1 << 24
_PLACE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_INTEGER = re.compile(r"-?[0-9]+")


@dataclass(frozen=True, slots=True)
class Cell:
    """What a workbook says of one cell."""

    value: Any
    """Text, a number, a truth value or a date."""
    shown_as: str = "General"
    """The number format."""


@dataclass(slots=True)
class Book:
    """What the cells of a sheet refer to."""

    texts: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    """The number format of each style."""
    from_1904: bool = False
    computes: bool = False
    """Whether formulas are to be computed on opening, so that stored results mean nothing."""


@contextmanager
def first_sheet(file: Path) -> Iterator[tuple[str, Iterator[tuple[int, dict[int, Cell]]]]]:
    """The name of the first sheet, and its rows: their numbers, and cells by column from 0."""
    try:
        with zipfile.ZipFile(file) as parts:
            _check_sizes(file, parts)
            title, sheet, book = _opened(file, parts)
            yield title, _rows(file, parts, sheet, book)
    except InvalidInput:
        raise
    except Exception as problem:  # broken in one of very many ways
        raise InvalidInput(
            f"{file.name} is not a readable .xlsx workbook ({reason(problem)}); "
            "open it in a spreadsheet and save it again as .xlsx or .csv."
        ) from None


def _check_sizes(file: Path, parts: zipfile.ZipFile) -> None:
    """Refuses parts that say they are larger than any table; none unpacks to more than it says."""
    if any(part.file_size > _MOST_BYTES for part in parts.infolist()):
        raise InvalidInput(
            f"{file.name} unpacks to more than {_MOST_BYTES >> 20} MB, the most that is read; "
            "save the table as .csv or .parquet, or leave out what is not needed."
        )
    for part in parts.infolist():
        if part.file_size > max(_SMALL, _MOST_TIMES * part.compress_size):
            raise InvalidInput(
                f"{file.name} unpacks to more than {_MOST_TIMES} times its size, which no table "
                "does; open it in a spreadsheet and save it again, or save the table as .csv."
            )


def _opened(file: Path, parts: zipfile.ZipFile) -> tuple[str, str, Book]:
    """The first sheet's title, where it lies, and what its cells refer to."""
    main = next(
        target for kind, _, target in _links(file, parts, "") if kind.endswith("/officeDocument")
    )
    book = Book()
    sheets: list[tuple[str, str]] = []
    for element in _elements(file, parts, main, ("sheet", "workbookPr", "calcPr")):
        match local(element.tag):
            case "sheet":
                link = next(v for key, v in element.attrib.items() if local(key) == "id")
                sheets.append((element.get("name", ""), link))
            case "workbookPr":
                book.from_1904 = _true(element.get("date1904"))
            case _:
                book.computes = _true(element.get("fullCalcOnLoad"))
    links = {link: (kind, target) for kind, link, target in _links(file, parts, main)}
    title, wanted = next(
        (name, links[link][1]) for name, link in sheets if links[link][0].endswith("/worksheet")
    )
    for kind, target in links.values():
        if kind.endswith("/sharedStrings"):
            book.texts = _texts(_elements(file, parts, target, ("si",)))
        elif kind.endswith("/styles"):
            book.formats = _formats(file, parts, target)
    return title, wanted, book


def _texts(found: Iterator[ElementTree.Element]) -> list[str]:
    """Shared texts; equal ones among the first are one."""
    known: dict[str, str] = {}
    texts = []
    for element in found:
        text = _text(element)
        texts.append(known.setdefault(text, text) if len(known) < _MOST_KNOWN else text)
    return texts


def _links(file: Path, parts: zipfile.ZipFile, of: str) -> Iterator[tuple[str, str, str]]:
    """Kind, id and target of what a part refers to."""
    folder = PurePosixPath(of).parent
    name = str(folder / "_rels" / f"{PurePosixPath(of).name}.rels")
    for element in _elements(file, parts, name, ("Relationship",)):
        target = element.get("Target", "")
        path = PurePosixPath(target[1:]) if target.startswith("/") else folder / target
        plain: list[str] = []
        for step in path.parts:
            plain = plain[:-1] if step == ".." else [*plain, step]
        yield element.get("Type", ""), element.get("Id", ""), "/".join(plain)


def _formats(file: Path, parts: zipfile.ZipFile, name: str) -> list[str]:
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    codes: dict[int, str] = dict(BUILTIN_FORMATS)
    found: list[str] = []
    for element in _elements(file, parts, name, ("numFmt", "cellXfs")):
        if local(element.tag) == "numFmt":
            codes[int(element.get("numFmtId", "0"))] = element.get("formatCode", "General")
        else:
            kinds = [int(style.get("numFmtId", "0")) for style in element]
            found = [codes.get(kind, "General") for kind in kinds]
    return found


def _elements(
    file: Path,
    parts: zipfile.ZipFile,
    name: str,
    wanted: tuple[str, ...],
    opened: tuple[str, ...] = (),
) -> Iterator[ElementTree.Element]:
    """The elements of a part, each forgotten once it was seen.

    Args:
        file: The workbook.
        parts: What is in it.
        name: Of the part.
        wanted: Elements that come whole, at their end.
        opened: Elements that come at their beginning, with nothing in them yet.
    """
    with parts.open(name) as data:
        yield from elements(file, data, wanted, opened, MOST_CELLS)


def _true(written: str | None) -> bool:
    return written in ("1", "true")


def _text(element: ElementTree.Element) -> str:
    """A text, in one piece or in several; how it is pronounced is left out."""
    spoken = {id(part) for kana in element if local(kana.tag) == "rPh" for part in kana.iter()}
    whole = "".join(
        part.text or ""
        for part in element.iter()
        if local(part.tag) == "t" and id(part) not in spoken
    )
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), whole)


def _rows(
    file: Path, parts: zipfile.ZipFile, sheet: str, book: Book
) -> Iterator[tuple[int, dict[int, Cell]]]:
    """Row numbers with the cells that hold something; a row without any is left out."""
    row, column, first, last, width = 0, -1, 0, 0, 0
    cells: dict[int, Cell] = {}
    for element in _elements(file, parts, sheet, ("c", "mergeCell"), ("row",)):
        tag = local(element.tag)
        if tag == "row":
            if cells:
                yield row, cells
            row, column, cells = _next_row(file, element.get("r"), row), -1, {}
        elif tag == "c":
            column = _column_of(file, element.get("r"), row, column)
            place = f"{letters(column)}{row}"
            if column >= MOST_COLUMNS:
                raise _far(file, place)
            cell = _cell(file, element, book, place)
            if cell is None:
                continue
            cells[column] = cell
            first, last, width = first or row, row, max(width, column + 1)
            if (row - first + 1) * width > MOST_CELLS:
                raise _far(file, place)
        else:
            _refuse_merged(file, element.get("ref", ""), first, last, width)
    if cells:
        yield row, cells


def _far(file: Path, place: str) -> InvalidInput:
    return InvalidInput(
        f"Cell {place} of {file.name} lies far outside the table; delete the rows and columns "
        "beyond the table, and save it again."
    )


def _next_row(file: Path, written: str | None, last: int) -> int:
    """The number of a row, which is below the one before it."""
    row = int(written) if written else last + 1
    if not last < row <= MOST_ROWS:
        raise InvalidInput(
            f"Row {row} of {file.name} comes after row {last}, which no spreadsheet writes; open "
            "it in a spreadsheet and save it again."
        )
    return row


def _column_of(file: Path, place: str | None, row: int, last: int) -> int:
    """The column of a cell, from 0, which is to the right of the one before it."""
    if place is None:
        return last + 1
    found = _PLACE.fullmatch(place)
    column = _number_of(found[1]) - 1 if found else -1
    if found is None or int(found[2]) != row or column <= last:
        raise InvalidInput(
            f"A cell of row {row} of {file.name} is called {place[:20]!r}, which no spreadsheet "
            "does; open it in a spreadsheet and save it again."
        )
    return column


def _number_of(name: str) -> int:
    """The number of a column: A is 1, Z 26, AA 27."""
    number = 0
    for letter in name:
        number = 26 * number + ord(letter) - 64
    return number


def letters(column: int) -> str:
    """What a spreadsheet calls a column, from 0: A, B, …, Z, AA."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def _cell(file: Path, element: ElementTree.Element, book: Book, place: str) -> Cell | None:
    """A cell; None where it holds nothing."""
    parts = {local(part.tag): part for part in element}
    kind = element.get("t", "n")
    written = parts["v"].text or "" if "v" in parts else ""
    if "f" in parts and (book.computes or (not written and kind != "str")):
        raise InvalidInput(
            f"Cell {place} of {file.name} holds a formula whose result was never computed; open "
            "the file in a spreadsheet and save it, or export it as CSV."
        )
    if kind == "inlineStr" or (not written and "is" in parts):
        return Cell(_text(parts["is"])) if "is" in parts else None
    if not written:
        return None
    if kind == "s":
        return Cell(book.texts[int(written)])
    if kind == "b":
        return Cell(written.strip() == "1")
    if kind != "n":
        return Cell(written)
    style = int(element.get("s") or 0)
    shown_as = book.formats[style] if style < len(book.formats) else "General"
    return Cell(_number(written.strip(), shown_as, book), shown_as)


def _number(written: str, shown_as: str, book: Book) -> object:
    from openpyxl.utils.datetime import CALENDAR_MAC_1904, CALENDAR_WINDOWS_1900, from_excel

    value = int(written) if _INTEGER.fullmatch(written) else float(written)
    is_date, is_duration = _times(shown_as)
    if not is_date:
        return value
    epoch = CALENDAR_MAC_1904 if book.from_1904 else CALENDAR_WINDOWS_1900
    return from_excel(value, epoch, timedelta=is_duration)


@lru_cache(maxsize=1000)
def _times(shown_as: str) -> tuple[bool, bool]:
    """Whether a number format shows a date or a time, and whether that is a duration."""
    from openpyxl.styles.numbers import is_date_format, is_timedelta_format

    return bool(is_date_format(shown_as)), bool(is_timedelta_format(shown_as))


def _refuse_merged(file: Path, ref: str, first: int, last: int, width: int) -> None:
    """Refuses merged cells below the header: whether all of them have the value, nobody can say."""
    ends = [_PLACE.fullmatch(end) for end in ref.replace("$", "").split(":")]
    if len(ends) != 2 or ends[0] is None or ends[1] is None:
        return
    top, bottom = (int(end[2]) for end in ends if end is not None)
    if first < bottom and top <= last and _number_of(ends[0][1]) <= width:
        raise InvalidInput(
            f"Cells {ref} of {file.name} are merged; unmerge them, and write in each cell what "
            "holds for it."
        )
