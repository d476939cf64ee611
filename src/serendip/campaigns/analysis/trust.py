"""Which model is trusted, and why, in a sentence."""

import math

from serendip.core.protocols import Posterior
from serendip.models.mixture.auto import AutoPosterior, Trust


def trust_in_words(posterior: Posterior) -> str:
    """One sentence; empty where there is one model only."""
    if not isinstance(posterior, AutoPosterior):
        return ""
    ranked = sorted(posterior.trust, key=lambda one: -one.weight)
    shares = ", ".join(f"{one.name} {one.weight:.0%}" for one in ranked)
    if not posterior.n_labels:
        return f"Trusted: {shares}, before any result is in."
    return f"Trusted: {shares}. {_why(ranked, posterior.n_labels)}"


def _why(ranked: list[Trust], n_labels: int) -> str:
    if len(ranked) == 1:
        return "It is the only model of this campaign."
    first, second = ranked[:2]
    ratio = math.exp(min(50.0, abs(first.score - second.score)))
    told = f"Asked for each of the {n_labels} results as if it were not known,"
    if ratio < 1.01:
        return f"{told} {first.name} and {second.name} did equally well."
    ahead, behind = (first, second) if first.score > second.score else (second, first)
    return f"{told} {ahead.name} found it {ratio:.3g} times as likely as {behind.name} did."
