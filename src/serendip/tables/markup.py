"""XML that strangers send in, streamed: only what is wanted is ever built, and no more than fits.

Memory goes by the largest element that is wanted, never by the file: tags that do not end, texts
and elements without bound, and names that a document defines for itself are refused.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat

from serendip.core.errors import InvalidInput

_CHUNK = 1 << 16
_LONGEST_TAG = 1 << 20
_LONGEST_TEXT = 1 << 22
"""Characters within one element that is wanted; a cell has at most 32,767."""
_MOST_PARTS = 500_000
"""Elements within one that is wanted."""
_DEEPEST = 100


def local(tag: str) -> str:
    """The name without its namespace."""
    return tag.rpartition("}")[2]


def elements(
    file: Path, data: IO[bytes], wanted: Collection[str], opened: Collection[str], most: int
) -> Iterator[ElementTree.Element]:
    """The elements of a document, one after the other.

    Args:
        file: What it is in, for messages.
        data: The document.
        wanted: Elements that come whole, at their end.
        opened: Elements that come at their beginning, with nothing in them.
        most: How many of those there may be.
    """
    stream, fed = _Stream(file, wanted, opened, most), 0
    while chunk := data.read(_CHUNK):
        fed += len(chunk)
        stream.parser.Parse(chunk, False)
        if fed - stream.parser.CurrentByteIndex > _LONGEST_TAG + _CHUNK:
            raise _strange(file, "a tag that does not end")
        yield from stream.found
        stream.found.clear()
    stream.parser.Parse(b"", True)
    yield from stream.found


class _Stream:
    """Builds the wanted elements of a document as it is fed."""

    def __init__(
        self, file: Path, wanted: Collection[str], opened: Collection[str], most: int
    ) -> None:
        self.found: list[ElementTree.Element] = []
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype
        self._file, self._wanted, self._opened, self._most = file, wanted, opened, most
        self._builder: ElementTree.TreeBuilder | None = None
        self._n_found, self._n_all, self._depth = 0, 0, 0
        self._inside, self._parts, self._length = 0, 0, 0
        """Of the element that is being built: depth, elements, characters."""

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        self._n_all += 1
        if self._depth > _DEEPEST:
            raise _strange(self._file, f"elements {_DEEPEST} deep")
        if self._builder is None:
            name = local(tag)
            whole = name in self._wanted
            self._n_found += whole or name in self._opened
            if self._n_found > self._most or self._n_all > 4 * self._most:
                raise InvalidInput(
                    f"{self._file.name} has more than {self._most:,} cells, too many for a "
                    "workbook; save the table as .csv or .parquet."
                )
            if name in self._opened:
                self.found.append(ElementTree.Element(tag, dict(attributes)))
            if not whole:
                return
            self._builder = ElementTree.TreeBuilder()
            self._parts, self._length = 0, 0
        self._inside += 1
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise _strange(self._file, "a cell of too many pieces")
        self._builder.start(tag, dict(attributes))

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if self._builder is None:
            return
        element = self._builder.end(tag)
        self._inside -= 1
        if not self._inside:
            self.found.append(element)
            self._builder = None

    def _text(self, text: str) -> None:
        if self._builder is None:
            return
        self._length += len(text)
        if self._length > _LONGEST_TEXT:
            raise _strange(self._file, "a text too long for any cell")
        self._builder.data(text)

    def _doctype(self, *_: object) -> None:
        raise _strange(self._file, "names of its own")


def _strange(file: Path, what: str) -> InvalidInput:
    return InvalidInput(
        f"{file.name} holds {what}, which no spreadsheet writes; open it in a spreadsheet and save "
        "it again."
    )
