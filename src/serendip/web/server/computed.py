"""What pages show that takes a while: functions of a campaign, run apart and kept until it changes.

Each returns plain values that can travel between processes.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from serendip.campaigns.analysis.course import Course, course
from serendip.campaigns.analysis.fit import Fit, Trust, fit_of, trusted
from serendip.campaigns.analysis.maps import PoolMap, pool_map
from serendip.campaigns.analysis.shapes import Matrix, Neighbourhood, matrix_of, neighbourhood
from serendip.campaigns.campaign import Campaign
from serendip.campaigns.output.listing import our_columns
from serendip.core.arrays import Floats
from serendip.core.rng import Purpose, stream

if TYPE_CHECKING:
    import pandas as pd


def course_of(campaign: Campaign) -> Course:
    """Information ratio, regret and its bound over time."""
    return course(campaign.problem, campaign.log, campaign.name)


@dataclass(frozen=True, slots=True)
class Quality:
    """How good predictions are."""

    fit: Fit
    ids: tuple[str, ...]
    """Of the results."""
    models: tuple[Trust, ...]


def quality_of(campaign: Campaign) -> Quality:
    """Predicted and measured, and the models behind the predictions."""
    view = campaign.view()
    rng = stream(view.seed, Purpose.FIT, campaign.state.version)
    fit = fit_of(view, campaign.log, rng)
    ids = tuple(view.ids[item] for item in fit.items)
    return Quality(fit, ids, trusted(view.posterior, view.model))


@dataclass(frozen=True, slots=True)
class Shown:
    """Some candidates with what is believed of them."""

    ids: tuple[str, ...]
    states: tuple[str, ...]
    expected: Floats
    uncertainty: Floats
    measured: Floats
    """NaN where there is no result."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A map with its points."""

    map: PoolMap
    points: Shown
    n: int
    """Candidates in all."""


def map_of(campaign: Campaign, method: str) -> Mapped:
    """Where candidates lie, and what is believed of them."""
    view = campaign.view()
    table = campaign.predict()
    chances = _column(table, "chance")
    found = pool_map(view, chances, stream(view.seed, Purpose.MAP), method)
    return Mapped(found, _shown(table, found.items.tolist()), len(table))


@dataclass(frozen=True, slots=True)
class MatrixShown:
    """A matrix with its cells."""

    matrix: Matrix
    points: Shown
    """Of all candidates."""


def matrix_shown(campaign: Campaign) -> MatrixShown:
    """A low-rank campaign as rows × columns."""
    table = campaign.predict()
    expected = _column(table, "expected")
    sign = -1.0 if campaign.settings.minimize else 1.0
    return MatrixShown(
        matrix_of(campaign.problem, sign * expected), _shown(table, list(range(len(table))))
    )


@dataclass(frozen=True, slots=True)
class GraphShown:
    """A part of a graph with its nodes."""

    part: Neighbourhood
    points: Shown


def graph_shown(campaign: Campaign) -> GraphShown:
    """The nodes around the proposals of a graph campaign, else around the best results."""
    state, places = campaign.state, campaign.candidates.places
    names = list(state.pending)
    if not names:
        sign = 1.0 if campaign.settings.minimize else -1.0
        best = sorted(state.results.values(), key=lambda one: sign * one.value)
        names = [one.item for one in best[:5]]
    centres = np.array([places[name] for name in names], dtype=np.int64)
    part = neighbourhood(campaign.problem, centres, campaign.settings.seed)
    return GraphShown(part, _shown(campaign.predict(), part.items.tolist()))


def _column(table: "pd.DataFrame", key: str) -> Floats:
    return np.asarray(table[our_columns(table)[key]], dtype=np.float64)


def _shown(table: "pd.DataFrame", items: list[int]) -> Shown:
    some, ours = table.iloc[items], our_columns(table)
    return Shown(
        ids=tuple(str(one) for one in some[ours["id"]]),
        states=tuple(str(one) for one in some[ours["state"]]),
        expected=_column(some, "expected"),
        uncertainty=_column(some, "uncertainty"),
        measured=_column(some, "result"),
    )
