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
from serendip.problems.label_kinds import LabelKind
from serendip.web.server.lanes import report

if TYPE_CHECKING:
    import pandas as pd

    from serendip.problems.framing import Columns
    from serendip.simulate.backtests.backtest import Backtest

_FEWEST = 5
"""Labels of its own that a campaign needs to be replayed."""


@dataclass(frozen=True, slots=True)
class Replay:
    """What is to be replayed, and how; the fields are those of `serendip backtest`."""

    label: str | None = None
    """The column of the labels; that of the campaign, where one is replayed."""
    table: Path | None = None
    campaign: str | None = None
    budget: int | None = None
    policies: tuple[str, ...] = ()
    """Empty for all that fit the model."""
    model: str | None = None
    """Linear, or that of the campaign."""
    id: str | None = None
    features: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    """Columns of numbers that are names."""
    missing: str = "error"
    rows: str | None = None
    columns: str | None = None
    rank: int | None = None
    edges: Path | None = None
    batch: int = 1
    repeats: int = 5
    seed: int = 0
    minimize: bool = False
    range: tuple[float, float] | None = None
    """The smallest and the largest label of a table that there can be."""
    categories: tuple[str, ...] = ()
    """Labels of a table in words, worst first."""
    binary: bool = False
    """Whether every label of a table is 0 or 1."""
    hit: float | None = None

    def __post_init__(self) -> None:
        if (self.table is None) == (self.campaign is None):
            raise InvalidInput("A backtest replays either a table or a campaign; name one of them.")
        if self.table is not None and self.label is None:
            raise InvalidInput("A backtest of a table needs label, the column of the labels.")
        # Nothing that is sent in names code to run.
        if self.model is not None and is_path(self.model):
            MODELS.check(self.model)
        for name in filter(is_path, self.policies):
            POLICIES.check(name)
        declared = self.kind.declared  # refuses what does not go together
        if self.campaign is not None and declared:
            raise InvalidInput(
                "A campaign has said what its labels are; leave range, categories and binary out."
            )

    @property
    def kind(self) -> LabelKind:
        """What was said of the labels."""
        return LabelKind(self.minimize, self.range, self.categories, self.binary)

    @property
    def title(self) -> str:
        """What is replayed, in words."""
        return self.campaign if self.campaign is not None else self.table.name if self.table else ""


def run(store: str, replay: Replay) -> dict[str, Any]:
    """What came out, as `serendip backtest --format json` prints it, and the curves."""
    from serendip.core.threads import n_cores
    from serendip.simulate.backtests.backtest import backtest
    from serendip.tables import read_table

    report((0, 0))
    if replay.table is not None:
        label, id, kind, columns = replay.label, replay.id, replay.kind, _columns(replay)
        frame = read_table(replay.table, names=(id, *columns.names), labels=(label,))
    else:
        frame, label, id, kind, columns = _own_labels(store, replay)
    assert label is not None  # checked when the replay was made
    result = backtest(
        frame,
        label,
        budget=replay.budget,
        policies=replay.policies or None,
        columns=columns,
        id=id,
        batch=replay.batch,
        repeats=replay.repeats,
        seed=replay.seed,
        minimize=replay.minimize or kind.minimize,
        range=kind.range,
        categories=kind.categories,
        binary=kind.binary,
        hit=replay.hit,
        jobs=max(1, n_cores() - 1),
        progress=_tell,
    )
    return {"title": replay.title, "label": label, **result.as_json(), "curves": _curves(result)}


def _tell(done: int, total: int) -> None:
    report((done, total))


def _columns(replay: Replay) -> "Columns":
    from serendip.problems.framing import Columns

    return Columns(
        model=replay.model or "",
        features=replay.features or None,
        ignore=replay.ignore,
        nominal=replay.nominal,
        missing="impute" if replay.missing == "impute" else "error",
        rows=replay.rows or (),
        columns=replay.columns or (),
        rank=replay.rank,
        edges=replay.edges,
    )


def _own_labels(
    store: str, replay: Replay
) -> "tuple[pd.DataFrame, str, str | None, LabelKind, Columns]":
    """The candidates of a campaign that have labels, and what its labels and columns are."""
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
    columns = settings.frame_columns(replay.model)
    return frame, settings.label, settings.id, kind, columns


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
