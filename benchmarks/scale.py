"""Whole decision steps on two cores against what limits them: ratios in one run, each with its bar.

    python benchmarks/scale.py                a table
    python benchmarks/scale.py --json         {NAME: {"value": …, "bar": …, "ok": …}}
    python benchmarks/scale.py --quick        small sizes, every line of code; bars mean nothing
    python benchmarks/scale.py --only NAME    one of GROUPS; may be repeated

The bare product multiplies the float32 pool with the draws, chunk by chunk on two threads, and
keeps nothing: no step that looks at every value of every draw can be faster. The naive version is
naive.py, Algorithm 2 as one would write it down first: all n × M values in float64, loops over
draws and groups. The array version (no bar) does the same with as few passes over the n × M array
as NumPy allows. What is compared runs in turns, and each
time is the least of its turns. Memory is what the process holds at its peak beyond what it held
before, threads, buffers and all.
"""

import argparse
import json
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

CORES = 2
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])

import numpy as np  # noqa: E402  (after the cores are chosen, so that BLAS sees two)

import peers  # noqa: E402
from naive import naive_vids  # noqa: E402
from serendip.core.data import Observation  # noqa: E402
from serendip.core.reductions.folds import optima  # noqa: E402
from serendip.core.rng import stream  # noqa: E402
from serendip.core.threads import one_blas_thread, spread  # noqa: E402
from serendip.models.linear.model import LinearModel  # noqa: E402
from serendip.policies.budget_ids import BudgetIDS  # noqa: E402
from serendip.policies.sample_vids import SampleVIDS  # noqa: E402
from serendip.pools.dense import DensePool  # noqa: E402
from serendip.pools.screening.bounded import BoundedPool  # noqa: E402
from serendip.simulate.environments.table import TableOracle  # noqa: E402
from serendip.simulate.loop import absorb, play, suggest  # noqa: E402

MB = 1e6


@dataclass(frozen=True)
class Sizes:
    """How large everything is."""

    large: int = 1_000_000
    medium: int = 100_000
    wide: int = 100
    narrow: int = 20
    n_draws: int = 1000
    budget: int = 200
    labels: int = 30
    horizon: int = 200
    turns: int = 5


QUICK = Sizes(20_000, 5_000, 12, 6, 100, 20, 12, 8, 2)


class Problem:
    """Random candidates, a linear truth with noise, and a campaign that can go on."""

    def __init__(self, n, d, labels, model=None, seed=0):
        rng = stream(seed, "scale", n, d)
        self.x = rng.standard_normal((n, d), dtype=np.float32)
        self.theta = rng.standard_normal(d)
        self.plain = DensePool(self.x)
        self.pool = BoundedPool(self.plain)
        self.posterior = (model or LinearModel(d, 1.0, 1.0)).posterior((), rng)
        self.t = 0
        self.rng = rng
        for item in range(labels):
            self.tell(item)

    def tell(self, item):
        """The label of an item, taken in."""
        label = float(self.x[item] @ self.theta + self.rng.standard_normal())
        seen = Observation(item, self.x[item : item + 1], np.array([label]))
        self.posterior, self.pool = absorb(self.posterior, self.pool, seen, self.rng)
        self.plain = self.plain.without(item)
        self.t += 1

    def step(self, policy, remaining, pool=None):
        """The next choice, by the pool of the campaign or another."""
        streams = stream(0, "step", self.t)
        (choice,) = suggest(self.posterior, pool or self.pool, policy, remaining, lambda _: streams)
        return choice.item

    def full_step(self, policy, remaining):
        """The next choice without bounds: every candidate is looked at."""
        with one_blas_thread():
            rng = stream(0, "step", self.t)
            return policy.choose(self.posterior, self.plain, remaining, rng).item


