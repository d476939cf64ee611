"""Products of tables: every combination has its features and its name, and none is written out."""

import numpy as np
import pytest

from serendip.core.errors import InvalidInput
from serendip.core.reductions.folds import everything
from serendip.problems.folders.opening import open_folder
from serendip.problems.folders.products import make_product
from serendip.tables import encode_features, read_table


@pytest.fixture(name="tables")
def _tables(tmp_path):
    (tmp_path / "acid.csv").write_text("id,size,kind\na1,1,x\na2,2,y\na3,5,x\n")
    (tmp_path / "amine.csv").write_text("id,pka,note\nb1,9.5,p\nb2,10.5,q\n")
    (tmp_path / "base.csv").write_text("id,strength\nk,1\nl,3\nm,4\nn,9\n")
    return [tmp_path / f"{name}.csv" for name in ("acid", "amine", "base")]


@pytest.mark.parametrize("interactions", [False, True])
def test_every_combination_has_features_and_a_name(tables, tmp_path, interactions):
    made = make_product(
        tables, tmp_path / "out", id="id", ignore=("note",), interactions=interactions
    )
    opened = open_folder(tmp_path / "out")
    assert made.n == len(opened.names) == 24
    x = everything(opened.pool).x
    assert x.shape == (24, made.d)
    assert len(made.features) == made.d
    frames = [read_table(path) for path in tables]
    parts = [
        encode_features(frame, ignore=["id", *({"note"} & set(frame.columns))]).x
        for frame in frames
    ]
    item = 0
    for acid in range(3):
        for amine in range(2):
            for base in range(4):
                name = " + ".join(
                    frame["id"].iloc[at]
                    for frame, at in zip(frames, (acid, amine, base), strict=True)
                )
                assert opened.names[item] == name
                assert opened.names.place(name) == item
                own = [parts[0][acid], parts[1][amine], parts[2][base]]
                crossed = [np.outer(own[i], own[j]).ravel() for i, j in ((0, 1), (0, 2), (1, 2))]
                wanted = np.concatenate([*own, *(crossed if interactions else []), [1.0]])
                np.testing.assert_allclose(x[item], wanted, atol=1e-6)
                item += 1
    assert opened.names.beside(np.array([0, 23])) == {
        "acid": ["a1", "a3"],
        "amine": ["b1", "b2"],
        "base": ["k", "n"],
    }
    for name in ("a1 + b1", "a1 + b1 + k + l", "a1 + b1 + z", "", "a1 b1 k"):
        assert opened.names.place(name) is None


def test_features_of_products_are_standardised(tables, tmp_path):
    make_product(tables, tmp_path / "out", id="id", ignore=("note",), interactions=True)
    x = everything(open_folder(tmp_path / "out").pool).x[:, :-1]
    np.testing.assert_allclose(x.mean(axis=0), 0.0, atol=1e-6)
    assert made_once(tables, tmp_path)


def made_once(tables, tmp_path):
    """Whether the same command does nothing the second time."""
    before = (tmp_path / "out" / "manifest.json").stat().st_mtime_ns
    make_product(tables, tmp_path / "out", id="id", ignore=("note",), interactions=True)
    return (tmp_path / "out" / "manifest.json").stat().st_mtime_ns == before


def test_large_products_take_no_room(tmp_path):
    for name in "ABC":
        rows = "".join(f"{name}{i},{i},{i % 7}\n" for i in range(2000))
        (tmp_path / f"{name}.csv").write_text("id,u,v\n" + rows)
    made = make_product([tmp_path / f"{name}.csv" for name in "ABC"], tmp_path / "out", id="id")
    assert made.n == 8 * 10**9
    assert sum(file.size for file in made.files) < 300_000
    opened = open_folder(tmp_path / "out")
    assert opened.names[8 * 10**9 - 1] == "A1999 + B1999 + C1999"
    assert opened.names.place("A1999 + B1999 + C1999") == 8 * 10**9 - 1


def test_tables_that_make_no_product_are_refused(tables, tmp_path):
    with pytest.raises(InvalidInput, match="at least two tables"):
        make_product(tables[:1], tmp_path / "out")
    with pytest.raises(InvalidInput, match="different names"):
        make_product([tables[0], tables[0]], tmp_path / "out")
    tables[0].write_text("id,size\na + b,1\nc,2\n")
    with pytest.raises(InvalidInput, match=r"joined by ' \+ '"):
        make_product(tables, tmp_path / "out", id="id", ignore=("note",))
    with pytest.raises(InvalidInput, match="no column 'name'"):
        make_product(tables[1:], tmp_path / "out", id="name", ignore=("note",))
