"""Workbooks by rules 2: names as they are shown, per cent, formulas, and cells far away."""

import datetime
import resource
import time
import zipfile

import pandas as pd
import pytest

from serendip.core.errors import InvalidInput
from serendip.tables import encode_features, ids_of, labels_of, read_table
from tables.books import SHEET, edited, workbook


@pytest.mark.parametrize(
    ("value", "code", "name"),
    [
        (2.1, "0.00", "2.10"),
        (2.1, "General", "2.1"),
        (7, "000", "007"),
        (7.0, "General", "7"),
        ("1 000", "General", "1 000"),
        (" 2.10 ", "@", "2.10"),
        (5, "0", "5"),
        (True, "General", "TRUE"),
    ],
)
def test_names_are_what_the_spreadsheet_shows(tmp_path, value, code, name):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], [value, 1], ["b", 2]], {"A2": code})
    assert ids_of(read_table(file, names=("id",)), "id") == (name, "b")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (2.104, "0.00"),
        (1000, "#,##0"),
        (0.72, "0%"),
        (1e20, "General"),
        (datetime.date(2024, 3, 1), "yyyy-mm-dd"),
    ],
)
def test_names_that_are_not_certain_are_refused_where_they_are_used(tmp_path, value, code):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1], [value, 2]], {"A3": code})
    frame = read_table(file, names=("id",))
    with pytest.raises(InvalidInput, match=r"Column 'id', row 3: .*write it as text"):
        ids_of(frame, "id")
    with pytest.raises(InvalidInput, match="row 3"):
        encode_features(frame, ["id"], categories=["id"])


def test_whole_numbers_keep_their_last_digit(tmp_path):
    rows = [["id", "x"], [1234567, 1], [2.5, 2], [None, None]]
    file = edited(workbook(tmp_path / "a.xlsx", rows), "1234567", "123456789012345")
    assert ids_of(read_table(file, names=("id",)), "id") == ("123456789012345", "2.5")
    edited(file, "123456789012345", "9007199254740993")  # a spreadsheet keeps fifteen digits
    frame = read_table(file, names=("id",))
    with pytest.raises(InvalidInput, match=r"Column 'id', row 2: 9007199254740993 .*as text"):
        ids_of(frame, "id")
    assert ids_of(read_table(file, 1), "id") == ("9007199254740992.0", "2.5")  # for old logs


def test_per_cent_is_what_it_shows_or_refused(tmp_path):
    rows = [["x", "y", "z"], [0.72, 0.5, 0.1], [0.07, 12, 0.2], [1, 0.3, 0.3]]
    codes = {"A2": "0%", "A3": "0.0%", "A4": "0%", "B2": "0%", "B4": "0%"}
    frame = read_table(workbook(tmp_path / "a.xlsx", rows, codes), labels=("z",))
    assert frame["x"].tolist() == [72, 7, 100]
    with pytest.raises(InvalidInput, match=r"'y', row 2: '50%' stands in a column with numbers"):
        encode_features(frame, ["y"])
    assert read_table(tmp_path / "a.xlsx", 1)["x"].tolist() == [0.72, 0.07, 1]
    frame = read_table(tmp_path / "a.xlsx", labels=("x",))
    with pytest.raises(InvalidInput, match=r"'72%' in row 2, and nothing says"):
        labels_of(frame, "x")


def test_a_sign_of_per_cent_that_is_only_painted(tmp_path):
    file = workbook(tmp_path / "a.xlsx", [["x"], [72], [5]], {"A2": '0"%"', "A3": "0\\%"})
    assert read_table(file)["x"].tolist() == [72, 5]


@pytest.mark.parametrize("cell", ["=A2*2", '="a"&"b"'])
def test_formulas_that_were_never_computed_are_refused(tmp_path, cell):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1], ["b", cell]])
    with pytest.raises(InvalidInput, match=r"Cell B3 of a.xlsx .*formula.* save it.*CSV"):
        read_table(file)


def test_formulas_with_a_result_are_read_unless_the_result_is_a_placeholder(tmp_path):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1], ["b", "=B2*2"]])
    edited(file, "<f>B2*2</f><v />", "<f>B2*2</f><v>2</v>")
    with pytest.raises(InvalidInput, match="Cell B3"):
        read_table(file)  # the workbook asks to be computed on opening
    edited(file, 'fullCalcOnLoad="1"', "", "xl/workbook.xml")
    assert read_table(file)["x"].tolist() == [1, 2]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_cell_far_away_takes_neither_time_nor_memory(tmp_path, quote):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1], ["b", 2]])
    far = "<row r='1048576'><c r='XFD1048576'><v>1</v></c></row></sheetData>".replace("'", quote)
    edited(file, "</sheetData>", far)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InvalidInput, match=r"Cell XFD1048576 of a\.xlsx lies far outside"):
        read_table(file)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_cells_that_are_only_painted_are_no_part_of_the_table(tmp_path):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1], ["b", 2]])
    blank = "<row r='1048576'><c r='XFD1048576' s='0'/></row></sheetData>"
    frame = read_table(edited(file, "</sheetData>", blank))
    assert frame.shape == (2, 2)


def test_a_row_far_below_is_read_as_that_row(tmp_path):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1]])
    far = "<row r='1000000'><c t='inlineStr' r='A1000000'><is><t>z</t></is></c></row></sheetData>"
    assert read_table(edited(file, "</sheetData>", far)).index.tolist() == [2, 1_000_000]


