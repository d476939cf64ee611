"""Imports of tables: the features of `encode_features`, clear refusals, one end however killed."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems.folders.tables import contents, mixed_table
from serendip.core.errors import InvalidInput, SerendipError
from serendip.problems.folders import importing, writing
from serendip.problems.folders.importing import TableOptions, import_tables
from serendip.problems.folders.opening import open_folder
from serendip.tables import encode_features, read_table

OPTIONS = TableOptions(id="code", label="yield", keep=("solvent",), dtype="float64")


@pytest.fixture(name="small_pieces", params=[7, 1000])
def _small_pieces(request, monkeypatch):
    """Few rows at a time, so that small tables have many pieces."""
    monkeypatch.setattr(importing, "rows_at_once", lambda width: request.param)


def written(folder, frame, kind, parts=1):
    """The table in one or several files."""
    folder.mkdir(exist_ok=True)
    for part, rows in enumerate(np.array_split(np.arange(len(frame)), parts)):
        path, piece = folder / f"t{part}.{kind}", frame.iloc[rows]
        if kind == "parquet":
            piece.to_parquet(path, index=False, row_group_size=11)
        else:
            piece.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    return folder


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
def test_features_equal_those_of_a_table_in_memory(tmp_path, kind, parts):
    frame = mixed_table()
    source = written(tmp_path / "in", frame, kind, parts)
    made = import_tables([source], tmp_path / "out", OPTIONS)
    whole = written(tmp_path / "whole", frame, kind) / f"t0.{kind}"
    table = read_table(whole)
    wanted = encode_features(table, ignore=["code", "yield"], constant=True)
    opened = open_folder(tmp_path / "out")
    assert made.features == wanted.names
    assert made.notes == wanted.notes
    np.testing.assert_allclose(opened.pool.take(np.arange(60)), wanted.x, rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(opened.labels(), frame["yield"])
    assert made.n_labels == frame["yield"].notna().sum()
    assert [opened.names[item] for item in range(60)] == frame["code"].tolist()
    assert opened.names.beside(np.array([4, 2])) == {"solvent": frame["solvent"][[4, 2]].tolist()}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_table_gives_the_same_features_or_the_same_refusal(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("any")
    n = data.draw(st.integers(2, 12))
    finite = st.floats(-1e300, 1e300, allow_subnormal=False)
    kinds = {
        "numbers": st.lists(finite, min_size=n, max_size=n),
        "whole": st.lists(st.integers(-5, 5), min_size=n, max_size=n),
        "texts": st.lists(st.sampled_from(["a", "b ", "1", "Ä", "x y"]), min_size=n, max_size=n),
        "truth": st.lists(st.booleans(), min_size=n, max_size=n),
        "gaps": st.lists(st.one_of(st.none(), st.integers(0, 3)), min_size=n, max_size=n),
    }
    frame = pd.DataFrame({name: data.draw(values) for name, values in kinds.items()})
    impute = data.draw(st.booleans())
    missing = "impute" if impute else "error"
    frame.to_parquet(folder / "t.parquet", index=False)
    options = TableOptions(dtype="float64", missing=missing)
    try:
        wanted = encode_features(read_table(folder / "t.parquet"), missing=missing, constant=True)
    except InvalidInput:
        with pytest.raises(InvalidInput):
            import_tables([folder / "t.parquet"], folder / "out", options)
        return
    made = import_tables([folder / "t.parquet"], folder / "out", options)
    assert made.features == wanted.names
    x = open_folder(folder / "out").pool.take(np.arange(n))
    np.testing.assert_allclose(x, wanted.x, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "bool"])
def test_arrays_are_imported(tmp_path, dtype):
    rng = np.random.default_rng(0)
    x = np.clip(3 * rng.standard_normal((50, 3)) + 1, 0, None).astype(dtype)
    x[:, 2] = x[0, 2]
    np.save(tmp_path / "x.npy", x)
    made = import_tables([tmp_path / "x.npy"], tmp_path / "out", TableOptions())
    assert made.features == ("x0", "x1", "constant")
    found = open_folder(tmp_path / "out").pool.take(np.arange(50))
    wide = x[:, :2].astype(np.float64)
    np.testing.assert_allclose(found[:, :2], (wide - wide.mean(0)) / wide.std(0), atol=1e-5)
    np.testing.assert_array_equal(found[:, 2], 1.0)


def test_arrays_are_left_as_they_are_where_that_is_asked_for(tmp_path):
    x = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    import_tables([tmp_path / "x.npy"], tmp_path / "out", TableOptions(scaling="none"))
    opened = open_folder(tmp_path / "out")
    np.testing.assert_array_equal(opened.pool.take(np.arange(50))[:, :3], x)
    assert opened.names[49] == "49"
    assert opened.names.place("49") == 49
    assert [opened.names.place(name) for name in ("50", "049", "-1", "", "9" * 30)] == [None] * 5


def test_categories_of_a_parquet_file_are_texts(tmp_path):
    grades = pa.array(["1", "2", "1", "2", "2"]).dictionary_encode()
    pq.write_table(pa.table({"grade": grades, "size": range(5)}), tmp_path / "t.parquet")
    made = import_tables([tmp_path / "t.parquet"], tmp_path / "out", TableOptions())
    wanted = encode_features(read_table(tmp_path / "t.parquet"), constant=True)
    assert made.features == wanted.names == ("grade=1", "grade=2", "size", "constant")


CSV_REFUSALS = {
    "a,b\n1,2\n3,\n": r"'b' has no value in row 3 of .*t\.csv",
    "a,b\n1,2\n3,inf\n5,6\n": r"'b' holds numbers, but 'inf' in row 3|Numbers must be finite",
    "a,b\n1,2\n3,1e999\n": r"column 'b' holds inf in row 3",
    "a,b\n1,2\n3,x\n4,5\n6,7\n": r"'b' holds numbers, but 'x' in row 3 of",
    'a,b\n1,"0,5"\n2,"1,5"\n': "decimal point",
    "a,b\n1,2,3\n": "could not be read",
    "a,b\n1,2\n3\n": "could not be read",
    "a,a\n1,2\n": "2 columns named 'a'",
    "1,2\n3,4\n": "holds only numbers",
    "a,b\n": "no rows",
    "": "is empty",
    "a,b\n1,\n2,\n": "'b' is empty",
    "a\n1\n1\n": "more than one value",
}


@pytest.mark.parametrize("text", CSV_REFUSALS)
def test_csv_files_that_are_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InvalidInput, match=CSV_REFUSALS[text]):
        import_tables([tmp_path / "t.csv"], tmp_path / "out", TableOptions())
    # Nothing is left, so that the same command works once the file is corrected.
    assert not list((tmp_path / "out").glob("*"))


def test_a_full_disk_is_no_reason_to_begin_again(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "rows_at_once", lambda width: 7)
    monkeypatch.setattr(writing, "_COMMIT_SECONDS", -1.0)
    source = written(tmp_path / "in", mixed_table(), "csv")
    import_tables([source], tmp_path / "straight", OPTIONS)
    append, calls = importing.append, []

    def full(file, array):
        calls.append(len(array))
        if len(calls) == 5:
            raise OSError(28, "No space left on device")
        append(file, array)

    monkeypatch.setattr(importing, "append", full)
    with pytest.raises(SerendipError, match=r"No space left on device.*continues where it was"):
        import_tables([source], tmp_path / "out", OPTIONS)
    import_tables([source], tmp_path / "out", OPTIONS)
    assert sum(calls[5:]) < 2 * 60  # what was written before was not written again
    assert contents(tmp_path / "out") == contents(tmp_path / "straight")


def test_cells_with_line_breaks_and_odd_column_names(tmp_path):
    (tmp_path / "t.csv").write_text(
        'sep=;\n"name";"a ""b""" ;note\n"x\ny";1;"p;q"\n\nz;2;r\n;;\nw;4;r\n'
    )
    options = TableOptions(id="name", keep=("note",))
    made = import_tables([tmp_path / "t.csv"], tmp_path / "out", options)
    table = read_table(tmp_path / "t.csv")
    wanted = encode_features(table, ignore=["name"], constant=True)
    assert made.features == wanted.names == ('a "b"', "note=p;q", "note=r", "constant")
    opened = open_folder(tmp_path / "out")
    assert [opened.names[item] for item in range(3)] == ["x\ny", "z", "w"]
    np.testing.assert_allclose(opened.pool.take(np.arange(3)), wanted.x, rtol=1e-6)
    pq.write_table(pa.table({" a.b ": [1.0, 2.0], "c": [3, 5]}), tmp_path / "t.parquet")
    made = import_tables([tmp_path / "t.parquet"], tmp_path / "other", TableOptions())
    assert made.features == ("a.b", "c", "constant")


