"""Broken inputs: one sentence, exit code 2, never a traceback, and the store as it was."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from campaigns.screens import serendip, settings, write_pool
from serendip.campaigns import Campaign
from serendip.campaigns.log.store import Store

EXAMPLES = 260


@pytest.fixture(scope="module", name="lab")
def _lab():
    """A folder with a campaign in it, some of it told."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        truth, _ = write_pool()
        campaign = Campaign.create(settings(range=[-9, 9]), "serendip.db", who="ann")
        campaign.tell({item: truth[item] for item in list(truth)[:5]})
        campaign.tell({"c005": "failed", "c006": "excluded"})
        yield Path(name)
        os.chdir(home)


def fingerprint():
    """Every event of every campaign, by hash."""
    store = Store.open("serendip.db")
    return [(info.name, info.version, store.read(info.name)[1]) for info in store.campaigns()]


def check_refused(lab, *arguments):
    """Runs a command that must be refused; returns what it said."""
    before = fingerprint()
    code, out, err = serendip(*arguments)
    assert code == 2, (arguments, code, out, err)
    lines = err.strip().splitlines()
    if not lines[0].startswith("Usage:"):
        assert len(lines) == 1, err
        assert lines[0].startswith("serendip: ")
        assert len(lines[0]) < 600
    assert "Traceback" not in out + err
    assert fingerprint() == before
    return err


TABLES = {
    "nothing": b"",
    "blanks": b"   \n\n  \n",
    "only a header": b"code,yield\n",
    "no header": b"1,2\n3,4\n",
    "no id column": b"name,yield\nc010,1\n",
    "no label column": b"code,result\nc010,1\n",
    "label in another case": b"code,Yield\nc010,1\n",
    "id twice": b"code,code,yield\nc010,c011,1\n",
    "label twice": b"code,yield,yield\nc010,1,2\n",
    "unknown id": b"code,yield\nc999,1\n",
    "empty id": b"code,yield\n,1\n",
    "a word": b"code,yield\nc010,much\n",
    "a word among numbers": b"code,yield\nc010,1\nc011,much\nc012,2\nc013,1\n",
    "infinite": b"code,yield\nc010,inf\n",
    "minus infinite": b"code,yield\nc010,-1e999\n",
    "too large": b"code,yield\nc010,9.5\n",
    "too small": b"code,yield\nc010,-10\n",
    "a percentage": b"code,yield\nc010,73%\n",
    "a unit": b"code,yield\nc010,7 mg\n",
    "a date": b"code,yield\nc010,2026-01-01\n",
    "a formula": b"code,yield\nc010,=1+1\n",
    "a question": b"code,yield\nc010,?\n",
    "two values": b"code,yield\nc010,1\nc010,2\n",
    "a value and failed": b"code,yield\nc010,1\nc010,failed\n",
    "failed and excluded": b"code,yield\nc010,failed\nc010,excluded\n",
    "another value": b"code,yield\nc000,8.5\n",
    "failed after all": b"code,yield\nc000,failed\n",
    "excluded after all": b"code,yield\nc000,excluded\n",
    "one bad among good": b"code,yield\nc010,1\nc011,1\nc012,1\nc999,1\n",
    "ragged": b"code,yield\nc010,1,2\n",
    "too few": b"code,x,yield\nc010,1\n",
    "open quote": b'code,yield\n"c010,1\n',
    "binary": bytes(range(256)) * 8,
    "zeros": b"\0" * 300,
    "utf-16 in two halves": "code,yield\nc010,1".encode("utf-16")[:-1],
    "seen with": b"code,yield,seen with\nc010,1,c011\n",
    "complex": b"code,yield\nc010,1+2j\n",
    "two ways": b'code,yield\nc010,"1,234"\nc011,"2,345"\n',
    "hexadecimal": b"code,yield\nc010,0x10\n",
    "nested list": b"code,yield\nc010,[1]\n",
    "very long": b"code,yield\nc010," + b"9" * 5000 + b"\n",
    "line separators in the header": b"\x01\x85\x01,yield\nc010,1\n",
    "very long id": b"code,yield\n" + b"c" * 100_000 + b",1\n",
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_broken_results(lab, name, ending):
    file = lab / f"results{ending}"
    data = TABLES[name]
    file.write_bytes(data.replace(b",", b"\t") if ending == ".tsv" else data)
    check_refused(lab, "tell", "screen", file)


def cell(draw):
    return draw(
        st.one_of(
            st.sampled_from(
                ["much", "1+1j", "--", "1e", "73 %", "<5", "≈3", "n.d.", "1..2", "1,2,3"]
            ),
            st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1)
            .map(str.strip)
            .filter(lambda text: text and not text.isspace())
            .map(lambda text: f"x{text}"),
        )
    )


