"""What becomes of the columns of a table: features, labels and ids."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from serendip.core.errors import InvalidInput
from serendip.tables import encode_features, encoding, ids_of, labels_of

FRAME = pd.DataFrame(
    {
        "name": ["a", "b", "c", "d"],
        "x": [1.0, 2.0, 3.0, 6.0],
        "solvent": ["THF", "DMF", "THF", "THF"],
        "dry": [True, False, True, True],
        "same": [7, 7, 7, 7],
    }
)


def test_features_are_scaled_and_named() -> None:
    got = encode_features(FRAME, ignore=["name"], constant=True)
    assert got.names == ("x", "solvent=DMF", "solvent=THF", "dry", "constant")
    np.testing.assert_allclose(got.x[:, [0, 3]].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(got.x[:, [0, 3]].std(axis=0), 1)
    np.testing.assert_allclose(got.x[:, 1:3].mean(axis=0), 0, atol=1e-12)
    assert got.x[:, 1:3].var(axis=0).sum() == pytest.approx(1)
    assert (got.x[:, 4] == 1).all()
    assert any("'same' is the same in every row" in note for note in got.notes)
    assert any("'solvent' is text: 2 categories" in note for note in got.notes)


def test_unit_norm_divides_and_does_not_centre() -> None:
    got = encode_features(FRAME, columns=["x", "solvent"], scaling="unit-norm")
    np.testing.assert_allclose(got.x[:, 0], FRAME["x"] / np.linalg.norm(FRAME["x"]))
    assert np.linalg.norm(got.x[:, 1:]) == pytest.approx(1)
    assert set(np.unique(got.x[:, 1:])) == {0.0, 0.5}


def test_missing_features_are_named_or_filled() -> None:
    frame = pd.DataFrame({"x": [1.0, None, 3.0, 5.0], "s": ["a", "b", None, "a"], "e": [None] * 4})
    with pytest.raises(InvalidInput, match="'x' has no value in row 3;"):
        encode_features(frame, ["x"])
    with pytest.raises(InvalidInput, match="'s' has no value in row 4;"):
        encode_features(frame, ["s"])
    with pytest.raises(InvalidInput, match="'e' is empty"):
        encode_features(frame, ["e"])
    got = encode_features(frame, missing="impute")
    assert got.names == ("x", "s=(missing)", "s=a", "s=b")
    assert got.x[1, 0] == pytest.approx(0)
    assert len(got.notes) == 3
    assert np.isfinite(got.x).all()


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", "b", "c", "d"], "--id c or --ignore c"),
        ([1.0, np.inf, 2.0, 3.0], "'c' holds inf in row 3"),
        (["1", "2", "three", "4"], "'c' holds numbers, but 'three' in row 4"),
        (["0,1", "0,2", "low", "0,4"], "'c' holds numbers, but 'low' in row 4"),
        ([1 + 2j, 2j, 3j, 4j], "'c' holds a complex in row 2"),
        (pd.to_datetime(["2020-01-01"] * 4), "'c' holds a Timestamp in row 2"),
        ([b"a", b"b", b"a", b"b"], "'c' holds a bytes in row 2"),
        ([1, 1, 1, 1], "at least one feature that varies"),
    ],
)
def test_columns_that_are_no_features(column: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        encode_features(pd.DataFrame({"c": column}))


def test_too_many_categories_are_refused() -> None:
    frame = pd.DataFrame({"c": [f"m{n}" for n in range(1500)] * 2})
    with pytest.raises(InvalidInput, match="1500 different texts"):
        encode_features(frame)


def test_codes_and_categories() -> None:
    frame = pd.DataFrame({"code": ["001", "002", "001"], "n": [1, 2, 1], "m": ["1", "x", "1"]})
    got = encode_features(frame, categories=["n", "m"])
    assert got.names == ("code=001", "code=002", "n=1", "n=2", "m=1", "m=x")
    decimals = pd.DataFrame({"c": [Decimal("0.5"), Decimal("1.5")], "s": ["1.5", "2.5"]})
    assert encode_features(decimals).names == ("c", "s")


def test_wrong_names_and_options_are_refused() -> None:
    with pytest.raises(InvalidInput, match="Did you mean 'solvent'"):
        encode_features(FRAME, ["Solvnt"])
    with pytest.raises(InvalidInput, match="Did you mean 'x'"):
        encode_features(FRAME, ignore=["X"])
    with pytest.raises(InvalidInput, match="Every column is left out"):
        encode_features(FRAME[["x"]], ignore=["x"])
    with pytest.raises(InvalidInput, match="two columns named 'x'"):
        encode_features(FRAME[["x", "x"]])
    with pytest.raises(InvalidInput, match="missing must be"):
        encode_features(FRAME, missing="drop")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="scaling must be"):
        encode_features(FRAME, scaling="none")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="shape"):
        encode_features(FRAME.head(0))


def test_labels() -> None:
    frame = pd.DataFrame({"y": [0.5, None, 2.0], "t": ["1", "2", "bad"], "w": ["u", "v", "w"]})
    np.testing.assert_array_equal(labels_of(frame, "y", require_all=False), [0.5, np.nan, 2.0])
    np.testing.assert_array_equal(labels_of(frame.dropna(), "y", minimize=True), [-0.5, -2.0])
    assert np.isnan(labels_of(pd.DataFrame({"y": [None, None]}), "y", require_all=False)).all()
    with pytest.raises(InvalidInput, match="'y' has no label in row 3;"):
        labels_of(frame, "y")
    with pytest.raises(InvalidInput, match="'bad' in row 4"):
        labels_of(frame, "t")
    with pytest.raises(InvalidInput, match="'u' in row 2"):
        labels_of(frame, "w")
    with pytest.raises(InvalidInput, match="it has y, t, w"):
        labels_of(frame, "yield")
    with pytest.raises(InvalidInput, match="holds inf in row 2"):
        labels_of(pd.DataFrame({"y": [np.inf]}), "y")


def test_ids() -> None:
    frame = pd.DataFrame({"a": ["p", "q", "p"], "n": [1.0, 2.0, 3.0], "g": ["u", None, "v"]})
    assert ids_of(frame) == ("row 2", "row 3", "row 4")
    assert ids_of(frame, "n") == ("1", "2", "3")
    with pytest.raises(InvalidInput, match="'p' stands in rows 2 and 4"):
        ids_of(frame, "a")
    with pytest.raises(InvalidInput, match="none in row 3"):
        ids_of(frame, "g")


@given(arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 3)), elements=st.floats()))
def test_any_numbers_give_finite_features_or_a_sentence(numbers: np.ndarray) -> None:
    for scaling in ("standardise", "unit-norm"):
        try:
            got = encode_features(pd.DataFrame(numbers), missing="impute", scaling=scaling)  # type: ignore[arg-type]
        except InvalidInput:
            continue
        assert np.isfinite(got.x).all()
        assert got.x.shape == (len(numbers), len(got.names))


def test_a_table_that_would_not_fit_is_refused_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = pd.DataFrame(np.arange(10.0).reshape(2, 5))
    monkeypatch.setattr(encoding, "MAX_FEATURES", 4)
    with pytest.raises(InvalidInput, match="5 features; a table may have 4 at most"):
        encode_features(wide)
    monkeypatch.setattr(encoding, "MAX_FEATURES", 5)
    assert encode_features(wide).x.shape == (2, 5)
    monkeypatch.setattr(encoding, "_MAX_NUMBERS", 9)
    with pytest.raises(InvalidInput, match=r"2 rows of 5 features take .* pool folder"):
        encode_features(wide)
