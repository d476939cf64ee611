"""A campaign's pool, model and labels as the library sees them."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from serendip.campaigns.analysis.view import CampaignView, Measured
from serendip.campaigns.candidates import Candidates, FolderCandidates, TableCandidates
from serendip.campaigns.log.state import State
from serendip.campaigns.spec import Settings
from serendip.compute.engines import Engine, executor_on
from serendip.core.data import Choice, Observation
from serendip.core.errors import InvalidInput
from serendip.core.labels import LARGEST
from serendip.core.progress import report
from serendip.core.protocols import Model, Policy, Pool, Posterior
from serendip.core.rng import Purpose, stream
from serendip.core.threads import one_blas_thread
from serendip.models.fitting import FITTING
from serendip.models.registry import REGISTRY as MODELS
from serendip.policies.batch import CHOOSING
from serendip.policies.registry import REGISTRY as POLICIES
from serendip.policies.serving import check_policy
from serendip.pools.dense import DensePool
from serendip.pools.sharded import Executor, ShardedPool
from serendip.pools.sources import ArraySource, RowsSource, Source
from serendip.pools.streamed import StreamedPool
from serendip.problems.folder_framing import frame_folder
from serendip.problems.framing import frame_problem
from serendip.problems.label_kinds import LabelMap
from serendip.simulate.loop import suggest

if TYPE_CHECKING:
    from serendip.compute.device.pool import DeviceMemory

_TASTE = 1000
"""Candidates that policy and model are tried on before a campaign begins on a pool folder."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What the log and the pool imply for models and policies."""

    settings: Settings
    candidates: Candidates
    whole: DensePool | StreamedPool
    """All candidates, labelled ones too."""
    model: Model[Any]
    notes: tuple[str, ...]
    labels: LabelMap
    linear: bool = False
    """Whether the model is linear in the features."""
    allow: frozenset[str] = frozenset()
    """Import paths of policies that may run."""
    executor: Executor | None = None
    """Who holds the shards of the pool; None where it is in this process."""
    memory: "DeviceMemory | None" = None
    """The pool on a GPU; None where it is not on one."""

    @classmethod
    def of(
        cls, settings: Settings, candidates: Candidates, allow: Collection[str] = ()
    ) -> "Problem":
        """Features and model of a pool.

        Args:
            settings: Of the campaign.
            candidates: Of the pool.
            allow: Import paths that the user has named, and that may therefore run.
        """
        entry = MODELS.recall(settings.model, allow)
        spec, linear, allowed = settings.frame_columns(entry), entry.linear, frozenset(allow)
        if isinstance(candidates, FolderCandidates):
            own = frame_folder(candidates.folder, spec)
            labels = settings.label_map(own.unit_labels)
            return cls(
                settings, candidates, own.pool, own.model, own.notes, labels, linear, allowed
            )
        assert isinstance(candidates, TableCandidates)  # there are no others
        frame, columns = candidates.frame, (settings.label, settings.id)
        not_features = tuple(name for name in columns if name and name in frame.columns)
        if settings.smiles is None:
            framed = frame_problem(frame, spec, not_features, candidates.ids, candidates.rules)
        else:
            from serendip.problems.molecule_framing import frame_molecules

            framed = frame_molecules(frame, spec, not_features, candidates.ids, settings.smiles)
        labels = settings.label_map(framed.unit_labels)
        whole = DensePool(framed.x, candidates.ids)
        return cls(settings, candidates, whole, framed.model, framed.notes, labels, linear, allowed)

    @property
    def policy(self) -> Policy[Any]:
        """Who chooses; a package that brings it is imported now."""
        return POLICIES.recall(self.settings.policy, self.allow).make()

    @property
    def n_features(self) -> int:
        """How many the model sees."""
        return int(self.whole.take(np.empty(0, dtype=np.int64)).shape[1])

    def pool(self, removed: Iterable[str]) -> Pool:
        """The candidates but for some."""
        places = sorted(self.candidates.places[item] for item in removed)
        gone = np.array(places, dtype=np.int64)
        if self.executor is not None:
            return ShardedPool(self.executor, self.candidates.ids, gone)
        left = replace(self.whole, removed=gone)
        if self.memory is None:
            return left
        from serendip.compute.device.pool import DevicePool

        return DevicePool(left, self.memory)

    @contextmanager
    def on(self, engine: Engine) -> "Iterator[Problem]":
        """The same problem, its pool where the engine computes, until the end of the context."""
        whole = self.whole
        if engine.name == "gpu":
            from serendip.compute.device.pool import DeviceMemory

            yield replace(self, memory=DeviceMemory(whole))
            return
        source: Source = (
            ArraySource(whole.x) if isinstance(whole, DensePool) else RowsSource(whole.rows)
        )
        with executor_on(engine, source) as executor:
            yield replace(self, executor=executor)

    def posterior(self, state: State) -> Posterior:
        """What is believed after all labels so far, the same in every process.

        It is made afresh from the labels in the order told, so it depends on the log alone.
        """
        report(FITTING)
        with one_blas_thread():
            posterior: Posterior = self.model.posterior(
                self._seen(state), stream(self.settings.seed, Purpose.POSTERIOR)
            )
        return posterior

    def _seen(self, state: State) -> list[Observation]:
        labels: list[tuple[tuple[str, float], ...]] = [
            ((name, y),) for name, y in state.known.items()
        ]
        for result in state.results.values():
            side = ((one.item, one.value) for one in result.side)
            labels.append(((result.item, result.value), *side))
        return [self._observation(shown) for shown in labels]

    def _observation(self, shown: tuple[tuple[str, float], ...]) -> Observation:
        places = np.array([self.candidates.places[item] for item, _ in shown], dtype=np.int64)
        values = np.array([self.labels.internal(value) for _, value in shown])
        for (item, value), seen in zip(shown, values.tolist(), strict=True):
            if not abs(seen) <= LARGEST:  # from before such labels were refused
                raise InvalidInput(
                    f"The label {value:g} of {item} is too large to compute with, so nothing can "
                    "be proposed or predicted; correct it, or undo it."
                )
        return Observation(int(places[0]), self.whole.take(places), values)

    def choices(
        self, state: State, posterior: Posterior, count: int, retry_failed: bool = False
    ) -> tuple[Choice, ...]:
        """What to propose next; pending candidates will show what is expected of them.

        The same log gives the same choices: the streams are addressed by seed and version.

        Args:
            state: Where the campaign stands.
            posterior: What is believed, `self.posterior(state)`.
            count: How many; at most what is left.
            retry_failed: Whether candidates whose experiment failed may be proposed again.
        """
        pool = self.pool(self.taken(state, retry_failed))
        seed, version = self.settings.seed, state.version
        places = [self.candidates.places[item] for item in state.pending]
        streams = _Streams(seed, version)
        report(CHOOSING)
        return suggest(posterior, pool, self.policy, state.free, streams, count, places)

    def available(self, state: State, retry_failed: bool = False) -> int:
        """How many candidates can be proposed."""
        return len(self.candidates.ids) - len(self.taken(state, retry_failed))

    def taken(self, state: State, retry_failed: bool) -> set[str]:
        """Candidates that cannot be proposed."""
        failed = () if retry_failed else state.failed
        return {*state.known, *state.results, *state.pending, *failed, *state.excluded}

    def view(self, state: State, name: str) -> CampaignView:
        """The campaign at this moment, as forecasts, reasons and reports see it."""
        settings, places = self.settings, self.candidates.places
        shown = [1 + len(one.side) for one in state.results.values()]
        return CampaignView(
            name=name,
            label=settings.label,
            minimize=settings.minimize,
            budget=state.budget,
            model=settings.model,
            policy=settings.policy,
            seed=settings.seed,
            candidates=self.candidates,
            states={places[item]: found for item, found in state.conditions().items()},
            measured=tuple(
                Measured(places[one.item], one.value, one.at, one.who, one.proposed)
                for one in state.results.values()
            ),
            posterior=self.posterior(state),
            pool=self.pool(self.taken(state, retry_failed=False)),
            labels=self.labels,
            remaining=state.remaining,
            bounds=settings.bounds,
            rows=[len(state.known) + sum(shown[:place]) for place in range(len(shown))],
        )


@dataclass(frozen=True, slots=True)
class _Streams:
    """The generator of each place of a batch that is asked for at some version of the log."""

    seed: int
    version: int

    def __call__(self, place: int) -> Generator:
        return stream(self.seed, Purpose.ASK, self.version, place)


def first_choice(problem: Problem, budget: int) -> None:
    """Refuses a policy that cannot work with the model, before anything is recorded."""
    pool = problem.whole
    if isinstance(pool, StreamedPool):  # a taste of it will do
        few = np.arange(min(len(pool), _TASTE), dtype=np.int64)
        pool = DensePool(pool.take(few))
    prior = problem.model.posterior((), stream(problem.settings.seed, Purpose.POSTERIOR))
    policy, streams = problem.policy, _Streams(problem.settings.seed, 0)
    check_policy(policy, prior, problem.settings.model)
    suggest(prior, pool, policy, min(budget, len(pool)), streams, 1)
