"""What a pool folder says of itself: one JSON file, written last and checked first."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from serendip.core.errors import DamagedPool, InvalidInput
from serendip.models.registry import OnDisk

MANIFEST = "manifest.json"
SCHEMA = 1
"""Version of the JSON below; raised when a field changes its meaning."""

DENSE, FINGERPRINTS, PRODUCT = "dense", "fingerprints", "product"

UNFINISHED = "import.json"
"""How far an import has come; gone once it is finished."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the folder and what is in it."""

    name: str
    size: int
    checksums: tuple[str, ...]
    """SHA-256 of each 16 MiB, in hexadecimal."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the user that the pool was made from."""

    path: str
    size: int
    mtime_ns: int
    sha256: str
    rows: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """All there is to know of a pool folder but its rows."""

    kind: str
    """dense, fingerprints or product."""
    n: int
    d: int
    """Features, the constant included."""
    dtype: str
    features: tuple[str, ...]
    """(d,) names; `column=level` for a level of a text column. Bits are named by one entry."""
    encodings: tuple[Mapping[str, Any], ...]
    """What was done to each column of the sources."""
    options: Mapping[str, Any]
    """What was asked for when the pool was made."""
    notes: tuple[str, ...]
    id: str | None
    """The column that names the candidates; None where they are called by their number."""
    kept: tuple[str, ...]
    """Columns of the sources that are shown beside the id."""
    label: str | None
    """The column whose labels are kept, if any."""
    n_labels: int
    """Candidates that have one."""
    finite: bool
    """Whether every number was found to be finite when it was written."""
    sources: tuple[SourceFile, ...]
    files: tuple[StoredFile, ...]

    @property
    def on_disk(self) -> OnDisk:
        """What says which model fits."""
        return OnDisk(self.n, self.kind == FINGERPRINTS)

    def file(self, name: str) -> StoredFile | None:
        """A file of the folder by its name."""
        return next((one for one in self.files if one.name == name), None)


def written(manifest: Manifest) -> str:
    """The manifest as JSON, with a checksum of itself; the same text for the same pool."""
    body: dict[str, Any] = {"format": "serendip pool", "schema": SCHEMA, **asdict(manifest)}
    return json.dumps({**body, "sha256": _checksum(body)}, indent=1, ensure_ascii=False) + "\n"


def _checksum(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def is_pool_folder(path: Path) -> bool:
    """Whether this is a folder made by `serendip pool`, finished or not."""
    return any((path / name).is_file() for name in (MANIFEST, UNFINISHED))


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder, once it is known to be whole."""
    file = folder / MANIFEST
    if not file.is_file():
        if (folder / UNFINISHED).is_file():
            raise InvalidInput(
                f"The import into {folder} is not finished; run the same `serendip pool import` "
                "again, and it continues where it was."
            )
        raise InvalidInput(
            f"{folder} is no pool folder: it has no {MANIFEST}. Make one with "
            "`serendip pool import`."
        )
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
        told = body.pop("sha256")
        if body["format"] != "serendip pool":
            raise KeyError("format")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise DamagedPool(f"{file} is damaged; restore it, or import the pool again.") from None
    if body["schema"] != SCHEMA:
        raise InvalidInput(
            f"{file} has schema {body['schema']!r}, and this version of serendip knows {SCHEMA}; "
            "upgrade serendip, or import the pool again."
        )
    if told != _checksum(body):
        raise DamagedPool(
            f"{file} was changed after it was written: its checksum does not fit. Restore it, or "
            "import the pool again."
        )
    try:
        return _revived(body)
    except (KeyError, TypeError):
        raise DamagedPool(f"{file} lacks a part of it; import the pool again.") from None


def _revived(body: Mapping[str, Any]) -> Manifest:
    values: dict[str, Any] = {}
    for field in fields(Manifest):
        value = body[field.name]
        values[field.name] = tuple(value) if isinstance(value, list) else value
    values["files"] = tuple(
        StoredFile(one["name"], one["size"], tuple(one["checksums"])) for one in body["files"]
    )
    values["sources"] = tuple(SourceFile(**one) for one in body["sources"])
    return Manifest(**values)
