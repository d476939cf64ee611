"""The real data sets: what there is, where it lies, whether it is intact, and how to load it."""

import difflib
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.simulate.environments.registry import DATASETS, Dataset
from serendip.simulate.environments.sources import PUBLIC, SOURCES, DownloadFailed, fetched

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DATASETS",
    "PUBLIC",
    "Dataset",
    "DownloadFailed",
    "FileCheck",
    "LabelledTable",
    "download",
    "find_data_folder",
    "load",
    "verify",
]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """One file of a data set, found as it should be or not."""

    path: str
    state: Literal["ok", "missing", "changed", "not needed"]
    expected: str
    found: str
    """SHA-256; empty where there is no file."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledTable:
    """A data set in memory: candidates with features, and one column of labels per pool."""

    name: str
    x: "pd.DataFrame"
    """(n, ·) features as they come: numbers or text, not scaled; for a graph the node."""
    labels: "pd.DataFrame"
    """(n, pools) larger is better."""
    ids: tuple[str, ...]
    pairs: Ints | None = None
    """(n, 2) condition and substrate of each row, for a matrix."""
    edges: Ints | None = None
    """(m, 2) for a graph."""

    @property
    def pools(self) -> tuple[str, ...]:
        """The names of the pools; the first is the one to take where none is named."""
        return tuple(self.labels.columns)

    def pool(self, name: str | None = None) -> Floats:
        """(n,) the labels of one pool."""
        name = self.pools[0] if name is None else name
        if name not in self.pools:
            raise InvalidInput(_unknown("pool", name, self.pools))
        return self.labels[name].to_numpy(dtype=np.float64)


def _unknown(what: str, name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, 1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"There is no {what} {name!r}; there are {', '.join(known)}.{hint}"


def _dataset(name: str) -> Dataset:
    if name not in DATASETS:
        raise InvalidInput(_unknown("data set", name, tuple(DATASETS)))
    return DATASETS[name]


def find_data_folder(data: Path | None = None) -> Path:
    """Where the data sets lie, or would be put.

    The folder that is named; else the one in SERENDIP_DATA; else `shared/data` beside the working
    tree, where there is one; else a folder of the user's cache. It need not exist yet.
    """
    told = data if data is not None else os.environ.get("SERENDIP_DATA") or None
    if told is not None:
        folder = Path(told).expanduser()
        if folder.exists() and not folder.is_dir():
            raise InvalidInput(f"{folder} is a file; name the folder that holds the data sets.")
        return folder
    here = Path.cwd()
    for place in (here, *here.parents):
        folder = place.parent / "shared" / "data"
        if any((folder / path).is_file() for one in DATASETS.values() for path in one.files):
            return folder
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "serendip" / "data"


def verify(name: str, folder: Path | None = None) -> list[FileCheck]:
    """Each file of a data set against its checksum."""
    wanted, root = _dataset(name), find_data_folder(folder)
    checks = [_checked(root, path, expected) for path, expected in wanted.files.items()]
    for path, expected in wanted.extras.items():
        check = _checked(root, path, expected)
        missing = check.state == "missing"
        checks.append(FileCheck(path, "not needed", expected, "") if missing else check)
    return checks


def _checked(root: Path, path: str, expected: str) -> FileCheck:
    try:
        found = hashlib.sha256((root / path).read_bytes()).hexdigest()
    except FileNotFoundError:
        return FileCheck(path, "missing", expected, "")
    except OSError as problem:
        raise InvalidInput(f"{root / path} could not be read: {problem.strerror}.") from None
    return FileCheck(path, "ok" if found == expected else "changed", expected, found)


def load(name: str, folder: Path | None = None, descriptors: int | None = None) -> LabelledTable:
    """A data set, once the files it is read from are known to be intact.

    Args:
        name: One of `DATASETS`.
        folder: The data folder; None to look for it (`find_data_folder`).
        descriptors: For cncci 10 (the paper's, the default) or 46 (all); for others leave it out.
    """
    root = find_data_folder(folder)
    if descriptors not in ((None, 10, 46) if _dataset(name).name == "cncci" else (None,)):
        raise InvalidInput(
            f"Only cncci offers a choice, 10 or 46 descriptors; got {descriptors} for {name}."
        )
    for check in verify(name, root):
        if name == "cncci" and check.path not in _cncci_files(descriptors or 10):
            continue
        if check.state == "missing":
            raise InvalidInput(
                f"{root / check.path} is not there; run `serendip datasets download {name}`, or "
                "name the folder that has it with --data or SERENDIP_DATA."
            )
        if check.state == "changed":
            raise InvalidInput(
                f"{root / check.path} is not the file it should be (its checksum differs); move it "
                f"away and run `serendip datasets download {name}`."
            )
    if name == "cncci":
        return _cncci(root, descriptors or 10)
    return _LOADERS[name](root)


def _cncci_files(descriptors: int) -> tuple[str, str]:
    """What is read of this data set; the rest is for experiments of one's own."""
    return "cncci/yields.csv", f"cncci/descriptors{descriptors}.csv"


def _cncci(root: Path, descriptors: int) -> LabelledTable:
    import pandas as pd

    yields, x = (pd.read_csv(root / path) for path in _cncci_files(descriptors))
    x = x.drop(columns=[c for c in ("row", "additive", "aryl_halide") if c in x])
    pairs = [c for c in yields.columns if "+" in c and yields[c].notna().all()]
    ids = tuple(
        f"{h} + {a}" for h, a in zip(yields["aryl_halide"], yields["additive"], strict=True)
    )
    return LabelledTable("cncci", x, yields[pairs], ids)


def _pndc(root: Path) -> LabelledTable:
    import pandas as pd

    x = pd.read_csv(root / "pndc/descriptors.csv").drop(columns="row")
    catalysts = x.pop("photocatalyst")
    ratios = zip(catalysts, x["ni_to_photocatalyst_ratio"], x["amine_ratio"], strict=True)
    ids = tuple(f"{catalyst}, Ni {nickel:g}, amine {amine:g}" for catalyst, nickel, amine in ratios)
    return LabelledTable("pndc", x, pd.read_csv(root / "pndc/yields.csv").drop(columns="row"), ids)


def _matrix(root: Path, name: str, conditions: list[str], substrate: str) -> LabelledTable:
    import pandas as pd

    table = pd.read_csv(root / f"hte_matrices/{name}.csv")
    x = table[[*conditions, substrate]]
    joined = table[conditions].agg(" | ".join, axis=1)
    rows, columns = pd.factorize(joined)[0], pd.factorize(table[substrate])[0]
    pairs = np.stack([rows, columns], axis=1).astype(np.int64)
    ids = tuple(x.agg(" | ".join, axis=1))
    return LabelledTable(name, x, table[["y"]].rename(columns={"y": name}), ids, pairs=pairs)


def _amidation(root: Path) -> LabelledTable:
    conditions = ["base_name", "solvent_name", "activator_name"]
    return _matrix(root, "amidation", conditions, "nucleophile_name")


def _deoxyfluorination(root: Path) -> LabelledTable:
    return _matrix(root, "deoxyfluorination", ["base_name", "fluoride_name"], "substrate_name")


def _enamine10k(root: Path) -> LabelledTable:
    import pandas as pd

    table = pd.read_parquet(root / "enamine_docking/enamine10k.parquet")
    x = table.drop(columns=["smiles", "docking_score", "y"])
    labels = table[["y"]].rename(columns={"y": "docking"})
    return LabelledTable("enamine10k", x, labels, tuple(table["smiles"]))


def _citeseerx(root: Path) -> LabelledTable:
    import pandas as pd

    nodes = pd.read_csv(root / "citeseerx/nodes.csv")
    edges = pd.read_csv(root / "citeseerx/edges.csv").to_numpy(dtype=np.int64)
    venues = ["nips", *sorted(set(nodes["venue"]) - {"nips"})]  # the ENS papers' target first
    labels = pd.DataFrame({v: (nodes["venue"] == v).astype(np.float64) for v in venues})
    ids = tuple(nodes["original_id"].astype(str))
    return LabelledTable("citeseerx", nodes[["node"]], labels, ids, edges=edges)


_LOADERS: Mapping[str, Callable[[Path], LabelledTable]] = {
    "pndc": _pndc,
    "amidation": _amidation,
    "deoxyfluorination": _deoxyfluorination,
    "enamine10k": _enamine10k,
    "citeseerx": _citeseerx,
}


def download(
    name: str, folder: Path | None = None, base_url: str = PUBLIC, timeout: float = 60.0
) -> list[FileCheck]:
    """Fetches a data set's public source files, converts them to ours and checks the result.

    The sources publish no checksums; what is checked is the converted files, which must equal ours
    byte for byte. Nothing is written unless all of them do, and no file is ever overwritten.
    """
    wanted, root = _dataset(name), find_data_folder(folder)
    if name not in SOURCES:
        raise InvalidInput(
            f"{name} cannot be rebuilt from its public source: its fingerprint components were "
            "computed with RDKit and depend on its version. Copy "
            f"{', '.join(wanted.files)} into {root}."
        )
    before = verify(name, root)
    for check in before:
        if check.state == "changed":
            raise InvalidInput(f"{root / check.path} is in the way; move or delete it first.")
    if not any(check.state == "missing" for check in before):
        return before
    source = SOURCES[name]
    files = {path: fetched(source, path, base_url, timeout) for path in source.paths}
    try:
        ours = source.convert(files)
    except (LookupError, ValueError) as problem:
        raise DownloadFailed(
            f"The source files of {name} do not have the form they had ({problem!r}); "
            "nothing was written. Please report this."
        ) from None
    for path, expected in wanted.files.items():
        if hashlib.sha256(ours[path]).hexdigest() != expected:
            raise DownloadFailed(
                f"{path}, made from {source.repository} at {source.commit[:7]}, is not the file it "
                "should be (its checksum differs); nothing was written. Please report this."
            )
    for path in wanted.files:
        _write(root / path, ours[path])
    return verify(name, root)


def _write(file: Path, data: bytes) -> None:
    if file.exists():
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        part.write_bytes(data)
        part.replace(file)
    except OSError as problem:
        raise InvalidInput(
            f"{file} could not be written ({problem.strerror}); choose another --data folder."
        ) from None
