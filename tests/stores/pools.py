"""The pools of the stores that are kept: small, and full of what people really write in tables."""

from pathlib import Path

import openpyxl
import pandas as pd

SOLVENTS = ("DMF", "THF", "water")
SMILES = [
    "CCO", "CCN", "CCC", "CCCl", "c1ccccc1", "c1ccccc1O", "c1ccccc1N", "CC(=O)O", "CC(=O)N",
    "CCOC", "CCCCO", "CCCCN", "C1CCCCC1", "C1CCCCC1O", "c1ccncc1", "CC#N", "CSC", "CC(C)O",
]  # fmt: skip
NUMBERS = {
    "decimals": ["2.10", "2.5", "3.00", "4.25", "10.0"],
    "zeros": ["007", "008", "0015", "016", "100"],
    "thousands": ["1 000", "1 001", "2 500", "10 000", "12 345"],
    "large": ["9007199254740993", "9007199254740992", "9007199254740991", "12", "13"],
    "powers": ["1e5", "2e5", "3e5", "4e5", "5e5"],
    "words": ["2.10", "2.1", "a", "007", "7"],
    "whole": ["1", "2", "3", "4", "5"],
}
"""Ids that a reader may take for numbers."""


def acid(place: int) -> float:
    return round((place * 37 % 101) / 50 - 1, 3)


def heat(place: int) -> float:
    return round((place * 61 % 97) / 48 - 1, 3)


def truth(place: int) -> float:
    """What a measurement of a candidate shows."""
    return round(0.8 * acid(place) - 0.5 * heat(place) + 0.4 * (place % 3 == 1), 3)


def frame(n: int = 20) -> pd.DataFrame:
    places = range(n)
    return pd.DataFrame(
        {
            "code": [f"c{place:03d}" for place in places],
            "acid": [acid(place) for place in places],
            "heat": [heat(place) for place in places],
            "solvent": [SOLVENTS[place % 3] for place in places],
        }
    )


def write_pools(folder: Path) -> None:
    """Every pool file, in a folder that is there."""
    plain = frame()
    plain.to_csv(folder / "plain.csv", index=False)
    plain.to_csv(folder / "moved.csv", index=False, lineterminator="\r\n")
    plain.to_csv(folder / "copied.csv", index=False, lineterminator="\n")
    plain.drop(columns="code").to_csv(folder / "nameless.csv", index=False)
    plain.to_csv(folder / "plain.tsv", index=False, sep="\t")
    plain.to_parquet(folder / "plain.parquet")
    _decimal_commas(folder / "commas.csv")
    for name, ids in NUMBERS.items():
        _numbered(ids).to_csv(folder / f"{name}.csv", index=False)
    _workbook(folder / "workbook.xlsx")
    shares = plain.assign(share=[f"{10 + place % 5} %" for place in range(20)])
    shares["score"] = [str(10 + 3 * place) if place < 4 else "" for place in range(20)]
    shares.to_csv(folder / "percent.csv", index=False)
    gaps = plain.assign(batch=[place % 4 for place in range(20)], note="x")
    gaps.loc[3, "acid"] = None
    gaps.to_csv(folder / "gaps.csv", index=False)
    prior = pd.DataFrame({"code": ["c001", "c004"], "yield": [truth(1), truth(4)]})
    prior.to_csv(folder / "prior.csv", index=False)
    pairs = pd.DataFrame({"plate": [f"p{k // 4}" for k in range(16)]})
    pairs["drug"] = [f"d{k % 4}" for k in range(16)]
    pairs.to_csv(folder / "matrix.csv", index=False)
    nodes = pd.DataFrame({"person": [f"n{k:02d}" for k in range(12)]})
    nodes.to_csv(folder / "nodes.csv", index=False)
    ends = [(f"n{k:02d}", f"n{(k + step) % 12:02d}") for k in range(12) for step in (1, 4)]
    pd.DataFrame(ends, columns=["from", "to"]).to_csv(folder / "edges.csv", index=False)
    molecules = pd.DataFrame({"structure": SMILES, "price": [k % 5 for k in range(len(SMILES))]})
    molecules.insert(0, "cas", [f"50-{k:02d}-0" for k in range(len(SMILES))])
    molecules.to_csv(folder / "molecules.csv", index=False)


def _numbered(ids: list[str]) -> pd.DataFrame:
    table = pd.DataFrame({"sample": [*ids]})
    table["acid"] = [acid(place) for place in range(len(ids))]
    table["heat"] = [heat(place) for place in range(len(ids))]
    return table


def _decimal_commas(path: Path) -> None:
    lines = ["Probe;Säure;Wärme;Lösungsmittel"]
    for place in range(20):
        cells = [f"{value:.3f}".replace(".", ",") for value in (acid(place), heat(place))]
        lines.append(f"P {place};{cells[0]};{cells[1]};{SOLVENTS[place % 3]}")
    path.write_bytes("\r\n".join([*lines, ""]).encode("utf-8-sig"))


def _workbook(path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["sample", "acid", "heat", "share", "yield"])
    for place in range(12):
        name = 2.10 if place == 0 else f"00{place}" if place < 4 else place
        sheet.append([name, acid(place), heat(place), place / 20, 0.45 if place == 5 else None])
        for column in (4, 5):
            sheet.cell(place + 2, column).number_format = "0%"
        sheet.cell(2, 1).number_format = "0.00"
    book.save(path)
