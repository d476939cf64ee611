"""What is checked and collected before a campaign is recorded."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from serendip.campaigns.candidates import Candidates, FolderCandidates, TableCandidates
from serendip.campaigns.intake.results import (
    Outcome,
    close,
    id_column,
    label_of,
    read_results,
    results_table,
)
from serendip.campaigns.log.events import Created, KnownLabel
from serendip.campaigns.log.store import Store
from serendip.campaigns.pool_file import keep_snapshot, read_candidates, reference
from serendip.campaigns.problem import Problem, first_choice
from serendip.campaigns.spec import Settings
from serendip.core.errors import InvalidInput
from serendip.core.labels import LARGEST
from serendip.core.settings import described
from serendip.core.text import checked_text
from serendip.models.registry import REGISTRY as MODELS
from serendip.policies.registry import REGISTRY as POLICIES
from serendip.problems.folders.opening import PoolFolder
from serendip.tables import CURRENT

_MOST_KNOWN = 100_000
"""Labels known already that a campaign may begin with, on a pool folder."""


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A campaign that may begin."""

    problem: Problem
    known: tuple[KnownLabel, ...]


def prepared(settings: Settings, allow: Collection[str] = ()) -> Prepared:
    """Reads the pool and the labels known already, and tries the model and the policy once.

    Args:
        settings: Of the campaign.
        allow: Import paths of models and policies that may run.
    """
    _check_texts(settings)
    if settings.range is not None and max(map(abs, settings.range)) > LARGEST:
        raise InvalidInput(
            f"Labels lie between -{LARGEST:g} and {LARGEST:g}; got the range {settings.range}. "
            "Give labels in a larger unit."
        )
    for registry, name in ((MODELS, settings.model), (POLICIES, settings.policy)):
        registry.get(name, allow)
    candidates = read_candidates(settings.pool, settings)
    if isinstance(candidates, FolderCandidates):
        _check_folder_settings(settings)
    problem = Problem.of(settings, candidates, allow)
    known = _known(settings, candidates)
    left = len(candidates.ids) - len(known)
    if left < 1:
        raise InvalidInput(
            f"All {len(candidates.ids)} candidates of {settings.pool.name} have a label in column "
            f"{settings.label!r}, so there is nothing to find out; empty the cells that are to be "
            "measured."
        )
    if settings.budget > left:
        raise InvalidInput(
            f"The budget is {settings.budget} experiments, and {left} candidates of "
            f"{settings.pool.name} have no label yet; make the budget {left} or smaller."
        )
    first_choice(problem, settings.budget)
    return Prepared(problem, known)


def begin(settings: Settings, ready: Prepared, store: Store, who: str, at: str) -> None:
    """Records a campaign that may begin."""
    if any(info.name == settings.name for info in store.campaigns()):
        raise store.taken(settings.name)
    candidates, folder = ready.problem.candidates, store.folder
    pool = reference(settings.pool, folder)
    edges = None if settings.edges is None else reference(settings.edges, folder)
    snapshot = None
    if settings.snapshot and isinstance(candidates, TableCandidates):
        snapshot = keep_snapshot(candidates.frame, pool, folder)
    event = Created(
        who=who,
        at=at,
        settings=settings.as_json(),
        pool=pool,
        n_candidates=len(candidates.ids),
        edges=edges,
        snapshot=snapshot,
        known=ready.known,
        reading_rules=CURRENT,
    )
    store.create(settings.name, event)


def _known(settings: Settings, candidates: Candidates) -> tuple[KnownLabel, ...]:
    """Labels in the pool's own label column, and those of the prior data."""
    found = {one.item: one for one in _own_labels(settings, candidates)}
    if settings.prior_data is not None:
        name = settings.prior_data.name
        table = results_table(settings.prior_data, settings, candidates)
        for one in read_results(table, settings, candidates, name):
            if one.item in found and not close(found[one.item].value, one.value):
                raise InvalidInput(
                    f"{one.item} has one label in the pool and another in {one.where}; correct "
                    "one of them."
                )
            found[one.item] = one
    return tuple(KnownLabel(one.item, one.value) for one in found.values() if one.value is not None)


def _own_labels(settings: Settings, candidates: Candidates) -> Sequence[Outcome]:
    """What the pool's own label column says."""
    if isinstance(candidates, TableCandidates) and settings.label in candidates.frame.columns:
        frame = candidates.frame
        if settings.id is None:
            frame = frame.assign(**{id_column(candidates): list(candidates.ids)})
        return read_results(frame, settings, candidates, settings.pool.name)
    if isinstance(candidates, FolderCandidates):
        return _folder_labels(settings, candidates.folder)
    return ()


def _folder_labels(settings: Settings, folder: PoolFolder) -> Sequence[Outcome]:
    if settings.label != folder.manifest.label:
        return ()
    if folder.manifest.n_labels == folder.manifest.n:
        raise InvalidInput(
            f"All {folder.manifest.n} candidates of {settings.pool.name} have a label, so there is "
            "nothing to find out; replay it with `serendip backtest`."
        )
    if folder.manifest.n_labels > _MOST_KNOWN:
        raise InvalidInput(
            f"A campaign can begin with {_MOST_KNOWN} known labels; {settings.pool.name} has "
            f"{folder.manifest.n_labels}. Import it without --label, and give some of them as "
            "--prior-data."
        )
    labels = folder.labels()
    return [
        Outcome(folder.names[item], label_of(float(labels[item]), settings))
        for item in np.flatnonzero(np.isfinite(labels)).tolist()
    ]


def _check_texts(settings: Settings) -> None:
    """Refuses bytes that are no text, which no table or page could show."""
    for name, value in settings.as_json().items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                checked_text(f"The setting {name}", text)


def _check_folder_settings(settings: Settings) -> None:
    """Refuses settings that were decided when the pool was imported."""
    for one in described(Settings):
        if one.about.tables and getattr(settings, one.name) != one.default:
            raise InvalidInput(
                f"{one.option} is for tables; what a pool folder holds was decided when it was "
                "imported."
            )
