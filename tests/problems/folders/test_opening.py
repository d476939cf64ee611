"""Opening a folder: what was damaged, cut or changed is found before anything is picked."""

import json
import os
import shutil

import numpy as np
import pytest

from problems.folders.tables import mixed_table
from serendip.core.errors import DamagedPool, InvalidInput
from serendip.problems.folders import checksums
from serendip.problems.folders.importing import TableOptions, import_tables
from serendip.problems.folders.manifest import read_manifest
from serendip.problems.folders.opening import open_folder
from serendip.problems.folders.products import make_product


@pytest.fixture(scope="module", name="made")
def _made(tmp_path_factory):
    """A folder of every kind of file."""
    folder = tmp_path_factory.mktemp("made")
    mixed_table().to_csv(folder / "t.csv", index=False)
    options = TableOptions(id="code", label="yield", keep=("solvent",))
    import_tables([folder / "t.csv"], folder / "pool", options)
    return folder / "pool"


@pytest.fixture(name="pool")
def _pool(made, tmp_path):
    shutil.copytree(made, tmp_path / "pool")
    return tmp_path / "pool"


FILES = ("features.npy", "labels.npy", "ids.arrows", "id_hashes.npy", "id_rows.npy")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("touched_before", [True, False])
def test_any_flipped_byte_is_found_on_opening(pool, name, touched_before):
    if touched_before:
        open_folder(pool)  # the stamp says that all was well
    whole = (pool / name).read_bytes()
    rng = np.random.default_rng(0)
    for place in (0, len(whole) - 1, *rng.integers(len(whole), size=5).tolist()):
        changed = bytearray(whole)
        changed[place] ^= 1
        (pool / name).write_bytes(bytes(changed))
        with pytest.raises(DamagedPool, match=rf"{name} is damaged or was changed"):
            open_folder(pool)
    (pool / name).write_bytes(whole)
    open_folder(pool)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_longer_or_gone_is_found(pool, name):
    open_folder(pool)
    whole = (pool / name).read_bytes()
    for other in (whole[:-1], whole + b"x", b""):
        (pool / name).write_bytes(other)
        with pytest.raises(DamagedPool, match=rf"{name} has {len(other)} bytes where there should"):
            open_folder(pool)
    (pool / name).unlink()
    with pytest.raises(DamagedPool, match="is gone"):
        open_folder(pool)


def test_damage_that_leaves_no_trace_is_found_when_all_is_verified(pool):
    open_folder(pool)
    file = pool / "features.npy"
    before = file.stat()
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    with file.open("r+b") as out:
        out.write(data)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    stamp = json.loads((pool / ".checked").read_text())
    stamp["files"]["features.npy"][2] = file.stat().st_ctime_ns  # as a failing disk would
    (pool / ".checked").write_text(json.dumps(stamp))
    open_folder(pool)
    with pytest.raises(DamagedPool, match="damaged or was changed"):
        open_folder(pool, verify=True)


def test_untouched_files_are_not_read_again(pool, monkeypatch):
    open_folder(pool)

    def no(*_):
        raise AssertionError("checksums were computed")

    monkeypatch.setattr(checksums, "_sums", no)
    open_folder(pool)
    os.utime(pool / "labels.npy")
    with pytest.raises(AssertionError):
        open_folder(pool)


def test_a_moved_or_copied_folder_is_the_same_pool(pool, tmp_path):
    x = open_folder(pool).pool.take(np.arange(60))
    shutil.move(pool, tmp_path / "moved")
    shutil.copytree(tmp_path / "moved", tmp_path / "copied")
    for other in ("moved", "copied"):
        opened = open_folder(tmp_path / other)
        np.testing.assert_array_equal(opened.pool.take(np.arange(60)), x)
        assert opened.names.place("c0007") == 7


def test_a_folder_that_may_not_be_written_is_read(pool, monkeypatch):
    (pool / ".checked").mkdir()  # stands in the way of the stamp
    assert open_folder(pool).manifest.n == 60


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda body: {**body, "n": 61}, "changed after it was written"),
        (lambda body: {**body, "schema": 99}, "schema 99"),
        (lambda body: {"format": "other"}, "is damaged"),
        (lambda body: [], "is damaged"),
        (lambda body: {k: v for k, v in body.items() if k != "d"}, "changed after"),
    ],
)
def test_a_manifest_that_is_not_right_is_refused(pool, change, words):
    file = pool / "manifest.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))
    with pytest.raises((DamagedPool, InvalidInput), match=words):
        open_folder(pool)


def test_text_that_is_no_manifest_is_refused(pool, tmp_path):
    for text in ("", "{", "\x00", "null"):
        (pool / "manifest.json").write_text(text)
        with pytest.raises(DamagedPool, match="is damaged"):
            read_manifest(pool)
    with pytest.raises(InvalidInput, match="is no pool folder"):
        open_folder(tmp_path)


def test_files_are_compared_in_pieces(pool, monkeypatch, tmp_path):
    monkeypatch.setattr(checksums, "CHUNK", 1000)
    mixed_table().to_csv(tmp_path / "t.csv", index=False)
    import_tables([tmp_path / "t.csv"], tmp_path / "other", TableOptions(id="code", label="yield"))
    file = tmp_path / "other" / "features.npy"
    assert len(read_manifest(file.parent).file("features.npy").checksums) == -(
        -file.stat().st_size // 1000
    )
    data = bytearray(file.read_bytes())
    data[2500] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(DamagedPool, match="somewhere in bytes 2000 to 2999"):
        open_folder(file.parent)


def test_labels_that_were_not_kept_are_asked_for(tmp_path):
    for name in ("A", "B"):
        (tmp_path / f"{name}.csv").write_text("id,size\np,1\nq,2\n")
    make_product([tmp_path / "A.csv", tmp_path / "B.csv"], tmp_path / "pool", id="id")
    with pytest.raises(InvalidInput, match="has no labels"):
        open_folder(tmp_path / "pool").labels()
