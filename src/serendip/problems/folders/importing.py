"""`serendip pool import` of tables: surveyed once, written once, continued where it was stopped."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from serendip.core.errors import InvalidInput
from serendip.problems.folders.columns import (
    Encodings,
    check_numbers,
    check_points,
    encodings_of,
    plain_encoding,
)
from serendip.problems.folders.finishing import Watch, finish, finished, plan_of, unseen
from serendip.problems.folders.manifest import DENSE, Manifest
from serendip.problems.folders.names import (
    INDEX,
    NAMES,
    STREAM_END,
    name_batch,
    stream_start,
    write_index,
)
from serendip.problems.folders.sources import (
    TABLES,
    CsvSource,
    Source,
    files_of,
    rows_at_once,
    source_of,
)
from serendip.problems.folders.survey import (
    ColumnSurvey,
    Where,
    fresh,
    grown,
    numbers_in,
    plain,
    revived,
)
from serendip.problems.folders.writing import Workplace, append, finish_npy, npy_header, workplace
from serendip.tables.columns import no_such_column

FEATURES, LABELS = "features.npy", "labels.npy"
DTYPES = ("float32", "float64", "float16")


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What is made of the columns of the tables."""

    id: str | None = None
    """The column that names the candidates."""
    label: str | None = None
    """A column of labels, kept beside the features; empty cells have none."""
    keep: tuple[str, ...] = ()
    """Columns that are shown beside the id in what campaigns propose."""
    features: tuple[str, ...] = ()
    """Columns to use; by default all but the id, the label and those ignored."""
    ignore: tuple[str, ...] = ()
    dtype: str = "float32"
    scaling: str = "standardise"
    """standardise, or none."""
    missing: str = "error"
    """What to do about empty cells: error or impute."""

    def __post_init__(self) -> None:
        for name, allowed in (
            ("dtype", DTYPES),
            ("scaling", ("standardise", "none")),
            ("missing", ("error", "impute")),
        ):
            if getattr(self, name) not in allowed:
                raise InvalidInput(
                    f"{name} must be {' or '.join(allowed)}; got {getattr(self, name)!r}."
                )
        if self.keep and self.id is None:
            raise InvalidInput("Columns to keep are shown beside the ids; name an id column, too.")


