"""Where the data sets come from, and how each public file becomes ours.

A conversion takes the source files as bytes and gives our files as bytes. The checksums in
`datasets.py` are those of our files: they are what a download is judged by, since the sources
publish none.
"""

import csv
import http.client
import io
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from serendip.core.errors import InvalidInput, SerendipError

Files = Mapping[str, bytes]

PUBLIC = "https://raw.githubusercontent.com"
"""Where the public repositories are served, file by file."""

_MAX_BYTES = 64 << 20


class DownloadFailed(SerendipError):
    """A data set could not be fetched, or what came is not what was expected."""


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one public repository at one commit, and what to make of them."""

    repository: str
    commit: str
    paths: tuple[str, ...]
    convert: Callable[[Files], dict[str, bytes]]
    """Source files by path → our files by path."""


def fetched(source: Source, path: str, base_url: str, timeout: float) -> bytes:
    """One source file, over the network."""
    url = f"{base_url.rstrip('/')}/{source.repository}/{source.commit}/{path}"
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"The address must start with http:// or https://; got {base_url!r}.")
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            data: bytes = answer.read(_MAX_BYTES + 1)
    except (OSError, ValueError, http.client.HTTPException) as problem:
        told = getattr(problem, "reason", problem)
        raise DownloadFailed(
            f"{url} could not be fetched ({told}); check the connection and try again."
        ) from None
    if not 0 < len(data) <= _MAX_BYTES:
        size = "empty" if not data else "larger than expected"
        raise DownloadFailed(f"{url} is {size}; nothing was written. Please report this.")
    return data


def _table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def _written(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


_LIGANDS = {"XPhos": "L1", "t-BuXPhos": "L2", "t-BuBrettPhos": "L3", "AdBrettPhos": "L4"}
_BASES = {"P2Et": "B1", "BTMG": "B2", "MTBD": "B3"}
_TEN = (
    "aryl_halide_*C3_NMR_shift",
    "aryl_halide_*H2_electrostatic_charge",
    "aryl_halide_V2_frequency",
    "additive_*C3_NMR_shift",
    "additive_E_LUMO",
    "additive_*O1_electrostatic_charge",
    "additive_*C5_electrostatic_charge",
    "additive_dipole_moment",
    "additive_molecular_volume",
    "additive_E_HOMO",
)


def convert_cncci(files: Files) -> dict[str, bytes]:
    """Yields pivoted to one column per ligand and base; additive-major rows, 15 halides each."""
    additives = _table(files["R/additive.csv"])
    halides = _table(files["R/aryl_halide.csv"])
    grid = [(additive, halide) for additive in additives for halide in halides]
    smiles: dict[str, str] = {}
    yields: dict[tuple[str, str, str], str] = {}
    for well in _table(files["data_table.csv"]):
        additive, halide = well["additive"], well["aryl_halide"]
        if additive and halide and well["yield"]:
            smiles[additive] = well["additive_smiles"]
            smiles[halide] = well["aryl_halide_smiles"]
            pair = f"{_LIGANDS[well['ligand']]}+{_BASES[well['base']]}"
            yields[additive, halide, pair] = f"{float(well['yield']) / 100:.10g}"
    pairs = [f"{ligand}+{base}" for base in _BASES.values() for ligand in _LIGANDS.values()]
    numbers = [
        [n, a["name"], h["name"], smiles[a["name"]], smiles[h["name"]]]
        + [yields.get((a["name"], h["name"], pair), "") for pair in pairs]
        for n, (a, h) in enumerate(grid)
    ]
    head = ["row", "additive", "aryl_halide"]
    ours = {
        "cncci/yields.csv": _written(
            [*head, "additive_smiles", "aryl_halide_smiles", *pairs], numbers
        ),
        "cncci/descriptors10.csv": _written(
            ["row", *_TEN],
            ([n, *((a | h)[name] for name in _TEN)] for n, (a, h) in enumerate(grid)),
        ),
    }
    all_names = [name for part in (additives, halides) for name in part[0] if name != "name"]
    ours["cncci/descriptors46.csv"] = _written(
        [*head, *all_names],
        (
            [n, a["name"], h["name"], *((a | h)[name] for name in all_names)]
            for n, (a, h) in enumerate(grid)
        ),
    )
    for part, labels in (("ligand", _LIGANDS), ("base", _BASES)):
        rows = _table(files[f"R/{part}.csv"])
        names = [name for name in rows[0] if name != "name"]
        ours[f"cncci/{part}_descriptors.csv"] = _written(
            ["name", "label", *names],
            ([row["name"], labels[row["name"]], *(row[name] for name in names)] for row in rows),
        )
    return ours


_INFORMERS = ("X2", "X3", "X4", "X5", "X6", "X8", "X11", "X12", "X13", "X14", "X15")
_CONDITIONS = (
    "e_red_excited_V",
    "e_red_ground_V_abs",
    "lambda_max_nm",
    "ni_to_photocatalyst_ratio",
    "amine_ratio",
)


def convert_pndc(files: Files) -> dict[str, bytes]:
    """Percent to fractions; the eighty conditions are ten photocatalysts of eight rows each."""
    yields = np.loadtxt(io.BytesIO(files["data/11_yield.csv"]), delimiter=",", ndmin=2)
    conditions = np.loadtxt(io.BytesIO(files["data/11_des.csv"]), delimiter=",", ndmin=2)
    kinds = (float, float, int, int, float)
    return {
        "pndc/yields.csv": _written(
            ["row", *_INFORMERS], ([n, *(row / 100).tolist()] for n, row in enumerate(yields))
        ),
        "pndc/descriptors.csv": _written(
            ["row", "photocatalyst", *_CONDITIONS],
            (
                [n, f"PC{n // 8 + 1}", *(kind(v) for kind, v in zip(kinds, row, strict=True))]
                for n, row in enumerate(conditions)
            ),
        ),
    }


def _with_fraction(data: bytes, path: str) -> dict[str, bytes]:
    """The source's columns, less an unnamed running number, and y = yield / 100 within [0, 1]."""
    rows = _table(data)
    names = [name for name in rows[0] if name not in ("", "Unnamed: 0")]

    def fraction(row: Mapping[str, str]) -> float:
        return round(min(max(float(row["yield"]) / 100, 0.0), 1.0), 6)

    return {path: _written([*names, "y"], ([*map(r.get, names), fraction(r)] for r in rows))}


