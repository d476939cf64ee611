"""Reading rules: what rules 2 read otherwise than rules 1, and where they refuse to guess."""

import pandas as pd
import pytest

from serendip.core.errors import InvalidInput
from serendip.tables import encode_features, ids_of, labels_of, read_table

IDS = ["2.10", "1 000", "9007199254740993", "1e5", "-0"]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".xlsx"])
def test_names_are_kept_as_they_are(tmp_path, ending):
    frame = pd.DataFrame({"id": IDS, "x": range(len(IDS))})
    file = tmp_path / f"pool{ending}"
    if ending == ".parquet":
        frame.to_parquet(file)
    elif ending == ".xlsx":
        frame.to_excel(file, index=False)
    else:
        frame.to_csv(file, index=False, sep="\t" if ending == ".tsv" else ",")
    assert ids_of(read_table(file, names=("id",)), "id") == tuple(IDS)


def test_whole_numbers_of_a_parquet_file_keep_their_digits(tmp_path):
    ids = pd.array([9007199254740993, 5, None], dtype="Int64")
    pd.DataFrame({"id": ids, "x": [1, 2, 3]}).to_parquet(tmp_path / "a.parquet")
    frame = read_table(tmp_path / "a.parquet", names=("id",))
    assert frame["id"].tolist()[:2] == ["9007199254740993", "5"]
    pd.DataFrame({"id": [9007199254740993.0, 5.0]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InvalidInput, match="has lost its last digits"):
        ids_of(read_table(tmp_path / "a.parquet", names=("id",)), "id")


def test_rules_1_stay_as_they_were(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,x\n2.10,1\n2.5,2\n")
    assert ids_of(read_table(file, 1), "id") == ("2.1", "2.5")
    file.write_text("id;x\n7;1.234\n8;2.345\n")
    assert read_table(file, 1)["x"].tolist() == [1.234, 2.345]
    file.write_text("id;x\n007;1.234\n8;2.345\n")
    assert read_table(file, 1)["x"].tolist() == [1234, 2345]
    file.write_text("x,y\n85%,1\n90%,2\n")
    assert read_table(file, 1)["x"].tolist() == ["85%", "90%"]
    with pytest.raises(InvalidInput, match=r"rules 3, .* upgrade serendip"):
        read_table(file, 3)


READ = [
    ("a;b\n1.234;0,5\n950;1,5\n", [1234, 950]),  # the other column decides
    ("a;b\n1.234;0.5\n950;1.5\n", [1.234, 950]),
    ("a;b\n1.234;x\n12,5;y\n", [1234, 12.5]),  # its own cells decide
    ("a;b\n1.234;x\n12.5;y\n", [1.234, 12.5]),
    ("a,b\n1.234,x\n2.345,y\n", [1.234, 2.345]),  # commas separate
    ("a;b\n85%;x\n7,5 %;y\n", [85, 7.5]),
]


@pytest.mark.parametrize(("text", "values"), READ)
def test_marks_that_the_file_decides(tmp_path, text, values):
    file = tmp_path / "a.csv"
    file.write_text(text)
    assert read_table(file)["a"].tolist() == values
    if "%" not in text:
        assert labels_of(read_table(file, labels=("a",)), "a").tolist() == values


@pytest.mark.parametrize(
    "text",
    ["a;b\n1.234;x\n950;y\n", "a;b\n7;x\n1,234;y\n", 'a,b\n7,x\n"1,234",y\n', "a\tb\n1.234\tx\n"],
)
def test_labels_that_nothing_decides_are_refused(tmp_path, text):
    file = tmp_path / "a.csv"
    file.write_text(text)
    row = text.split("\n").index(next(line for line in text.split("\n") if "234" in line)) + 1
    with pytest.raises(InvalidInput, match=rf"'a', row {row}: .*two ways; write 1234 or 1[.,]2340"):
        labels_of(read_table(file, labels=("a",)), "a")


def test_features_that_nothing_decides_are_refused_where_they_are_used(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("a;b\n950;1\n1.234;2\n")
    frame = read_table(file)
    assert encode_features(frame, ["b"]).names == ("b",)
    with pytest.raises(InvalidInput, match=r"'1\.234' that can be read in two ways \(row 3\)"):
        encode_features(frame)


def test_names_do_not_decide_how_numbers_are_read(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id;y\n2.10;1,234\n2.11;7\n")
    with pytest.raises(InvalidInput, match="two ways"):
        labels_of(read_table(file, names=("id",), labels=("y",)), "y")


@pytest.mark.parametrize("odd", ["1_000", "１２", "inf", "0x10", "1d5", "٣"])
@pytest.mark.parametrize("ending", [".csv", ".xlsx"])
def test_what_only_a_program_takes_for_a_number_is_none(tmp_path, odd, ending):
    frame = pd.DataFrame({"x": ["1.5", odd, "2.5"]})
    file = tmp_path / f"a{ending}"
    frame.to_csv(file, index=False) if ending == ".csv" else frame.to_excel(file, index=False)
    with pytest.raises(InvalidInput, match=rf"'{odd}' in row 3"):
        encode_features(read_table(file))
    with pytest.raises(InvalidInput, match=rf"'{odd}' in row 3"):
        labels_of(read_table(file, labels=("x",)), "x")


def test_the_cell_that_does_not_fit_is_named(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("y;z\n0,5;1\n7;2\n0.7;3\n")
    with pytest.raises(InvalidInput, match=r"holds '0\.7' in row 4"):
        labels_of(read_table(file, labels=("y",)), "y")


def test_numbers_are_read_to_the_last_bit(tmp_path):
    numbers = [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, -2.5, 123456789.12345679]
    file = tmp_path / "a.csv"
    file.write_text("x\n" + "\n".join(map(repr, numbers)) + "\n+1\n.5\n5.\n")
    assert read_table(file)["x"].tolist() == [*numbers, 1, 0.5, 5]
