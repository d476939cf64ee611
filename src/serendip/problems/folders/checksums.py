"""Whether the files of a folder are what they were: sizes always, contents when they may differ."""

import hashlib
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from serendip.core.errors import DamagedPool
from serendip.core.threads import n_threads
from serendip.problems.folders.manifest import Manifest, StoredFile

CHUNK = 16 << 20
"""Bytes that one checksum is for."""

STAMP = ".checked"
"""Remembers which files were found right, by size and times; it may be deleted."""

Progress = Callable[[int, int | None], None]
"""Called with what is done and what there is in all, where that is known."""


def unwatched(done: int, total: int | None) -> None:
    """Progress that nobody looks at."""


def stored(
    folder: Path, names: Sequence[str], progress: Progress = unwatched
) -> tuple[StoredFile, ...]:
    """Files of a folder with their checksums."""
    sizes = [(folder / name).stat().st_size for name in names]
    sums = _sums(folder, list(zip(names, sizes, strict=True)), progress)
    return tuple(
        StoredFile(name, size, tuple(found))
        for name, size, found in zip(names, sizes, sums, strict=True)
    )


def check_files(
    folder: Path, manifest: Manifest, everything: bool = False, progress: Progress = unwatched
) -> None:
    """Refuses a folder whose files are not what the manifest says.

    Sizes are compared always. Contents are compared when size or times of a file are not those of
    the last time that all was well, so that a change is found on opening, and opening is quick.

    Args:
        folder: The pool folder.
        manifest: What should be in it.
        everything: Compare the contents in any case.
        progress: Called with (megabytes done, megabytes in all).
    """
    stamps = {}
    for file in manifest.files:
        path = folder / file.name
        try:
            found = path.stat()
        except OSError:
            raise DamagedPool(f"{path} is gone; restore it, or import the pool again.") from None
        if found.st_size != file.size:
            raise DamagedPool(
                f"{path} has {found.st_size} bytes where there should be {file.size}; restore it, "
                "or import the pool again."
            )
        stamps[file.name] = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    seen = {"files": stamps, "checksums": _digest(manifest)}
    if not everything and _stamp(folder) == seen:
        return
    sums = _sums(folder, [(file.name, file.size) for file in manifest.files], progress)
    for file, own in zip(manifest.files, sums, strict=True):
        for place, (now, then) in enumerate(zip(own, file.checksums, strict=True)):
            if now != then:
                first, last = place * CHUNK, min((place + 1) * CHUNK, file.size) - 1
                raise DamagedPool(
                    f"{folder / file.name} is damaged or was changed, somewhere in bytes {first} "
                    f"to {last}; restore it, or import the pool again."
                )
    with suppress(OSError):  # a folder that may not be written is checked in full every time
        (folder / STAMP).write_text(json.dumps(seen), encoding="utf-8")


def _stamp(folder: Path) -> object:
    try:
        return json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _digest(manifest: Manifest) -> str:
    text = "".join(one for file in manifest.files for one in file.checksums)
    return hashlib.sha256(text.encode()).hexdigest()


def _sums(folder: Path, files: Sequence[tuple[str, int]], progress: Progress) -> list[list[str]]:
    """The checksums of every file, on all cores."""
    tasks = [(folder / name, start) for name, size in files for start in range(0, size, CHUNK)]
    with ThreadPoolExecutor(n_threads()) as threads:
        found = []
        for digest in threads.map(_sum, tasks):
            found.append(digest)
            progress(len(found) * CHUNK >> 20, len(tasks) * CHUNK >> 20)
    parts = iter(found)
    return [[next(parts) for _ in range(0, size, CHUNK)] for _, size in files]


def _sum(task: tuple[Path, int]) -> str:
    path, start = task
    with path.open("rb") as data:
        data.seek(start)
        return hashlib.sha256(data.read(CHUNK)).hexdigest()
