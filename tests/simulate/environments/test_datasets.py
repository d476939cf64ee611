"""The real data sets: registry, checksums, loading, and download from a stand-in server."""

import csv
import functools
import http.server
import io
import itertools
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from needs import need_data
from serendip.cli.datasets import app
from serendip.core.errors import InvalidInput
from serendip.simulate.environments.datasets import (
    DATASETS,
    DownloadFailed,
    download,
    find_data_folder,
    load,
    verify,
)
from serendip.simulate.environments.sources import SOURCES
from serendip.simulate.environments.table import table_world

SHAPES = {
    "cncci": (330, 10, 9),
    "pndc": (80, 5, 11),
    "amidation": (960, 4, 1),
    "deoxyfluorination": (740, 3, 1),
    "enamine10k": (10446, 59, 1),
    "citeseerx": (39788, 1, 50),
}


@pytest.mark.parametrize("name", DATASETS)
def test_the_files_are_intact_and_load(name: str) -> None:
    folder = need_data(name)
    assert {check.state for check in verify(name, folder)} <= {"ok", "not needed"}
    table = load(name, folder)
    n, d, pools = SHAPES[name]
    assert table.x.shape == (n, d)
    assert table.labels.shape == (n, pools)
    assert (DATASETS[name].n_rows, DATASETS[name].n_pools) == (n, pools)
    assert len(set(table.ids)) == n
    labels = table.labels.to_numpy()
    assert labels.min() >= 0
    assert labels.max() <= 1.0 + 1e-12


def test_expected_random_regrets_agree_with_the_notes_on_the_data() -> None:
    """Sum of the top T minus T times the mean, as printed beside each data set."""
    cncci, pndc = load("cncci", need_data("cncci")), load("pndc", need_data("pndc"))
    amidation = load("amidation", need_data("amidation"))

    def regret(labels: np.ndarray, horizon: int) -> float:
        return float(np.sort(labels)[-horizon:].sum() - horizon * labels.mean())

    assert regret(cncci.pool("L1+B1"), 66) == pytest.approx(19.933, abs=1e-3)
    assert regret(pndc.pool("X2"), 17) == pytest.approx(8.354, abs=1e-3)
    assert regret(amidation.pool(), 192) == pytest.approx(61.67, abs=1e-2)


def test_matrices_and_graphs_bring_their_structure() -> None:
    deoxy = load("deoxyfluorination", need_data("deoxyfluorination"))
    assert deoxy.pairs is not None
    assert deoxy.pairs.max(axis=0).tolist() == [19, 36]
    assert len(np.unique(deoxy.pairs, axis=0)) == 740
    world = table_world(deoxy.pairs, deoxy.pool(), deoxy.ids)
    assert world.oracle.reveal(3, np.random.default_rng(0)).x.tolist() == [[3, 0]]
    graph = load("citeseerx", need_data("citeseerx"))
    assert graph.edges is not None
    assert graph.edges.shape == (230295, 2)
    assert graph.pools[0] == "nips"
    assert graph.pool().sum() == 2190


def test_descriptors_and_pools_are_checked() -> None:
    folder = need_data("cncci")
    assert load("cncci", folder, descriptors=46).x.shape == (330, 46)
    with pytest.raises(InvalidInput, match="10 or 46"):
        load("cncci", folder, descriptors=12)
    with pytest.raises(InvalidInput, match="Only cncci"):
        load("pndc", folder, descriptors=10)
    with pytest.raises(InvalidInput, match="no pool 'L2\\+B2'"):
        load("cncci", folder).pool("L2+B2")


