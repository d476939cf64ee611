import numpy as np
import pandas as pd
import pytest

from serendip.core.errors import InvalidInput
from serendip.models.matrix.model import MatrixModel
from serendip.problems.framing import Columns, frame_problem
from serendip.tables.lines import TableLines

FRAME = pd.DataFrame(
    [
        {
            "base": base,
            "base smiles": f"smiles of {base}",
            "solvent": solvent,
            "boils": {"thf": 66.0, "dmf": 153.0, "mecn": 82.0}[solvent],
            "substrate": substrate,
            "acidic": substrate in ("s1", "s3"),
            "mass": 100.0 + 7.0 * int(substrate[1]),
            "lab": "ours",
            "plate": f"p{(place + int(substrate[1])) % 4}",
            "y": 0.1 * place,
        }
        for place, (base, solvent) in enumerate(
            [("dbu", "thf"), ("dbu", "dmf"), ("tea", "thf"), ("tea", "dmf"), ("tea", "mecn")]
        )
        for substrate in ("s1", "s2", "s3", "s4")
    ]
)


def _framed(**settings):
    spec = Columns("low-rank", **{"rows": ("base", "solvent"), "columns": "substrate"} | settings)
    return frame_problem(FRAME, spec, ("y",), tuple(map(str, range(len(FRAME)))))


def test_several_columns_name_a_row():
    lines = TableLines.of(FRAME, ["base", "solvent"])
    assert lines.size == 5
    assert len(set(zip(FRAME["base"], FRAME["solvent"], lines.codes, strict=True))) == 5
    assert lines.decides(FRAME["boils"])
    assert not lines.decides(FRAME["substrate"])
    with pytest.raises(InvalidInput, match="no column 'salt'"):
        TableLines.of(FRAME, ["salt"])
    with pytest.raises(InvalidInput, match="'base' has empty cells"):
        TableLines.of(FRAME.assign(base=None), ["base"])


def test_features_of_rows_and_columns_are_found():
    framed = _framed()
    model = framed.model
    assert isinstance(model, MatrixModel)
    assert (model.n_rows, model.n_columns) == (5, 4)
    base, solvent, boils = model.row_groups
    rows = framed.x[:, 0]
    # The SMILES of the base say the same as its name; the lab is the same everywhere.
    assert [len(np.unique(group)) for group in (base, solvent)] == [2, 3]
    np.testing.assert_array_equal(base[rows] == base[rows[0]], FRAME["base"] == "dbu")
    assert boils.shape == (5, 1)
    assert boils.mean() == pytest.approx(0.0)
    assert np.corrcoef(boils[rows, 0], FRAME["boils"])[0, 1] == pytest.approx(1.0)
    (numbers,) = model.column_groups
    assert numbers.shape == (4, 2)
    assert framed.notes == (
        "A matrix of 5 × 4.",
        "A row is described by base, solvent, boils.",
        "A column is described by acidic, mass.",
        "Left out, for neither row nor column decides it: plate.",
    )
    assert not framed.unit_labels


def test_features_can_be_chosen_and_left_out():
    few = _framed(features=("mass",)).model
    assert [len(few.row_groups), len(few.column_groups)] == [2, 1]
    ignored = _framed(ignore=("mass", "boils", "acidic"))
    assert not ignored.model.column_groups
    assert ignored.notes[1:2] == ("A row is described by base, solvent.",)
    assert _framed(rank=1).model.max_rank == 1
    with pytest.raises(InvalidInput, match="no column 'mas'"):
        _framed(features=("mas",))


def test_one_name_a_row_is_no_feature():
    frame = FRAME.assign(row=FRAME["base"] + FRAME["solvent"])
    spec = Columns("low-rank", rows="row", columns="substrate", features=("row",))
    framed = frame_problem(frame, spec, ("y",), tuple(map(str, range(len(frame)))))
    assert not framed.model.row_groups
    assert framed.notes == ("A matrix of 5 × 4.",)


def test_empty_cells_are_refused_or_filled():
    gaps = FRAME.assign(boils=FRAME["boils"].where(FRAME["solvent"] != "dmf"))
    words = FRAME.assign(kind=FRAME["substrate"].map({"s1": "a", "s2": "a", "s3": "b"}))
    for frame, name in ((gaps, "boils"), (words, "kind")):
        spec = Columns("low-rank", rows=("base", "solvent"), columns="substrate")
        ids = tuple(map(str, range(len(frame))))
        with pytest.raises(InvalidInput, match=f"'{name}' has no value.*--missing impute"):
            frame_problem(frame, spec, ("y",), ids)
        filled = Columns("low-rank", rows=spec.rows, columns="substrate", missing="impute")
        model = frame_problem(frame, filled, ("y",), ids).model
        assert all(np.isfinite(group).all() for group in (*model.row_groups, *model.column_groups))


def test_a_cell_that_stands_there_twice_is_refused():
    with pytest.raises(InvalidInput, match=r"base = tea, substrate = s1 .*repeat --rows"):
        _framed(rows="base")
