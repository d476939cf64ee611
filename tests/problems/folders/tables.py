"""Tables of every kind of column, and folders to compare."""

import numpy as np
import pandas as pd


def mixed_table(n=60, seed=0):
    """Numbers of all sizes, texts, truth values, codes, a constant, ids and labels."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "code": [f"c{place:04d}" for place in range(n)],
            "acid": rng.standard_normal(n).round(6),
            "huge": (1e150 * rng.standard_normal(n)),
            "far": 1e5 + rng.standard_normal(n).round(6),
            "count": rng.integers(0, 7, n),
            "solvent": rng.choice(["DMF", "THF", "water", "Öl"], n),
            "dry": rng.random(n) < 0.4,
            "lot": [f"{place % 5:03d}" for place in range(n)],
            "same": 3.5,
            "yield": np.where(rng.random(n) < 0.2, rng.random(n).round(4), np.nan),
        }
    )


def contents(folder):
    """Every file of a folder with its bytes, but for the stamp of the last check."""
    return {
        path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".checked"
    }