def test_unknown_missing_and_changed(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'cncci'"):
        verify("cnci", tmp_path)
    with pytest.raises(InvalidInput, match="serendip datasets download pndc"):
        load("pndc", tmp_path)
    (tmp_path / "pndc").mkdir()
    (tmp_path / "pndc/yields.csv").write_text("row,X2\n0,0.5\n")
    assert [check.state for check in verify("pndc", tmp_path)] == [
        "changed",
        "missing",
        "not needed",
    ]
    with pytest.raises(InvalidInput, match="checksum differs"):
        load("pndc", tmp_path)
    with pytest.raises(InvalidInput, match="in the way"):
        download("pndc", tmp_path)


def test_where_the_data_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERENDIP_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tree = tmp_path / "main" / "src"
    tree.mkdir(parents=True)
    monkeypatch.chdir(tree)
    assert find_data_folder() == tmp_path / "cache" / "serendip" / "data"
    beside = tmp_path / "shared" / "data" / "pndc"
    beside.mkdir(parents=True)
    (beside / "yields.csv").write_text("")
    assert find_data_folder() == beside.parent
    monkeypatch.setenv("SERENDIP_DATA", str(tmp_path / "other"))
    assert find_data_folder() == tmp_path / "other"
    assert find_data_folder(tmp_path) == tmp_path
    with pytest.raises(InvalidInput, match="is a file"):
        find_data_folder(beside / "yields.csv")


# The public files, rebuilt from ours: the conversions below are exact inverses of what the sources
# look like (columns, order, line ends), so that a download can be tried without the network.


def rows_of(file: Path) -> list[dict[str, str]]:
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def text_of(header: Sequence[str], rows: Iterable[Sequence[object]], end: str = "\n") -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=end)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def public_cncci(data: Path) -> dict[str, bytes]:
    end = "\r\r\n"  # as the descriptor files have it
    grid, yields = rows_of(data / "cncci/descriptors46.csv"), rows_of(data / "cncci/yields.csv")
    files = {}
    for part in ("additive", "aryl_halide"):
        names = [name for name in grid[0] if name.startswith(f"{part}_")]
        found = {row[part]: [*(row[name] for name in names), row[part]] for row in grid}
        files[f"R/{part}.csv"] = text_of([*names, "name"], found.values(), end)
    named = {}
    for part in ("ligand", "base"):
        parts = rows_of(data / f"cncci/{part}_descriptors.csv")
        names = [name for name in parts[0] if name not in ("name", "label")]
        rows = [[*(row[name] for name in names), row["name"]] for row in parts]
        files[f"R/{part}.csv"] = text_of([*names, "name"], rows, end)
        named |= {row["label"]: row["name"] for row in parts}
    halide, additive = ("aryl_halide", "aryl_halide_smiles"), ("additive", "additive_smiles")
    wells: list[list[object]] = [["P2Et", "XPhos", "", "", "5-phenylisoxazole", "o1", 0.0]]
    wells += [["P2Et", "XPhos", "2-iodopyridine", "Ic1ccccn1", "", "", 21.3]]  # control wells
    wells += [["P2Et", "XPhos", "2-iodopyridine", "Ic1ccccn1", "5-phenyl-1,2,4-oxadiazole", "", 1]]
    for row in yields:
        for pair in (name for name in row if "+" in name and row[name]):
            ligand, base = pair.split("+")
            cells = [row[name] for name in (*halide, *additive)]
            wells.append([named[base], named[ligand], *cells, float(row[pair]) * 100])
    header = ["base", "ligand", *halide, *additive, "yield"]
    files["data_table.csv"] = text_of(header, wells)
    return files


def public_pndc(data: Path) -> dict[str, bytes]:
    yields, conditions = rows_of(data / "pndc/yields.csv"), rows_of(data / "pndc/descriptors.csv")
    percent = [[str(round(float(v) * 100)) for k, v in r.items() if k != "row"] for r in yields]
    left_out = ("row", "photocatalyst")
    numbers = [[f"{float(v):g}" for k, v in r.items() if k not in left_out] for r in conditions]
    return {
        "data/11_yield.csv": "\r\n".join(map(",".join, percent)).encode(),
        "data/11_des.csv": "\r\n".join(map(",".join, numbers)).encode(),
    }


def public_matrix(data: Path, name: str, path: str, numbered: bool) -> dict[str, bytes]:
    rows = rows_of(data / f"hte_matrices/{name}.csv")
    names = [column for column in rows[0] if column != "y"]
    head, cells = list(names), [[row[column] for column in names] for row in rows]
    if numbered:
        head, cells = ["Unnamed: 0", *head], [[str(n), *row] for n, row in enumerate(cells)]
    return {path: text_of(head, cells)}


def public_citeseerx(data: Path) -> dict[str, bytes]:
    nodes, edges = rows_of(data / "citeseerx/nodes.csv"), rows_of(data / "citeseerx/edges.csv")
    original = [row["original_id"] for row in nodes]
    venue = {row["original_id"]: row["venue_id"] for row in nodes}
    joined = [(original[int(row["v"])], original[int(row["u"])]) for row in edges]
    joined += [*joined[:9], *((v, u) for u, v in joined[:9]), (original[5], original[5])]
    alone = [str(n) for n in range(1, 56609) if str(n) not in venue]
    joined += list(itertools.pairwise(alone[:41]))
    names = {int(row["venue_id"]): row["venue"] for row in nodes}
    lines = {
        "edge_list": (f"{u} {v}" for u, v in joined),
        "labels": (f"{n} {venue.get(str(n), 7)}" for n in range(1, 56609)),
        "venue_names": (f"{number} {names[number]}" for number in sorted(names)),
    }
    return {f"data/citeseer/{name}": "\n".join(text).encode() for name, text in lines.items()}


