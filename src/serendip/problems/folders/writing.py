"""Files that grow row by row and survive being killed: what was committed is kept, the rest cut.

A commit forces the data to the disk first and then writes down, in one step, how far every file
has come. Whoever continues cuts the files back to that, so that the end result does not depend on
how often the work was interrupted.
"""

import io
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from serendip.core.arrays import Array
from serendip.core.errors import InvalidInput, SerendipError
from serendip.problems.folders.manifest import MANIFEST, UNFINISHED

HEADER = 128
"""Bytes before the data of every .npy file we write."""

_LOCK = ".importing"
_COMMIT_SECONDS = 2.0


def replaced(file: Path, text: str) -> None:
    """Writes a file in whole or not at all."""
    part = file.with_name(f"{file.name}.part")
    with part.open("w", encoding="utf-8") as data:
        data.write(text)
        data.flush()
        os.fsync(data.fileno())
    os.replace(part, file)


@dataclass(slots=True)
class Workplace:
    """A folder in which an import is under way."""

    folder: Path
    state: dict[str, Any]
    """How far the work has come, as it was last committed: plain JSON."""
    files: dict[str, BinaryIO] = field(default_factory=dict)
    committed: float = field(default_factory=time.monotonic)

    @property
    def due(self) -> bool:
        """Whether it is time to commit again."""
        return time.monotonic() - self.committed > _COMMIT_SECONDS

    def commit(self, **news: Any) -> None:
        """Keeps all that was written so far, and these values."""
        sizes = dict(self.state.get("sizes", {}))
        for name, file in self.files.items():
            file.flush()
            os.fsync(file.fileno())
            sizes[name] = file.tell()
        self.state |= {**news, "sizes": sizes}
        replaced(self.folder / UNFINISHED, json.dumps(self.state))
        self.committed = time.monotonic()

    def open(self, name: str, start: bytes = b"") -> BinaryIO:
        """A file to append to, cut back to what was committed; `start` is how a new one begins."""
        if name not in self.files:
            size = self.state.get("sizes", {}).get(name, 0)
            path = self.folder / name
            file = path.open("r+b" if path.exists() else "w+b")
            if size == 0:
                file.truncate(0)
                file.write(start)
            else:
                file.truncate(size)
                file.seek(size)
            self.files[name] = file
        return self.files[name]

    def close(self) -> None:
        """Lets go of all files."""
        for file in self.files.values():
            file.close()
        self.files.clear()

    def clear(self) -> None:
        """Removes what was written, and nothing that somebody else put there."""
        self.close()
        for path in self.folder.iterdir():
            if path.suffix in (".npy", ".arrows", ".part", ".new") or path.name == UNFINISHED:
                path.unlink()


@contextmanager
def workplace(folder: Path, plan: Mapping[str, Any]) -> Iterator[Workplace]:
    """The folder to work in, for one at a time, as far as the last attempt has come.

    Args:
        folder: New, empty, or left by an attempt with the same plan.
        plan: What is to be done, as plain JSON; another plan may not go on with the work.
    """
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder for the pool.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InvalidInput(f"{folder} could not be made ({problem.strerror}).") from None
    with _alone(folder):
        own = (MANIFEST, UNFINISHED, _LOCK, f"{UNFINISHED}.part")
        if not (folder / UNFINISHED).exists() and any(
            path.name not in own for path in folder.iterdir()
        ):
            raise InvalidInput(
                f"{folder} is not empty; name a new folder, which the import will make."
            )
        place = Workplace(folder, _state(folder, plan))
        try:
            place.commit()
            yield place
        except InvalidInput:  # no use to go on with this plan
            place.clear()
            raise
        except OSError as problem:
            raise SerendipError(
                f"{folder} could not be written ({problem.strerror or problem}); free some space, "
                "and run the same command again: it continues where it was."
            ) from None
        finally:
            place.close()


def _state(folder: Path, plan: Mapping[str, Any]) -> dict[str, Any]:
    try:
        found = json.loads((folder / UNFINISHED).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {"plan": dict(plan)}
    except (OSError, ValueError):
        found = {}
    if not isinstance(found, dict) or found.get("plan") != plan:
        raise InvalidInput(
            f"{folder} holds an unfinished import of other files or with other options, or the "
            "files have changed since; remove the folder, or name another."
        )
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else imports into the folder meanwhile."""
    lock = folder / _LOCK
    with lock.open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # no such locks on this system
            pass
        except OSError:
            raise InvalidInput(f"Another process is importing into {folder}; let it end.") from None
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def npy_header(dtype: npt.DTypeLike, shape: tuple[int, ...]) -> bytes:
    """The first 128 bytes of a .npy file."""
    kind = np.lib.format.dtype_to_descr(np.dtype(dtype))
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        text, {"descr": kind, "fortran_order": False, "shape": shape}
    )
    if len(text.getvalue()) != HEADER:
        raise InvalidInput(f"An array of shape {shape} cannot be written; give it fewer columns.")
    return text.getvalue()


def append(file: BinaryIO, array: Array) -> None:
    """The bytes of an array at the end of a file."""
    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def finish_npy(path: Path, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> None:
    """Writes the header of a file that has all its rows."""
    with path.open("r+b") as file:
        file.write(npy_header(dtype, shape))
        file.flush()
        os.fsync(file.fileno())
