"""A small screen to run campaigns on."""

import contextlib
import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from serendip.cli.main import run


def write_pool(path="pool.csv", n=60, seed=0):
    """A pool of candidates c000, c001, … with three features; returns the truth by id."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.standard_normal((n, 2)).round(4), columns=["acid", "heat"])
    frame.insert(0, "code", [f"c{place:03d}" for place in range(n)])
    frame["solvent"] = [("DMF", "THF", "water")[place % 3] for place in range(n)]
    frame.to_csv(path, index=False)
    bonus = frame["solvent"].map({"DMF": 0.0, "THF": 0.4, "water": -0.3})
    truth = (0.8 * frame["acid"] - 0.5 * frame["heat"] + bonus).round(3)
    return dict(zip(frame["code"], truth.tolist(), strict=True)), Path(path)


def settings(**changes):
    """Settings for the pool above."""
    common = {"name": "screen", "pool": "pool.csv", "label": "yield", "budget": 30, "id": "code"}
    return {**common, **changes}


def serendip(*arguments):
    """A command as typed, in this process: its exit code and what it said."""
    out, err = io.StringIO(), io.StringIO()
    argv, sys.argv = sys.argv, ["serendip", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                run()
                code = 0
            except SystemExit as end:
                code = end.code or 0
    finally:
        sys.argv = argv
    return code, out.getvalue(), err.getvalue()
