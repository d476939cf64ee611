"""Batches: what a plate of 96 takes beside a single pick, and what batches of 24 find.

    python benchmarks/plates.py [--before SRC]             times, with their bars, as JSON
    python benchmarks/plates.py --quality OUT.jsonl        plays batches of 24; hours on few cores
    python benchmarks/plates.py --compare NEW.jsonl [OLD.jsonl]
    python benchmarks/plates.py --large                   a plate of a million, on all cores

Times are of one process with one BLAS thread, fit included, the least of three; `--before` names
the sources of an earlier commit, whose single pick is timed in a process of its own. Beside a
single pick stands what scikit-learn takes for a Gaussian process (a Matérn 5/2 kernel with a length
for each column and noise, L-BFGS, no restarts) and a forest of 100 trees on the same labels, both
predicting the pool.

`--quality` plays `ids`, and `greedy`, whose batch is the top 24 by posterior mean, with the model
`auto` on CNCCI-46 (nine pools), amidation and direct arylation, from seeds 0 to 7. A run is kept
in the file as soon as it ends, and is not played again. With PYTHONPATH at the sources of another
commit the same plays that one; `--compare` takes both files, run by run. The second is by default
docs/data/plates_by_update.jsonl: revision 6118592, which fitted the model anew after every pick.
"""

import argparse
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from time import perf_counter, process_time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pandas as pd

PLATE, REMAINING, RUNS = 96, 192, 3
SIZES = [(n, labels) for n in (330, 10_000, 100_000) for labels in (48, 200)]
OTHERS = 10_000, 200
BATCH, SEEDS = 24, range(8)
BUDGETS = {"cncci46": 66, "amidation": 192, "direct_arylation": 192}
PROBLEMS = tuple(BUDGETS)
KEY = ["problem", "pool", "policy", "seed"]
EARLIER = Path(__file__).parent.parent / "docs" / "data" / "plates_by_update.jsonl"


# --- quality -------------------------------------------------------------------------------------


@cache
def tables(problem):
    """The table of each pool, labels in the column `y`."""
    from serendip.simulate.environments.datasets import find_data_folder, load
    from serendip.simulate.experiments.real import CNCCI_POOLS

    if problem == "direct_arylation":
        frame = pd.read_csv(find_data_folder() / problem / "experiments.csv")
        return {problem: frame.drop(columns="entry").rename(columns={"yield": "y"})}
    if problem == "cncci46":
        data = load("cncci", descriptors=46)
        features = data.x.select_dtypes("number")
        return {name: features.assign(y=data.pool(name)) for name in CNCCI_POOLS}
    data = load(problem)
    return {problem: data.x.assign(y=data.pool())}


def play(task):
    """One run."""
    from serendip.problems.framing import Columns
    from serendip.simulate.backtests.backtest import backtest

    problem, pool, policy, seed = task
    found = backtest(
        tables(problem)[pool], "y", budget=BUDGETS[problem], policies=[policy],
        columns=Columns("auto"), batch=BATCH, seed=seed, repeats=1,
    )  # fmt: skip
    row = found.summary.iloc[0]
    seconds = float(row["seconds_per_ask"]) * found.budget
    regret = round(float(row["regret"]), 6)
    return dict(zip(KEY, task, strict=True)) | {"regret": regret, "seconds": round(seconds, 1)}


def kept(file):
    """The runs so far."""
    if not file.exists() or file.stat().st_size == 0:
        return pd.DataFrame(columns=[*KEY, "regret", "seconds"])
    return pd.read_json(file, lines=True)


def quality(options):
    """Plays what is not in the file yet, the short runs first."""
    from serendip.compute.parallel import run_all

    file = options.quality
    file.parent.mkdir(parents=True, exist_ok=True)
    done = set(kept(file)[KEY].itertuples(index=False, name=None))
    tasks = [
        (problem, pool, policy, seed)
        for problem in options.problems
        for seed in options.seeds
        for pool in tables(problem)
        for policy in options.policies
        if (problem, pool, policy, seed) not in done
    ]
    with file.open("a") as out:
        for _, run in run_all(play, tasks, options.jobs):
            out.write(json.dumps(run) + "\n")
            out.flush()
    print(kept(file).groupby(["problem", "policy"])[["regret", "seconds"]].mean().round(2))


