"""Whole decision steps on a GPU, exact, against naive float64 on the same device.

    python benchmarks/gpu.py                   10⁶, 10⁷ and 10⁸ candidates; tests first
    python benchmarks/gpu.py --json            the figures as JSON
    python benchmarks/gpu.py --device cpu --sizes 20000 --draws 64     every line without a GPU

A step is all that `ask` does once labels are in: draws from the posterior, the best candidates of
each draw, gains, the pick. Rows are float32 in the memory of the host and float16 on the device.
Every argmax and the pick are compared with those of all n × M values in float64, chunk by chunk.
Times are medians of whole steps, each after a fresh label.
"""

import argparse
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np
import torch

from serendip.compute.device.pool import DevicePool
from serendip.compute.device.scores import asked, question, survivors
from serendip.core.data import Observation
from serendip.core.reductions.folds import optima
from serendip.core.reductions.leaders import LeadersFold
from serendip.core.rng import stream
from serendip.models.linear.model import LinearModel
from serendip.policies.budget_ids import BudgetIDS
from serendip.policies.ratio import PeakTradeoff, RatioScores
from serendip.policies.sample_vids import SampleVIDS
from serendip.pools.dense import DensePool
from serendip.simulate.loop import absorb, suggest

BARS = {10**7: 15.0, 10**8: 100.0}
"""Milliseconds of a SampleVIDS step, d = 64, M = 1024, on one H200."""


def random_rows(n, d, device):
    """(n, d) float32 on the host; made on the device, which is faster."""
    x = np.empty((n, d), dtype=np.float32)
    torch.manual_seed(0)
    for start in range(0, n, 2**22):
        part = x[start : start + 2**22]
        part[:] = torch.randn(part.shape, device=device).cpu().numpy()
    return x


def synchronised(device):
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def timed(work, device):
    synchronised(device)
    start = perf_counter()
    result = work()
    synchronised(device)
    return 1e3 * (perf_counter() - start), result


def naive_peaks(x, theta, gone, device):
    """(M,) argmax of each draw and its value, all n × M values in float64, some rows at a time."""
    side = torch.as_tensor(theta.T, device=device)
    best = torch.full((len(theta),), -torch.inf, dtype=torch.float64, device=device)
    item = torch.zeros(len(theta), dtype=torch.int64, device=device)
    for start in range(0, len(x), 2**19):
        rows = torch.as_tensor(x[start : start + 2**19], device=device).double()
        values = rows @ side
        inside = gone[(gone >= start) & (gone < start + len(rows))] - start
        values[torch.as_tensor(inside, device=device)] = -torch.inf
        top, place = values.max(0)
        better = top > best
        best, item = torch.where(better, top, best), torch.where(better, place + start, item)
    return item.cpu().numpy()


def naive_pick(x, summary, best_mean, gone, device):
    """The item with the lowest regret² / gain in float64, some rows at a time."""
    mean, root = (torch.as_tensor(part, device=device) for part in (summary.mean, summary.root))
    found = (np.inf, -1)
    for start in range(0, len(x), 2**20):
        rows = torch.as_tensor(x[start : start + 2**20], device=device).double()
        regret = (best_mean - rows @ mean).clamp(min=0)
        score = 2.0 * regret.log() - ((rows @ root) ** 2).sum(1).log()
        inside = gone[(gone >= start) & (gone < start + len(rows))] - start
        score[torch.as_tensor(inside, device=device)] = torch.inf
        low, place = score.min(0)
        found = min(found, (float(low), start + int(place)))
    return found[1]


class Campaign:
    """A linear truth with noise, and labels that come in."""

    def __init__(self, x, device, labels, slab_rows):
        n, d = x.shape
        self.x, self.rng = x, stream(0, "gpu")
        self.theta = self.rng.standard_normal(d)
        self.posterior = LinearModel(d, 1.0, 1.0).posterior((), self.rng)
        host = DensePool(x)
        how = {} if slab_rows is None else {"slab_rows": slab_rows}
        self.upload, self.pool = timed(lambda: DevicePool.of(host, device, **how), device)
        for _ in range(labels):
            self.tell(int(self.rng.integers(n)))

    def tell(self, item):
        row = self.x[item : item + 1]
        label = float(row[0] @ self.theta + self.rng.standard_normal())
        seen = Observation(item, row, np.array([label]))
        self.posterior, self.pool = absorb(self.posterior, self.pool, seen, self.rng)

    def step(self, policy, remaining, seed):
        streams = partial(stream, 0, "step", seed)
        (choice,) = suggest(self.posterior, self.pool, policy, remaining, lambda _: streams())
        return choice.item


