"""How a table is written changes nothing that a model says of it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from serendip.core.data import Block, Observation
from serendip.core.rng import stream
from serendip.problems.framing import Columns, frame_problem

N, LABELLED = 40, 15
RNG = np.random.default_rng(3)
SOLVENTS = ("water", "dmf", "thf", "ether")
TABLE = pd.DataFrame(
    {
        "a": RNG.random(N),
        "b": 50.0 * RNG.random(N),
        "solvent": RNG.choice(SOLVENTS, N),
        "c": RNG.standard_normal(N),
        "ligand": RNG.choice(["L1", "L2", "L3"], N),
    }
)
SCORE = (TABLE["a"] + 0.3 * (TABLE["solvent"] == "dmf") + 0.2 * np.sin(3 * TABLE["c"])).to_numpy()


def told(table, model):
    framed = frame_problem(table, Columns(model=model), (), tuple(map(str, range(N))))
    labels = (np.median(SCORE) < SCORE).astype(float) if framed.unit_labels else SCORE
    seen = [Observation(i, framed.x[i : i + 1], labels[i : i + 1]) for i in range(LABELLED)]
    posterior = framed.model.posterior(seen, stream(0, "fit"))
    return posterior.moments()(Block(np.arange(N), framed.x))


@pytest.mark.parametrize("model", ["linear", "gp", "logistic"])
@settings(max_examples=12, deadline=None)
@given(
    order=st.permutations(list(TABLE.columns)),
    names=st.permutations(SOLVENTS),
    factor=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_order_names_and_units_of_columns_do_not_matter(model, order, names, factor):
    written = TABLE.assign(
        solvent=TABLE["solvent"].map(
            dict(zip(["water", "dmf", "thf", "ether"], names, strict=True))
        ),
        b=factor * TABLE["b"] + 7.0,
    )[order]
    mean, deviation = told(TABLE, model)
    again, spread = told(written, model)
    np.testing.assert_allclose(again, mean, atol=1e-7 * mean.std())
    np.testing.assert_allclose(spread, deviation, rtol=1e-7)


@pytest.mark.parametrize("model", ["forest", "auto", "sparse"])
def test_names_of_columns_do_not_matter_where_chance_is_in_the_fit(model):
    """Order does, as another seed would: trees and chains go by the place of a column."""
    mean, deviation = told(TABLE, model)
    again, spread = told(TABLE.rename(columns={"a": "zeta", "solvent": "medium"}), model)
    np.testing.assert_array_equal(again, mean)
    np.testing.assert_array_equal(spread, deviation)