def compared(new, old):
    """How much more regret `new` has, run by run: mean and standard error of each problem.

    The error is that of the means of seeds: pools of one problem share their candidates, and from
    one seed their first batch, so they are no runs apart.
    """
    both = new.merge(old, on=["problem", "pool", "seed"], suffixes=("", "_old"))
    both["more"] = both["regret"] - both["regret_old"]
    seeds = both.groupby(["problem", "seed"], sort=False)["more"].agg(["mean", "size"])
    found = seeds.groupby("problem", sort=False).agg({"mean": ["mean", "sem"], "size": "sum"})
    return found.set_axis(["mean", "sem", "size"], axis=1)


def verdicts(new, old):
    """The bars: at most a standard error above the earlier rule; below the top by mean."""
    ids, greedy = (new[new["policy"] == name] for name in ("ids", "greedy"))
    found = {}
    for name, row in compared(ids, old[old["policy"] == "ids"]).iterrows():
        more, bar = float(row["mean"]), float(row["sem"])
        key = f"{name}: regret over fantasies by update, {int(row['size'])} runs"
        found[key] = {"value": round(more, 3), "bar": round(bar, 3), "ok": more <= bar}
    for name, row in compared(ids, greedy).iterrows():
        more = float(row["mean"])
        key = f"{name}: regret over the top {BATCH} by mean, {int(row['size'])} runs"
        found[key] = {"value": round(more, 3), "bar": 0.0, "ok": more < 0.0}
    return found


# --- times ---------------------------------------------------------------------------------------


def problem(n, labels, d=20):
    """The default model, what has been labelled, and the pool without that."""
    import numpy as np

    from serendip.core.data import Observation
    from serendip.core.rng import stream
    from serendip.models.ensemble.forest import ForestModel
    from serendip.models.gp.kernels import single_columns
    from serendip.models.gp.model import GaussianProcessModel
    from serendip.models.mixture.auto import AutoModel, Member
    from serendip.pools.dense import DensePool

    rng = stream(0, "plates", n)
    x, theta = rng.standard_normal((n, d)), rng.standard_normal(d)
    y = np.tanh(x[:labels] @ theta) + 0.1 * rng.standard_normal(labels)
    seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(labels)]
    # As `auto_model` has it: in full, for the sources of earlier commits call that otherwise.
    members = (
        Member("gp", GaussianProcessModel(d, single_columns(d))),
        Member("forest", ForestModel(d)),
    )
    model = AutoModel(members)
    return model, seen, DensePool(x, removed=np.arange(labels))


def asked(n, labels, count):
    """Wall and processor seconds of a fit and a batch, with `REMAINING` labels left."""
    from serendip.core.rng import stream
    from serendip.core.threads import one_blas_thread
    from serendip.policies.budget_ids import BudgetIDS
    from serendip.simulate.loop import suggest

    model, seen, pool = problem(n, labels)
    begun = perf_counter(), process_time()
    with one_blas_thread():
        posterior = model.posterior(seen, stream(0, "fit"))
    suggest(posterior, pool, BudgetIDS(), REMAINING, lambda place: stream(0, "ask", place), count)
    return perf_counter() - begun[0], process_time() - begun[1]


def others(n, labels):
    """Processor seconds of scikit-learn: a process and a forest, fitted and asked of the pool."""
    import numpy as np
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern, WhiteKernel

    _, seen, pool = problem(n, labels)
    x, y = (np.concatenate([getattr(one, name) for one in seen]) for name in ("x", "y"))
    left = pool.x[labels:]
    begun = process_time()
    kernel = Matern(np.ones(x.shape[1]), nu=2.5) + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    process.fit(x, y).predict(left, return_std=True)
    RandomForestRegressor(100, random_state=0).fit(x, y).predict(left)
    return process_time() - begun


def single(sizes):
    """Processor seconds of a single pick at each size, the least of some."""
    asked(330, 48, 1)
    return [min(asked(n, labels, 1)[1] for _ in range(RUNS)) for n, labels in sizes]


