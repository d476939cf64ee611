"""Untuned models and policies on the real tables, as `serendip backtest` replays them.

    python benchmarks/suite.py                                 auto with ids, ten repeats
    python benchmarks/suite.py --models auto gp forest         which model
    python benchmarks/suite.py --policies ids ucb greedy       which policy
    python benchmarks/suite.py --problems pndc amidation --repeats 3 --first 100
    python benchmarks/suite.py --policies ids ucb --start 2    from the same two random labels
    python benchmarks/suite.py --folder runs/others            tables of your own, or others.py's

CNCCI, PNDC, amidation, deoxyfluorination and enamine10k are tables as they are; of citeseerx, a
citation graph whose papers of one venue are the finds, a model sees where in the graph they lie.
In a folder every folder is a problem and every CSV in it a pool, labels in the column `y`; a fifth
of a pool is labelled, 200 at most.

Every run is kept in a file as soon as it ends, and is not done again; changed code wants another
file (`--out`). A problem of several pools counts by their mean. Regret, mean ± standard error over
repeats; for enamine10k also how many of the true 500 best were found.
"""

import argparse
import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh

from serendip.compute.parallel import run_all
from serendip.problems.framing import Columns
from serendip.simulate.backtests.backtest import backtest
from serendip.simulate.environments.datasets import load
from serendip.simulate.experiments.real import CNCCI_POOLS, PNDC_POOLS

BUDGETS = {
    "cncci46": 66,
    "cncci10": 66,
    "pndc": 17,
    "amidation": 192,
    "deoxyfluorination": 148,
    "enamine10k": 500,
    "citeseerx": 100,
}
ROWS = {"amidation": "nucleophile_name", "deoxyfluorination": "substrate_name"}
"""What names the row of a table."""


@cache
def tables(problem):
    """The table of each pool of a problem; one that is a path has them in its folder."""
    if isinstance(problem, Path):
        return {file.stem: pd.read_csv(file) for file in sorted(problem.glob("*.csv"))}
    if problem == "citeseerx":
        data = load(problem)
        places = embedded(np.asarray(data.edges), len(data.x))
        return {problem: places.assign(y=np.asarray(data.pool("nips")))}
    if problem.startswith("cncci"):
        data, names = load("cncci", descriptors=int(problem.removeprefix("cncci"))), CNCCI_POOLS
    elif problem == "pndc":
        data, names = load("pndc"), PNDC_POOLS
    else:
        data, names = load(problem), (None,)
    features = data.x if problem in ROWS else data.x.select_dtypes("number")
    return {name or problem: features.assign(y=np.asarray(data.pool(name))) for name in names}


def embedded(edges, n, count=20):
    """Where nodes lie: leading eigenvectors of the adjacency, each degree counted for more by the
    mean degree, and every node's row of length 1 (Qin and Rohe 2013). No label is used.
    """
    half = sp.coo_matrix((np.ones(len(edges)), edges.T), shape=(n, n))
    adjacency = (half + half.T).tocsr()
    degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    root = sp.diags(1.0 / np.sqrt(degrees + degrees.mean()))
    _, vectors = eigsh(root @ adjacency @ root, k=count, v0=np.ones(n))
    rows = vectors[:, ::-1] / np.linalg.norm(vectors, axis=1, keepdims=True)
    return pd.DataFrame(rows, columns=[f"pc{place}" for place in range(1, count + 1)])


def columns(problem, frame, model):
    if model != "low-rank":
        return Columns(model=model)
    row = ROWS[problem]
    others = tuple(name for name in frame.columns if name not in (row, "y"))
    return Columns(model=model, rows=row, columns=others)


def play(task):
    problem, pool, model, policy, seed, start = task
    frame = tables(problem)[pool]
    spec = columns(problem, frame, model)
    found = backtest(
        frame, "y", budget=BUDGETS.get(problem), policies=[policy], columns=spec, seed=seed,
        repeats=1, start=start, jobs=1,
    )  # fmt: skip
    best = np.argsort(-frame["y"].to_numpy(), kind="stable")[: found.budget]
    return {
        "problem": named(problem),
        "pool": pool,
        "model": model,
        "policy": policy,
        "seed": seed,
        "start": start,
        "regret": float(found.summary["regret"].iloc[0]),
        "random": found.random_regret,
        "best_found": int(np.isin(best, found.steps["item"]).sum()),
    }


def named(problem):
    return problem.name if isinstance(problem, Path) else problem


KEY = ["problem", "pool", "model", "policy", "seed", "start"]


def offered(folder):
    """The problems: those of a folder, or the usual ones."""
    return list(BUDGETS) if folder is None else sorted(p for p in folder.iterdir() if p.is_dir())


def kept(file):
    """The runs so far; those of a file from before there were starts began with none."""
    if not file.exists():
        return pd.DataFrame(columns=KEY)
    runs = pd.read_json(file, lines=True)
    return runs.assign(start=runs.get("start", 0))


def summary(runs):
    """One row a problem, model and policy."""
    by = ["problem", "model", "policy", "start"]
    means = runs.groupby([*by, "seed"], sort=False)[["regret", "best_found"]].mean()
    groups = means.groupby(by, sort=False)
    table = groups.agg(
        regret=("regret", "mean"),
        se=("regret", "sem"),
        best_found=("best_found", "mean"),
        repeats=("regret", "size"),
    )
    return table.round(2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--problems", nargs="+", help="by default all")
    parser.add_argument("--folder", type=Path, help="with the tables, in place of the usual ones")
    parser.add_argument("--models", nargs="+", default=["auto"])
    parser.add_argument("--policies", nargs="+", default=["ids"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--start", type=int, default=0, help="labels at random first")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("runs/suite.jsonl"))
    options = parser.parse_args()
    problems = {named(one): one for one in offered(options.folder)}
    if unknown := set(options.problems or ()) - set(problems):
        parser.error(f"no problem {', '.join(sorted(unknown))}; there are {', '.join(problems)}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = set(kept(options.out)[KEY].itertuples(index=False, name=None))
    seeds = range(options.first, options.first + options.repeats)
    tasks = [
        (problem, pool, model, policy, seed, options.start)
        for name, problem in problems.items()
        if not options.problems or name in options.problems
        for seed in seeds
        for model in options.models
        if model != "low-rank" or problem in ROWS
        for policy in options.policies
        for pool in tables(problem)
        if (name, pool, model, policy, seed, options.start) not in done
    ]
    with options.out.open("a") as file:
        for _, run in run_all(play, tasks, options.jobs):
            file.write(json.dumps(run) + "\n")
            file.flush()
    print(summary(kept(options.out)).to_string())


if __name__ == "__main__":
    main()
