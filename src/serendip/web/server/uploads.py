"""Files that people send in: named safely, checked before they are unpacked, kept beside the store.

They are data: nothing in them is run, and a name chooses no place on the disk. A file waits in
`serendip-uploads` until a campaign begins with it, which moves it to `serendip-pools` for good.
"""

import hashlib
import os
import re
import secrets
import shutil
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from serendip.campaigns.pool_file import SNAPSHOTS
from serendip.core.errors import InvalidInput
from serendip.web.server.problems import Refused
from serendip.web.server.settings import MEGABYTE

WAITING = "serendip-uploads"
ENDINGS = (".csv", ".tsv", ".xlsx", ".parquet")

_ID = re.compile(r"[0-9a-f]{32}")
_ODD = re.compile(r"[^\w .+()-]+")
_CHUNK = 1 << 20
_WEEK = 7 * 24 * 3600.0
_MOST_PARTS = 2000
_MOST_CELLS = 20_000_000
_FORBIDDEN = (b"<!DOCTYPE", b"<!ENTITY")
_ROW = re.compile(rb"""\br\s*=\s*["'][A-Za-z]{0,3}([0-9]{1,7})["']""")
_COLUMN = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,3})[0-9]""")
_DISGUISED = re.compile(rb"""\br\s*=\s*["'][^"'<]{0,40}&""")
"""A place spelt with references to characters."""


def safe_name(name: str) -> str:
    """The file's own name without folders and signs; its ending must be that of a table."""
    own = re.split(r"[/\\]", name)[-1]
    stem, ending = os.path.splitext(own)
    if ending.lower() not in ENDINGS:
        raise InvalidInput(
            f"A table is a file ending in {', '.join(ENDINGS)}; got {own[:80]!r}. "
            "Save or export it in one of these formats."
        )
    plain = _ODD.sub("_", stem).strip(" .")[:80]
    return (plain or "table") + ending.lower()


@dataclass(frozen=True, slots=True)
class Uploads:
    """The files sent in for one store."""

    folder: Path
    """That of the store."""
    max_size: int

    def keep(self, name: str, data: BinaryIO, apart: bool = False) -> str:
        """Keeps a file; its id is the same for the same name and contents.

        Args:
            name: As its sender calls it.
            data: Its contents.
            apart: Whether it gets an id of its own all the same, so that forgetting it takes it
                from nobody else.
        """
        safe = safe_name(name)
        place = self.folder / WAITING
        try:
            place.mkdir(exist_ok=True)
            part = place / f".{os.getpid()}-{time.monotonic_ns()}.part"
            try:
                digest = hashlib.sha256(safe.encode() + b"\0")
                if apart:
                    digest.update(secrets.token_bytes(16))
                size = 0
                with part.open("xb") as out:
                    while chunk := data.read(_CHUNK):
                        size += len(chunk)
                        if size > self.max_size:
                            raise Refused(
                                413,
                                f"{safe} is larger than {self.max_size / MEGABYTE:g} MB, the most "
                                "that is taken; leave out columns or rows that are not needed.",
                            )
                        digest.update(chunk)
                        out.write(chunk)
                id = digest.hexdigest()[:32]
                (place / id).mkdir(exist_ok=True)
                os.replace(part, place / id / safe)
            finally:
                part.unlink(missing_ok=True)
        except OSError as problem:
            raise InvalidInput(
                f"{safe} could not be kept ({problem.strerror or problem}); free some space."
            ) from None
        return id

    def path(self, id: str) -> Path:
        """Where a kept file is."""
        if _ID.fullmatch(id):
            for place in (self.folder / WAITING / id, self.folder / SNAPSHOTS / id):
                found = sorted(place.glob("*")) if place.is_dir() else []
                if found:
                    return found[0]
        raise Refused(404, f"There is no table {id[:40]!r} any more; send the file in again.")

    def forget(self, id: str) -> None:
        """Removes a file that no campaign has begun with."""
        if _ID.fullmatch(id):
            shutil.rmtree(self.folder / WAITING / id, ignore_errors=True)

    def settled(self, path: Path) -> Path:
        """The same file where it stays as long as the campaign; made of a path of ours only."""
        id, home = path.parent.name, self.folder / SNAPSHOTS
        if path.parent.parent != self.folder / WAITING:
            return path
        target = home / id / path.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_name(f".{os.getpid()}-{time.monotonic_ns()}.part")
            shutil.copyfile(path, part)
            os.replace(part, target)
        except OSError as problem:
            raise InvalidInput(
                f"{target} could not be written ({problem.strerror or problem})."
            ) from None
        return target

    def tidy(self) -> None:
        """Removes what has waited for a week."""
        place = self.folder / WAITING
        for one in place.iterdir() if place.is_dir() else ():
            old = one.stat().st_mtime < time.time() - _WEEK
            if old and one.is_dir() and _ID.fullmatch(one.name):
                shutil.rmtree(one, ignore_errors=True)
            elif old and one.name.endswith(".part"):
                one.unlink(missing_ok=True)


def check_unpacked(file: Path, most: int) -> None:
    """Refuses a compressed file that would unpack to more than it should.

    Args:
        file: A table of any kind.
        most: Bytes.
    """
    ending = file.suffix.lower()
    if ending == ".xlsx":
        _check_workbook(file, most)
    elif ending == ".parquet":
        _check_parquet(file, most)
    else:
        with file.open("rb") as data:
            head = data.read(_CHUNK)
        width = max(head.split(b"\n", 1)[0].count(sep) for sep in (b",", b";", b"\t"))
        if width >= 16384:
            raise InvalidInput(
                f"{file.name} has more than 16384 columns; put one candidate in each row, not in "
                "each column."
            )


def _check_workbook(file: Path, most: int) -> None:
    """Declared sizes first, then the true ones, read in small pieces and thrown away."""
    try:
        with zipfile.ZipFile(file) as book:
            parts = book.infolist()
            if len(parts) > _MOST_PARTS or sum(part.file_size for part in parts) > most:
                raise _bomb(file, most)
            left = most
            for part in parts:
                with book.open(part) as data:
                    left -= _size_of_part(file, data, left)
                if left < 0:
                    raise _bomb(file, most)
    except InvalidInput:
        raise
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        raise InvalidInput(
            f"{file.name} is not a readable .xlsx workbook; open it in a spreadsheet and save it "
            "again as .xlsx or .csv."
        ) from None


def _size_of_part(file: Path, data: IO[bytes], most: int) -> int:
    """The bytes of a part, counted up to `most`; refuses what only an attacker writes."""
    size, tail, n_rows, width = 0, b"", 0, 0
    while (chunk := data.read(_CHUNK)) and size <= most:
        size += len(chunk)
        seen = tail + chunk
        if any(word in seen for word in _FORBIDDEN) or _DISGUISED.search(seen):
            raise InvalidInput(
                f"{file.name} defines names of its own, which no spreadsheet does; open it in a "
                "spreadsheet and save it again."
            )
        n_rows = max(n_rows, *map(int, set(_ROW.findall(seen))), 0)
        width = max(width, *map(_place_of, set(_COLUMN.findall(seen))), 0)
        if n_rows * width > _MOST_CELLS:
            raise InvalidInput(
                f"{file.name} has {n_rows} rows of {width} columns, too large to be read; there "
                "may be a stray cell far outside the table, so delete the rows and columns beyond "
                "it."
            )
        tail = chunk[-100:]
    return size


def _place_of(letters: bytes) -> int:
    """The number of a column: A is 1, Z 26, AA 27."""
    place = 0
    for letter in letters.upper():
        place = 26 * place + letter - 64
    return place


def _check_parquet(file: Path, most: int) -> None:
    import pyarrow
    import pyarrow.parquet

    try:
        about = pyarrow.parquet.ParquetFile(file).metadata
        groups = [about.row_group(place) for place in range(about.num_row_groups)]
        size = sum(group.total_byte_size for group in groups)
        cells = about.num_rows * about.num_columns
    except (pyarrow.ArrowException, OSError, ValueError):
        return  # read_table says what is wrong with it
    if size > most or cells > _MOST_CELLS or about.num_columns > 16384:
        raise _bomb(file, most)


def _bomb(file: Path, most: int) -> InvalidInput:
    return InvalidInput(
        f"{file.name} unpacks to more than {most / MEGABYTE:g} MB, the most that is taken; leave "
        "out columns or rows that are not needed."
    )