def test_too_many_cells_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("serendip.tables.workbook.MOST_CELLS", 1000)
    file = workbook(tmp_path / "a.xlsx", [["x", "y"]] + [[k, k] for k in range(600)])
    with pytest.raises(InvalidInput, match="too many for a workbook"):
        read_table(file)


def test_merged_cells_are_refused_below_the_header(tmp_path):
    rows = [["id", "x"], ["a", 1], ["b", None]]
    with pytest.raises(InvalidInput, match=r"Cells B2:B3 of a.xlsx are merged"):
        read_table(workbook(tmp_path / "a.xlsx", rows, merged="B2:B3"))
    edited(tmp_path / "a.xlsx", 'ref="B2:B3"', 'ref="A1:XFD1048576"')
    with pytest.raises(InvalidInput, match="are merged"):
        read_table(tmp_path / "a.xlsx")
    assert len(read_table(workbook(tmp_path / "a.xlsx", rows, merged="A9:B12"))) == 2


def test_rules_1_and_2_agree_on_an_ordinary_workbook(tmp_path):
    rows = [
        [None, None, None, None],
        ["id", "größe", "when", "ok"],
        ["a", 1.5, datetime.datetime(2024, 3, 1, 12), True],
        ["b & c", 2, datetime.datetime(1999, 1, 2), False],
    ]
    file = workbook(tmp_path / "a.xlsx", rows)
    old, new = read_table(file, 1), read_table(file)
    assert old.index.tolist() == new.index.tolist() == [3, 4]
    for name in ("id", "größe", "ok"):
        assert old[name].tolist() == new[name].tolist()
    assert [pd.Timestamp(one) for one in new["when"]] == [pd.Timestamp(one) for one in old["when"]]


HOSTILE = {
    "blank cells": ("<row>" + "<c/>" * 5_000_000 + "</row>", "250 times its size"),
    "a long tag": (f"<row x='{'ab' * 5_000_000}'/>", "250 times|does not end"),
    "deep": ("<q>" * 3000 + "</q>" * 3000, "elements 100 deep"),
    "a long text": (
        "<row r='9'><c r='A9' t='inlineStr'><is><t>" + "a" * 4_200_000 + "</t></is></c></row>",
        "a text too long",
    ),
    "beyond the last column": ("<row r='9'>" + "<c/>" * 16385 + "</row>", "Cell XFE9 .* far"),
    "a row that comes back": ("<row r='2'><c r='A2'><v>7</v></c></row>", "Row 2 .* after row 3"),
    "a row beyond the last": ("<row r='1048577'><c><v>7</v></c></row>", "Row 1048577"),
    "another row's cell": ("<row><c r='A77'><v>7</v></c></row>", "row 4 .*'A77'"),
    "a place no one knows": ("<row r='9'><c r='a9'><v>7</v></c></row>", "row 9 .*'a9'"),
    "a cell twice": ("<row r='9'><c r='A9'><v>7</v></c><c r='A9'><v>8</v></c></row>", "'A9'"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_no_spreadsheet_writes_is_refused_before_it_takes_time_or_memory(tmp_path, name):
    added, words = HOSTILE[name]
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1], ["b", 2]])
    edited(file, "</sheetData>", f"{added}</sheetData>")
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    with pytest.raises(InvalidInput, match=words):
        read_table(file)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
    assert time.process_time() - began < 5


def test_names_of_its_own_are_refused_in_every_encoding(tmp_path):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1]])
    with zipfile.ZipFile(file) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    sheet = parts[SHEET].decode().partition("?>")[2] or parts[SHEET].decode()
    own = f"<?xml version='1.0' encoding='UTF-16'?><!DOCTYPE x [<!ENTITY a 'b'>]>{sheet}"
    with zipfile.ZipFile(file, "w") as book:
        for part, data in {**parts, SHEET: own.encode("utf-16")}.items():
            book.writestr(part, data)
    with pytest.raises(InvalidInput, match="names of its own"):
        read_table(file)


@pytest.mark.parametrize(
    ("code", "value", "read"),
    [
        ("0;0%", 72, 72),
        ("0;0%", -0.72, "-72%"),
        ("0.0%;-0.0", -72, -72),
        ('0%;-0%;"-"', 0.5, "50%"),
        ('0";"0', 5, 5),
    ],
)
def test_the_part_of_a_format_that_applies_says_whether_it_is_per_cent(tmp_path, code, value, read):
    file = workbook(tmp_path / "a.xlsx", [["id", "y"], ["a", value]], {"B2": code})
    assert read_table(file, names=("id",), labels=("y",))["y"].tolist() == [read]


def test_a_format_with_conditions_of_its_own_says_nothing_certain(tmp_path):
    file = workbook(tmp_path / "a.xlsx", [["id", "y"], ["a", 0.5]], {"B2": "[<1]0%;0"})
    frame = read_table(file, names=("id",), labels=("y",))
    with pytest.raises(InvalidInput, match=r"Column 'y', row 2: 0\.5 is shown as per cent or not"):
        labels_of(frame, "y")


def test_a_column_far_to_the_right_takes_memory_by_what_is_in_it(tmp_path):
    file = workbook(tmp_path / "a.xlsx", [["id", "x"], ["a", 1]])
    far = "".join(f"<row r='{k}'><c r='XFD{k}'><v>{k}</v></c></row>" for k in range(3, 1200))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    frame = read_table(edited(file, "</sheetData>", f"{far}</sheetData>"))
    assert list(frame.columns) == ["id", "x", "column 16384"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB
