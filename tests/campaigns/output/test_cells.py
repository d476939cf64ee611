"""Formulas: what goes out is harmless, and what comes back is what went out."""

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from campaigns.screens import settings
from serendip.campaigns import Campaign
from serendip.campaigns.output.cells import check_free, harmless, plain_text, write_table
from serendip.core.errors import InvalidInput
from serendip.tables import read_table
from serendip.tables.label_cells import original

EVIL = [
    "=cmd|' /C calc'!A0",
    "=1+1",
    "+x",
    "-CH3",
    "@SUM(A1)",
    "'=quoted",
    "''=twice",
    "＝fullwidth",
    '=HYPERLINK("http://x","y")',
    "plain",
    "-0.5",
]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


@given(st.text())
def test_every_text_comes_back(text):
    assert original(plain_text(text)) == text or plain_text(text) == text


@given(st.sampled_from(FORMULA), st.text(min_size=1))
def test_no_formula_goes_out(sign, rest):
    safe = plain_text(sign + rest)
    if safe.startswith(FORMULA):
        float(safe.replace("\u2212", "-").replace(",", "").replace("'", "").replace(" ", ""))
    else:
        assert original(safe) == sign + rest


def dangerous(text):
    return isinstance(text, str) and text.startswith(FORMULA) and text != "-0.5"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".xlsx"])
def test_proposals_with_evil_names_go_out_and_come_back(folder, ending):
    n = len(EVIL)
    pool = pd.DataFrame(
        {
            "=id": EVIL,
            "acid": [float(k) for k in range(n)],
            "=note": [EVIL[k % 3] for k in range(n)],
            "cold": [-1.0 * k for k in range(n)],
        }
    )
    pool.to_csv("pool.csv", index=False)
    campaign = Campaign.create(settings(id="=id", label="=yield", budget=n), "s.db")
    file = folder / f"next{ending}"
    write_table(campaign.ask(n), file)
    if ending == ".xlsx":
        cells = [cell for row in openpyxl.load_workbook(file).active.iter_rows() for cell in row]
        assert not [cell.value for cell in cells if cell.data_type == "f" or dangerous(cell.value)]
    else:
        separator = "\t" if ending == ".tsv" else ","
        raw = pd.read_csv(file, sep=separator, header=None, dtype=str)
        assert not [text for text in raw.to_numpy().ravel() if dangerous(text)
                    and not text.replace(".", "").replace("-", "").isdigit()]  # fmt: skip
    results = read_table(file)
    results["'=yield"] = range(n)
    if ending == ".xlsx":
        results.to_excel(folder / "told.xlsx", index=False)
    else:
        results.to_csv(folder / f"told{ending}", sep=separator, index=False)
    campaign.tell(folder / f"told{ending}")
    assert set(campaign.state.results) == set(EVIL)
    exported = harmless(campaign.export("results"))
    assert not [text for text in exported.astype(str).to_numpy().ravel()
                if dangerous(text) and not text.startswith("-")]  # fmt: skip


def test_numbers_stay_numbers():
    frame = harmless(pd.DataFrame({"a": [-1.5, 2.0], "b": ["-3", "x"]}))
    assert frame["a"].tolist() == [-1.5, 2.0]
    assert frame["b"].tolist() == ["-3", "x"]


def test_files_are_not_written_over(folder):
    (folder / "mine.csv").write_text("a\n1\n")
    with pytest.raises(InvalidInput, match="--force"):
        check_free(folder / "mine.csv", force=False)
    check_free(folder / "mine.csv", force=True)
    with pytest.raises(InvalidInput, match="your own"):
        check_free(folder / "mine.csv", force=True, own=[folder / "mine.csv"])
    with pytest.raises(InvalidInput, match="ending in"):
        check_free(folder / "mine.txt", force=True)