def times(options):
    """A plate over a single pick, by turns, and the single pick over that of other sources."""
    asked(330, 48, PLATE)
    found, own = {}, []
    for n, labels in SIZES:
        runs = [(asked(n, labels, 1), asked(n, labels, PLATE)) for _ in range(RUNS)]
        for place, clock in enumerate(("wall", "processor")):
            one = min(alone[place] for alone, _ in runs)
            plate = min(batch[place] for _, batch in runs)
            key = f"{PLATE} over 1, {n:,} candidates, {labels} labels, {clock} time"
            found[key] = {"value": round(plate / one, 2), "bar": 3.0, "ok": plate <= 3.0 * one}
        own.append(min(alone[1] for alone, _ in runs))
    n, labels = OTHERS
    one, both = own[SIZES.index(OTHERS)], min(others(n, labels) for _ in range(RUNS))
    key = f"1, {n:,} candidates, {labels} labels, over scikit-learn's process and forest, processor"
    found[key] = {"value": round(one / both, 2), "bar": 1.5, "ok": one <= 1.5 * both}
    if options.before:
        code = "import json, plates; print(json.dumps(plates.single(plates.SIZES)))"
        paths = [str(options.before.resolve()), str(Path(__file__).parent)]
        place = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        told = subprocess.run([sys.executable, "-c", code], env=place, check=True, stdout=-1)
        for (n, labels), one, earlier in zip(SIZES, own, json.loads(told.stdout), strict=True):
            key = f"1, {n:,} candidates, {labels} labels, over that of other sources, processor"
            ratio = one / earlier
            found[key] = {"value": round(ratio, 2), "bar": 1.1, "ok": ratio <= 1.1}
    print(json.dumps(found, indent=1))


def large(n=1_000_000, d=32, labels=500):
    """A plate over bare products on all cores, and the memory it takes beyond the pool."""
    import numpy as np

    from scale import bare_product, forget_peak, held
    from serendip.core.data import Observation
    from serendip.core.rng import stream
    from serendip.core.threads import one_blas_thread
    from serendip.models.gp.kernels import single_columns
    from serendip.models.table_models import Features, auto_model
    from serendip.policies.budget_ids import BudgetIDS
    from serendip.pools.dense import DensePool
    from serendip.simulate.loop import suggest

    rng = stream(0, "plates", n)
    x = rng.standard_normal((n, d), dtype=np.float32)
    theta = rng.standard_normal(d)
    y = np.tanh(x[:labels] @ theta) + 0.1 * rng.standard_normal(labels)
    seen = [Observation(i, x[i : i + 1], y[i : i + 1]) for i in range(labels)]
    pool, bare = DensePool(x, removed=np.arange(labels)), []
    theta = rng.standard_normal((300, d))
    for _ in range(RUNS):
        begun = perf_counter(), process_time()
        bare_product(x, theta)
        bare.append((perf_counter() - begun[0], process_time() - begun[1]))
    before = held("VmRSS")
    forget_peak()
    begun, processor = perf_counter(), process_time()
    with one_blas_thread():
        model = auto_model(Features(d, single_columns(d)))
        posterior = model.posterior(seen, stream(0, "fit"))
    suggest(posterior, pool, BudgetIDS(), REMAINING, lambda place: stream(0, "ask", place), PLATE)
    taken, processor = perf_counter() - begun, process_time() - processor
    memory, size = (held("VmHWM") - before) / 1e6, f"{PLATE} of {n:,} × {d}, {labels} labels"
    found = {f"{size}: MB beyond the pool": (round(memory), 1000)}
    for place, (clock, spent) in enumerate((("wall", taken), ("processor", processor))):
        ratio = spent / min(one[place] for one in bare)
        found[f"{size}: over bare products, {clock} time"] = round(ratio, 1), 200
    told = {
        key: {"value": value, "bar": bar, "ok": value <= bar} for key, (value, bar) in found.items()
    }
    print(json.dumps(told, indent=1, ensure_ascii=False))
    least = " and ".join(f"{min(times):.3f}" for times in zip(*bare, strict=True))
    print(f"{taken:.1f} s, {processor:.1f} of all processors; a product {least}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--large", action="store_true", help="a plate of a million candidates")
    parser.add_argument("--before", type=Path, help="sources of an earlier commit")
    parser.add_argument("--quality", type=Path, help="the file of runs to add to")
    parser.add_argument("--compare", type=Path, nargs="+", help="one file or two")
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--policies", nargs="+", default=["ids", "greedy"])
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--jobs", type=int, default=None)
    options = parser.parse_args()
    if options.compare:
        new, old = (*options.compare, EARLIER)[:2]
        print(json.dumps(verdicts(kept(new), kept(old)), indent=1))
    elif options.quality:
        quality(options)
    elif options.large:
        large()
    else:
        times(options)


if __name__ == "__main__":
    main()