@st.composite
def broken_table(draw):
    """Good rows with one thing wrong."""
    items = draw(st.lists(st.integers(7, 59), min_size=2, max_size=8, unique=True))
    rows = [[f"c{item:03d}", f"{draw(st.floats(-9, 9)):.6f}"] for item in items]
    header = ["code", "yield"]
    place = draw(st.integers(0, len(rows) - 1))
    match draw(st.integers(0, 8)):
        case 0:
            rows[place][0] = f"z{draw(st.integers())}"
        case 1:
            rows[place][1] = cell(draw)
            rows = rows if draw(st.booleans()) else [rows[place]]
        case 2:
            rows[place][1] = str(draw(st.floats(9.1, 1e300)) * draw(st.sampled_from([-1, 1])))
        case 3:
            rows.append([rows[place][0], f"{float(rows[place][1]) / 2 + 1:.6f}"])
            if rows[-1][1] == rows[place][1]:
                rows[-1][1] = "failed"
        case 4:
            header[draw(st.integers(0, 1))] = draw(st.sampled_from(["", "result", "name", "Ωμ"]))
        case 5:
            rows[place].append(draw(st.sampled_from(["1", "x", "c010"])))
        case 6:
            rows.append([f"c{draw(st.integers(0, 4)):03d}", "8.875"])
        case 7:
            rows[place][0] = ""
        case 8:
            word = draw(st.sampled_from(["failed", "excluded"]))
            rows.append([f"c{draw(st.integers(0, 4)):03d}", word])
    return [header, *rows]


