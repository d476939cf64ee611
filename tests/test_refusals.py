"""The public API before a hostile newcomer: every value works properly, or is refused plainly.

Every argument of the whole table below is given every value that its kind must refuse, one at a
time, and must answer with `InvalidInput` and one line that a person can read; and every unusual
value that its kind must take, NumPy's numbers among them.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import serendip
from serendip import theory
from serendip.compute.engines import Engine
from serendip.core.data import Block
from serendip.core.reductions.folds import optima
from serendip.models.graph.model import adjacency_of
from serendip.models.mixture.auto import AutoModel, Member
from serendip.pools.product import ProductRows
from serendip.simulate.environments.graph import (
    graph_world,
    random_edges,
    star_edges,
    unstructured_world,
)
from serendip.simulate.environments.linear import linear_world, logistic_world
from serendip.simulate.environments.low_rank import low_rank_world
from serendip.simulate.environments.sparse import sparse_world
from serendip.simulate.environments.table import table_world
from serendip.theory import graph_numbers

RNG = serendip.stream(0, "refusals")
X = serendip.stream(1).standard_normal((12, 3))
EDGES = np.array([[0, 1], [1, 2]])
GRAPH = adjacency_of(4, EDGES)
VALUES = np.array([[0.1, 0.5, 0.9], [0.8, 0.2, 0.4]])

NOT_NUMBERS = ["3", None, True, np.bool_(True), np.nan, np.inf, -np.inf, [3], {}, object(), 1j]
NOT_WHOLE = [*NOT_NUMBERS, 2.5, 2.0, np.float64(3), np.array([3]), np.array([[1, 2]]), -1, 0]
NOT_TABLES = [
    None,
    "text",
    3.0,
    [],
    [1.0, 2.0],
    [[1.0], [1.0, 2.0]],
    [["a", "b"]],
    np.array([[np.nan, 1.0]]),
    np.array([[1.0, np.inf]]),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros((2, 2, 2)),
    np.array([[1j, 2.0]]),
    np.array([["1", "2"]]),
    np.array([[object(), 1.0]]),
    pd.DataFrame({"a": ["x", "y"]}),
    object(),
    {},
]


@dataclass(frozen=True)
class Kind:
    """What an argument must refuse, and what it must take though it looks odd."""

    refused: tuple
    taken: tuple = ()

    def without(self, *values):
        """The same, but that these are taken for what they are."""
        kept = (one for one in self.refused if not any(one is v or _same(one, v) for v in values))
        return Kind(tuple(kept), (*self.taken, *values))


def _same(one, other):
    return type(one) is type(other) and isinstance(one, int | float) and one == other


COUNT = Kind(tuple(NOT_WHOLE), (np.int64(3), np.int32(3), np.uint8(3), np.array(3)))
BATCH = Kind(tuple(NOT_WHOLE), (np.int64(2),))
ITEM = Kind((*NOT_NUMBERS, 2.5, 2.0, np.float64(1), np.array([1]), -1, 10**9), (np.int64(1), 0))
SEED = Kind((*NOT_NUMBERS, 2.5, 2.0, np.array([3])), (np.int64(3), np.uint32(3), -3, 2**80, 0))
POSITIVE = Kind((*NOT_NUMBERS, 0, -1.0, np.array([1.0])), (np.float32(1), 1, np.int64(1)))
AMOUNT = Kind((*NOT_NUMBERS, -1.0), (0, np.float64(0.5), np.int64(1)))
SHARE = Kind((*NOT_NUMBERS, -0.1, 1.1), (0.5, np.float32(0.25)))
OPEN_SHARE = Kind((*SHARE.refused, 0, 1.0), SHARE.taken)
FLAG = Kind((1, 0, "yes", None, 1.0, [True]), (True, False, np.bool_(True)))
GENERATOR = Kind((None, 0, "rng", np.random, np.random.RandomState(0)), (np.random.default_rng(0),))
OBJECT = Kind((None, "ids", 3, [], {}, object()))
SEQUENCE = Kind((None, 3, "text", [3], ["a"], [None]))
POSITIVES = Kind((3, "text", [], [0.0], [-1.0], [np.nan], ["1"], [True]), ([1, 2], np.ones(2)))
TABLE = Kind(
    tuple(NOT_TABLES),
    (
        X.tolist(),
        X.astype(np.float32),
        np.asfortranarray(X),
        np.repeat(X, 2, axis=0)[::2],
        pd.DataFrame(X),
        pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5], "c": [3, 4]}),
        np.arange(36).reshape(12, 3),
        X.astype(object),
    ),
)
READ_ONLY = X.copy()
READ_ONLY.flags.writeable = False
OPTIONAL = (None,)


def posterior_of(model):
    return model.posterior((), serendip.stream(0, "posterior"))


def sharded_length(**arguments):
    with serendip.sharded_pool(**arguments) as pool:
        return len(pool)


LINEAR = posterior_of(serendip.LinearModel(3))
FINITE = posterior_of(serendip.FiniteModel(VALUES, serendip.Bernoulli()))
NUMBERED = serendip.DensePool(np.arange(3)[:, None])
POOL = serendip.DensePool(X)
WORLD = linear_world(12, 3, 0.1, serendip.stream(2))
TRACE = serendip.play(
    WORLD.pool, WORLD.oracle, serendip.LinearModel(3), serendip.Greedy(), horizon=3, seed=0
)
WATCHED = serendip.play(
    WORLD.pool,
    WORLD.oracle,
    serendip.LinearModel(3),
    serendip.Greedy(),
    horizon=3,
    seed=0,
    watch=theory.RatioWatch(n_draws=5),
)
SEEN = serendip.Observation(0, X[:1], np.ones(1))
PLAY = {
    "pool": WORLD.pool,
    "oracle": WORLD.oracle,
    "model": serendip.LinearModel(3),
    "policy": serendip.Thompson(),
    "horizon": 3,
    "seed": 0,
}
SUGGEST = {
    "posterior": LINEAR,
    "pool": POOL,
    "policy": serendip.Greedy(),
    "remaining": 3,
    "streams": lambda place: serendip.stream(0, place),
    "count": 2,
}
FEATURES = {"n_features": 3}
TABULAR = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.arange(12.0))
UNIT = POSITIVE.without(*OPTIONAL)
TRANSPARENT = {"prior_variance": 1.0, "noise_variance": 1.0}
S = serendip

# What is called, with what, and the kind of each argument that is put to the test.
CALLS = {
    "stream": (S.stream, {"seed": 0}, {"seed": SEED}),
    "Observation": (
        S.Observation,
        {"item": 1, "x": X[:1], "y": [1.0]},
        {
            "item": ITEM.without(10**9),
            "x": Kind(tuple(NOT_TABLES), ([[1, 2, 3]], pd.DataFrame(X[:1]))),
            "y": Kind(
                (None, 1.0, np.float64(1), "1", [], [[1.0]], [np.nan], [np.inf], ["a"], [1, 2], {}),
                ((1,), np.array([1]), pd.Series([1.0])),
            ),
        },
    ),
    "Choice": (
        S.Choice,
        {"item": 1, "score": 0.5},
        {
            "item": ITEM.without(10**9),
            "score": Kind(("1", None, True, [1]), (1, -np.inf, np.float32(1))),
            "details": Kind((None, 3, "text", [1]), ({"mean": 1.0},)),
        },
    ),
    "Gaussian": (S.Gaussian, {"noise_variance": 1.0}, {"noise_variance": POSITIVE}),
    "Continuous": (
        S.Continuous,
        {"low": 0.0, "high": 10.0},
        {"low": Kind(("1", True, np.nan, [1], 20.0), (None, 1)), "high": Kind(("1", -1.0, [1]))},
    ),
    "Ordered": (
        S.Ordered,
        {"categories": ("low", "high")},
        {"categories": Kind(("text", 3, None, [], ["one"], ["a", "a"]), (["a", "b"],))},
    ),
    "DensePool": (
        S.DensePool,
        {"x": X},
        {
            "x": Kind(TABLE.refused, (*TABLE.taken, READ_ONLY)),
            "block_rows": COUNT,
        },
    ),
    "DensePool of three": (
        S.DensePool,
        {"x": X[:3]},
        {
            "ids": Kind((3, "abc", ["a"], ["a", "a", "b"]), (None, ("a", "b", "c"), [1, 2, 3])),
            "removed": Kind(("a", [0.5], [3], [-1], [1, 0], [[1]], None), ([], [0, 2])),
        },
    ),
    "DensePool.without": (POOL.without, {"item": 1}, {"item": ITEM}),
    "DensePool.with_block_rows": (POOL.with_block_rows, {"block_rows": 3}, {"block_rows": COUNT}),
    "StreamedPool": (
        S.StreamedPool,
        {"rows": ProductRows((X, X))},
        {"rows": OBJECT, "block_rows": COUNT.without(0), "removed": Kind(([999], [-1], "a"))},
    ),
    "ProductRows": (
        ProductRows,
        {"tables": (X, X)},
        {
            "tables": Kind(tuple((X, bad) for bad in NOT_TABLES), ((X.tolist(), X),)),
            "interactions": FLAG,
        },
    ),
    "mapped_pool": (
        S.mapped_pool,
        {"path": "x.npy"},
        {"path": Kind((None, 3, X, "text", [], b"x"))},
    ),
    "ShardedPool": (S.ShardedPool, {"executor": None}, {"executor": OBJECT}),
    "Engine": (
        Engine,
        {"name": "processes"},
        {"name": Kind((None, 3, "cluster", [], X)), "shards": COUNT.without(None)},
    ),
    "sharded_pool": (
        sharded_length,
        {"rows": X},
        {"rows": Kind(tuple(NOT_TABLES[2:]), TABLE.taken), "engine": Kind((3, "threads"))},
    ),
    "open_folder": (S.open_folder, {"path": "nothing"}, {"path": Kind((None, 3, X, b"x"))}),
    "backtest": (
        S.backtest,
        {
            "frame": TABULAR,
            "label": "y",
            "budget": 2,
            "repeats": 1,
            "policies": ["random", "greedy"],
            "columns": S.Columns(model="linear"),
        },
        {
            "budget": Kind((*COUNT.without(None).refused, 13), (np.int64(2),)),
            "repeats": COUNT,
            "seed": SEED,
            "batch": BATCH,
            "start": Kind((*NOT_NUMBERS, 0.5, -1, 2), (0, np.int64(1))),
            "jobs": Kind(COUNT.without(None).refused),
            "policies": Kind(
                (
                    ["nonsense"],
                    [3],
                    [None],
                    3,
                    {"mine": 3},
                    {3: "ids"},
                    {"": "ids"},
                    [S.UCB, S.UCB()],
                ),
                ("random", (), None, S.Thompson(), {"mine": S.Thompson, "random": "random"}),
            ),
            "frame": Kind((None, 3, "table.csv", X, X.tolist(), {"y": [1.0, 2.0]})),
            "label": Kind((None, 3, "z", ["y"])),
            "id": Kind((3, "z", ["a"]), (None, "a")),
            "columns": Kind((3, "linear", ["a"], S.Columns), (None,)),
            "minimize": FLAG,
            "binary": Kind(FLAG.refused, (False,)),
            "range": Kind(
                (
                    5,
                    "01",
                    (0,),
                    (0, 1, 2),
                    ("0", "20"),
                    (20, 0),
                    (0, np.inf),
                    (0, None),
                    (False, 20),
                ),
                (None, (0, 20), [0.0, np.float64(11)]),
            ),
            "categories": Kind((3, "one", ("a",), ("a", 3), ("a", "a")), ((), [])),
            "hit": Kind(NOT_NUMBERS[:1] + NOT_NUMBERS[2:], (None, 3, np.float64(3))),
            "engine": Kind((3, "threads"), (None,)),
        },
    ),
    "backtest of a model": (
        S.backtest,
        {"frame": TABULAR, "label": "y", "budget": 1, "repeats": 1, "policies": "random"},
        {
            "model": Kind(
                (3, "nonsense", ["linear"], object(), int, S.stream, "nothing:Model", "os:sep"),
                (None, "linear", S.LinearModel, S.LinearModel(3), lambda n: S.LinearModel(n)),
            ),
        },
    ),
    "Columns": (S.Columns, {}, {"model": Kind((3, "nonsense", ["linear"], X[0, 0]))}),
    "LinearModel": (
        S.LinearModel,
        FEATURES,
        {
            "n_features": COUNT,
            "constant_column": Kind((3, -1, 1.0, "1", True), (0, None, np.int64(2))),
            "label_unit": UNIT,
            "scales": Kind((3, "text", None)),
        },
    ),
    "LinearModel with scales": (
        S.LinearModel,
        {**FEATURES, **TRANSPARENT},
        {"prior_variance": POSITIVE, "noise_variance": POSITIVE},
    ),
    "LogisticModel": (
        S.LogisticModel,
        FEATURES,
        {
            "n_features": COUNT,
            "prior_variance": UNIT,
            "constant_column": Kind((3, -1, 1.0, "1"), (0, None)),
            "signal_ratios": POSITIVES,
        },
    ),
    "SparseLinearModel": (
        S.SparseLinearModel,
        FEATURES,
        {
            "n_features": COUNT,
            "n_chains": COUNT,
            "sweeps": COUNT,
            "inclusion": Kind(("1", 0.0, 1.0, np.nan, True), (None, 0.5)),
            "slab_variance": UNIT,
            "noise_variance": UNIT,
            "label_unit": UNIT,
        },
    ),
    "GaussianProcessModel": (
        S.GaussianProcessModel,
        FEATURES,
        {
            "n_features": COUNT,
            "groups": Kind((3, "text", [3], [(0,)]), (None,)),
            "kernels": Kind((3, "text", [3]), (None,)),
            "noise_ratios": POSITIVES,
            "learn": Kind((3, "text", [0.0], ["1"]), ((),)),
            "shape": Kind(("2", 1.0, np.nan, None), (2,)),
            "rate": POSITIVE,
            "n_waves": COUNT,
            "label_unit": UNIT,
        },
    ),
    "ForestModel": (
        S.ForestModel,
        FEATURES,
        {
            "n_features": COUNT,
            "n_trees": Kind((*COUNT.refused, 19), (np.int64(20),)),
            "share": Kind((*SHARE.refused, 0), (1,)),
        },
    ),
    "NeuralModel": (
        S.NeuralModel,
        FEATURES,
        {
            "n_features": COUNT,
            "n_members": Kind(COUNT.refused, (np.int64(8),)),
            "n_steps": COUNT,
            "decay": POSITIVE,
        },
    ),
    "EstimatorModel": (
        S.EstimatorModel,
        {"estimator": None, **FEATURES},
        {"estimator": OBJECT, "n_features": COUNT},
    ),
    "LowRankModel": (
        S.LowRankModel,
        {"n_rows": 3, "n_columns": 3, "rank": 1},
        {
            **dict.fromkeys(("n_rows", "n_columns", "rank", "n_chains", "sweeps"), COUNT),
            "factor_variance": POSITIVE,
            "noise_variance": UNIT,
        },
    ),
    "MatrixModel": (
        S.MatrixModel,
        {"n_rows": 3, "n_columns": 3},
        {
            **dict.fromkeys(("n_rows", "n_columns", "n_chains", "sweeps", "warm_up"), COUNT),
            "max_rank": COUNT.without(0),
            "row_groups": Kind((("a",), (3,), ([1, 2],), ([np.nan] * 3,), (["a", "b", "c"],))),
            "label_unit": UNIT,
        },
    ),
    "GraphModel": (
        S.GraphModel,
        {"adjacency": GRAPH},
        {
            "adjacency": Kind(
                (None, 3, "a", [1.0], [[1, 0]], [[0, 1], [0, 0]], [["a"]], [[np.nan]])
            ),
            "prior_mean": Kind((*NOT_NUMBERS,), (0, np.float32(1))),
            "label_unit": UNIT,
            "scales": Kind((3, None)),
        },
    ),
    "adjacency_of": (
        adjacency_of,
        {"n_nodes": 4, "edges": EDGES},
        {
            "n_nodes": Kind(COUNT.refused, (np.int64(4),)),
            "edges": Kind(("a", [1, 2, 3], [[0.5, 1]], [[0, 9]], [[-1, 0]], None), ([], [[0, 1]])),
        },
    ),
    "FiniteModel": (
        S.FiniteModel,
        {"values": VALUES, "likelihood": S.Bernoulli()},
        {
            "values": Kind(tuple(NOT_TABLES), (VALUES.tolist(), np.zeros((2, 3), dtype=int))),
            "likelihood": OBJECT,
            "masses": Kind(
                (
                    [0.6, 0.6],
                    [1, 1],
                    [0.5, 0.499],
                    [-0.5, 1.5],
                    [1.0],
                    [0.5, np.nan],
                    ["a", "b"],
                    3,
                    [[0.5, 0.5]],
                ),
                (None, (0.5, 0.5), [1, 0], [0.3, 0.7 + 1e-12]),
            ),
        },
    ),
    "AutoModel": (AutoModel, {"members": ()}, {"members": Kind((None, 3, "a", (), [3], ["a"]))}),
    "Member": (
        Member,
        {"name": "linear", "model": S.LinearModel(3)},
        {"name": Kind((None, 3)), "model": OBJECT, "prior": POSITIVE},
    ),
    "BudgetIDS": (
        S.BudgetIDS,
        {},
        {
            "power": POSITIVE,
            "n_draws": Kind((*COUNT.refused, 1), (np.int64(2),)),
            "randomised": FLAG,
            "scales_known": FLAG,
        },
    ),
    "SampleVIDS": (S.SampleVIDS, {}, {"power": POSITIVE, "n_draws": COUNT, "randomised": FLAG}),
    "IDS": (S.IDS, {}, {"power": POSITIVE, "ordered": FLAG}),
    "UCB": (S.UCB, {}, {"width": AMOUNT}),
    "OFUL": (S.OFUL, {}, {"failure": OPEN_SHARE}),
    "GLMUCB": (S.GLMUCB, {}, {"scale": AMOUNT}),
    "play": (
        S.play,
        PLAY,
        {
            **dict.fromkeys(("pool", "oracle", "model", "policy"), OBJECT),
            "horizon": Kind((*COUNT.refused, 13), (np.int64(2),)),
            "seed": SEED,
            "batch": BATCH,
            "labels": Kind((3, "text", []), (S.Continuous(),)),
            "watch": Kind((3, "text"), (theory.RatioWatch(n_draws=5),)),
        },
    ),
    "play with classes": (
        S.play,
        PLAY,
        {"policy": Kind((S.BudgetIDS,)), "model": Kind((S.LinearModel,)), "pool": Kind((X,))},
    ),
    "play with a model of other features": (
        S.play,
        PLAY,
        {
            "model": Kind(
                (
                    S.LinearModel(2),
                    S.LogisticModel(4),
                    S.SparseLinearModel(4, n_chains=5),
                    S.GaussianProcessModel(2),
                    S.ForestModel(2),
                    S.LowRankModel(2, 2, 1, n_chains=5),
                    S.MatrixModel(2, 2, n_chains=5),
                    S.GraphModel(GRAPH),
                    S.FiniteModel(VALUES, S.Gaussian(1.0)),
                    AutoModel((Member("forest", S.ForestModel(2)),)),
                )
            )
        },
    ),
    "play a matrix": (
        S.play,
        {**PLAY, "model": S.MatrixModel(2, 2, n_chains=5)},
        {
            "pool": Kind(
                tuple(
                    S.DensePool(np.array(x))
                    for x in ([[0.0, 1.0]] * 3, [[0, 2]] * 3, [[-1, 0]] * 3, [[0]] * 3)
                )
            )
        },
    ),
    "suggest": (
        S.suggest,
        SUGGEST,
        {
            **dict.fromkeys(("posterior", "pool", "policy", "streams"), OBJECT),
            "remaining": Kind(COUNT.refused, (np.int64(3),)),
            "count": BATCH,
        },
    ),
    "suggest of a linear posterior": (
        S.suggest,
        SUGGEST,
        {"pool": Kind((S.DensePool(X[:, :2]), S.DensePool(np.c_[X, X])))},
    ),
    "Trace.figure": (TRACE.figure, {"name": "mean"}, {"name": Kind(("nonsense", None, 3, [], X))}),
    "regret": (
        S.regret,
        {"items": np.array([0, 2]), "truth": WORLD.truth},
        {
            "items": Kind(("a", [0.5], [0, 0], [99], [-1], [[0]], None), ([], [0, 1])),
            "truth": Kind(("a", None, [np.nan] * 3, [[1.0]], [1.0]), (list(range(3)),)),
        },
    ),
    "TableOracle.reveal": (
        partial(table_world(X, np.arange(12.0)).oracle.reveal, rng=RNG),
        {"item": 1},
        {"item": ITEM},
    ),
    "NoisyOracle.reveal": (
        WORLD.oracle.reveal,
        {"item": 1, "rng": RNG},
        {"item": ITEM},
    ),
    "table_world": (
        table_world,
        {"x": X, "labels": np.arange(12.0)},
        {
            "x": Kind(tuple(NOT_TABLES), (X.tolist(), pd.DataFrame(X))),
            "labels": Kind((None, "a", 3.0, [1.0], [np.nan] * 12, ["a"] * 12), (list(range(12)),)),
            "adjacency": Kind((3, "a", np.eye(3)), (None, np.eye(12))),
        },
    ),
    "linear_world": (
        linear_world,
        {"n": 5, "d": 2, "noise_variance": 0.1, "rng": RNG},
        {
            "n": COUNT,
            "d": COUNT,
            "noise_variance": AMOUNT,
            "rng": GENERATOR,
            "prior_variance": POSITIVE,
            "feature_variance": POSITIVE,
        },
    ),
    "logistic_world": (
        logistic_world,
        {"n": 5, "d": 2, "rng": RNG},
        {"n": COUNT, "d": COUNT, "rng": GENERATOR, "prior_variance": POSITIVE},
    ),
    "sparse_world": (
        sparse_world,
        {"n": 5, "d": 4, "sparsity": 2, "noise_variance": 0.1, "rng": RNG},
        {
            "n": COUNT,
            "d": COUNT,
            "sparsity": COUNT,
            "noise_variance": AMOUNT,
            "rng": GENERATOR,
        },
    ),
    "low_rank_world": (
        low_rank_world,
        {"n_rows": 3, "n_columns": 3, "rank": 1, "noise_variance": 0.1, "rng": RNG},
        {
            **dict.fromkeys(("n_rows", "n_columns", "rank"), COUNT),
            "noise_variance": AMOUNT,
            "rng": GENERATOR,
            "factor_variance": POSITIVE,
        },
    ),
    "graph_world": (
        graph_world,
        {"adjacency": GRAPH, "noise_variance": 0.1, "rng": RNG},
        {
            "adjacency": Kind((None, 3, "a", [1.0], [["a"]], [[np.nan]])),
            "noise_variance": AMOUNT,
            "rng": GENERATOR,
            "prior_variance": POSITIVE,
            "prior_mean": Kind((*NOT_NUMBERS,), (0, np.float32(1), -1.5)),
        },
    ),
    "unstructured_world": (
        unstructured_world,
        {"horizon": 3, "rng": RNG},
        {"horizon": COUNT, "rng": GENERATOR, "noise_variance": AMOUNT},
    ),
    "random_edges": (
        random_edges,
        {"n": 4, "chance": 0.5, "rng": RNG},
        {"n": COUNT, "chance": SHARE, "rng": GENERATOR},
    ),
    "star_edges": (
        star_edges,
        {"n": 4, "chance": 0.5, "rng": RNG},
        {"n": COUNT, "chance": SHARE, "rng": GENERATOR, "hub_share": Kind((0, 2, "a", np.nan))},
    ),
    "theory.exploration": (
        theory.exploration,
        {"x": X},
        {
            "x": Kind(tuple(NOT_TABLES), (*TABLE.taken, READ_ONLY)),
            "tolerance": OPEN_SHARE,
        },
    ),
    "theory.coherence": (
        theory.coherence,
        {"matrix": X},
        {"matrix": Kind(tuple(NOT_TABLES), TABLE.taken)},
    ),
    "theory.subspace_coherence": (
        theory.subspace_coherence,
        {"basis": X},
        {"basis": Kind(tuple(NOT_TABLES), TABLE.taken)},
    ),
    "theory.information_ratio": (
        theory.information_ratio,
        {"chances": [0.5, 0.5], "regret": [1, 3], "gain": [0.5, 1.5]},
        {
            "chances": Kind(([0.6, 0.6], [1.0], "a", None, [0.5, np.nan], [-1, 2], [[0.5, 0.5]])),
            "regret": Kind(([1.0], "a", None, [-1, 1], [np.inf, 1])),
            "gain": Kind(([1.0], "a", None, [-1, 1], [np.inf, 1])),
            "power": POSITIVE,
        },
    ),
    "theory.sampled_ratio": (
        theory.sampled_ratio,
        {"posterior": LINEAR, "pool": POOL, "item": 1, "rng": RNG},
        {
            "posterior": OBJECT,
            "pool": OBJECT,
            "item": ITEM,
            "rng": GENERATOR,
            "power": POSITIVE,
            "n_draws": COUNT,
        },
    ),
    "theory.exact_ratio": (
        theory.exact_ratio,
        {"posterior": FINITE, "pool": NUMBERED, "item": 1, "remaining": 2},
        {
            "posterior": OBJECT,
            "pool": OBJECT,
            "item": ITEM,
            "remaining": COUNT,
            "power": POSITIVE,
            "ordered": FLAG,
        },
    ),
    "theory.exact_entropy": (
        theory.exact_entropy,
        {"posterior": FINITE, "pool": NUMBERED, "horizon": 2},
        {"posterior": OBJECT, "pool": OBJECT, "horizon": COUNT, "ordered": FLAG},
    ),
    "theory.optima_entropy": (
        theory.optima_entropy,
        {"best": optima(NUMBERED, FINITE.atoms(), 2)},
        {"best": OBJECT, "ordered": FLAG},
    ),
    "theory.worst_ratio": (
        theory.worst_ratio,
        {"trace": WATCHED},
        {"trace": Kind((None, 3, "a", TRACE)), "name": Kind(("nonsense", None, 3))},
    ),
    "theory.RatioWatch": (theory.RatioWatch, {}, {"power": POSITIVE, "n_draws": COUNT}),
    "theory.ExactRatioWatch": (theory.ExactRatioWatch, {}, {"power": POSITIVE, "ordered": FLAG}),
    "theory.tuple_entropy_bound": (
        theory.tuple_entropy_bound,
        {"n_candidates": 5, "horizon": 2},
        {"n_candidates": COUNT, "horizon": COUNT},
    ),
    "theory.linear_entropy_bound": (
        theory.linear_entropy_bound,
        {"n_candidates": 5, "dimension": 2, "horizon": 2},
        {"n_candidates": COUNT, "dimension": COUNT, "horizon": COUNT},
    ),
    "theory.generic_bound": (
        theory.generic_bound,
        {"worst_ratio": 1.0, "entropy": 1.0, "horizon": 2},
        {
            "worst_ratio": AMOUNT,
            "entropy": AMOUNT,
            "horizon": COUNT,
            "power": Kind((*NOT_NUMBERS, 0.5)),
        },
    ),
    "theory.glm_bound": (
        theory.glm_bound,
        {"dimension": 2, "slope": 1.0, "entropy": 1.0, "horizon": 2},
        {"dimension": COUNT, "slope": POSITIVE, "entropy": AMOUNT, "horizon": COUNT},
    ),
    "theory.glm_ratio_bound": (
        theory.glm_ratio_bound,
        {"dimension": 2, "slope": 1.0},
        {"dimension": COUNT, "slope": POSITIVE},
    ),
    "theory.low_rank_value_bound": (
        theory.low_rank_value_bound,
        {"gamma": 1.0, "rank": 2, "top_singular_value": 1.0, "size": 3.0},
        {"gamma": POSITIVE, "rank": COUNT, "top_singular_value": POSITIVE, "size": POSITIVE},
    ),
    "theory.low_rank_ratio_bound": (
        theory.low_rank_ratio_bound,
        {"value_bound": 1.0, "rank": 2, "gamma": 1.0},
        {"value_bound": POSITIVE, "rank": COUNT, "gamma": POSITIVE},
    ),
    "theory.low_rank_bound": (
        theory.low_rank_bound,
        {"value_bound": 1.0, "rank": 2, "gamma": 1.0, "entropy": 1.0, "horizon": 3},
        {"rank": COUNT, "gamma": POSITIVE, "entropy": AMOUNT, "horizon": COUNT},
    ),
    "theory.graph_bound": (
        theory.graph_bound,
        {"value_bound": 1.0, "independent_set": 2, "clique_cover": 3, "horizon": 4},
        {
            **dict.fromkeys(("value_bound", "independent_set", "clique_cover"), POSITIVE),
            "horizon": COUNT,
        },
    ),
    "theory.sparse_bound": (
        theory.sparse_bound,
        {"sparsity": 2, "dimension": 4, "n_candidates": 10, "horizon": 5},
        {
            **dict.fromkeys(("sparsity", "n_candidates", "horizon"), COUNT),
            "dimension": COUNT,
            "constant": POSITIVE,
        },
    ),
    "theory.structural_bound": (
        theory.structural_bound,
        {"regret_bound": 1.0, "phi": 1.0, "entropy": 1.0, "horizon": 3},
        {"regret_bound": POSITIVE, "phi": POSITIVE, "entropy": AMOUNT, "horizon": COUNT},
    ),
    "theory.structural_ratio_bound": (
        theory.structural_ratio_bound,
        {"regret_bound": 1.0, "phi": 1.0},
        {"regret_bound": POSITIVE, "phi": POSITIVE},
    ),
    "theory.clique_cover_number": (
        graph_numbers.clique_cover_number,
        {"graph": GRAPH},
        {"graph": Kind((None, 3, "a", [1.0], [["a"]], csr_array((2, 3)))), "time_limit": POSITIVE},
    ),
    "theory.lasting_independent_set": (
        graph_numbers.lasting_independent_set,
        {"graph": GRAPH, "n_removed": 1},
        {"n_removed": Kind((*NOT_NUMBERS, 0.5, 4, -1), (0, np.int64(2)))},
    ),
}
CASES = [
    pytest.param(*CALLS[name][:2], argument, kind, id=f"{name}-{argument}")
    for name in CALLS
    for argument, kind in CALLS[name][2].items()
]
REFUSED_BY_DEFAULT = {"EstimatorModel", "ShardedPool", "AutoModel", "mapped_pool", "open_folder"}
REFUSED_BY_DEFAULT |= {"play a matrix"}


@pytest.mark.parametrize(("call", "usual", "argument", "kind"), CASES)
def test_what_does_not_fit_is_refused_in_a_sentence(call, usual, argument, kind):
    for value in kind.refused:
        with pytest.raises(serendip.InvalidInput) as caught:
            call(**{**usual, argument: value})
        _check_sentence(caught.value, value)


@pytest.mark.parametrize(
    ("call", "usual", "argument", "kind"),
    [case for case in CASES if case.id.split("-")[0] not in REFUSED_BY_DEFAULT],
)
def test_what_only_looks_odd_is_taken(call, usual, argument, kind):
    call(**usual)
    for value in kind.taken:
        call(**{**usual, argument: value})


def _check_sentence(error, value):
    text = str(error)
    assert 15 < len(text) < 400, (value, text)
    assert "\n" not in text, (value, text)
    assert text.endswith("."), (value, text)
    assert text[0].isalpha(), (value, text)


# --- posteriors: all models alike ----------------------------------------------------------------

POSTERIORS = {
    "linear": (S.LinearModel(3), X),
    "logistic": (S.LogisticModel(3), X),
    "sparse": (S.SparseLinearModel(3, n_chains=5), X),
    "gp": (S.GaussianProcessModel(3, n_waves=8), X),
    "forest": (S.ForestModel(3, n_trees=20), X),
    "low-rank": (S.LowRankModel(2, 2, 1, n_chains=5), np.array([[0, 1], [1, 1]])),
    "matrix": (S.MatrixModel(2, 2, n_chains=5), np.array([[0, 1], [1, 1]])),
    "graph": (S.GraphModel(GRAPH), np.arange(4)[:, None]),
    "finite": (S.FiniteModel(VALUES, S.Bernoulli()), np.arange(3)[:, None]),
    "auto": (AutoModel((Member("a", S.ForestModel(3)), Member("b", S.ForestModel(3)))), X),
}


@pytest.mark.parametrize("name", POSTERIORS)
def test_posteriors_refuse_what_does_not_fit(name):
    model, x = POSTERIORS[name]
    posterior = posterior_of(model)
    indices = x.dtype.kind == "i"
    wrong_rows = [
        np.zeros((1, x.shape[1] + 1), dtype=x.dtype),
        *([x[:1] + 0.5, x[:1].astype(float), x[:1] + 90, x[:1] - 90] if indices else []),
    ]
    calls = [partial(posterior.update, S.Observation(0, row, [1.0]), RNG) for row in wrong_rows]
    calls += [partial(model.posterior, [S.Observation(0, row, [1.0])], RNG) for row in wrong_rows]
    calls += [partial(posterior.update, one, RNG) for one in (None, 3, "a", (0, x[0], 1.0), [])]
    calls += [partial(model.posterior, seen, RNG) for seen in (None, 3, "a", [3], SEEN)]
    calls += [partial(posterior.sample, size, RNG) for size in NOT_WHOLE]
    calls += [partial(posterior.sample, 3, rng) for rng in GENERATOR.refused]
    for call in calls:
        with pytest.raises(serendip.InvalidInput) as caught:
            call()
        _check_sentence(caught.value, call)
    seen = S.Observation(np.int64(0), x[:1].tolist(), [1])
    fresh = posterior.update(seen, RNG)
    values = fresh.sample(np.int64(4), RNG).values(Block(np.arange(len(x)), x))
    assert np.isfinite(np.asarray(values)).all()


# --- campaigns -----------------------------------------------------------------------------------


def test_campaigns_refuse_counts_that_are_none(tmp_path):
    TABULAR.drop(columns="y").to_csv(tmp_path / "pool.csv", index=False)
    settings = {"name": "tested", "pool": tmp_path / "pool.csv", "label": "y", "model": "linear"}
    store = tmp_path / "log.db"
    for budget in (2.5, 2.0, "2", True, 0):
        with pytest.raises(serendip.InvalidInput):
            serendip.Campaign.create({**settings, "budget": budget}, store)
    campaign = serendip.Campaign.create({**settings, "budget": 4}, store)
    told = len(campaign.log)
    for call in (campaign.ask, campaign.rebudget, campaign.predict):
        for value in (2.5, 2.0, "2", True, np.nan, -1, 0, [2]):
            with pytest.raises(serendip.InvalidInput) as caught:
                call(value)
            _check_sentence(caught.value, value)
    campaign.refresh()
    assert len(campaign.log) == told
    assert len(campaign.ask(np.int64(2))) == 2


# --- the same stream, the same run ---------------------------------------------------------------


def test_numbers_of_numpy_open_the_same_streams():
    plain = S.stream(5, "label", 7).random(4)
    for kind in (np.int64, np.int32, np.uint8):
        assert np.array_equal(S.stream(kind(5), "label", kind(7)).random(4), plain)
    assert not np.array_equal(S.stream(-5, "label", 7).random(4), plain)
    for key in (1.5, True, None, np.float64(2), [1], b"x"):
        with pytest.raises(serendip.InvalidInput):
            S.stream(5, "label", key)


def test_a_run_is_the_same_for_numbers_of_numpy():
    plain = S.play(**PLAY)
    odd = S.play(**{**PLAY, "horizon": np.int32(3), "seed": np.int64(0)})
    assert odd == plain
    assert type(odd.seed) is int


def test_every_public_name_is_put_to_the_test_or_has_nothing_to_refuse():
    tested = {name.split(" ")[0].split(".")[-1] for name in CALLS}
    # Without arguments, made by others, or tested below and in tests/campaigns.
    others = {"Bernoulli", "Binary", "ENS", "Greedy", "Thompson", "Uniform", "Backtest", "Campaign"}
    others |= {"InvalidInput", "SerendipError", "Trace"}
    assert set(serendip.__all__) <= tested | others
    values = {"Coherence", "Exploration", "ItemRatio"}  # results, made by the functions
    assert set(theory.__all__) <= tested | values
