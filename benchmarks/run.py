"""A whole SampleVIDS campaign against a straightforward NumPy version of Algorithm 2.

    python benchmarks/run.py [--json]

n = 500, d = 20, M = 1000, T = 100, the paper's linear setting. The naive version (naive.py) refits,
builds the n × M matrix of values and loops over groups and draws, as one would write it down first.
Both run on one core, on the same pool and labels. The bar: at most a tenth of its time.
"""

import argparse
import json
from time import perf_counter

import numpy as np

from naive import naive_run
from serendip.core.rng import stream
from serendip.core.threads import one_blas_thread
from serendip.models.linear.model import LinearModel
from serendip.policies.sample_vids import SampleVIDS
from serendip.simulate.environments.table import table_world
from serendip.simulate.loop import play

BAR = 0.1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", action="store_true")
    rng = stream(0, "benchmark")
    x = rng.standard_normal((500, 20))
    labels = x @ rng.standard_normal(20) + rng.standard_normal(500)
    world = table_world(x, labels)
    with one_blas_thread():
        start = perf_counter()
        naive_items = naive_run(x, labels, horizon=100, n_draws=1000, seed=0)
        naive = perf_counter() - start
        start = perf_counter()
        trace = play(
            world.pool, world.oracle, LinearModel(20, 1.0, 1.0), SampleVIDS(n_draws=1000), 100, 0
        )
        ours = perf_counter() - start
    ratio = ours / naive
    if parser.parse_args().json:
        print(json.dumps({"run / naive run": {"value": ratio, "bar": BAR, "ok": ratio <= BAR}}))
        return
    print(f"naive {naive:.2f} s, ours {ours:.2f} s: {ratio:.4f} of it (bar {BAR})")
    print(f"sum of labels: naive {labels[naive_items].sum():.1f}, ours {np.sum(trace.labels):.1f}")


if __name__ == "__main__":
    main()
