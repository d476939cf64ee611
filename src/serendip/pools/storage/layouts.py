"""Where the numbers of a pool lie in a file: the headers of .npy and Arrow IPC."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from serendip.core.errors import DamagedPool, InvalidInput
from serendip.pools.storage.files import DataFile


@dataclass(frozen=True, slots=True)
class Strip:
    """Consecutive rows that are stored together."""

    first: int
    count: int
    offsets: tuple[int, ...]
    """Where in the file the first row begins; where rows are stored by columns, each column."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A table of numbers in a file."""

    width: int
    """d"""
    dtype: np.dtype[np.floating]
    strips: tuple[Strip, ...]
    """By increasing first row, without gaps."""

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self.strips[-1].first + self.strips[-1].count if self.strips else 0

    @property
    def by_rows(self) -> bool:
        """Whether the numbers of a row stand together."""
        return len(self.strips[0].offsets) == 1


@dataclass(frozen=True, slots=True)
class Header:
    """What the first bytes of a .npy file say."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_rows: bool
    offset: int
    """Where the numbers begin."""


def npy_header(file: DataFile) -> Header:
    """The header of a .npy file, whose size must be what it promises."""
    path = file.path
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        header = Header(array.shape, array.dtype, bool(array.flags.c_contiguous), int(array.offset))
        size = header.offset + array.nbytes
        del array
    except (ValueError, OSError, EOFError) as problem:
        raise _no_such_file(path, ".npy", problem) from None
    if file.size != size:
        raise DamagedPool(
            f"{path} has {file.size} bytes where its header promises {size}; restore the file."
        )
    return header


def npy_layout(file: DataFile) -> Layout:
    """Where the rows of a .npy file lie."""
    header = npy_header(file)
    dtype = _checked_type(header.dtype, file.path)
    if len(header.shape) != 2:
        raise InvalidInput(
            f"A pool needs a table with rows and columns; {file.path.name} has shape "
            f"{header.shape}."
        )
    n, width = header.shape
    starts = (0,) if header.by_rows else range(0, width * n * dtype.itemsize, n * dtype.itemsize)
    offsets = tuple(header.offset + start for start in starts)
    return Layout(width, dtype, (Strip(0, n, offsets),))


def arrow_layout(file: DataFile) -> Layout:
    """Where the record batches of an Arrow IPC file lie: columns of numbers, or one of lists."""
    import pyarrow as pa

    path = file.path
    try:
        with pa.memory_map(str(path)) as mapped:
            whole = mapped.read_buffer()
            reader = pa.ipc.open_file(pa.BufferReader(whole))
            width, dtype = _columns(reader.schema, path)
            strips: list[Strip] = []
            first = 0
            for place in range(reader.num_record_batches):
                batch = reader.get_batch(place)
                if batch.num_rows == 0:
                    continue
                offsets = tuple(
                    _offset(column, whole, dtype, path, first) for column in batch.columns
                )
                strips.append(Strip(first, batch.num_rows, offsets))
                first += batch.num_rows
    except (pa.ArrowException, OSError) as problem:
        raise _no_such_file(path, "Arrow IPC", problem) from None
    return Layout(width, dtype, tuple(strips))


def _columns(schema: Any, path: Path) -> tuple[int, np.dtype[np.floating]]:
    """How many numbers a row has, and of which type."""
    import pyarrow as pa

    kinds = {field.type for field in schema}
    if len(kinds) != 1:
        raise InvalidInput(
            f"All columns of a pool have one type; {path.name} has "
            f"{', '.join(sorted(map(str, kinds))) or 'no columns'}. Import it with "
            "`serendip pool import`."
        )
    kind = kinds.pop()
    if pa.types.is_fixed_size_list(kind) and len(schema) == 1:
        return kind.list_size, _checked_type(_numpy_type(kind.value_type), path)
    return len(schema), _checked_type(_numpy_type(kind), path)


def _numpy_type(kind: Any) -> Any:
    import pyarrow as pa

    return kind.to_pandas_dtype() if pa.types.is_floating(kind) else str(kind)


def _offset(column: Any, whole: Any, dtype: np.dtype[np.floating], path: Path, first: int) -> int:
    """Where in the file the numbers of a column begin."""
    values = column.flatten() if column.type.num_fields else column
    if column.null_count or values.null_count:
        gap = column if column.null_count else values
        place = int(np.flatnonzero(gap.is_null().to_numpy(zero_copy_only=False))[0])
        per_row = max(1, len(gap) // len(column))
        raise InvalidInput(
            f"Pool features must be finite; row {first + place // per_row} of {path.name} has no "
            "value. Fill or drop such rows."
        )
    start = values.buffers()[-1].address - whole.address
    if not 0 <= start < whole.size:
        raise InvalidInput(
            f"{path.name} is compressed, and a pool is read in place; write it without compression."
        )
    return int(start + values.offset * dtype.itemsize)


def _checked_type(kind: Any, path: Path) -> np.dtype[np.floating]:
    found: np.dtype[Any] = np.dtype(object) if isinstance(kind, str) else np.dtype(kind)
    if found.kind != "f" or found.itemsize not in (2, 4, 8):
        raise InvalidInput(
            f"A pool on disk holds float16, float32 or float64; {path.name} holds {kind}. "
            "Convert it, or import it with `serendip pool import`."
        )
    return found


def _no_such_file(path: Path, kind: str, problem: Exception) -> DamagedPool:
    said = (str(problem).splitlines() or [type(problem).__name__])[0].rstrip(".")
    return DamagedPool(
        f"{path} is not a whole {kind} file ({said}); restore it, or write it again."
    )
