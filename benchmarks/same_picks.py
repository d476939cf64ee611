"""Whether two checkouts pick the same on this machine, to be run before a change and after it.

    python benchmarks/same_picks.py BEFORE AFTER            all of it; some minutes each
    python benchmarks/same_picks.py BEFORE AFTER --quick    no backtests

Played are every model with every policy of the contract tests, backtests by every model of a
table, and campaigns with batches, pending proposals and a pool folder. Items, labels and what is
predicted must be equal to the last bit. Each checkout plays in a process of its own, with its own
tests; only public names are used, so that modules may have moved.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

MODELS = ("auto", "gp", "forest", "linear", "sparse", "logistic", "low-rank", "graph")
POLICIES = ("ids", "vids", "thompson", "ucb", "greedy", "random")
COLUMNS = ("reactant", "ligand")


def contracts():
    """Every model × policy of the contract tests: what was picked, in order, and its labels."""
    from contracts import test_policies as suite
    from serendip import SerendipError, play
    from worlds import PROBLEMS

    found = {}
    for name, problem in PROBLEMS.items():
        for policy, chooser in suite.POLICIES.items():
            world = problem.world
            for batch in (1, 3):
                horizon = min(6, len(world.pool))
                try:
                    trace = play(
                        world.pool, world.oracle, problem.model, chooser, horizon, 1, batch=batch
                    )
                    played = [trace.items.tolist(), [float(one).hex() for one in trace.labels]]
                except SerendipError as refusal:  # of the same kind; its words may change
                    played = type(refusal).__name__
                found[f"{name} × {policy}, {batch} at once"] = played
    return found


def table(n=90):
    """A table of names and numbers, and labels that depend on both."""
    rng = np.random.default_rng(5)
    places = np.arange(n)
    frame = pd.DataFrame(
        {
            "id": [f"c{place:03d}" for place in places],
            "reactant": [f"r{place % 9}" for place in places],
            "ligand": [f"l{place // 9}" for place in places],
            "heat": np.round(20 + 60 * rng.random(n), 1),
        }
    )
    rows, columns = rng.standard_normal(9), rng.standard_normal(-(-n // 9))
    label = (
        rows[places % 9] * columns[places // 9] + frame["heat"] / 40 + rng.standard_normal(n) / 5
    )
    frame["yield"] = np.round(label, 3)
    return frame


def columns_for(model, folder):
    """Settings of `Columns` that the model needs; a graph's edges are written to a file."""
    if model == "low-rank":
        return {"rows": COLUMNS[0], "columns": COLUMNS[1]}
    if model == "graph":
        edges = folder / "edges.csv"
        edges.write_text("from,to\n" + "".join(f"c{i:03d},c{i + 1:03d}\n" for i in range(89)))
        return {"edges": edges}
    return {}


def backtests(folder):
    """A backtest by every model: the digest of all its steps."""
    from serendip import Columns, backtest

    found = {}
    for model in MODELS:
        frame = table()
        if model == "logistic":
            frame["yield"] = (frame["yield"] > frame["yield"].median()).astype(int)
        spec = Columns(model=model, **columns_for(model, folder))
        result = backtest(
            frame, "yield", columns=spec, id="id", policies=POLICIES, budget=12, batch=3, repeats=2
        )
        steps = result.steps.drop(columns=["seconds"], errors="ignore")
        found[f"backtest, {model}"] = _digest(steps)
    return found


def campaigns(folder):
    """Campaigns with batches and pending proposals, by every model, and on a pool folder."""
    from serendip import Campaign

    frame = table()
    truth = frame.set_index("id")["yield"]
    frame.drop(columns="yield").to_csv(folder / "pool.csv", index=False)
    command = "from serendip.cli.main import run; run()"
    run = [sys.executable, "-c", command, "pool", "import", "pool.csv", "--id", "id"]
    subprocess.run([*run, "--out", "disk"], cwd=folder, check=True, capture_output=True)
    os.chdir(folder)
    found = {}
    cases = [(model, "ids", "pool.csv") for model in MODELS]
    cases += [("gp", policy, "pool.csv") for policy in POLICIES if policy != "ids"]
    cases += [("linear", "ids", "disk")]
    for model, policy, pool in cases:
        special = columns_for(model, folder)
        if model == "logistic":
            special["binary"] = True
        name = f"{model}-{policy}-{pool.partition('.')[0]}"
        settings = {
            **{"name": name, "pool": pool, "label": "yield", "budget": 14, "seed": 3},
            **{"model": model, "policy": policy},
            **({} if pool == "disk" else {"id": "id"}),
            **{key: str(value) if key == "edges" else value for key, value in special.items()},
        }
        campaign = Campaign.create(settings, "store.db", who="ann")
        picked = []
        for size in (4, 3, 3):
            proposed = list(campaign.ask(size).iloc[:, 0])
            picked.append(proposed)
            for one in proposed[:-1]:  # the last stays pending
                value = truth[one] > truth.median() if model == "logistic" else truth[one]
                campaign.tell({one: float(value)})
        found[f"campaign, {name}"] = [picked, _digest(campaign.predict())]
    return found


def _digest(frame):
    text = frame.to_csv(index=False, float_format="%.17g")
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def play_here(quick):
    """All that this checkout picks."""
    with tempfile.TemporaryDirectory() as folder:
        found = contracts()
        if not quick:
            found |= backtests(Path(folder))
        found |= campaigns(Path(folder))
        os.chdir("/")
    return found


def picks_of(checkout, quick):
    """What a checkout picks, in a process of its own."""
    paths = [checkout / "src", checkout / "tests", checkout / "benchmarks"]
    threads = dict.fromkeys(("SERENDIP_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    told = {"PYTHONPATH": os.pathsep.join(map(str, paths)), **threads}
    command = [sys.executable, __file__, "--here", *(["--quick"] if quick else [])]
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            command, cwd=folder, env=os.environ | told, stdout=subprocess.PIPE, check=True
        )
    return json.loads(ran.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=Path, nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(play_here(options.quick)))
        return
    if len(options.checkouts) != 2:
        parser.error("name two checkouts")
    before, after = (picks_of(one.resolve(), options.quick) for one in options.checkouts)
    unlike = [name for name in before | after if before.get(name) != after.get(name)]
    for name in unlike:
        print(f"{name}: {before.get(name)} and {after.get(name)}")
    print(f"{len(before | after) - len(unlike)} of {len(before | after)} alike")
    sys.exit(bool(unlike))


if __name__ == "__main__":
    main()
