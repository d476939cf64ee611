"""Users' files: nasty ones, and what becomes of their columns."""

import contextlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from serendip.core.errors import InvalidInput
from serendip.tables import encode_features, ids_of, labels_of, read_table
from serendip.tables.numerals import COMMA, POINT, reading_of


def written(folder: Path, text: str | bytes, name: str = "pool.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def test_importing_needs_no_pandas() -> None:
    code = "import sys, serendip.tables; sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


GOOD = {
    "plain": "id,x\na,1.5\nb,2.5\n",
    "BOM": b"\xef\xbb\xbfid,x\na,1.5\nb,2.5\n",
    "UTF-16": "id\tx\na\t1.5\nb\t2.5\n".encode("utf-16"),
    "Windows ends": "id,x\r\na,1.5\r\nb,2.5\r\n",
    "old Mac ends": "id,x\ra,1.5\rb,2.5\r",
    "no last end": "id,x\na,1.5\nb,2.5",
    "semicolons, decimal commas": "id;x\na;1,5\nb;2,5\n",
    "tabs, decimal commas": "id\tx\na\t1,5\nb\t2,5\n",
    "quotes": '"id","x"\n"a","1.5"\n"b","2.5"\n',
    "padding": " id , x\na , 1.5 \n b,2.5\n",
    "separator named": "sep=;\nid;x\na;1,5\nb;2,5\n",
    "trailing separator": "id,x,\na,1.5,\nb,2.5,\n",
    "trailing blank rows": "id,x\na,1.5\nb,2.5\n,\n,\n\n",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD.keys())
def test_the_same_table_in_many_guises(tmp_path: Path, text: str | bytes) -> None:
    frame = read_table(written(tmp_path, text))
    assert list(frame.columns) == ["id", "x"]
    assert frame["id"].tolist() == ["a", "b"]
    assert frame["x"].tolist() == [1.5, 2.5]
    assert frame.index.tolist() == [2, 3]


def test_windows_text_keeps_its_letters(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, "größe;µ\n1;ü\n".encode("cp1252")))
    assert list(frame.columns) == ["größe", "µ"]
    latin = read_table(written(tmp_path, b"a,b\n1,\x81\xe9\n"))
    assert latin["b"].tolist() == ["\x81é"]


def test_blank_lines_keep_the_row_numbers_and_the_integers(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, "\n\nid,x\n9007199254740993,1\n\n,\n5,\n"))
    assert frame.index.tolist() == [4, 7]
    assert ids_of(frame, "id") == ("9007199254740993", "5")
    with pytest.raises(InvalidInput, match="'x' has no label in row 7"):
        labels_of(frame, "x")


def test_a_field_over_two_lines_is_one_row(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, 'id,note\na,"x,\ny"\nb,z\n'))
    assert frame["note"].tolist() == ["x,\ny", "z"]
    assert frame.index.tolist() == [2, 3]


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("a;b\n1.234;0,5\n950;1,5\n", "a", [1234, 950]),
        ("a;b\n1.234,5;x\n950;y\n", "a", [1234.5, 950]),
        ("a;b\n1,234;0.5\n2,500;1.5\n", "a", [1234, 2500]),
        ("a;b\n1,234;x\n2,500;y\n", "a", [1.234, 2.5]),
        ('a,b\n"1,234",x\n"2,500",y\n', "a", [1234, 2500]),
        ('a,b\n"0,73",x\n"2,500",y\n', "a", [0.73, 2.5]),
        ("a,b\n1 234,x\n\u2212950,y\n", "a", [1234, -950]),
        ("a,b\n1e-3,x\n.5,y\n", "a", [0.001, 0.5]),
        ("a,b\nTRUE,007\nfalse,012\n", "a", [True, False]),
        ("a,b\n007,1\n12,2\n", "a", ["007", "12"]),
        ("a,b\nNone,1\nNA,2\n", "a", ["None", np.nan]),
        ("a\tb\n1,234\tx\n5,678\ty\n", "a", ["1,234", "5,678"]),
    ],
)
def test_numbers_as_people_write_them(
    tmp_path: Path, text: str, name: str, values: list[object]
) -> None:
    frame = read_table(written(tmp_path, text))
    assert pd.Series(frame[name].tolist()).equals(pd.Series(values))


