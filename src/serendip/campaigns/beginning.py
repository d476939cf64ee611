"""What is checked and collected before a campaign is recorded."""

from dataclasses import dataclass

from serendip.campaigns.events import Created, KnownLabel
from serendip.campaigns.pool_file import Candidates, keep_snapshot, reference
from serendip.campaigns.problem import Problem, first_choice
from serendip.campaigns.results import Outcome, close, id_column, read_results
from serendip.campaigns.spec import Settings
from serendip.campaigns.store import Store
from serendip.core.errors import InvalidInput
from serendip.tables import read_table


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A campaign that may begin."""

    problem: Problem
    known: tuple[KnownLabel, ...]


def prepared(settings: Settings) -> Prepared:
    """Reads the pool and the labels known already, and tries the model and the policy once."""
    candidates = Candidates.of(read_table(settings.pool), settings.id)
    problem = Problem.of(settings, candidates)
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
    snapshot = keep_snapshot(candidates.frame, pool, folder) if settings.snapshot else None
    event = Created(
        who=who,
        at=at,
        settings=settings.as_json(),
        pool=pool,
        n_candidates=len(candidates.ids),
        edges=edges,
        snapshot=snapshot,
        known=ready.known,
    )
    store.create(settings.name, event)


def _known(settings: Settings, candidates: Candidates) -> tuple[KnownLabel, ...]:
    """Labels in the pool's own label column, and those of the prior data."""
    found: dict[str, Outcome] = {}
    if settings.label in candidates.frame.columns:
        frame = candidates.frame
        if settings.id is None:
            frame = frame.assign(**{id_column(settings, candidates): list(candidates.ids)})
        for one in read_results(frame, settings, candidates, settings.pool.name):
            found[one.item] = one
    if settings.prior_data is not None:
        name = settings.prior_data.name
        table = read_table(settings.prior_data)
        for one in read_results(table, settings, candidates, name):
            if one.item in found and not close(found[one.item].value, one.value):
                raise InvalidInput(
                    f"{one.item} has one label in the pool and another in {one.where}; correct "
                    "one of them."
                )
            found[one.item] = one
    return tuple(KnownLabel(one.item, one.value) for one in found.values() if one.value is not None)
