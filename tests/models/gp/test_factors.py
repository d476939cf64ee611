import numpy as np
import pandas as pd
import pytest

from serendip.core.data import Block, Observation
from serendip.models.gp.factors import factors_of
from serendip.models.gp.kernel_terms import Levels
from serendip.models.gp.kernels import components, default_kernels, single_columns
from serendip.models.gp.model import GaussianProcessModel
from serendip.problems.framing import Columns, frame_problem


def described(counts, widths, seed=0):
    """A full product of components, each of them with columns of its own."""
    rng = np.random.default_rng(seed)
    tables = [
        rng.standard_normal((count, width)) for count, width in zip(counts, widths, strict=True)
    ]
    places = np.stack([axis.ravel() for axis in np.indices(counts)], axis=1)
    return np.concatenate([table[places[:, k]] for k, table in enumerate(tables)], axis=1)


def test_components_are_found_in_any_order_of_columns():
    x = described((8, 6, 3), (4, 3, 1))
    order = np.random.default_rng(1).permutation(8)
    found = {frozenset(order[list(columns)].tolist()) for columns in factors_of(x[:, order])}
    assert found == {frozenset(range(4)), frozenset((4, 5, 6)), frozenset((7,))}


def test_columns_that_seem_free_of_one_another_are_joined_by_a_third():
    """Two of a ligand's columns take all four combinations, and still are the ligand's."""
    x = described((12, 5), (1, 1))
    ligand = np.unique(x[:, 0], return_inverse=True)[1]
    x = np.column_stack([ligand % 2, ligand // 2 % 2, x[:, 1], x[:, 0]])
    assert sorted(factors_of(x)) == [(0, 1, 3), (2,)]


def test_a_few_combinations_may_be_missing():
    x = described((10, 9), (2, 2))
    kept = np.random.default_rng(2).permutation(90)[:78]
    assert sorted(factors_of(x[kept])) == [(0, 1), (2, 3)]
    assert factors_of(x[kept[:50]]) == ()


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(3).standard_normal((60, 4)),
        np.random.default_rng(3).integers(0, 2, (60, 30)),
        np.arange(40)[:, None] // 2,
        np.ones((1, 3)),
    ],
    ids=["continuous", "bits", "one column", "one row"],
)
def test_other_pools_have_none(x):
    assert factors_of(x) == ()


def test_texts_alone_are_their_own_effects_already():
    names = [(f"l{a}", f"b{b}") for a in range(6) for b in range(5)]
    frame = pd.DataFrame(names, columns=["ligand", "base"]).assign(y=0.0)
    ids = tuple(map(str, range(30)))
    assert frame_problem(frame, Columns("gp"), ("y",), ids).model.factors == ()
    frame["size"] = frame["base"].str[1:].astype(float)
    sized = frame_problem(frame, Columns("gp"), ("y",), ids).model
    assert sorted(len(factor.marks) for factor in sized.factors) == [5, 6]


def test_levels_are_those_that_agree_in_all_columns():
    x = described((7, 4), (3, 2))
    term = Levels.of((0, 1, 2), x)
    features = term.features(x)
    same = (x[:, None, :3] == x[None, :, :3]).all(axis=2)
    np.testing.assert_array_equal(features @ features.T, same)
    np.testing.assert_array_equal(term.diagonal(x), 1.0)
    np.testing.assert_array_equal(term.features(x.astype(np.float32)), features)
    strange = x[:2] + 5.0
    np.testing.assert_array_equal(term.features(strange), 0.0)
    np.testing.assert_array_equal(term.diagonal(strange), 0.0)


def test_components_have_effects_beyond_their_columns():
    """Half of what a component does its columns do not say: the model learns it all the same."""
    gains = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x = described((14, 12), (4, 3), seed)
        effects = [rng.standard_normal(count) for count in (14, 12)]
        own = np.add.outer(*effects).ravel()
        y = own + x @ rng.standard_normal(7) / 2 + 0.2 * rng.standard_normal(168)
        order = rng.permutation(168)
        seen, rest = order[:50], order[50:]
        factors = tuple(Levels.of(columns, x) for columns in factors_of(x))
        errors = []
        for found in (factors, ()):
            model = GaussianProcessModel(7, factors=found)
            told = [Observation(int(i), x[i : i + 1], y[i : i + 1]) for i in seen]
            mean, _ = model.posterior(told, rng).moments()(Block(rest, x[rest]))
            errors.append(float(np.mean((y[rest] - mean) ** 2)))
        gains.append(1.0 - errors[0] / errors[1])
    assert np.mean(gains) > 0.2


def test_the_kernels_say_what_they_are():
    x = described((5, 4), (2, 2))
    factors = tuple(Levels.of(columns, x) for columns in factors_of(x))
    kernels = default_kernels(single_columns(4), factors)
    assert len(kernels) == len(default_kernels(single_columns(4))) + 2
    np.testing.assert_allclose(components(factors).diagonal(x), 1.0)
    for kernel in kernels:
        matrix = kernel.matrix(x, x)
        np.testing.assert_allclose(np.diag(matrix), kernel.diagonal(x), atol=1e-12)
        assert np.linalg.eigvalsh(matrix).min() > -1e-9
