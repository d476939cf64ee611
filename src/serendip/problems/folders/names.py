"""Names of candidates on disk: from a number to a name, and back by a sorted list of hashes.

The names are an Arrow stream of text columns. Beside it lie the hashes of all names, sorted, and
the rows they belong to: a name is found among a hundred million in a few steps, and whether two
candidates have the same name is seen when the hashes are sorted.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Ints
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.core.protocols import Names
from serendip.pools.storage.files import DataFile
from serendip.problems.folders.arrow import compute
from serendip.problems.folders.checksums import Progress, unwatched
from serendip.problems.folders.survey import Where, kind_of, texts_in

NAMES, HASHES, ROWS = "ids.arrows", "id_hashes.npy", "id_rows.npy"
INDEX = (HASHES, ROWS)
STREAM_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"

_SORTED_AT_ONCE = 1 << 22
_EXACT = 2.0**53
"""Whole floating-point numbers below this are all different."""
_BASE = np.uint64(0x9E3779B97F4A7C15)

Hashes = npt.NDArray[np.uint64]


def hashes_of(names: Any) -> Hashes:
    """A 64-bit hash of each string of an Arrow array, none of them empty or null.

    h = mix(Σᵢ (byteᵢ + 1)·Bⁱ mod 2⁶⁴), the same on every machine.
    """
    import pyarrow as pa

    plain = names.cast(pa.large_string())
    ends = np.frombuffer(plain.buffers()[1], dtype=np.int64)
    ends = ends[plain.offset : plain.offset + len(plain) + 1]
    starts, sizes = ends[:-1] - ends[0], np.diff(ends)
    text = np.frombuffer(plain.buffers()[2], dtype=np.uint8)[ends[0] : ends[-1]]
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(int(sizes.max(initial=1)), _BASE, dtype=np.uint64))
        place = np.arange(len(text)) - np.repeat(starts, sizes)
        weighted = (text.astype(np.uint64) + np.uint64(1)) * powers[place]
        mixed = np.add.reduceat(weighted, starts) if len(starts) else np.empty(0, dtype=np.uint64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


class NameList(Names, Protocol):
    """Names that can be looked up both ways, with what is shown beside them."""

    def place(self, name: str) -> int | None:
        """The candidate of this name; None where none is called so."""
        ...

    def beside(self, items: Ints) -> dict[str, list[str]]:
        """(len(items),) texts of each column that is shown beside the name."""
        ...


@dataclass(frozen=True, slots=True)
class StoredNames:
    """The names in a pool folder."""

    folder: Path
    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, item: int) -> str:
        return str(_stream(self.folder / NAMES).column(0)[int(item)].as_py())

    def place(self, name: str) -> int | None:
        """By its hash; where hashes agree, the names are compared."""
        import pyarrow as pa

        if not name:
            return None
        hashes, rows = _array(self.folder / HASHES), _array(self.folder / ROWS)
        (wanted,) = hashes_of(pa.array([name]))
        first, last = (
            int(np.searchsorted(hashes, wanted, side=side)) for side in ("left", "right")
        )
        found = [int(row) for row in rows[first:last]]
        return next((row for row in found if self[row] == name), None)

    def beside(self, items: Ints) -> dict[str, list[str]]:
        """The other columns of the stream."""
        table = _stream(self.folder / NAMES)
        return {
            name: [str(table.column(name)[item].as_py()) for item in items.tolist()]
            for name in table.column_names[1:]
        }


@dataclass(frozen=True, slots=True)
class NumberNames:
    """Candidates that are called by their number, from 0."""

    n: int

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, item: int) -> str:
        return str(range(self.n)[item])

    def place(self, name: str) -> int | None:
        """The number itself."""
        known = name.isascii() and name.isdigit() and len(name) < 20 and str(int(name)) == name
        return int(name) if known and int(name) < self.n else None

    def beside(self, items: Ints) -> dict[str, list[str]]:
        """Nothing."""
        return {}


def _stream(path: Path) -> Any:
    """The columns of an Arrow stream, which stay on disk."""
    return _opened(path, DataFile.of(path), stream=True)


def _array(path: Path) -> Any:
    """A .npy file, which stays on disk."""
    return _opened(path, DataFile.of(path), stream=False)


@lru_cache(maxsize=8)
def _opened(path: Path, now: DataFile, stream: bool) -> Any:
    """A file as it is now; another file of the same name is opened afresh."""
    import pyarrow as pa

    try:
        if stream:
            return pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
        return np.load(path, mmap_mode="r")
    except (pa.ArrowException, OSError, ValueError) as problem:
        said = (str(problem).splitlines() or [type(problem).__name__])[0].rstrip(".")
        raise DamagedPool(f"{path} could not be read ({said}); restore it.") from None


def stream_start(columns: Sequence[str]) -> bytes:
    """How a stream of names begins; the first column is the name itself."""
    import pyarrow as pa

    schema = pa.schema([(name, pa.string()) for name in columns])
    return bytes(schema.serialize())


def name_batch(table: Any, columns: Sequence[str], where: Where) -> bytes:
    """The names in a table, and the columns shown beside them, as a piece of the stream.

    Args:
        table: An Arrow table.
        columns: The id column, then the others.
        where: What to call its rows.
    """
    import pyarrow as pa

    pc = compute()
    _refuse_inexact(table.column(columns[0]), where)
    ids = _texts(table.column(columns[0]))
    gaps = pc.fill_null(pc.equal(ids, ""), True).to_numpy()
    if gaps.any():
        raise InvalidInput(
            f"Every candidate needs an id; column {columns[0]!r} has none in "
            f"{where.row(int(np.argmax(gaps)))}."
        )
    beside = [pc.fill_null(_texts(table.column(name)), "") for name in columns[1:]]
    arrays = [column.combine_chunks() for column in (ids, *beside)]
    return bytes(pa.record_batch(arrays, names=list(columns)).serialize())


def text_batch(texts: Sequence[Sequence[str]], columns: Sequence[str]) -> bytes:
    """Columns of texts as a piece of the stream."""
    import pyarrow as pa

    arrays = [pa.array(list(one), pa.string()) for one in texts]
    return bytes(pa.record_batch(arrays, names=list(columns)).serialize())


def read_texts(path: Path) -> list[str]:
    """The first column of a stream, all of it: for short ones."""
    return [str(text) for text in _stream(path).column(0).to_pylist()]


def _refuse_inexact(column: Any, where: Where) -> None:
    """Refuses ids that are floating-point numbers too large for their last digits."""
    import pyarrow as pa

    if pa.types.is_floating(column.type):
        values = column.to_numpy()
        wrong = np.flatnonzero(np.abs(values) >= _EXACT)
        if len(wrong):
            raise InvalidInput(
                f"The id {values[wrong[0]]:.0f} in {where.row(int(wrong[0]))} is a floating-point "
                "number that has lost its last digits; write ids as text or as whole numbers."
            )


def _texts(column: Any) -> Any:
    """A column as text; whole numbers without a point."""
    import pyarrow as pa

    if kind_of(column.type) == "other":
        return column.cast(pa.string())
    texts = texts_in(column)
    if not pa.types.is_floating(column.type):
        return texts
    values = column.to_numpy()
    whole = (values == np.trunc(values)) & (np.abs(values) < _EXACT)
    plain = pa.array(np.where(whole, values, 0.0).astype(np.int64)).cast(pa.string())
    return compute().if_else(pa.array(whole), plain, texts)


def write_index(folder: Path, locate: Callable[[int], str], progress: Progress = unwatched) -> None:
    """Sorts the hashes of all names; refuses names that stand there twice.

    Memory stays small: the hashes go to disk, and each turn sorts those in one range of values.

    Args:
        folder: Where the stream of names is.
        locate: What to call a row in a message.
        progress: Called with (rows done, rows in all).
    """
    table = _stream(folder / NAMES)
    n = len(table)
    scratch = folder / f"{HASHES}.part"
    unsorted: Any = np.lib.format.open_memmap(scratch, mode="w+", dtype=np.uint64, shape=(n,))
    start = 0
    for chunk in table.column(0).chunks:
        unsorted[start : start + len(chunk)] = hashes_of(chunk)
        start += len(chunk)
    hashes = _new(folder / HASHES, np.uint64, n)
    rows = _new(folder / ROWS, np.uint32 if n < 2**32 else np.int64, n)
    turns = -(-n // _SORTED_AT_ONCE)
    done = 0
    for turn in range(turns):
        low, high = (2**64 * edge // turns for edge in (turn, turn + 1))
        mine = _between(unsorted, low, high - 1)
        own = unsorted[mine]
        order = np.argsort(own, kind="stable")
        own, mine = own[order], mine[order]
        _refuse_repeats(table.column(0), own, mine, locate)
        hashes[done : done + len(own)], rows[done : done + len(own)] = own, mine
        done += len(own)
        progress(done, n)
    for array in (hashes, rows):
        array.flush()
    del unsorted, hashes, rows
    scratch.unlink()
    for name in (HASHES, ROWS):
        os.replace(folder / f"{name}.new", folder / name)


def _new(path: Path, dtype: npt.DTypeLike, n: int) -> Any:
    part = path.with_name(f"{path.name}.new")
    return np.lib.format.open_memmap(part, mode="w+", dtype=np.dtype(dtype), shape=(n,))


def _between(values: Hashes, low: int, high: int) -> Ints:
    """Where values lie in a range, looked for piece by piece."""
    found = [
        start + np.flatnonzero((part >= np.uint64(low)) & (part <= np.uint64(high)))
        for start in range(0, len(values), _SORTED_AT_ONCE)
        for part in (values[start : start + _SORTED_AT_ONCE],)
    ]
    return np.concatenate(found)


def _refuse_repeats(names: Any, hashes: Hashes, rows: Ints, locate: Callable[[int], str]) -> None:
    """Refuses two rows with the same name; different names may share a hash."""
    for place in np.flatnonzero(hashes[1:] == hashes[:-1]).tolist():
        alike = rows[hashes == hashes[place]].tolist()
        first: dict[str, int] = {}
        for row in alike:
            name = str(names[row].as_py())
            if name in first:
                raise InvalidInput(
                    f"Ids must be unique; {name!r} stands in {locate(first[name])} and in "
                    f"{locate(row)}. Rename or remove one of them."
                )
            first[name] = row
