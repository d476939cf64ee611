"""Backtests as the server runs them: on a table that was sent in, or on a campaign's own labels."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from serendip.core.errors import InvalidInput
from serendip.core.labels import Ordered
from serendip.core.registry import is_path
from serendip.models.registry import REGISTRY as MODELS
from serendip.policies.registry import REGISTRY as POLICIES
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.server.lanes import report

if TYPE_CHECKING:
    import pandas as pd

    from serendip.simulate.backtests.backtest import Backtest

_FEWEST = 5
"""Labels of its own that a campaign needs to be replayed."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What is to be replayed, and how."""

    settings: BacktestSettings
    source: Path | str
    """The table, or the name of a campaign."""

    def __post_init__(self) -> None:
        # Nothing that is sent in names code to run.
        if is_path(self.settings.model):
            MODELS.check(self.settings.model)
        for name in filter(is_path, self.settings.policies):
            POLICIES.check(name)
        if self.campaign is not None and self.settings.label_kind.declared:
            raise InvalidInput(
                "A campaign has said what its labels are; leave range, categories and binary out."
            )

    @property
    def campaign(self) -> str | None:
        """Whose own labels are replayed, if not those of a table."""
        return self.source if isinstance(self.source, str) else None

    @property
    def title(self) -> str:
        """What is replayed, in words."""
        return self.source if isinstance(self.source, str) else self.source.name


def run(store: str, replay: Replay) -> dict[str, Any]:
    """What came out, as `serendip backtest --format json` prints it, and the curves."""
    from serendip.core.threads import n_cores
    from serendip.simulate.backtests.backtest import backtest
    from serendip.tables import read_table

    report((0, 0))
    given = replay.settings
    if isinstance(replay.source, Path):
        label, names = given.label, (given.id, *given.name_columns)
        frame = read_table(replay.source, names=names, labels=(label,))
        arguments = given.arguments()
    else:
        frame, label, arguments = _own_labels(store, replay)
    jobs = max(1, n_cores() - 1)
    result = backtest(frame, label, **arguments, jobs=jobs, progress=_tell)
    return {"title": replay.title, "label": label, **result.as_json(), "curves": _curves(result)}


def _tell(done: int, total: int) -> None:
    report((done, total))


def _own_labels(store: str, replay: Replay) -> "tuple[pd.DataFrame, str, dict[str, Any]]":
    """The candidates of a campaign that have labels, their column, and how they are replayed."""
    from serendip.web.server.work import current

    assert replay.campaign is not None  # one of the two is there
    campaign = current(store, replay.campaign)
    settings, state = campaign.settings, campaign.state
    if settings.smiles is not None:
        raise InvalidInput(
            "A campaign on molecules cannot be replayed yet; backtests take numbers and words."
        )
    if settings.edges is not None:
        raise InvalidInput(
            "A campaign on a graph cannot be replayed on some of its nodes; backtest its whole "
            "table with the edges once every node is labelled."
        )
    labels = {**state.known, **{item: one.value for item, one in state.results.items()}}
    if len(labels) < _FEWEST:
        raise InvalidInput(
            f"Campaign {replay.campaign!r} has {len(labels)} labels, too few to replay; come back "
            f"when there are {_FEWEST}, or replay a table that is labelled."
        )
    places = [campaign.candidates.places[item] for item in labels]
    frame = campaign.candidates.rows(np.array(places))
    kind, values = settings.label_kind, list(labels.values())
    in_words = isinstance(kind.labels, Ordered)
    frame[settings.label] = [kind.labels.decode(one) for one in values] if in_words else values
    columns = settings.frame_columns(replay.settings.model or None)
    said = {
        "id": settings.id,
        "minimize": replay.settings.minimize or kind.minimize,
        "range": kind.range,
        "categories": kind.categories,
        "binary": kind.binary,
    }
    return frame, settings.label, {**replay.settings.arguments(columns), **said}


def _curves(result: "Backtest") -> dict[str, Any]:
    """Regret and total after each label, on average over the repeats, with standard errors."""
    curves: dict[str, Any] = {}
    for policy, steps in result.steps.groupby("policy", sort=False):
        by_step = steps.groupby("step")
        curves[str(policy)] = {
            name: {
                "mean": [float(value) for value in by_step[name].mean()],
                "se": [
                    float(value) if value == value else None  # one repeat has no error
                    for value in by_step[name].sem()
                ],
            }
            for name in ("regret", "total")
        }
    share = [step / result.budget for step in range(1, result.budget + 1)]
    curves["random, expected"] = {
        "regret": {"mean": list(result.random_regrets), "se": [0.0] * result.budget},
        "total": {
            "mean": [one * result.random_total for one in share],
            "se": [0.0] * result.budget,
        },
    }
    return curves