def test_numbers_with_two_readings_are_refused_where_they_are_used(tmp_path: Path) -> None:
    frame = read_table(written(tmp_path, "a\tb\n1,234\t0\n5,678\t1\n"))
    with pytest.raises(InvalidInput, match="'1,234' that can be read in two ways"):
        encode_features(frame)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (" \n\n", "is empty"),
        (",,\n,,\n", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n,\n\n", "no rows"),
        ("a,b,a\n1,2,3\n", "2 columns named 'a'"),
        ("a, a\n1,2\n", "2 columns named 'a'"),
        ("a,b\n1,2\n1,2,3\n", "Row 3 of pool.csv has 3 fields where the header has 2"),
        ("a,b\n\n1\n", "Row 3 of pool.csv has 1 fields"),
        ('a,b\n"1,5",2\n3\n', "Row 3 of pool.csv has 1 fields"),
        ("61,31,26\n55,19,31\n", "holds only numbers"),
        (b"a,b\n1,\x002\n", "not a text file"),
        ('a,b\n1,"2\n', "unbalanced quotes"),
    ],
)
def test_broken_text_files_say_what_is_wrong(tmp_path: Path, text: str | bytes, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        read_table(written(tmp_path, text))


def test_wrong_paths_say_what_to_do(tmp_path: Path) -> None:
    written(tmp_path, "a,b\n1,2\n", "candidates.csv")
    with pytest.raises(InvalidInput, match=r"did you mean candidates\.csv"):
        read_table(tmp_path / "candidate.csv")
    with pytest.raises(InvalidInput, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(InvalidInput, match=r"ending in \.csv, \.tsv, \.xlsx, \.parquet"):
        read_table(tmp_path / "candidates.xls")
    with pytest.raises(InvalidInput, match="no file"):
        read_table(tmp_path / "nowhere" / "candidates.csv")
    with pytest.raises(InvalidInput, match="no file"):
        read_table("candi\0dates.csv")


def workbook(folder: Path, rows: list[list[object]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(folder / "pool.xlsx")
    return folder / "pool.xlsx"


def test_workbooks(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        [],
        ["id", "x", "ok", "text number", None],
        ["a", 1, True, "0,5"],
        [],
        ["b", 2.5, False, "1,5"],
    ]
    frame = read_table(workbook(tmp_path, rows))
    assert list(frame.columns) == ["id", "x", "ok", "text number"]
    assert frame.index.tolist() == [3, 5]
    assert frame["x"].tolist() == [1, 2.5]
    assert frame["text number"].tolist() == [0.5, 1.5]
    with pytest.raises(InvalidInput, match="2 columns named 'a'"):
        read_table(workbook(tmp_path, [["a", "a"], [1, 2]]))
    with pytest.raises(InvalidInput, match="is empty"):
        read_table(workbook(tmp_path, []))
    with pytest.raises(InvalidInput, match="no rows"):
        read_table(workbook(tmp_path, [["a", "b"]]))


def test_numbers_beside_text_in_a_workbook(tmp_path: Path) -> None:
    frame = read_table(workbook(tmp_path, [["x"], [1.5], ["2.5"], [None], [3]]))
    assert frame["x"].tolist() == [1.5, 2.5, 3.0]
    frame = read_table(workbook(tmp_path, [["x"], [1.5], ["n.d."], [2], [3]]))
    with pytest.raises(InvalidInput, match=r"'x' holds numbers, but 'n\.d\.' in row 3"):
        encode_features(frame)


@pytest.mark.parametrize("name", ["pool.xlsx", "pool.parquet"])
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 not really", b"PAR1xxxxPAR1", b"a,b\n1,2\n"])
def test_broken_binary_files(tmp_path: Path, name: str, data: bytes) -> None:
    with pytest.raises(InvalidInput, match=r"pool\."):
        read_table(written(tmp_path, data, name))


def test_cut_off_binary_files(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": np.arange(50), "b": ["x", "y"] * 25})
    table.to_parquet(tmp_path / "pool.parquet")
    table.to_excel(tmp_path / "pool.xlsx", index=False)
    for name in ("pool.parquet", "pool.xlsx"):
        whole = (tmp_path / name).read_bytes()
        assert len(read_table(tmp_path / name)) == 50
        for share in (0.3, 0.6, 0.95):
            with pytest.raises(InvalidInput, match="save"):
                read_table(written(tmp_path, whole[: int(len(whole) * share)], name))


def test_parquet(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": ["007", "008"], "x": [1, 2]}, index=[5, 9])
    table.to_parquet(tmp_path / "pool.parquet")
    frame = read_table(tmp_path / "pool.parquet")
    assert list(frame.columns) == ["id", "x"]
    assert ids_of(frame, "id") == ("007", "008")
    pd.DataFrame({"x": [[1, 2], [3]]}).to_parquet(tmp_path / "pool.parquet")
    with pytest.raises(InvalidInput, match=r"'x' holds a .* in row 2"):
        encode_features(read_table(tmp_path / "pool.parquet"))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_python_numbers_are_read_as_they_are(numbers: list[float]) -> None:
    reading = reading_of(repr(number) for number in numbers)
    assert POINT in reading.styles
    for number in numbers:
        assert float(POINT.plain(repr(number))) == number
        assert float(COMMA.plain(f"{number:e}".replace(".", ","))) == float(f"{number:e}")


CELLS = st.one_of(
    st.sampled_from(["", " ", "1", "0,5", "1.5", "1.234", "1,234", "007", "x", "NA", "TRUE", '"']),
    st.text(max_size=6),
)
FUZZ = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def check_survives(file: Path) -> None:
    """A frame or a sentence, at every step; anything else fails the test."""
    with contextlib.suppress(InvalidInput):
        frame = read_table(file)
        assert len(frame) > 0
        assert frame.columns.is_unique
        for filled in ("error", "impute"):
            with contextlib.suppress(InvalidInput):
                assert np.isfinite(encode_features(frame, missing=filled).x).all()
        for name in frame.columns:
            with contextlib.suppress(InvalidInput):
                assert np.isfinite(labels_of(frame, name)).all()
            with contextlib.suppress(InvalidInput):
                assert len(set(ids_of(frame, name))) == len(frame)


@FUZZ
@given(data=st.binary(max_size=200), ending=st.sampled_from(["csv", "tsv", "xlsx", "parquet"]))
def test_random_bytes_never_crash(tmp_path: Path, data: bytes, ending: str) -> None:
    check_survives(written(tmp_path, data, f"pool.{ending}"))


@FUZZ
@given(
    rows=st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=6),
    separator=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_random_tables_never_crash(
    tmp_path: Path, rows: list[list[str]], separator: str, end: str, encoding: str
) -> None:
    text = end.join(separator.join(row) for row in rows)
    check_survives(written(tmp_path, text.encode(encoding, "ignore")))


@FUZZ
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, st.floats().map(repr)).map(list), min_size=1, max_size=6),
    place=st.integers(0, 80),
    wedge=st.binary(max_size=3),
)
def test_mutated_tables_never_crash(
    tmp_path: Path, rows: list[list[str]], place: int, wedge: bytes
) -> None:
    text = "\n".join([";".join(row) for row in [["a", "b", "c"], *rows]]).encode("utf-8", "ignore")
    check_survives(written(tmp_path, text[:place] + wedge + text[place:]))
