"""How good the model's predictions have been, and which models it trusts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from serendip.campaigns.analysis.interval import INTERVAL
from serendip.campaigns.analysis.predictions import N_DRAWS, held_out, label_scatter, moments_of
from serendip.campaigns.analysis.view import CampaignView
from serendip.campaigns.log.events import Asked, Created, Entry, Proposal, Told
from serendip.core.arrays import Floats, Ints
from serendip.core.protocols import Posterior
from serendip.core.threads import one_blas_thread
from serendip.models.gp.model import GaussianProcessPosterior
from serendip.models.mixture.auto import AutoPosterior
from serendip.models.registry import MODELS


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Each result with what was predicted of it, in the user's units and the order told."""

    items: Ints
    predicted: Floats
    half: Floats
    """(t,) half of the interval that should hold the result in 80 % of cases."""
    measured: Floats
    ahead: Sequence[bool]
    """(t,) whether it was predicted before it was measured, or from all other results since."""

    @property
    def inside(self) -> int:
        """How many results lie within their interval."""
        return int(np.sum(np.abs(self.measured - self.predicted) <= self.half))

    @property
    def error(self) -> float:
        """Half of the predictions are off by less."""
        return float(np.median(np.abs(self.measured - self.predicted)))

    @property
    def usual(self) -> float:
        """Half of the results are nearer to the middle one: what a guess would be off by."""
        return float(np.median(np.abs(self.measured - np.median(self.measured))))


def fit_of(view: CampaignView, log: Sequence[Entry], rng: Generator) -> Fit:
    """Predicted and measured.

    What was believed when a candidate was proposed is in the log. A result that nobody had asked
    for, or that was asked for before anything was known, is predicted from all the others. The
    scatter of a measurement is that estimated now.

    Args:
        view: The campaign now.
        log: All that happened.
        rng: For the draws.
    """
    told = believed(log)
    proposals = [told.get(view.ids[one.item]) if one.proposed else None for one in view.measured]
    labels, items = view.labels, view.measured_items
    if len(items) == 0:
        return Fit(items, np.empty(0), np.empty(0), np.empty(0), ())
    with one_blas_thread():
        draws = view.posterior.sample(N_DRAWS, rng)
        left_out = held_out(view)
        moments = moments_of(view.posterior, draws)(view.block(items))
        scatter = labels.user_width(1.0) * np.sqrt(label_scatter(draws, *moments))
    predicted, spread = left_out.mean, left_out.deviation
    for place, one in enumerate(proposals):
        if one is not None:
            predicted[place] = one.expected
            spread[place] = np.hypot(one.uncertainty, scatter[place])
    half = float(ndtri(0.5 + INTERVAL.level / 2)) * spread
    ahead = tuple(one is not None for one in proposals)
    return Fit(items, predicted, half, view.measured_values, ahead)


def believed(log: Sequence[Entry]) -> Mapping[str, Proposal]:
    """The last proposal of each candidate, of those made when some label was known."""
    found: dict[str, Proposal] = {}
    informed = False
    for entry in log:
        match entry.event:
            case Created(known=known):
                informed = bool(known)
            case Told():
                informed = True
            case Asked(proposals=proposals) if informed:
                found |= {one.item: one for one in proposals}
            case _:
                pass
    return found


@dataclass(frozen=True, slots=True)
class Trust:
    """A model, and how much of the belief rests on it."""

    name: str
    share: float


def trusted(posterior: Posterior, model: str) -> tuple[Trust, ...]:
    """The models behind a posterior, the most trusted first; they share what is believed.

    A mixture says how far it trusts its members. Gaussian processes are averaged over kernels by
    how well each explains the labels; the other models stand alone.
    """
    shares: dict[str, float] = {}
    if isinstance(posterior, AutoPosterior):
        shares = {_title(one.name): one.weight for one in posterior.trust}
    elif isinstance(posterior, GaussianProcessPosterior):
        for fit in posterior.fits:
            name = fit.kernel.name or "unnamed"
            shares[name] = shares.get(name, 0.0) + float(fit.weights.sum())
    if not shares:
        return (Trust(_title(model), 1.0),)
    ordered = sorted(shares.items(), key=lambda one: -one[1])
    return tuple(Trust(name, share) for name, share in ordered)


def _title(model: str) -> str:
    return MODELS[model].title if model in MODELS else model