@effort(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(table=broken_table(), separator=st.sampled_from([",", ";", "\t"]))
def test_generated_results_with_one_thing_wrong(lab, table, separator):
    lines = []
    for row in table:
        bare = [one.replace('"', "") for one in row]
        lines.append(separator.join(f'"{one}"' if separator in one else one for one in bare))
    file = lab / ("generated.tsv" if separator == "\t" else "generated.csv")
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    check_refused(lab, "tell", "screen", file)


@effort(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.binary(max_size=400), ending=st.sampled_from([".csv", ".tsv", ".xlsx", ".parquet"]))
def test_random_bytes_are_no_results(lab, data, ending):
    file = lab / f"bytes{ending}"
    file.write_bytes(data)
    check_refused(lab, "tell", "screen", file)


POOLS = {
    "nothing": b"",
    "only a header": b"code,acid\n",
    "one id twice": b"code,acid\na,1\na,2\n",
    "an id missing": b"code,acid\na,1\n,2\nb,3\n",
    "headers twice": b"code,acid,acid\na,1,2\nb,2,3\n",
    "nothing varies": b"code,acid\na,1\nb,1\n",
    "an empty cell": b"code,acid\na,1\nb,\nc,3\nd,2\n",
    "an infinite cell": b"code,acid\na,1\nb,inf\nc,3\n",
    "words among numbers": b"code,acid\na,1\nb,x\nc,3\nd,4\n",
    "only different words": b"code,acid\na,k\nb,l\nc,m\n",
    "ragged": b"code,acid\na,1\nb,2,3\n",
    "fewer than the budget": b"code,acid\na,1\nb,2\n",
    "a bad label": b"code,acid,yield\na,1,x\nb,2,\nc,3,\nd,4,\n",
    "binary": bytes(range(256)) * 4,
}


@pytest.mark.parametrize("name", POOLS)
def test_broken_pools(lab, name):
    file = lab / "broken.csv"
    file.write_bytes(POOLS[name])
    options = ["--pool", file, "--label", "yield", "--budget", 3, "--id", "code"]
    check_refused(lab, "init", "other", *options)


BEGIN = ["--pool", "pool.csv", "--label", "yield", "--budget", "3", "--id", "code"]

SETTINGS = [
    "name = 3",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = '3'",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = -3",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\ncolour = 'red'",
    "name = 'x'\npool = 'pool.csv'\nlabel = ''\nbudget = 3",
    "name = 'x'\npool = ['pool.csv']\nlabel = 'y'\nbudget = 3",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nrange = [1]",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nrange = [nan, 1]",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nrange = [-inf, inf]",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nminimize = 'yes'",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\ncategories = ['a']",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\ncategories = ['a', 'a']",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\ncategories = [1, 2]",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nmissing = 'drop'",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nseed = 1.5",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 99999999999999999999999",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nbinary = true\nrange = [0, 1]",
    "name = '" + "x" * 200 + "'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3",
    "name = 'x'\npool = '\\u0000'\nlabel = 'y'\nbudget = 3",
    "name = 'x'\nname = 'x'",
    "= 3",
    "[[[[",
    "\ufeff{",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nprior_data = 'no.csv'",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nedges = 'pool.csv'",
    "name = 'x'\npool = 'pool.csv'\nlabel = 'y'\nbudget = 3\nfeatures = ['nope']",
]


@pytest.mark.parametrize("text", SETTINGS)
def test_broken_settings(lab, text):
    (lab / "bad.toml").write_text(text, encoding="utf-8")
    check_refused(lab, "init", lab / "bad.toml")


@pytest.mark.parametrize(
    "arguments",
    [
        ["tell", "screen"],
        ["tell", "screen", "x.csv"],
        ["tell", "screen", "x.csv", "--item", "c010", "--value", "1"],
        ["tell", "screen", "--item", "c010"],
        ["tell", "screen", "--item", "c010", "--value", ""],
        ["tell", "screen", "--item", "c010", "--value", "1", "--failed"],
        ["tell", "screen", "--item", "c010", "--failed", "--exclude"],
        ["tell", "screen", "--item", "zzz", "--value", "1"],
        ["tell", "screen", "--item", "c010", "--value", "nan"],
        ["tell", "screen", "--item", "c010", "--value", "1e999"],
        ["tell", "screen", "--item", "c010", "--value", "10"],
        ["tell", "screen", "--item", "c000", "--value", "5.5"],
        ["tell", "screen", "--item", "", "--value", "5.5"],
        ["tell", "nothing", "--item", "c010", "--value", "1"],
        ["tell", "screen", "."],
        ["tell", "screen", "notes.docx"],
        ["ask", "screen", "-n", "0"],
        ["ask", "screen", "-n", "-4"],
        ["ask", "screen", "-n", "x"],
        ["ask", "screen", "-o", "pool.csv"],
        ["ask", "screen", "-o", "pool.csv", "--force"],
        ["ask", "screen", "-o", "next.docx"],
        ["ask", "screen", "-o", "no/such/next.csv"],
        ["ask", "screen", "-o", "serendip.db"],
        ["ask", "nothing"],
        ["ask", "screen", "--store", "nowhere.db"],
        ["ask", "screen", "--store", "ftp://x"],
        ["undo", "screen", "--item", "c059"],
        ["undo", "screen", "--event", "1"],
        ["undo", "screen", "--event", "99999"],
        ["undo", "screen", "--event", "2", "--item", "c000"],
        ["budget", "screen", "2"],
        ["budget", "screen", "100000"],
        [
            "init",
            "screen",
            "--pool",
            "pool.csv",
            "--label",
            "yield",
            "--budget",
            "3",
            "--id",
            "code",
        ],
        ["init", "a/b", "--pool", "pool.csv", "--label", "yield", "--budget", "3", "--id", "code"],
        ["init"],
        ["init", "x", "--pool", "pool.csv"],
        ["init", "missing.toml"],
        ["status", "nothing"],
        ["report", "screen", "-o", "pool.csv", "--force"],
        ["export", "screen", "-o", "pool.csv", "--force"],
        ["doctor", "--pool", "pool.csv"],
        ["doctor", "screen", "--pool", "missing.csv"],
        ["no-such-command"],
    ],
    ids=" ".join,
)
def test_broken_commands(lab, arguments):
    check_refused(lab, *arguments)
    assert (lab / "pool.csv").read_text().startswith("code,acid,heat,solvent\n")
