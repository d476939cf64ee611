"""A pool folder opened: its pool, the names of its candidates, the labels it came with."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from serendip.core.arguments import instance
from serendip.core.arrays import Floats
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.pools.storage.fingerprints import fingerprint_rows
from serendip.pools.storage.mapped import mapped_rows
from serendip.pools.streamed import Rows, StreamedPool
from serendip.problems.folders.checksums import Progress, check_files, unwatched
from serendip.problems.folders.importing import FEATURES, LABELS
from serendip.problems.folders.manifest import DENSE, FINGERPRINTS, Manifest, read_manifest
from serendip.problems.folders.molecules import BITS, COUNTS, MARKS
from serendip.problems.folders.names import NameList, NumberNames, StoredNames
from serendip.problems.folders.products import ProductNames, product_rows


@dataclass(frozen=True, slots=True, eq=False)
class PoolFolder:
    """A pool on disk."""

    path: Path
    manifest: Manifest
    pool: StreamedPool
    names: NameList

    def labels(self) -> Floats:
        """(n,) the labels the pool came with, not-a-number where there is none."""
        if self.manifest.label is None:
            raise InvalidInput(
                f"{self.path} has no labels; import it again with --label to keep a column of them."
            )
        return np.asarray(np.load(self.path / LABELS))


def open_folder(
    path: str | Path, verify: bool = False, progress: Progress = unwatched
) -> PoolFolder:
    """The pool in a folder that `serendip pool` made, once its files are known to be right.

    Args:
        path: The folder.
        verify: Compare all checksums, even of files that have not been touched since they were
            compared last.
        progress: Called with (megabytes checked, megabytes in all).
    """
    instance("path", path, (str, Path), "the path of a folder")
    folder = Path(path).resolve()
    manifest = read_manifest(folder)
    check_files(folder, manifest, verify, progress)
    rows = _rows(folder, manifest)
    if (len(rows), rows.width) != (manifest.n, manifest.d):
        raise DamagedPool(
            f"{folder} holds {len(rows)} rows of {rows.width} features where its manifest says "
            f"{manifest.n} of {manifest.d}; restore it, or import the pool again."
        )
    names = _names(folder, manifest)
    return PoolFolder(folder, manifest, StreamedPool(rows, names), names)


def _rows(folder: Path, manifest: Manifest) -> Rows:
    if manifest.kind == DENSE:
        return mapped_rows(folder / FEATURES)
    if manifest.kind == FINGERPRINTS:
        options = manifest.encodings[0]
        bits, counts, marks = (folder / name for name in (BITS, COUNTS, MARKS))
        return fingerprint_rows(bits, counts, marks, int(options["bits"]), float(options["scale"]))
    return product_rows(folder, manifest)


def _names(folder: Path, manifest: Manifest) -> NameList:
    if manifest.kind not in (DENSE, FINGERPRINTS):
        return ProductNames.of(folder, manifest)
    return NumberNames(manifest.n) if manifest.id is None else StoredNames(folder, manifest.n)