def bare_product(x, theta, rows=1024):
    """X θᵀ in float32, chunk by chunk on two threads; nothing is kept."""
    side = np.ascontiguousarray(theta.T, dtype=np.float32)

    def walk(starts):
        out = np.empty((rows, side.shape[1]), dtype=np.float32)
        for start in starts.tolist():
            part = x[start : start + rows]
            np.matmul(part, side, out=out[: len(part)])

    with one_blas_thread():
        spread(walk, np.array_split(np.arange(0, len(x), rows), CORES))


def naive_step(x, theta):
    """SampleVIDS with all n × M values in float64: the row it takes, and where each draw peaks."""
    values = x.astype(np.float64) @ theta.T
    peaks = values.argmax(axis=0)
    mean = values.mean(axis=1)
    gain = np.zeros(len(x))
    for peak in np.unique(peaks):
        group = peaks == peak
        gain += group.mean() * (values[:, group].mean(axis=1) - mean) ** 2
    regret = values.max(axis=0).mean() - mean
    with np.errstate(divide="ignore"):
        return int(np.argmin(2.0 * np.log(regret) - np.log(gain))), peaks


def held(what):
    """Bytes the process holds (VmRSS), or held at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(what))


def forget_peak():
    """Peaks count from here."""
    Path("/proc/self/clear_refs").write_text("5")


def apart(work, *arguments):
    """What work returns in a process of its own, whose memory is its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def seconds(work):
    start = perf_counter()
    work()
    return perf_counter() - start


def in_turns(turns, **works):
    """The least wall time of each, all of them run once per turn."""
    times = {name: [] for name in works}
    for _ in range(turns):
        for name, work in works.items():
            times[name].append(seconds(work))
    return {name: min(found) for name, found in times.items()}


def steps(sizes):
    """A step against the bare product: in a campaign, and the first one, which builds bounds."""
    problem = Problem(sizes.large, sizes.wide, sizes.labels)
    theta = problem.posterior.sample(sizes.n_draws, stream(0, "bare")).theta
    policies = {
        "vids": (SampleVIDS(n_draws=sizes.n_draws), 1),
        "ids": (BudgetIDS(n_draws=sizes.n_draws), sizes.budget),
    }
    times = {"bare": []} | {f"{name}{kind}": [] for name in policies for kind in ("", " first")}
    problem.step(*policies["vids"])
    for _ in range(sizes.turns):
        times["bare"].append(seconds(lambda: bare_product(problem.x, theta)))
        for name, (policy, remaining) in policies.items():
            problem.tell(problem.t)
            for kind, pool in (("", problem.pool), (" first", BoundedPool(problem.plain))):
                step = partial(problem.step, policy, remaining, pool)
                times[name + kind].append(seconds(step))
    least = {name: min(found) for name, found in times.items()}
    for name, bar in (("vids", 1.5), ("ids", 3.5)):
        yield f"{name} step / bare product", least[name] / least["bare"], bar
        yield f"{name} first step / bare product", least[f"{name} first"] / least["bare"], bar


def naive(sizes):
    """The same choice and the same peaks as the n × M array, and how much sooner."""
    problem = Problem(sizes.medium, sizes.wide, sizes.labels)
    policy = SampleVIDS(n_draws=sizes.n_draws)
    draws = problem.posterior.sample(sizes.n_draws, stream(0, "step", problem.t))
    left = problem.x[sizes.labels :]
    row, peaks = naive_step(left, draws.theta)
    found = optima(problem.pool, draws).peaks - sizes.labels
    wrong = int((peaks != found).sum()) + (problem.step(policy, 1) != row + sizes.labels)
    times = in_turns(
        min(3, sizes.turns),
        naive=lambda: naive_vids(left.astype(np.float64) @ draws.theta.T, power=2.0),
        array=lambda: naive_step(left, draws.theta),
        ours=lambda: problem.step(policy, 1, BoundedPool(problem.plain)),
    )
    yield "peaks and choice unlike the naive ones", float(wrong), 0.0
    yield "naive / vids step, at least", times["naive"] / times["ours"], 15.0
    yield "array version / vids step", times["array"] / times["ours"], None