def test_other_encodings_are_refused_with_advice(tmp_path):
    (tmp_path / "t.csv").write_bytes("a,b\n1,Ö\n2,Ü\n3,Ü\n".encode("cp1252"))
    with pytest.raises(InvalidInput, match="UTF-8"):
        import_tables([tmp_path / "t.csv"], tmp_path / "out", TableOptions())


def refused(tmp_path, match, *frames, **options):
    for place, frame in enumerate(frames):
        pq.write_table(pa.table(frame), tmp_path / f"t{place}.parquet")
    files = [tmp_path / f"t{place}.parquet" for place in range(len(frames))]
    with pytest.raises(InvalidInput, match=match):
        import_tables(files, tmp_path / "out", TableOptions(**options))


def test_tables_that_do_not_fit_together_are_refused(tmp_path):
    good = {"a": [1.0, 2.0], "b": [3.0, 4.0]}
    refused(tmp_path, r"t1.parquet has no column 'b', which .*t0.parquet", good, {"a": [1.0]})
    refused(tmp_path, r"t0.parquet has no column 'c'", good, {**good, "c": [1, 2]})
    text = {"a": [1.0, 2.0], "b": ["x", "y"]}
    refused(tmp_path, r"'b' holds texts in .*t1.parquet and numbers in the files", good, text)