PUBLIC_FILES = {
    "cncci": public_cncci,
    "pndc": public_pndc,
    "amidation": lambda data: public_matrix(data, "amidation", "deebo/amidation.csv", True),
    "deoxyfluorination": lambda data: public_matrix(
        data, "deoxyfluorination", "deebo/deoxyf.csv", False
    ),
    "citeseerx": public_citeseerx,
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """An address, and the folder it serves."""
    root = tmp_path / "served"
    root.mkdir()
    handler = functools.partial(Quiet, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}", root
        running.shutdown()
        thread.join()


def serve(root: Path, name: str, files: dict[str, bytes]) -> None:
    source = SOURCES[name]
    for path in source.paths:
        file = root / source.repository / source.commit / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(files[path])


@pytest.mark.parametrize("name", SOURCES)
def test_a_download_gives_exactly_our_files(
    name: str, tmp_path: Path, server: tuple[str, Path]
) -> None:
    address, root = server
    serve(root, name, PUBLIC_FILES[name](need_data(name)))
    checks = download(name, tmp_path / "new", base_url=address)
    assert {check.state for check in checks} <= {"ok", "not needed"}
    assert load(name, tmp_path / "new").x.shape == SHAPES[name][:2]
    assert not list((tmp_path / "new").rglob("*.part"))
    again = download(name, tmp_path / "new", base_url="http://127.0.0.1:9")  # nothing to fetch
    assert again == checks


def test_sources_that_changed_are_refused(tmp_path: Path, server: tuple[str, Path]) -> None:
    address, root = server
    good = public_pndc(need_data("pndc"))
    other = {**good, "data/11_yield.csv": good["data/11_yield.csv"].replace(b"61", b"62", 1)}
    for files, words in (
        (other, "checksum differs"),
        ({**good, "data/11_des.csv": b"<html>"}, "do not have the form"),
        ({**good, "data/11_des.csv": b""}, "is empty"),
    ):
        serve(root, "pndc", files)
        with pytest.raises(DownloadFailed, match=words):
            download("pndc", tmp_path / "new", base_url=address)
    assert not (tmp_path / "new").exists()


def test_failed_downloads_say_so(tmp_path: Path, server: tuple[str, Path]) -> None:
    with pytest.raises(DownloadFailed, match="could not be fetched"):
        download("pndc", tmp_path, base_url=server[0])
    with pytest.raises(DownloadFailed, match="could not be fetched"):
        download("pndc", tmp_path, base_url="http://127.0.0.1:9")
    with pytest.raises(InvalidInput, match="http://"):
        download("pndc", tmp_path, base_url="file:///etc")
    with pytest.raises(InvalidInput, match="computed with RDKit"):
        download("enamine10k", tmp_path)


def test_commands(tmp_path: Path) -> None:
    shell = CliRunner()
    listed = shell.invoke(app, ["list", "--data", str(tmp_path), "--format", "json"])
    assert [row["name"] for row in json.loads(listed.stdout)] == list(DATASETS)
    assert {row["files"] for row in json.loads(listed.stdout)} == {"missing"}
    for form in ("table", "csv"):
        checked = shell.invoke(app, ["verify", "pndc", "--data", str(tmp_path), "--format", form])
        assert checked.exit_code == 1
        assert "pndc/yields.csv" in checked.stdout
    refused = shell.invoke(app, ["show", "pndc", "--data", str(tmp_path)])
    assert isinstance(refused.exception, InvalidInput)


def test_commands_with_data() -> None:
    shell, folder = CliRunner(), str(need_data("pndc"))
    assert shell.invoke(app, ["verify", "pndc", "--data", folder]).exit_code == 0
    shown = shell.invoke(app, ["show", "pndc", "--rows", "2", "--data", folder, "--format", "csv"])
    assert shown.stdout.count("\n") == 3
    assert "80 rows, 5 features" in shell.invoke(app, ["show", "pndc", "--data", folder]).stdout
    fetched = shell.invoke(app, ["download", "pndc", "--data", folder])  # already there
    assert fetched.exit_code == 0
