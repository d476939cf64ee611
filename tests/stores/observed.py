"""What a store says, in plain values: written when it is made, compared ever after."""

from typing import Any

import numpy as np

from serendip.campaigns.campaign import Campaign
from serendip.campaigns.log.events import Asked
from serendip.campaigns.log.store import Store


def observed(store: Store) -> dict[str, Any]:
    """Every campaign of a store by name."""
    return {info.name: of_campaign(Campaign.open(info.name, store)) for info in store.campaigns()}


def of_campaign(campaign: Campaign) -> dict[str, Any]:
    """Log, state, candidates and the labels as people wrote them."""
    state, problem = campaign.state, campaign.problem
    places = np.arange(len(campaign.candidates.ids), dtype=np.int64)
    features = np.asarray(problem.whole.take(places), dtype=float)
    settings = campaign.settings
    results = campaign.export("results")
    return {
        "version": state.version,
        "tip": campaign.chronicle.tip,
        "settings": {
            "name": settings.name,
            "label": settings.label,
            "model": settings.model,
            "policy": settings.policy,
            "seed": settings.seed,
            "batch": settings.batch,
            "minimize": settings.minimize,
            "range": settings.range and list(settings.range),
            "categories": list(settings.categories),
            "binary": settings.binary,
        },
        "budget": state.budget,
        "remaining": state.remaining,
        "candidates": list(campaign.candidates.ids),
        "features": {
            "columns": features.shape[1],
            "sums": [float(f"{total:.6g}") for total in features.sum(axis=1)],
        },
        "known": dict(state.known),
        "results": {
            item: {
                "value": one.value,
                "at": one.at,
                "who": one.who,
                "proposed": one.proposed,
                "side": [[label.item, label.value] for label in one.side],
            }
            for item, one in state.results.items()
        },
        "written": [_shown(cell) for cell in results[settings.label].tolist()],
        "states": dict(sorted(state.conditions().items())),
        "pending": list(state.pending),
        "failures": state.n_failures,
        "undone": sorted(state.undone),
        "proposals": {
            str(entry.version): [one.item for one in entry.event.proposals]
            for entry in campaign.log
            if isinstance(entry.event, Asked)
        },
    }


def _shown(cell):
    """A cell as text; an empty one alike in every version of pandas."""
    return "nan" if cell is None or cell != cell else str(cell)