def pruned(sizes):
    """A step that leaves out who cannot matter, against one that looks at everyone."""
    problem = Problem(sizes.large, sizes.narrow, 0)
    vids, ids = SampleVIDS(n_draws=sizes.n_draws), BudgetIDS(n_draws=sizes.n_draws)
    for _ in range(sizes.labels):
        problem.tell(problem.step(vids, 1))
    times = {"pruned": [], "full": [], "ids pruned": [], "ids full": []}
    unlike = 0
    for _ in range(3 * sizes.turns):
        picks = []
        for prefix, policy, remaining in (("", vids, 1), ("ids ", ids, sizes.horizon // 2)):
            for kind, step in (("pruned", problem.step), ("full", problem.full_step)):
                start = perf_counter()
                picks.append(step(policy, remaining))
                times[prefix + kind].append(perf_counter() - start)
        unlike += (picks[0] != picks[1]) + (picks[2] != picks[3])
        problem.tell(picks[0])
    # Not the least: every few labels a step brings its bounds up to date, which takes longer.
    least = {name: float(np.median(found)) for name, found in times.items()}
    yield "pruned choices unlike the full ones", float(unlike), 0.0
    yield "pruned vids step / full step", least["pruned"] / least["full"], 0.1
    yield "pruned ids step / full step", least["ids pruned"] / least["ids full"], None


def memory(sizes):
    """Peak memory of two steps beyond the pool, in megabytes; the first builds bounds."""
    for name in ("vids", "ids"):
        yield f"{name} step MB beyond the pool", apart(_step_memory, name, sizes) / MB, 64.0


def _step_memory(name, sizes):
    problem = Problem(sizes.large, sizes.wide, sizes.labels)
    policy = (SampleVIDS if name == "vids" else BudgetIDS)(n_draws=sizes.n_draws)
    before = held("VmRSS")
    forget_peak()
    problem.step(policy, sizes.budget)
    problem.tell(problem.t)
    problem.step(policy, sizes.budget)
    return held("VmHWM") - before


def campaign(sizes):
    """A whole campaign: budget-aware IDS, linear model with unknown scales, M = 300."""
    time, peak = apart(_campaign, sizes)
    yield "campaign seconds", time, 300.0
    yield "campaign MB beyond the pool", peak / MB, 1000.0


def _campaign(sizes):
    d = min(64, sizes.wide)
    problem = Problem(sizes.large, d, 0)
    labels = problem.x @ problem.theta + problem.rng.standard_normal(sizes.large)
    oracle = TableOracle(problem.x, labels)
    before = held("VmRSS")
    forget_peak()
    time = seconds(
        lambda: play(problem.plain, oracle, LinearModel(d), BudgetIDS(), sizes.horizon, seed=0)
    )
    return time, held("VmHWM") - before


def rivals(sizes):
    """A recommendation of BoTorch and of BayBE against a step of ours; see peers.py."""
    _, lines = peers.compared(sizes.medium)
    for name, (value, bar) in lines.items():
        yield name, value, bar


GROUPS = {
    "steps": steps,
    "naive": naive,
    "pruned": pruned,
    "memory": memory,
    "campaign": campaign,
    "peers": rivals,
}


def judged(name, value, bar):
    """Whether a figure keeps its bar; speed-ups must reach it, all else must not pass it."""
    ok = bar is None or (value >= bar if name.endswith("at least") else value <= bar)
    return {"value": float(value), "bar": bar, "ok": bool(ok)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", action="append", choices=GROUPS, help="may be repeated")
    told = parser.parse_args()
    sizes = QUICK if told.quick else Sizes()
    rows = {}
    for group in told.only or GROUPS:
        for name, value, bar in GROUPS[group](sizes):
            rows[name] = judged(name, value, bar)
            if not told.json:
                limit = "" if bar is None else f"bar {bar:g}"
                print(f"{name:<42} {value:>10.3f}  {limit}", flush=True)
    if told.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