def import_tables(
    paths: Sequence[Path], out: Path, options: TableOptions, watch: Watch = unseen
) -> Manifest:
    """A pool folder from Parquet, CSV or .npy files.

    Columns become features by the rules of `encode_features`, in two passes over the files, so
    that memory does not grow with them. Stopped in any way, the same call continues.

    Args:
        paths: The files, or folders of them, all of one kind.
        out: The folder to make.
        options: What becomes of the columns.
        watch: Shows how far it is.
    """
    files = files_of(paths, TABLES)
    plan = plan_of("tables", files, asdict(options))
    done = finished(out, plan)
    if done is not None:
        return done
    sources = [source_of(path) for path in files]
    used = _Columns.of(sources, options)
    with workplace(out, plan) as place:
        surveys, rows = _surveyed(place, sources, used, watch)
        if any(isinstance(one, CsvSource) and one.separator != "," for one in sources):
            check_points(surveys)
        encodings = encodings_of(
            [one for one in surveys if one.name != options.label],
            options.missing == "impute",
            options.scaling == "standardise",
            files[0].suffix.lower() in (".csv", ".tsv"),
        )
        if options.label is not None:
            check_numbers(next(one for one in surveys if one.name == options.label))
        n = sum(rows)
        n_labels = _write(place, sources, used, encodings, n, watch)
        names = [FEATURES]
        finish_npy(out / FEATURES, options.dtype, (n, len(encodings.features)))
        if options.label is not None:
            names.append(LABELS)
            finish_npy(out / LABELS, "float64", (n,))
        if options.id is not None:
            names += [NAMES, *INDEX]
            with watch("sorting ids") as progress:
                write_index(out, _Rows(tuple(sources), tuple(rows)), progress)
        manifest = Manifest(
            kind=DENSE,
            n=n,
            d=len(encodings.features),
            dtype=options.dtype,
            features=encodings.features,
            encodings=tuple(plain_encoding(one) for one in encodings.columns),
            options=plan["options"],
            notes=encodings.notes,
            id=options.id,
            kept=options.keep,
            label=options.label,
            n_labels=n_labels,
            finite=True,
            sources=(),
            files=(),
        )
        return finish(place, manifest, names, plan, rows, watch)


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which columns are read, and what for."""

    features: tuple[str, ...]
    id: str | None
    label: str | None
    keep: tuple[str, ...]

    @classmethod
    def of(cls, sources: Sequence[Source], options: TableOptions) -> "_Columns":
        known = sources[0].columns
        for source in sources[1:]:
            for name in (*known, *source.columns):
                if (name in known) != (name in source.columns):
                    there, missing = (sources[0], source) if name in known else (source, sources[0])
                    raise InvalidInput(
                        f"{missing.path} has no column {name!r}, which {there.path} has; give all "
                        "files the same columns."
                    )
        asked = (options.id, options.label, *options.keep, *options.features, *options.ignore)
        unknown = next((one for one in asked if one is not None and one not in known), None)
        if unknown is not None:
            raise InvalidInput(no_such_column(unknown, known))
        left_out = {options.id, options.label, *options.ignore}
        chosen = dict.fromkeys(options.features or known)
        features = tuple(name for name in chosen if name not in left_out)
        if not features:
            raise InvalidInput("Every column is left out; keep at least one as a feature.")
        return cls(features, options.id, options.label, options.keep)

    @property
    def surveyed(self) -> tuple[str, ...]:
        return self.features if self.label is None else (*self.features, self.label)

    @property
    def written(self) -> tuple[str, ...]:
        shown = () if self.id is None else (self.id, *self.keep)
        return tuple(dict.fromkeys((*self.surveyed, *shown)))


@dataclass(frozen=True, slots=True)
class _Rows:
    """From a candidate to the row of a file."""

    sources: tuple[Source, ...]
    rows: tuple[int, ...]

    def __call__(self, item: int) -> str:
        ends = np.cumsum(self.rows)
        place = int(np.searchsorted(ends, item, side="right"))
        within = item - int(ends[place] - self.rows[place])
        return Where(str(self.sources[place].path), self.sources[place].first_row).row(within)


def _surveyed(
    place: Workplace, sources: Sequence[Source], used: _Columns, watch: Watch
) -> tuple[list[ColumnSurvey], list[int]]:
    """What every column holds, and how many rows each file has."""
    found = place.state.get("survey") or {
        "rows": [],
        "row": 0,
        "columns": [plain(fresh(name)) for name in used.surveyed],
    }
    surveys = [revived(one) for one in found["columns"]]
    rows, row = list(found["rows"]), int(found["row"])
    at_once = rows_at_once(len(used.surveyed))

    def keep() -> None:
        columns = [plain(one) for one in surveys]
        place.commit(survey={"rows": rows, "row": row, "columns": columns})

    with watch("looking at rows") as progress:
        while len(rows) < len(sources):
            source = sources[len(rows)]
            for table in source.tables(used.surveyed, row, at_once):
                where = Where(str(source.path), source.first_row + row)
                surveys = [grown(one, table.column(one.name), where) for one in surveys]
                row += table.num_rows
                progress(sum(rows) + row, None)
                if place.due:
                    keep()
            rows, row = [*rows, row], 0
        keep()
    if sum(rows) == 0:
        raise InvalidInput("The files have no rows; a pool needs at least one candidate.")
    return surveys, rows


def _write(
    place: Workplace,
    sources: Sequence[Source],
    used: _Columns,
    encodings: Encodings,
    n: int,
    watch: Watch,
) -> int:
    """Writes features, ids and labels; how many candidates have a label."""
    dtype = str(place.state["plan"]["options"]["dtype"])
    found = place.state.get("write") or {"file": 0, "row": 0, "rows": 0, "n_labels": 0}
    at, row, rows, n_labels = (int(found[key]) for key in ("file", "row", "rows", "n_labels"))
    features = place.open(FEATURES, npy_header(dtype, (n, len(encodings.features))))
    labels = None if used.label is None else place.open(LABELS, npy_header("float64", (n,)))
    shown = None if used.id is None else (used.id, *used.keep)
    stream = None if shown is None else place.open(NAMES, stream_start(shown))
    at_once = rows_at_once(len(encodings.features))
    is_open = at < len(sources)

    def keep() -> None:
        place.commit(write={"file": at, "row": row, "rows": rows, "n_labels": n_labels})

    with watch("writing rows") as progress:
        while at < len(sources):
            source = sources[at]
            for table in source.tables(used.written, row, at_once):
                where = Where(str(source.path), source.first_row + row)
                append(features, encodings.encoded(table, dtype, where))
                if labels is not None and used.label is not None:
                    values = numbers_in(table.column(used.label))
                    n_labels += int(np.isfinite(values).sum())
                    append(labels, values)
                if stream is not None and shown is not None:
                    stream.write(name_batch(table, shown, where))
                row, rows = row + table.num_rows, rows + table.num_rows
                progress(rows, n)
                if place.due:
                    keep()
            at, row = at + 1, 0
        if stream is not None and is_open:
            stream.write(STREAM_END)
        keep()
    return n_labels
