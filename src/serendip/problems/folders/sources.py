"""The user's files, read piece by piece: Parquet, CSV and .npy, as Arrow tables."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from serendip.core.errors import InvalidInput, SerendipError
from serendip.pools.storage.files import DataFile
from serendip.pools.storage.layouts import npy_header
from serendip.problems.folders.arrow import compute
from serendip.tables.cells import MISSING, check_header, column_names, reason
from serendip.tables.delimited import separator_of

_CELLS = 1 << 22
"""Cells that are read at once: 32 MB of numbers."""
_CSV_BYTES = 8 << 20
_SAMPLE = 1 << 20


class Source(Protocol):
    """One file of candidates."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Their names, in the order of the file."""
        ...

    @property
    def first_row(self) -> int:
        """What the first row is called in messages: 2 below a header, 0 in an array."""
        ...

    def tables(self, columns: Sequence[str], skip: int, rows: int) -> Iterator[Any]:
        """Arrow tables of these columns, `rows` rows each but for the last, after `skip` rows."""
        ...


def rows_at_once(width: int) -> int:
    """How many rows of so many columns make a piece."""
    return max(256, min(1 << 16, _CELLS // max(1, width)))


def files_of(paths: Sequence[Path], endings: Sequence[str]) -> tuple[Path, ...]:
    """The files meant, folders replaced by what they hold, sorted; all with one ending."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                one
                for one in path.rglob("*")
                if one.suffix.lower() in endings and not one.name.startswith((".", "_"))
            )
            if not inside:
                raise InvalidInput(
                    f"{path} holds no file that ends in {', '.join(endings)}; give the files "
                    "themselves."
                )
            found += inside
        elif path.is_file():
            found.append(path)
        else:
            raise InvalidInput(f"There is no file {path}; check the path.")
    kinds = sorted({path.suffix.lower() for path in found})
    if len(kinds) != 1 or kinds[0] not in endings:
        raise InvalidInput(
            f"A pool is imported from files of one kind, {', '.join(endings)}; got "
            f"{', '.join(kinds) or 'none'}."
        )
    if len(set(found)) < len(found):
        raise InvalidInput("A file is given twice; give each file once.")
    return tuple(found)


def source_of(path: Path) -> Source:
    """A file of candidates, by its ending."""
    found: Source = _SOURCES[path.suffix.lower()](path)
    return found


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """What a reader makes of a broken file becomes a sentence."""
    import pyarrow as pa

    try:
        yield
    except SerendipError:
        raise
    except OSError as problem:  # the disk, not the file: work that was done is kept
        raise SerendipError(
            f"{path} could not be read ({problem.strerror or problem}); check the disk and its "
            "permissions, and run the same command again."
        ) from None
    except (pa.ArrowException, ValueError) as problem:
        said = reason(problem)
        more = " Save it as UTF-8." if "UTF8" in said else ""
        raise InvalidInput(
            f"{path} could not be read ({said}); correct it or write it again.{more}"
        ) from None


def _regrouped(batches: Iterator[Any], skip: int, rows: int) -> Iterator[Any]:
    """The same rows but for the first `skip`, in tables of `rows` rows."""
    import pyarrow as pa

    waiting: list[Any] = []
    count = 0
    for batch in batches:
        left = batch.slice(min(skip, batch.num_rows))
        skip -= batch.num_rows - left.num_rows
        if left.num_rows == 0:
            continue
        waiting.append(left)
        count += left.num_rows
        while count >= rows:
            table = pa.Table.from_batches(waiting)
            yield table.slice(0, rows)
            waiting, count = table.slice(rows).to_batches(), count - rows
    if count:
        yield pa.Table.from_batches(waiting)


@dataclass(frozen=True, slots=True)
class ParquetSource:
    """A .parquet file."""

    path: Path
    columns: tuple[str, ...]
    stored: tuple[str, ...]
    """The same names as the file has them."""
    first_row: int = 2

    @classmethod
    def of(cls, path: Path) -> "ParquetSource":
        """The columns of the file, its index left out."""
        import pyarrow.parquet as pq

        with _reading(path):
            names = pq.read_schema(path).names
        own = [str(name) for name in names if not str(name).startswith("__index_level_")]
        return cls(path, tuple(column_names(path, own)), tuple(own))

    def tables(self, columns: Sequence[str], skip: int, rows: int) -> Iterator[Any]:
        """Row groups that are skipped are not read."""
        import pyarrow.parquet as pq

        with _reading(self.path), pq.ParquetFile(self.path) as file:
            groups = [file.metadata.row_group(g).num_rows for g in range(file.num_row_groups)]
            first = 0
            while first < len(groups) and groups[first] <= skip:
                skip -= groups[first]
                first += 1
            wanted = list(range(first, len(groups)))
            own = dict(zip(self.columns, self.stored, strict=True))
            names = [own[name] for name in columns]
            for table in _regrouped(file.iter_batches(rows, wanted, names), skip, rows):
                yield table.select(names).rename_columns(list(columns))


@dataclass(frozen=True, slots=True)
class CsvSource:
    """A .csv or .tsv file in UTF-8; every cell is read as text."""

    path: Path
    columns: tuple[str, ...]
    separator: str
    header_lines: int
    first_row: int = 2

    @classmethod
    def of(cls, path: Path) -> "CsvSource":
        """Separator and header, from the beginning of the file."""
        with _reading(path), path.open("rb") as data:
            sample = data.read(_SAMPLE).removeprefix(b"\xef\xbb\xbf")
        if not sample.strip():
            raise InvalidInput(f"{path.name} is empty; it needs a header row and rows below it.")
        separator, rest = separator_of(path, sample)
        lines = rest.decode("utf-8", errors="replace").splitlines(keepends=True)
        reader = csv.reader(lines, delimiter=separator)
        header = next((row for row in reader if any(cell.strip() for cell in row)), [])
        check_header(path, header)
        skipped = reader.line_num + (len(rest) < len(sample))
        return cls(path, tuple(column_names(path, header)), separator, skipped)

    def tables(self, columns: Sequence[str], skip: int, rows: int) -> Iterator[Any]:
        """Rows are skipped by reading them: a text file has no other way in."""
        import pyarrow as pa
        from pyarrow import csv as reader

        text = dict.fromkeys(self.columns, pa.string())
        with (
            _reading(self.path),
            reader.open_csv(
                self.path,
                reader.ReadOptions(
                    column_names=list(self.columns),
                    skip_rows=self.header_lines,
                    block_size=_CSV_BYTES,
                ),
                reader.ParseOptions(delimiter=self.separator, newlines_in_values=True),
                reader.ConvertOptions(column_types=text),
            ) as batches,
        ):
            cells = (_cells(batch).select(columns) for batch in batches)
            yield from _regrouped(cells, skip, rows)


def _cells(batch: Any) -> Any:
    """Text without the blanks around it; what is then a missing mark has no value."""
    import pyarrow as pa

    pc = compute()
    marks = pa.array(MISSING)
    columns = []
    for column in batch.columns:
        text = pc.utf8_trim_whitespace(column)
        columns.append(pc.if_else(pc.is_in(text, marks), pa.scalar(None, pa.string()), text))
    whole = pa.RecordBatch.from_arrays(columns, names=batch.schema.names)
    blank = np.logical_and.reduce([column.is_null().to_numpy(False) for column in columns])
    return whole.filter(pa.array(~blank)) if blank.any() else whole


@dataclass(frozen=True, slots=True)
class NpySource:
    """A .npy file of numbers; its columns are called x0, x1, …"""

    path: Path
    columns: tuple[str, ...]
    first_row: int = 0

    @classmethod
    def of(cls, path: Path) -> "NpySource":
        """One column for each of the array."""
        header = npy_header(DataFile.of(path))
        if len(header.shape) != 2 or header.dtype.kind not in "fiub":
            raise InvalidInput(
                f"A pool needs rows and columns of numbers; {path.name} holds {header.dtype} of "
                f"shape {header.shape}."
            )
        return cls(path, tuple(f"x{place}" for place in range(header.shape[1])))

    def tables(self, columns: Sequence[str], skip: int, rows: int) -> Iterator[Any]:
        """Pieces of the array, copied from the file one at a time."""
        import pyarrow as pa

        places = [self.columns.index(name) for name in columns]
        with _reading(self.path):
            whole = np.load(self.path, mmap_mode="r")
            native = whole.dtype.newbyteorder("=")
            for start in range(skip, len(whole), rows):
                x = whole[start : start + rows].astype(native)
                yield pa.table([pa.array(x[:, place]) for place in places], names=list(columns))


_SOURCES: dict[str, Any] = {
    ".parquet": ParquetSource.of,
    ".csv": CsvSource.of,
    ".tsv": CsvSource.of,
    ".npy": NpySource.of,
}
TABLES = tuple(_SOURCES)
"""Endings of files that tables are imported from."""
