"""A pool in two dimensions, so that people see where the model looks.

The first two principal components, or UMAP where it is installed. A large pool is sampled; what was
measured, proposed or set aside is always there, and so is a tenth for the most promising.
"""

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from numpy.random import Generator

from serendip.campaigns.analysis.view import CampaignView
from serendip.core.arrays import Floats, Ints
from serendip.core.errors import InvalidInput
from serendip.models.registry import Input, takes

AT_MOST = 3000
"""Points on a map."""
_SAME, _STEP, _WIDEST = 1e-4, 0.011, 0.05
"""Shares of the map's extent: points nearer than the first share a place; they are drawn about the
second apart, and none farther than the third from where it belongs."""


@dataclass(frozen=True, slots=True)
class PoolMap:
    """Some candidates in the plane."""

    items: Ints
    """(m,) which."""
    places: Floats
    """(m, 2) where."""
    method: str
    """pca or umap."""
    share: float | None
    """Of the variance of the features that the two axes show; None for UMAP."""
    n_moved: int = 0
    """Candidates drawn a little aside, for they would hide one another."""


def has_map(model: str) -> bool:
    """Whether candidates of this model have features."""
    return takes(model) is Input.features


def map_methods() -> tuple[str, ...]:
    """The ways to make a map that are installed."""
    return ("pca", "umap") if find_spec("umap") is not None else ("pca",)


def pool_map(
    view: CampaignView, chances: Floats, rng: Generator, method: str = "pca", most: int = AT_MOST
) -> PoolMap:
    """The pool, or a sample of it, in the plane.

    Args:
        view: The campaign now.
        chances: (n,) of each candidate to be among the best.
        rng: For the sample, and for UMAP.
        method: `pca`, or `umap` where it is installed.
        most: Points on the map.
    """
    if not has_map(view.model):
        raise InvalidInput(f"Candidates of the {view.model} model have no features to map.")
    if method not in map_methods():
        raise InvalidInput(f"There is no map by {method!r} here; there is {map_methods()[0]}.")
    items = _sample(view, chances, rng, most)
    x = np.asarray(view.pool.take(items), dtype=np.float64)
    x = x - x.mean(axis=0)
    if method == "umap":
        return PoolMap(items, _neighbourly(x, rng), method, None)
    places, share = _components(x)
    places, n_moved = _apart(places)
    return PoolMap(items, places, method, share, n_moved)


def _sample(view: CampaignView, chances: Floats, rng: Generator, most: int) -> Ints:
    n = len(view.ids)
    if n <= most:
        return np.arange(n, dtype=np.int64)
    states = view.states.items()
    touched = np.array(sorted(item for item, state in states if state != "available"), dtype=int)
    touched = touched[-(most // 2) :]
    best = np.argsort(-chances, kind="stable")[: most // 10]
    kept = np.union1d(touched, best)
    others = np.setdiff1d(np.arange(n), kept, assume_unique=True)
    drawn = rng.choice(others, size=min(len(others), most - len(kept)), replace=False)
    return np.sort(np.concatenate([kept, drawn])).astype(np.int64)


def _components(x: Floats) -> tuple[Floats, float]:
    """Two principal components, each pointing so that its largest loading is positive."""
    _, sizes, axes = np.linalg.svd(x, full_matrices=False)
    axes = (
        axes[:2]
        * np.sign(axes[:2][np.arange(len(axes[:2])), np.abs(axes[:2]).argmax(axis=1)])[:, None]
    )
    places = x @ axes.T
    if places.shape[1] < 2:
        places = np.column_stack([places, np.zeros(len(x))])
    whole = float((sizes**2).sum())
    return places, float((sizes[:2] ** 2).sum()) / whole if whole > 0 else 1.0


def _apart(places: Floats) -> tuple[Floats, int]:
    """The same, those that share a place side by side around it; and how many were moved.

    In a full factorial design the first two components often tell one factor only, and every other
    factor hides behind a single point.
    """
    extent = float(np.ptp(places, axis=0).max(initial=0.0))
    if extent == 0.0:
        extent = 1.0
    _, group, sizes = np.unique(
        np.round(places / (_SAME * extent)), axis=0, return_inverse=True, return_counts=True
    )
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    rank = np.empty(len(places), dtype=np.int64)
    rank[order] = np.arange(len(places)) - starts[group[order]]
    # A spiral of equal areas, as the seeds of a sunflower lie.
    step = extent * min(_STEP, _WIDEST / np.sqrt(sizes.max(initial=1)))
    angle = rank * np.pi * (3.0 - np.sqrt(5.0))
    aside = step * np.sqrt(rank)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return places + aside, int(np.count_nonzero(rank))


def _neighbourly(x: Floats, rng: Generator) -> Floats:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what else could be installed, and of using one core
        import umap  # pyright: ignore[reportMissingImports]  # an extra

        made = umap.UMAP(random_state=int(rng.integers(2**31 - 1)), n_jobs=1)
        return np.asarray(made.fit_transform(x), dtype=np.float64)
