"""How every import begins and ends: the plan it may continue, the checksums, the manifest."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from serendip.core.errors import InvalidInput
from serendip.problems.folders.checksums import Progress, stored, unwatched
from serendip.problems.folders.manifest import (
    MANIFEST,
    UNFINISHED,
    Manifest,
    SourceFile,
    read_manifest,
)
from serendip.problems.folders.manifest import written as manifest_text
from serendip.problems.folders.writing import Workplace, replaced

Watch = Callable[[str], AbstractContextManager[Progress]]
"""Given a title, a context whose value is called with (done, in all)."""


@contextmanager
def unseen(title: str) -> Iterator[Progress]:
    """Progress that nobody looks at."""
    yield unwatched


def plan_of(kind: str, files: Sequence[Path], options: Mapping[str, Any]) -> dict[str, Any]:
    """What an import is about; one that was stopped goes on only with the same."""
    sources = []
    for path in files:
        found = path.stat()
        sources.append([str(path.resolve()), found.st_size, found.st_mtime_ns])
    plan = {"kind": kind, "options": dict(options), "sources": sources}
    plain: dict[str, Any] = json.loads(json.dumps(plan))
    return plain


def finished(folder: Path, plan: Mapping[str, Any]) -> Manifest | None:
    """The pool in a folder that this very plan has made; None where there is none yet."""
    if not (folder / MANIFEST).exists():
        return None
    manifest = read_manifest(folder)
    made = [[one.path, one.size, one.mtime_ns] for one in manifest.sources]
    if (made, dict(manifest.options)) != (plan["sources"], plan["options"]):
        raise InvalidInput(
            f"{folder} holds a pool already, of other files or with other options; name another "
            "folder."
        )
    (folder / UNFINISHED).unlink(missing_ok=True)
    return manifest


def finish(
    place: Workplace,
    manifest: Manifest,
    names: Sequence[str],
    plan: Mapping[str, Any],
    rows: Sequence[int],
    watch: Watch,
) -> Manifest:
    """Writes the manifest of a folder whose files are complete.

    Args:
        place: Where the work was done.
        manifest: All but files and sources.
        names: The files of the folder.
        plan: Of the import.
        rows: How many candidates each source has.
        watch: Shows how far it is.
    """
    folder = place.folder
    place.close()
    with watch("checksums, MB") as progress:
        files = stored(folder, names, progress)
    sources = []
    with watch("checksums of the sources, MB") as progress:
        total = sum(size for _, size, _ in plan["sources"]) >> 20
        done = 0
        for (path, size, mtime_ns), count in zip(plan["sources"], rows, strict=True):
            found = Path(path).stat()
            if (found.st_size, found.st_mtime_ns) != (size, mtime_ns):
                raise InvalidInput(
                    f"{path} changed while it was imported; remove {folder} and begin again."
                )
            with Path(path).open("rb") as data:
                digest = hashlib.file_digest(data, "sha256").hexdigest()
            sources.append(SourceFile(path, size, mtime_ns, digest, count))
            done += size
            progress(done >> 20, total)
    whole = replace(manifest, files=files, sources=tuple(sources))
    replaced(folder / MANIFEST, manifest_text(whole))
    (folder / UNFINISHED).unlink()
    return read_manifest(folder)
