"""`serendip pool import` of SMILES files: fingerprints as lists of bits, made on all cores."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from serendip.compute.parallel import run_all
from serendip.core.errors import InvalidInput
from serendip.core.threads import n_cores
from serendip.pools.storage.fingerprints import MARK_ROWS, MOST_BITS
from serendip.problems.folders.finishing import Watch, finish, finished, plan_of, unseen
from serendip.problems.folders.manifest import FINGERPRINTS, Manifest
from serendip.problems.folders.names import (
    INDEX,
    NAMES,
    STREAM_END,
    stream_start,
    text_batch,
    write_index,
)
from serendip.problems.folders.sources import files_of
from serendip.problems.folders.writing import Workplace, append, finish_npy, npy_header, workplace
from serendip.problems.molecules import RADIUS, Fingerprinter

BITS, COUNTS, MARKS = "bits.npy", "counts.npy", "marks.npy"
MOLECULES = (".smi", ".smiles")
"""Endings of files that molecules are imported from."""

_PIECE = 1 << 18
"""Bytes of a file that one process reads at once."""
_SHOWN = ("id", "smiles")
_HEADERS = ("smiles", "canonical_smiles", "isomeric_smiles")


@dataclass(frozen=True, slots=True)
class MoleculeOptions:
    """What is made of the molecules."""

    bits: int = 2048
    """Length of a fingerprint."""
    skip: bool = False
    """Whether molecules that cannot be read are left out."""

    def __post_init__(self) -> None:
        if not 8 <= self.bits <= MOST_BITS:
            raise InvalidInput(f"A fingerprint has 8 to {MOST_BITS} bits; got {self.bits}.")


@dataclass(frozen=True, slots=True)
class _Task:
    """Some lines of a file: those that begin between two bytes."""

    path: Path
    file: int
    start: int
    stop: int
    bits: int


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """What came of some lines."""

    ids: tuple[str, ...]
    """One for each molecule; empty where the line gives none."""
    smiles: tuple[str, ...]
    counts: npt.NDArray[np.uint16]
    bits: npt.NDArray[np.uint16]
    n_lines: int
    bad: tuple[tuple[int, str], ...]
    """Lines that cannot be read: their number among these lines, from 0, and what they hold."""


def import_molecules(
    paths: Sequence[Path],
    out: Path,
    options: MoleculeOptions,
    watch: Watch = unseen,
    jobs: int | None = None,
) -> Manifest:
    """A pool folder of Morgan fingerprints from files with a SMILES and a name on each line.

    Stopped in any way, the same call continues; the result does not depend on `jobs`.

    Args:
        paths: The files, or folders of them.
        out: The folder to make.
        options: What becomes of the molecules.
        watch: Shows how far it is.
        jobs: Processes; by default as many as there are cores.
    """
    files = files_of(paths, MOLECULES)
    plan = plan_of("molecules", files, asdict(options))
    done = finished(out, plan)
    if done is not None:
        return done
    Fingerprinter(options.bits)  # says so at once where RDKit is missing
    with workplace(out, plan) as place:
        state = _write(place, files, options, watch, n_cores() if jobs is None else jobs)
        n, total = int(state["n"]), int(state["total"])
        if n == 0:
            raise InvalidInput("The files have no molecules; a pool needs at least one candidate.")
        finish_npy(out / BITS, "uint16", (total,))
        finish_npy(out / COUNTS, "uint16", (n,))
        _write_marks(out, n)
        with watch("sorting ids") as progress:
            write_index(out, lambda row: f"molecule {row + 1}", progress)
        scale = sqrt(n * options.bits / max(1, total))
        skipped = int(state["skipped"])
        manifest = Manifest(
            kind=FINGERPRINTS,
            n=n,
            d=options.bits + 1,
            dtype="uint16",
            features=(f"{options.bits} bits", "constant"),
            encodings=({"kind": "morgan", "radius": RADIUS, "bits": options.bits, "scale": scale},),
            options=plan["options"],
            notes=(f"{skipped} lines could not be read and were left out.",) if skipped else (),
            id=_SHOWN[0],
            kept=_SHOWN[1:],
            label=None,
            n_labels=0,
            finite=True,
            sources=(),
            files=(),
        )
        names = [BITS, COUNTS, MARKS, NAMES, *INDEX]
        return finish(place, manifest, names, plan, state["rows"], watch)


def _write(
    place: Workplace, files: Sequence[Path], options: MoleculeOptions, watch: Watch, jobs: int
) -> dict[str, Any]:
    """Writes bits, counts and names; the figures of the whole."""
    tasks = [task for at, path in enumerate(files) for task in _tasks(path, at, options.bits)]
    state = place.state.get("molecules") or {
        "done": 0,
        "n": 0,
        "total": 0,
        "skipped": 0,
        "line": 0,
        "rows": [0] * len(files),
    }
    bits = place.open(BITS, npy_header("uint16", (0,)))
    counts = place.open(COUNTS, npy_header("uint16", (0,)))
    stream = place.open(NAMES, stream_start(_SHOWN))
    left = tasks[state["done"] :]
    with watch("reading molecules") as progress:
        for task, piece in _in_order(left, jobs):
            state = _taken_in(state, task, piece, options)
            append(bits, piece.bits)
            append(counts, piece.counts)
            first = state["n"] - len(piece.counts)
            ids = [name or str(first + at) for at, name in enumerate(piece.ids)]
            stream.write(text_batch([ids, piece.smiles], _SHOWN))
            if state["done"] == len(tasks):
                stream.write(STREAM_END)
            if place.due or state["done"] == len(tasks):
                place.commit(molecules=state)
            progress(state["n"], None)
    return state


def _taken_in(
    state: dict[str, Any], task: _Task, piece: _Piece, options: MoleculeOptions
) -> dict[str, Any]:
    """The figures once a piece is written; refuses molecules that cannot be read."""
    line = 0 if task.start == 0 else int(state["line"])
    if piece.bad and not options.skip:
        at, text = piece.bad[0]
        raise InvalidInput(
            f"Line {line + at + 1} of {task.path} holds {text[:60]!r}, which RDKit cannot read; "
            "correct or remove it, or leave such lines out with --skip-unreadable."
        )
    rows = list(state["rows"])
    rows[task.file] += len(piece.counts)
    return {
        "done": state["done"] + 1,
        "n": state["n"] + len(piece.counts),
        "total": state["total"] + len(piece.bits),
        "skipped": state["skipped"] + len(piece.bad),
        "line": line + piece.n_lines,
        "rows": rows,
    }


def _tasks(path: Path, file: int, bits: int) -> list[_Task]:
    size = path.stat().st_size
    return [
        _Task(path, file, start, min(start + _PIECE, size), bits)
        for start in range(0, size, _PIECE)
    ]


def _in_order(tasks: Sequence[_Task], jobs: int) -> Iterator[tuple[_Task, _Piece]]:
    """Pieces in the order of the files, whichever is ready first."""
    waiting: dict[int, _Piece] = {}
    turn = 0
    for index, piece in run_all(_read, tasks, jobs):
        waiting[index] = piece
        while turn in waiting:
            yield tasks[turn], waiting.pop(turn)
            turn += 1


def _read(task: _Task) -> _Piece:
    """The fingerprints of some lines."""
    fingerprinter = Fingerprinter(task.bits)
    lines = _lines(task)
    ids, smiles, found, bad = [], [], [], []
    for at, line in enumerate(lines):
        text, _, name = line.strip().replace("\t", " ").partition(" ")
        if not text or (task.start == at == 0 and text.lower() in _HEADERS):
            continue
        bits = fingerprinter.bits(text)
        if bits is None:
            bad.append((at, text))
            continue
        ids.append(name.strip())
        smiles.append(text)
        found.append(bits)
    empty = np.empty(0, dtype=np.uint16)
    return _Piece(
        tuple(ids),
        tuple(smiles),
        np.array([len(bits) for bits in found], dtype=np.uint16),
        np.concatenate([empty, *found]),
        len(lines),
        tuple(bad),
    )


def _lines(task: _Task) -> list[str]:
    """The lines that begin within the task; the last may reach beyond."""
    with task.path.open("rb") as data:
        if task.start:
            data.seek(task.start - 1)
            data.readline()  # the end of a line that began before
        lines = []
        while data.tell() < task.stop:
            lines.append(data.readline().decode("utf-8", errors="replace"))
    return lines


def _write_marks(folder: Path, n: int) -> None:
    """Where the bits of every 1024th row begin."""
    counts: Any = np.load(folder / COUNTS, mmap_mode="r")
    sums = [
        int(np.sum(counts[start : start + MARK_ROWS], dtype=np.int64))
        for start in range(0, n, MARK_ROWS)
    ]
    np.save(folder / MARKS, np.concatenate([[0], np.cumsum(sums)]).astype(np.int64))