def measure(n, d, draws, device, turns, labels, slab_rows):
    """The figures of one size."""
    x = random_rows(n, d, device)
    if device.startswith("cuda"):
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    campaign = Campaign(x, device, labels, slab_rows)
    vids, ids = SampleVIDS(n_draws=draws), BudgetIDS(n_draws=draws)
    times = {"vids": [], "ids": []}
    for name, policy, remaining in (("vids", vids, 1), ("ids", ids, 100)):
        for turn in range(turns + 2):
            taken, item = timed(partial(campaign.step, policy, remaining, turn), device)
            times[name].append(taken)
            campaign.tell(item)
    held = torch.cuda.max_memory_allocated() / 1e9 if device.startswith("cuda") else 0.0
    posterior, pool, gone = campaign.posterior, campaign.pool, campaign.pool.removed
    theta = posterior.sample(draws, stream(0, "step", 0))
    found = optima(pool, theta)
    wrong = int((naive_peaks(x, theta.theta, gone, device) != found.peaks).sum())
    pick = naive_pick(x, theta.summary(found), found.best_mean, gone, device)
    figures = {
        "n": n, "d": d, "draws": draws, "labels": labels,
        "vids_ms": float(np.median(times["vids"][2:])),
        "ids_ms": float(np.median(times["ids"][2:])),
        "vids_all": times["vids"], "ids_all": times["ids"],
        "upload_s": campaign.upload / 1e3, "peak_device_gb": held,
        "argmaxes_unlike_naive": wrong,
        "pick_unlike_naive": int(pick != campaign.step(vids, 1, 0)),
    }  # fmt: skip
    figures |= anatomy(campaign, draws, device)
    if n in BARS and (d, draws) == (64, 1024):
        figures |= {"bar_ms": BARS[n], "ok": figures["vids_ms"] <= BARS[n] and wrong == 0}
    return figures


def anatomy(campaign, draws, device):
    """Where a SampleVIDS step spends its time, in milliseconds."""
    pool, memory = campaign.pool, campaign.pool.memory

    def sampled():
        return campaign.posterior.sample(draws, stream(0, "step", 0))

    def narrowed(score):
        ask = asked(question(score), memory.width, device)
        slabs = memory.seen_without(pool.removed)
        return sum(len(survivors(slab, ask, np.inf, memory.kernels)[0]) for slab in slabs)

    for _ in range(2):
        sample, theta = timed(sampled, device)
        scan, leaders = timed(partial(pool.fold, LeadersFold(theta, 1)), device)
        both, best = timed(partial(optima, pool, theta), device)
        score = RatioScores(PeakTradeoff.of(theta.summary(best), best), 2.0)
        second, left = timed(partial(narrowed, score), device)
    return {
        "sample_ms": sample, "scan_ms": scan, "refine_ms": both - scan, "second_ms": second,
        "pairs": len(leaders.pairs), "survivors": left,
    }  # fmt: skip


def run_tests(device):
    """The contract tests, on this device."""
    tests = Path(__file__).resolve().parents[1] / "tests" / "compute" / "device"
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tests)],
        env=os.environ | {"SERENDIP_DEVICE": device}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return found.returncode, (found.stdout + found.stderr).strip().splitlines()[-8:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**6, 10**7, 10**8])
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--draws", type=int, default=1024)
    parser.add_argument("--labels", type=int, default=30)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--slab-rows", type=int)
    parser.add_argument("--no-tests", action="store_true")
    told = parser.parse_args()
    name = torch.cuda.get_device_name() if told.device.startswith("cuda") else told.device
    report = {"device": name, "torch": torch.__version__, "steps": []}
    if not told.no_tests:
        report["tests"] = run_tests(told.device)
    for n in told.sizes:
        found = measure(
            n, told.features, told.draws, told.device, told.turns, told.labels, told.slab_rows
        )
        report["steps"].append(found)
        if not told.json:
            print(json.dumps(found), flush=True)
    print(json.dumps(report, indent=1) if told.json else f"{name}, torch {torch.__version__}")


if __name__ == "__main__":
    main()
