"""How often the interval of a forecast holds the total that a campaign ends with.

    python benchmarks/forecast_coverage.py                      auto with ids, both halves
    python benchmarks/forecast_coverage.py --half reported      the tables that chose no constant
    python benchmarks/forecast_coverage.py --model linear --families pndc cncci46
    python benchmarks/forecast_coverage.py --first 100 --out runs/fresh.jsonl

Every campaign is played to its end; after a quarter, half and three quarters of the budget its
results are told to a campaign as people keep one, which is asked for its forecast. Tables are taken
in sorted order, the even ones to choose the constants of the interval (`chosen`), the odd ones to
report what it holds (`reported`); the bundled table is reported only. On tables of yields every
second seed declares their range.

What is printed, by family and moment: how many forecasts, in per cent how many intervals held the
total, were below it and above it; the root mean square of the errors and the mean half-width over
it (an interval as wide as Gaussian errors want has 1.28), both in units of the label's spread over
the table; the mean error over the root mean square. Trajectories and forecasts are kept in files
and not made again; changed code wants another `--out`, and a changed policy or model another
`--paths`.
"""

import argparse
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import suite
from serendip.campaigns.campaign import Campaign
from serendip.compute.parallel import run_all
from serendip.core.rng import stream
from serendip.problems.framing import Columns
from serendip.simulate.backtests.backtest import backtest
from serendip.simulate.environments.demo import demo_pool, demo_yields

SHARES = (0.25, 0.5, 0.75)
SIMULATED = 12
"""Tables of each simulated family."""
SEEDS = {"pndc": 2, "cncci46": 2, "linear": 1, "nonlinear": 1, "categories": 1, "bundled": 2}
"""Campaigns on each table."""


class Table(NamedTuple):
    """What a campaign is played on."""

    frame: pd.DataFrame
    budget: int
    bounds: tuple[float, float] | None
    """The range that may be declared."""


# --- simulated tables ----------------------------------------------------------------------------