def convert_amidation(files: Files) -> dict[str, bytes]:
    """Adds the yield as a fraction."""
    return _with_fraction(files["deebo/amidation.csv"], "hte_matrices/amidation.csv")


def convert_deoxyfluorination(files: Files) -> dict[str, bytes]:
    """Adds the yield as a fraction."""
    return _with_fraction(files["deebo/deoxyf.csv"], "hte_matrices/deoxyfluorination.csv")


def convert_citeseerx(files: Files) -> dict[str, bytes]:
    """The largest connected component of the symmetrised graph, nodes in their original order."""
    folder = "data/citeseer/"
    edges = np.loadtxt(io.BytesIO(files[folder + "edge_list"]), dtype=np.int64, ndmin=2)[:, :2]
    labels = np.loadtxt(io.BytesIO(files[folder + "labels"]), dtype=np.int64, ndmin=2)
    lines = files[folder + "venue_names"].decode().splitlines()
    venues = {int(line.split()[0]): line.split()[1] for line in lines if line.strip()}
    n = int(max(edges.max(), labels[:, 0].max())) + 1  # node ids start at 1; node 0 stays alone
    ones = np.ones(len(edges), dtype=np.int8)
    graph = coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()
    _, component = connected_components(graph, directed=False)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    number = np.full(n, -1)
    number[kept] = np.arange(len(kept))
    venue = np.zeros(n, dtype=np.int64)
    venue[labels[:, 0]] = labels[:, 1]
    joined = np.sort(number[edges], axis=1)
    joined = np.unique(joined[(joined[:, 0] >= 0) & (joined[:, 0] != joined[:, 1])], axis=0)
    nodes = ([number[o], o, venue[o], venues[int(venue[o])]] for o in kept.tolist())
    return {
        "citeseerx/nodes.csv": _written(["node", "original_id", "venue_id", "venue"], nodes),
        "citeseerx/edges.csv": _written(["u", "v"], joined.tolist()),
    }


_OCHEM = ("beef-broccoli/ochem-data", "e739f4d4d2002218fd225de5e8b2e6c235cabd6b")

SOURCES: Mapping[str, Source] = {
    "cncci": Source(
        "doylelab/rxnpredict",
        "57e15fdb7f7483c6bf3a601df69f6ac9e5af6965",
        ("data_table.csv", "R/additive.csv", "R/aryl_halide.csv", "R/ligand.csv", "R/base.csv"),
        convert_cncci,
    ),
    "pndc": Source(
        "ZimmermanGroup/Adaptive_sampling_for_discovery",
        "59921245e38283799ee15e2d573eda0d0ea75897",
        ("data/11_yield.csv", "data/11_des.csv"),
        convert_pndc,
    ),
    "amidation": Source(*_OCHEM, ("deebo/amidation.csv",), convert_amidation),
    "deoxyfluorination": Source(*_OCHEM, ("deebo/deoxyf.csv",), convert_deoxyfluorination),
    "citeseerx": Source(
        "shalijiang/efficient_nonmyopic_active_search",
        "78982cf3239f5644cc3f13b32d16ef9119965698",
        ("data/citeseer/edge_list", "data/citeseer/labels", "data/citeseer/venue_names"),
        convert_citeseerx,
    ),
}
