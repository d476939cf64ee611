"""One recommendation at 10⁵ candidates: BoTorch and BayBE against us, in one run on one machine.

    python benchmarks/peers.py                    a table
    python benchmarks/peers.py --json             as benchmarks/scale.py prints it
    python benchmarks/peers.py --rows 10000       the size at which the default model has its bar

The peers are installed into an environment of their own (`.peers/`, about 2 GB, made once).
Everyone gets the same 10⁵ × 20 standard normal candidates and the same 50 labels of a linear truth
with noise, and two cores.

The work is not the same, and part of the difference is that. BoTorch (SingleTaskGP, LogEI over all
candidates in batches) and BayBE (its default recommender, from the second recommendation on, so
that what it makes once does not count) fit a kernel process by maximum likelihood and look one
label ahead. We ask budget-aware IDS as it is by default (`ids`, 300 draws, 50 labels left) or
SampleVIDS with 1000 draws (`vids`) of a Bayesian linear model whose scales are unknown: exact over
the whole pool, and nothing is kept from before. `auto` is our default model, kernel processes
averaged over kernels, noise and scale beside a forest, with the same policy; that work is the more
alike. All times are the least of three.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]
HOME = ROOT / ".peers"
PEERS = ("botorch>=0.14", "baybe>=0.14")
CORES = 2
FEATURES, LABELS, TURNS = 20, 50, 3


def problem(rows):
    """Candidates, the places that are labelled, and their labels."""
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, FEATURES)).astype(np.float32)
    labels = x[:LABELS].astype(float) @ rng.standard_normal(FEATURES) + rng.standard_normal(LABELS)
    return x, labels


def timed(work):
    start = perf_counter()
    work()
    return perf_counter() - start


# --- in the environment of the peers -------------------------------------------------------------


def botorch_step(x, labels):
    """Fit, then LogEI of every candidate that is left."""
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf_discrete
    from gpytorch.mlls import ExactMarginalLogLikelihood

    told = torch.as_tensor(x[:LABELS], dtype=torch.float64)
    left = torch.as_tensor(x[LABELS:], dtype=torch.float64)
    y = torch.as_tensor(labels)[:, None]

    def step():
        model = SingleTaskGP(told, y)
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        score = LogExpectedImprovement(model, best_f=y.max())
        with torch.no_grad():
            optimize_acqf_discrete(score, q=1, choices=left, max_batch_size=4096)

    return step


def baybe_steps(x, labels):
    """Seconds of recommendations, a label told after each; a candidate has a name."""
    import pandas as pd
    from baybe import Campaign
    from baybe.parameters import CustomDiscreteParameter
    from baybe.searchspace import SearchSpace
    from baybe.targets import NumericalTarget

    names = [f"c{row}" for row in range(len(x))]
    table = pd.DataFrame(x.astype(float), index=names)
    table.columns = [f"x{column}" for column in range(FEATURES)]
    parameter = CustomDiscreteParameter("candidate", table, decorrelate=False)
    campaign = Campaign(SearchSpace.from_product([parameter]), NumericalTarget("y").to_objective())
    campaign.add_measurements(pd.DataFrame({"candidate": names[:LABELS], "y": labels}))
    times = []
    for _ in range(TURNS + 1):
        start = perf_counter()
        found = campaign.recommend(1)
        times.append(perf_counter() - start)
        campaign.add_measurements(found.assign(y=float(labels.mean())))
    return times


def inside(rows):
    """What the peers take; printed for whoever asked."""
    import importlib.metadata

    x, labels = problem(rows)
    step = botorch_step(x, labels)
    step()
    botorch = min(timed(step) for _ in range(TURNS))
    found = {
        "versions": {name: importlib.metadata.version(name) for name in ("botorch", "baybe")},
        "botorch": botorch,
        "baybe": min(baybe_steps(x, labels)[1:]),
    }
    print(json.dumps(found))


# --- ours ----------------------------------------------------------------------------------------


def environment():
    """The Python of the peers, installed if need be."""
    python = HOME / "bin" / "python"
    if not (HOME / ".ready").exists():
        venv.create(HOME, with_pip=True, clear=True)
        packages = ["torch", "numpy", "pandas", *PEERS]
        if sys.platform == "linux":  # the build that the tests use; others need not have it
            packages[0] = "torch==2.13.0"
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        (HOME / ".ready").touch()
    return python


def ours(rows):
    """Seconds of one step of each policy, nothing being remembered."""
    import numpy as np

    from serendip.core.data import Observation
    from serendip.core.rng import stream
    from serendip.core.threads import one_blas_thread
    from serendip.models.gp.kernels import single_columns
    from serendip.models.linear.model import LinearModel
    from serendip.models.table_models import Features, auto_model
    from serendip.policies.budget_ids import BudgetIDS
    from serendip.policies.sample_vids import SampleVIDS
    from serendip.pools.dense import DensePool
    from serendip.simulate.loop import suggest

    x, labels = problem(rows)
    seen = [
        Observation(item, x[item : item + 1], np.array([label]))
        for item, label in enumerate(labels.tolist())
    ]
    pool = DensePool(x)
    for item in range(LABELS):
        pool = pool.without(item)

    def step(model, policy, remaining):
        with one_blas_thread():
            posterior = model.posterior(seen, stream(0, "fit"))
        suggest(posterior, pool, policy, remaining, lambda place: stream(0, "ask", place))

    times, linear = {}, LinearModel(FEATURES)
    for name, *told in (
        ("vids", linear, SampleVIDS(n_draws=1000), 1),
        ("ids", linear, BudgetIDS(), 50),
        ("auto", auto_model(Features(FEATURES, single_columns(FEATURES))), BudgetIDS(), 50),
    ):
        step(*told)
        times[name] = min(timed(lambda told=told: step(*told)) for _ in range(TURNS))
    return times


def compared(rows):
    """All times, and how many times faster we are."""
    python = environment()
    told = subprocess.run(
        [python, __file__, "--inside", "--rows", str(rows)],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(told.stdout.splitlines()[-1]) | ours(rows)
    bars = {
        "botorch": ("BoTorch LogEI", {"vids": 10.0, "ids": 10.0, "auto": 0.0}),
        "baybe": ("BayBE recommendation", {"vids": 40.0, "ids": 40.0, "auto": 3.0}),
    }
    lines = {
        f"{title} / {name} step, at least": (found[peer] / found[name], bar)
        for peer, (title, least) in bars.items()
        for name, bar in least.items()
    }
    return found, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    told = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    if told.inside:
        inside(told.rows)
        return
    found, lines = compared(told.rows)
    if told.json:
        print(
            json.dumps(
                {
                    name: {"value": value, "bar": bar, "ok": value >= bar}
                    for name, (value, bar) in lines.items()
                }
            )
        )
        return
    print(", ".join(f"{name} {version}" for name, version in found["versions"].items()))
    for name in ("botorch", "baybe", "vids", "ids", "auto"):
        print(f"{name:<44} {found[name]:>8.3f} s")
    for name, (value, bar) in lines.items():
        print(f"{name:<44} {value:>8.1f}    bar {bar:g}")


if __name__ == "__main__":
    main()
