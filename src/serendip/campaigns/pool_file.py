"""The user's pool: referenced by path and contents, never copied into the log or written to."""

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from serendip.campaigns.candidates import Candidates, FolderCandidates, TableCandidates
from serendip.campaigns.errors import PoolChanged
from serendip.campaigns.log.events import FileRef
from serendip.campaigns.log.state import State
from serendip.campaigns.spec import Settings
from serendip.core.errors import InvalidInput
from serendip.core.progress import report
from serendip.core.text import checked_text
from serendip.models.registry import model_note
from serendip.problems.folders.manifest import MANIFEST, read_manifest
from serendip.tables import CURRENT, read_table
from serendip.tables.frames import data_frame

if TYPE_CHECKING:
    import pandas as pd

SNAPSHOTS = "serendip-pools"
"""Folder beside the store that keeps copies of pools."""

_READING = "reading the pool"
"""What is reported of a pool that is opened."""


def sha256_of(path: Path) -> str:
    """The hash of a file's contents; of a pool folder, its manifest, which pins all the rest."""
    file = path / MANIFEST if path.is_dir() else path
    try:
        with file.open("rb") as data:
            return hashlib.file_digest(data, "sha256").hexdigest()
    except OSError as problem:
        raise InvalidInput(f"{file} could not be read ({problem.strerror}).") from None


def reference(file: Path, folder: Path) -> FileRef:
    """A file by its path, its path from the store's folder, and its contents."""
    path = file.resolve()
    checked_text("The path of a file", str(path))
    try:
        near = os.path.relpath(path, folder.resolve())
    except ValueError:  # another drive
        near = str(path)
    return FileRef(str(path), Path(near).as_posix(), sha256_of(path))


def located(ref: FileRef, folder: Path) -> Path | None:
    """Where the file is, with the contents it should have; None where it is not."""
    for path in (folder / ref.near, Path(ref.path)):
        if _is_pool(path) and sha256_of(path) == ref.sha256:
            return path
    return None


def _is_pool(path: Path) -> bool:
    return path.is_file() or (path / MANIFEST).is_file()


def unchanged(ref: FileRef, folder: Path, what: str) -> Path:
    """Where the file is; an error that says what happened to it otherwise."""
    found = located(ref, folder)
    if found is not None:
        return found
    there = next((path for path in (folder / ref.near, Path(ref.path)) if _is_pool(path)), None)
    if there is None:
        raise PoolChanged(
            f"The {what} {ref.path} is gone; put it back, or say where it is with "
            "`serendip doctor NAME --pool FILE`."
        )
    raise PoolChanged(
        f"The {what} {there} is not what it was when the campaign began (its SHA-256 was "
        f"{ref.sha256[:12]}…); restore the old file, or begin a new campaign with the results so "
        "far as --prior-data."
    )


def load(
    pool: FileRef, snapshot: FileRef | None, folder: Path, settings: Settings, rules: int
) -> Candidates:
    """The candidates, from the pool or, where it changed, from its snapshot."""
    report(_READING)
    if snapshot is None or located(pool, folder) is not None:
        return read_candidates(unchanged(pool, folder, "pool"), settings, rules)
    frame = _read_snapshot(unchanged(snapshot, folder, "snapshot of the pool"))
    note = f"{pool.path} is gone or has changed; the snapshot of the pool is used instead."
    return TableCandidates.of(frame, settings.id, (note,), rules)


def read_candidates(path: Path, settings: Settings, rules: int = CURRENT) -> Candidates:
    """The candidates in a table, read by the rules that the campaign began with, or in a folder."""
    report(_READING)
    if path.is_dir():
        from serendip.problems.folders.opening import open_folder

        return FolderCandidates(open_folder(path))
    names = (settings.id, *settings.name_columns)
    frame = read_table(path, rules, names=names, labels=(settings.label,))
    return TableCandidates.of(frame, settings.id, rules=rules)


def model_on_disk(model: str, pool: FileRef, folder: Path) -> str:
    """Which model it is and why, on a pool on disk; empty for a table, and for what is gone."""
    if not any(path.is_dir() for path in (folder / pool.near, Path(pool.path))):
        return ""
    path = located(pool, folder)
    return "" if path is None else model_note(model, read_manifest(path).on_disk)


def keep_snapshot(frame: "pd.DataFrame", pool: FileRef, folder: Path) -> FileRef:
    """A Parquet copy of the pool beside the store, checked to be the same."""
    kept = _keep(frame, folder, "leave --snapshot out", f"{pool.sha256[:16]}.parquet")
    return reference(kept, folder)


def keep_table(table: object, folder: Path) -> Path:
    """A table in memory as a Parquet file beside the store, named by its contents."""
    frame = data_frame("The pool", table, "a table, such as a pandas DataFrame, or Settings")
    return _keep(frame.reset_index(drop=True), folder, "write the table to a file")


def _keep(frame: "pd.DataFrame", folder: Path, instead: str, name: str = "") -> Path:
    parts = folder / SNAPSHOTS
    part = parts / f"{uuid4().hex}.part"
    try:
        parts.mkdir(exist_ok=True)
        frame.to_parquet(part)
        same = _read_snapshot(part).equals(frame)
        file = parts / (name or f"{sha256_of(part)[:16]}.parquet")
        os.replace(part, file)
    except OSError as problem:
        raise InvalidInput(
            f"A copy of the pool could not be written to {parts} ({problem.strerror or problem})."
        ) from None
    except (ValueError, TypeError, ArithmeticError) as problem:  # what pyarrow raises
        said = str(problem).splitlines()[0]
        raise InvalidInput(
            f"The pool cannot be kept as Parquet ({said}); give every column one kind of value, "
            f"or {instead}."
        ) from None
    finally:
        part.unlink(missing_ok=True)
    if not same:
        raise InvalidInput(
            "The pool does not survive being kept as Parquet; give every column one kind of "
            f"value, or {instead}."
        )
    return file


def own_files(state: State, prior_data: Path | None, folder: Path) -> tuple[Path, ...]:
    """The files of the user that a campaign depends on."""
    refs = (state.created.pool, state.pool, state.created.edges)
    paths = [path for ref in refs if ref for path in (Path(ref.path), folder / ref.near)]
    return (*paths, prior_data) if prior_data is not None else tuple(paths)


def _read_snapshot(file: Path) -> "pd.DataFrame":
    import pandas as pd

    return pd.read_parquet(file)
