"""`serendip pool` as typed: what it says and refuses, and that the folder serves a campaign."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from campaigns import screens
from campaigns.screens import serendip
from needs import need_package
from problems.folders.tables import contents, mixed_table


@pytest.fixture(name="lab")
def _lab(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SERENDIP_STORE", raising=False)
    return tmp_path


def good(*arguments):
    code, said, wrong = serendip(*arguments)
    assert code == 0, wrong
    return said


def bad(*arguments):
    code, _, wrong = serendip(*arguments)
    assert code == 2
    lines = [line for line in wrong.splitlines() if line.startswith("serendip: ")]
    assert len(lines) == 1, wrong
    return lines[0]


def test_from_a_table_to_the_first_batch(lab):
    truth, _ = screens.write_pool()
    said = good("pool", "import", "pool.csv", "--out", "disk", "--id", "code")
    assert "disk: 60 candidates, 6 features" in said
    assert "Note: Column 'solvent' is text: 3 categories." in said
    facts = json.loads(good("pool", "info", "disk", "--format", "json"))
    assert (facts["candidates"], facts["d"], facts["dtype"]) == (60, 6, "float32")
    assert facts["features"][-1] == "constant"
    assert "candidates   60" in good("pool", "info", "disk", "--verify")
    assert "60" in good("pool", "info", "disk", "--format", "csv")
    good("init", "big", "--pool", "disk", "--label", "yield", "--budget", 9)
    good("ask", "big", "-n", 2, "-o", "next.csv")
    sheet = pd.read_csv("next.csv", dtype=object)
    sheet["yield"] = [str(truth[name]) for name in sheet["code"]]
    sheet.to_csv("next.csv", index=False)
    assert "2 measured" in good("tell", "big", "next.csv")
    assert "2 of 9 spent" in good("status", "big")
    assert len(json.loads(good("predict", "big", "--top", 4, "--format", "json"))) == 4


def test_a_folder_of_parquet_files(lab):
    (lab / "in").mkdir()
    frame = mixed_table(90)
    for part in range(3):
        frame.iloc[30 * part : 30 * part + 30].to_parquet(lab / "in" / f"part-{part}.parquet")
    options = ("--id", "code", "--label", "yield", "--keep", "solvent", "--dtype", "float64")
    assert "90 candidates" in good("pool", "import", "in", "--out", "disk", *options)
    facts = json.loads(good("pool", "info", "disk", "--format", "json"))
    assert (facts["label"], facts["labelled"]) == ("yield", int(frame["yield"].notna().sum()))
    assert len(facts["sources"]) == 3


def test_combinations(lab):
    for name in ("A", "B"):
        (lab / f"{name}.csv").write_text("id,size\np,1\nq,2\nr,4\n")
    assert "9 candidates, 3 features" in good(
        "pool", "product", "A.csv", "B.csv", "--out", "ab", "--id", "id"
    )
    said = good(
        "pool", "product", "A.csv", "B.csv", "--out", "abx", "--interactions", "--ignore", "id"
    )
    assert "9 candidates, 4 features" in said
    assert "first        row 2 + row 2" in good("pool", "info", "abx")


def test_molecules(lab):
    need_package("rdkit")
    (lab / "m.smi").write_text("CCO a\nCCN b\nnonsense c\nCCCl d\n")
    assert "Line 3" in bad("pool", "import", "m.smi", "--out", "disk", "--jobs", 1)
    command = ("pool", "import", "m.smi", "--out", "disk", "--jobs", 1, "--skip-unreadable")
    assert "3 candidates, 65 features" in good(*command, "--bits", 64)
    good("init", "mols", "--pool", "disk", "--label", "y", "--budget", 2)
    table = json.loads(good("ask", "mols", "-n", 2, "--format", "json"))
    assert {row["smiles"] for row in table} < {"CCO", "CCN", "CCCl"}


def test_what_is_refused_is_one_sentence(lab):
    screens.write_pool()
    assert "no file" in bad("pool", "import", "no.csv", "--out", "disk")
    assert "--bits is for molecules" in bad(
        "pool", "import", "pool.csv", "--out", "d", "--bits", 64
    )
    (lab / "m.smi").write_text("CCO a\n")
    assert "--id is for tables" in bad("pool", "import", "m.smi", "--out", "d", "--id", "x")
    assert "no pool folder" in bad("pool", "info", ".")
    assert "Did you mean 'code'" in bad("pool", "import", "pool.csv", "--out", "d", "--id", "cod")
    good("pool", "import", "pool.csv", "--out", "disk", "--id", "code")
    data = bytearray((lab / "disk" / "features.npy").read_bytes())
    data[300] ^= 1
    (lab / "disk" / "features.npy").write_bytes(bytes(data))
    assert "features.npy is damaged" in bad("pool", "info", "disk")
    assert "features.npy is damaged" in bad(
        "init", "big", "--pool", "disk", "--label", "y", "--budget", 3
    )


def test_the_same_command_continues_after_kill_9(lab):
    """The command itself, on an array large enough to be caught at it."""
    rng = np.random.default_rng(0)
    np.save(lab / "x.npy", rng.standard_normal((200_000, 16), dtype=np.float32))
    run = "from serendip.cli.main import run; run()"

    def command(out):
        return [sys.executable, "-c", run, "pool", "import", "x.npy", "--out", out]

    def written():
        try:
            return [(path.name, path.stat().st_size) for path in sorted(lab.glob("disk*/*"))]
        except FileNotFoundError:  # renamed while it was looked at
            return None

    subprocess.run(command("straight"), check=True, capture_output=True)
    kills = 0
    for later in (0.0, 0.02, 0.05):  # seconds after it has begun to write
        before = written()
        with subprocess.Popen(
            command("disk"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while process.poll() is None and written() == before:
                time.sleep(0.001)
            try:
                process.wait(later)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
    subprocess.run(command("disk"), check=True, capture_output=True)
    assert kills >= 1
    assert contents(lab / "disk") == contents(lab / "straight")