def test_values_that_cannot_be_features_are_refused(tmp_path):
    dates = pa.array(np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[s]"))
    refused(tmp_path, "'b' of .* holds timestamp", {"a": [1.0, 2.0], "b": dates})
    bad = {"a": [1.0, 2.0, 3.0], "b": [1.0, float("nan"), 2.0]}
    refused(tmp_path, r"'b' has no value in row 3 of .*t0.parquet", bad)
    refused(tmp_path, "holds inf in row 3", {"a": [1.0, np.inf], "b": [1, 2]})
    refused(tmp_path, "Every value of column 'b'", {"a": [1, 2], "b": ["x", "y"]})
    many = {"a": list(range(2002)), "b": [f"t{i % 1001}" for i in range(2002)]}
    refused(tmp_path, "more than 1000 different texts", many)
    refused(
        tmp_path,
        "too large for float16",
        {"a": [0.0] * 99 + [1e6]},
        scaling="none",
        dtype="float16",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a;b\n1.234;1\n2.500;2\n", r"'a' holds '1.234' in row 2 of .*, which can be read in two"),
        ("a\tb\n1.234\t1\n2.500\t2\n", r"'a' holds '1.234' in row 2"),
        ("a,b\n72%,1\n85%,2\n", r"such as '72%' in row 2 .* without per cent signs"),
    ],
)
def test_numbers_that_can_be_read_in_two_ways_are_refused(tmp_path, text, says):
    file = tmp_path / ("t.tsv" if "\t" in text else "t.csv")
    file.write_text(text)
    with pytest.raises(InvalidInput, match=says):
        import_tables([file], tmp_path / "out", TableOptions())
    assert not (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize("text", ["a,b\n1.234,1\n2.500,2\n", "a;b\n1.234;1.5\n2.500;2.25\n"])
def test_points_that_something_decides_are_decimal(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    options = TableOptions(scaling="none", dtype="float64")
    import_tables([tmp_path / "t.csv"], tmp_path / "out", options)
    rows = open_folder(tmp_path / "out").pool.take(np.array([0, 1]))
    assert rows[:, 0].tolist() == [1.234, 2.5]


def test_whole_ids_in_floating_point_are_exact_or_refused(tmp_path):
    good = {"id": np.array([1.0, 2.0**53 - 1.0]), "a": [1.0, 2.0]}
    pq.write_table(pa.table(good), tmp_path / "t.parquet")
    import_tables([tmp_path / "t.parquet"], tmp_path / "out", TableOptions(id="id"))
    assert list(open_folder(tmp_path / "out").names) == ["1", "9007199254740991"]
    bad = {"id": np.array([1.0, 2.0**53 + 2.0]), "a": [1.0, 2.0]}
    again = tmp_path / "again"
    again.mkdir()
    refused(again, "The id 9007199254740994 in row 3 .* has lost its last digits", bad, id="id")


def test_ids_and_labels_that_do_not_fit_are_refused(tmp_path):
    good = {"a": [1.0, 2.0, 3.0], "b": ["x", None, "z"], "y": ["1", "2", "bad"]}
    refused(tmp_path, "'b' has none in row 3", good, id="b", ignore=("y",))
    refused(tmp_path, "holds numbers, but 'bad' in row 4", good, label="y", ignore=("b",))
    refused(tmp_path, "no column 'c'", good, id="c")
    twice = {"a": [1.0, 2.0], "name": ["p", "q"]}, {"a": [5.0, 6.0], "name": ["r", "p"]}
    refused(
        tmp_path,
        r"'p' stands in row 2 of .*t0.parquet and in row 3 of .*t1.parquet",
        *twice,
        id="name",
    )
    with pytest.raises(InvalidInput, match="name an id column"):
        TableOptions(keep=("a",))
    with pytest.raises(InvalidInput, match="dtype must be"):
        TableOptions(dtype="int8")


def test_files_that_are_not_there_or_of_two_kinds(tmp_path):
    with pytest.raises(InvalidInput, match="There is no file"):
        import_tables([tmp_path / "no.csv"], tmp_path / "out", TableOptions())
    (tmp_path / "in").mkdir()
    with pytest.raises(InvalidInput, match="holds no file"):
        import_tables([tmp_path / "in"], tmp_path / "out", TableOptions())
    mixed_table().to_csv(tmp_path / "in" / "a.csv")
    mixed_table().to_parquet(tmp_path / "in" / "b.parquet")
    with pytest.raises(InvalidInput, match="files of one kind"):
        import_tables([tmp_path / "in"], tmp_path / "out", TableOptions())
    for name in ("a.csv", "b.parquet"):
        (tmp_path / "in" / name).unlink()
    (tmp_path / "in" / "b.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InvalidInput, match="could not be read"):
        import_tables([tmp_path / "in"], tmp_path / "out", TableOptions())


class Killed(BaseException):
    """Ends the work at once, as a kill would."""


def test_an_import_killed_at_any_step_ends_the_same(tmp_path, monkeypatch):
    """Writes and commits are interrupted after 3 to 21 steps; work goes on from there."""
    monkeypatch.setattr(importing, "rows_at_once", lambda width: 7)
    monkeypatch.setattr(writing, "_COMMIT_SECONDS", -1.0)
    source = written(tmp_path / "in", mixed_table(), "csv", 3)
    import_tables([source], tmp_path / "straight", OPTIONS)
    append, commit = importing.append, writing.Workplace.commit
    steps = {"left": 0}

    def tick():
        steps["left"] -= 1
        if steps["left"] == 0:
            raise Killed

    def dying_append(file, array):
        append(file, array[: len(array) // 2])  # half a piece may reach the disk
        file.flush()
        tick()
        append(file, array[len(array) // 2 :])
        tick()

    def dying_commit(self, **news):
        tick()
        commit(self, **news)
        tick()

    monkeypatch.setattr(importing, "append", dying_append)
    monkeypatch.setattr(writing.Workplace, "commit", dying_commit)
    kills, done = 0, False
    while not done:
        steps["left"] = 3 + 7 * kills % 19
        try:
            import_tables([source], tmp_path / "out", OPTIONS)
            done = True
        except Killed:
            kills += 1
    assert kills > 10
    assert contents(tmp_path / "out") == contents(tmp_path / "straight")


SCRIPT = """
import sys
from pathlib import Path
from serendip.problems.folders import importing, writing
from serendip.problems.folders.importing import TableOptions, import_tables
importing.rows_at_once = lambda width: 200
writing._COMMIT_SECONDS = 0.0
options = TableOptions(id="code", label="yield", keep=("solvent",), dtype="float32")
print("begun", flush=True)
import_tables([Path(sys.argv[1])], Path(sys.argv[2]), options)
"""


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_kill_9_in_mid_import(tmp_path, kind):
    source = written(tmp_path / "in", mixed_table(12_000), kind, 2)

    def run(out, seconds=None):
        """Whether the import came to its end before it was killed."""
        command = [sys.executable, "-c", SCRIPT, str(source), str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            try:
                assert process.wait(seconds) == 0
                return True
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                return False

    start = time.perf_counter()
    assert run(tmp_path / "straight")
    usual = time.perf_counter() - start
    ended = [run(tmp_path / "out", share * usual) for share in (0.02, 0.2, 0.5, 0.3, 0.6)]
    assert not all(ended)
    assert run(tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "straight")
    x = open_folder(tmp_path / "out").pool.take(np.arange(12_000))
    frame = pd.concat([read_table(source / f"t{part}.{kind}") for part in range(2)])
    wanted = encode_features(frame, ignore=["code", "yield"], constant=True)
    np.testing.assert_allclose(x, wanted.x, rtol=1e-5, atol=1e-5)


def test_another_import_does_not_go_on_with_the_work(tmp_path, monkeypatch):
    source = written(tmp_path / "in", mixed_table(), "csv")

    def killed(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(importing, "append", killed)
        with pytest.raises(Killed):
            import_tables([source], tmp_path / "out", OPTIONS)
    with pytest.raises(InvalidInput, match="is not finished; run the same"):
        open_folder(tmp_path / "out")
    with pytest.raises(
        InvalidInput, match="unfinished import of other files or with other options"
    ):
        import_tables([source], tmp_path / "out", TableOptions(id="code"))
    file = source / "t0.csv"
    os.utime(file, ns=(1, 1))
    with pytest.raises(InvalidInput, match="the files have changed since"):
        import_tables([source], tmp_path / "out", OPTIONS)


def test_a_finished_import_is_left_alone(tmp_path):
    source = written(tmp_path / "in", mixed_table(), "csv")
    first = import_tables([source], tmp_path / "out", OPTIONS)
    before = contents(tmp_path / "out")
    assert import_tables([source], tmp_path / "out", OPTIONS) == first
    assert contents(tmp_path / "out") == before
    with pytest.raises(InvalidInput, match="holds a pool already"):
        import_tables([source], tmp_path / "out", TableOptions(id="code", label="yield"))


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    source = written(tmp_path / "in", mixed_table(), "csv")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("42")
    with pytest.raises(InvalidInput, match="not empty"):
        import_tables([source], tmp_path / "out", OPTIONS)
    assert (tmp_path / "out" / "thesis.tex").read_text() == "42"
    with pytest.raises(InvalidInput, match="is a file"):
        import_tables([source], tmp_path / "out" / "thesis.tex", OPTIONS)


def test_two_imports_into_one_folder(tmp_path):
    source = written(tmp_path / "in", mixed_table(), "csv")
    with (
        writing.workplace(tmp_path / "out", {"a": 1}),
        pytest.raises(InvalidInput, match="Another process is importing"),
    ):
        import_tables([source], tmp_path / "out", OPTIONS)


def test_a_source_that_changes_meanwhile_is_found(tmp_path, monkeypatch):
    source = written(tmp_path / "in", mixed_table(), "csv")
    write = importing._write

    def changing(*arguments):
        found = write(*arguments)
        os.utime(source / "t0.csv", ns=(5, 5))
        return found

    monkeypatch.setattr(importing, "_write", changing)
    with pytest.raises(InvalidInput, match="changed while it was imported"):
        import_tables([source], tmp_path / "out", OPTIONS)