def simulated(family, place):
    """A table of its own; sizes, noise and budget go with the pair of tables, one in each half."""
    rng, pair = stream(place, "forecast coverage", family), place // 2
    n, noise = (150, 300)[pair % 2], (0.1, 0.4)[pair // 2 % 2]
    frame, truth = FAMILIES[family](n, pair, rng)
    labels = truth / truth.std() + noise * rng.standard_normal(n)
    return Table(frame.assign(y=labels), (20, 40)[pair // 3 % 2], None)


def linear(n, pair, rng):
    x = rng.standard_normal((n, (4, 12)[pair % 2]))
    return named(x), x @ rng.standard_normal(x.shape[1])


def nonlinear(n, pair, rng):
    """Friedman's function, bumps, steps and a product of waves."""
    u = rng.random((n, 6))
    truth = (
        lambda: 10 * np.sin(np.pi * u[:, 0] * u[:, 1]) + 20 * (u[:, 2] - 0.5) ** 2 + 10 * u[:, 3],
        lambda: bumps(u[:, :3], rng),
        lambda: (u[:, 0] > 0.6) + 2.0 * (u[:, 1] > 0.3) * (u[:, 2] > 0.5),
        lambda: np.sin(5.0 * u[:, 0] + rng.random()) * np.cos(4.0 * u[:, 1]) + u[:, 2],
    )[pair % 4]()
    return named(u), truth


def bumps(u, rng):
    centres, heights = rng.random((6, 1, u.shape[1])), rng.standard_normal(6)
    return heights @ np.exp(-((u - centres) ** 2).sum(axis=2) / 0.2)


def categories(n, pair, rng):
    """Three texts with effects, those of two of them on each other, and a number."""
    names = [rng.integers(levels, size=n) for levels in ((4, 6, 8), (3, 5, 10))[pair % 2]]
    truth = sum(rng.standard_normal(names[0].max() + 1 + 12)[one] for one in names)
    truth = truth + 0.7 * rng.standard_normal((12, 12))[names[0], names[1]]
    temperature = rng.choice([20.0, 40.0, 60.0, 80.0], size=n)
    texts = {
        f"part {place}": [f"{'abc'[place]}{one}" for one in codes]
        for place, codes in enumerate(names)
    }
    frame = pd.DataFrame(texts).assign(temperature=temperature)
    return frame, truth + 0.02 * rng.standard_normal() * (temperature - 50.0)


def named(x):
    return pd.DataFrame(x, columns=[f"x{place}" for place in range(x.shape[1])])


FAMILIES = {"linear": linear, "nonlinear": nonlinear, "categories": categories}


# --- tables in order, and their halves -----------------------------------------------------------


def names_of(family):
    if family == "bundled":
        return [family]
    return list(range(SIMULATED)) if family in FAMILIES else sorted(suite.tables(family))


def half_of(family, name):
    return "reported" if family == "bundled" or names_of(family).index(name) % 2 else "chosen"


@cache
def table(family, name, seed):
    if family in FAMILIES:
        return simulated(family, name)
    if family == "bundled":
        pool = demo_pool()
        return Table(pool.drop(columns="id").assign(y=demo_yields(pool, seed)), 40, (0.0, 100.0))
    return Table(suite.tables(family)[name], suite.BUDGETS[family], (0.0, 1.0))


# --- campaigns and their forecasts ---------------------------------------------------------------


def played(task):
    """The candidates that a campaign chooses, in order."""
    family, name, seed, model, policy = task
    found = table(family, name, seed)
    run = backtest(
        found.frame, "y", budget=found.budget, policies=[policy], columns=Columns(model=model),
        seed=seed, repeats=1, jobs=1,
    )  # fmt: skip
    return {"items": run.steps["item"].tolist()}


def campaign_of(path, share, folder):
    """A campaign that was told what the path found in this share of the budget."""
    found = table(path["family"], path["table"], path["seed"])
    declared = found.bounds is not None and path["seed"] % 2 == 0
    ids = [f"c{place}" for place in range(len(found.frame))]
    pool = Path(folder) / "pool.csv"
    found.frame.drop(columns="y").assign(id=ids).to_csv(pool, index=False)
    about = {"name": "c", "pool": pool, "label": "y", "id": "id", "budget": found.budget}
    about |= {"model": path["model"], "policy": path["policy"], "seed": path["seed"]}
    about |= {"range": list(found.bounds)} if declared else {}
    campaign = Campaign.create(about, Path(folder) / "lab.db")
    labels = found.frame["y"].to_numpy()
    picked = path["items"][: max(2, round(share * found.budget))]
    campaign.tell({ids[item]: float(labels[item]) for item in picked})
    return campaign, declared


def foreseen(path):
    """What the campaign was told to expect at each moment, and what came."""
    labels = table(path["family"], path["table"], path["seed"]).frame["y"].to_numpy()
    rows = []
    for share in SHARES:
        with tempfile.TemporaryDirectory() as folder:
            campaign, declared = campaign_of(path, share, folder)
            future = campaign.forecast()
        rows.append(
            {
                "share": share,
                "declared": declared,
                "so_far": future.total_so_far,
                "expected": future.expected_total,
                "low": future.low,
                "high": future.high,
                "total": float(labels[path["items"]].sum()),
                "spread": float(labels.std()),
            }
        )
    return {"forecasts": rows}


def kept(work, tasks, file, key):
    """The outcome of each task, from the file or made now and added to it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = file.read_text().splitlines() if file.exists() else []
    done = {tuple(one[name] for name in KEY): one for one in map(json.loads, lines)}
    missing = [task for task in tasks if key(task) not in done]
    with file.open("a") as out:
        for index, outcome in run_all(work, missing, 1):
            made = key(missing[index])
            done[made] = {**dict(zip(KEY, made, strict=True)), **outcome}
            out.write(json.dumps(done[made]) + "\n")
            out.flush()
    return [done[key(task)] for task in tasks]


KEY = ("family", "table", "seed", "model", "policy")


def summary(rows, by):
    inside = (rows["low"] <= rows["total"]) & (rows["total"] <= rows["high"])
    error = (rows["total"] - rows["expected"]) / rows["spread"]
    half = (rows["high"] - rows["low"]) / 2.0 / rows["spread"]
    found = rows.assign(
        held=100.0 * inside,
        below=100.0 * (rows["total"] < rows["low"]),
        above=100.0 * (rows["total"] > rows["high"]),
        error=error,
        square=error**2,
        half=half,
    )
    groups = found.groupby(by, sort=False) if by else found.groupby(lambda _: "all")
    means = groups[["held", "below", "above", "error", "square", "half"]].mean()
    rms = np.sqrt(means.pop("square"))
    means["bias"] = means.pop("error") / rms
    means.insert(3, "rms", rms)
    means["half"] = means["half"] / rms
    means.insert(0, "n", groups.size())
    return means.round(2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--families", nargs="+", choices=SEEDS, default=list(SEEDS))
    parser.add_argument("--half", choices=("chosen", "reported", "both"), default="both")
    parser.add_argument("--model", default="auto")
    parser.add_argument("--policy", default="ids")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--paths", type=Path, default=Path("runs/forecast_paths.jsonl"))
    parser.add_argument("--out", type=Path, default=Path("runs/forecasts.jsonl"))
    options = parser.parse_args()
    tasks = [
        (family, name, seed, options.model, options.policy)
        for family in options.families
        for name in names_of(family)
        if options.half in ("both", half_of(family, name))
        for seed in range(options.first, options.first + SEEDS[family])
    ]
    paths = kept(played, tasks, options.paths, key=lambda task: task)
    told = kept(foreseen, paths, options.out, key=lambda path: tuple(path[k] for k in KEY))
    rows = pd.DataFrame(
        {"family": one["family"], "half": half_of(one["family"], one["table"]), **row}
        for one in told
        for row in one["forecasts"]
    )
    for by in (["half", "family", "share"], ["half", "family"], ["half", "share"], ["half"]):
        print(summary(rows, by).to_string(), end="\n\n")


if __name__ == "__main__":
    main()
