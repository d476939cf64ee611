"""Any labelled table under any policies and models: what would have been found, how soon."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from serendip.compute.engines import Engine
from serendip.compute.parallel import run_all
from serendip.core.arguments import instance, number, shown, whole
from serendip.core.arrays import Floats
from serendip.core.errors import InvalidInput
from serendip.core.naming import listed
from serendip.core.protocols import Model, Policy, Posterior
from serendip.core.registry import is_path
from serendip.core.rng import Purpose, stream
from serendip.core.text import checked_line
from serendip.models.registry import REGISTRY as MODELS
from serendip.models.registry import ModelEntry
from serendip.policies.registry import POLICIES, REGISTRY, Role, adopt_policy, entry_for_plots
from serendip.policies.serving import check_policy, serves
from serendip.policies.started import Started
from serendip.problems.folders.opening import PoolFolder
from serendip.problems.framing import Columns
from serendip.problems.label_kinds import LabelKind
from serendip.simulate.backtests.levels import Best, Hits, notes_on_ties
from serendip.simulate.backtests.plans import Plan, planned
from serendip.simulate.loop import expected_random_regret, play
from serendip.simulate.trace import Trace
from serendip.tables.frames import data_frame

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[int, int], None]

Player = str | Policy[Any] | Callable[[], Policy[Any]]
"""A policy by its name or import path, itself, or what makes it."""


@dataclass(frozen=True, slots=True, eq=False)
class Backtest:
    """What came out.

    Attributes:
        steps: Tidy: policy, repeat, step, id, label, total, regret.
        summary: One row a policy.
        differences: One row a policy: regret less that of the best baseline, paired by repeat.
        random_regrets: (T,) what random choice is expected to have after each label.
    """

    n: int
    budget: int
    model: str
    repeats: int
    seed: int
    steps: "pd.DataFrame"
    summary: "pd.DataFrame"
    differences: "pd.DataFrame"
    baseline: str
    hit: float
    random_regrets: tuple[float, ...]
    random_total: float
    notes: tuple[str, ...]

    @property
    def random_regret(self) -> float:
        """What random choice is expected to have at the end."""
        return self.random_regrets[-1]

    def as_json(self) -> dict[str, Any]:
        """The result as one dictionary of plain numbers."""
        columns = [name for name in self.summary.columns if name != "policy"]
        return {
            "n": self.n,
            "budget": self.budget,
            "model": self.model,
            "repeats": self.repeats,
            "policies": {
                row["policy"]: {name: _plain(row[name]) for name in columns}
                for row in self.summary.to_dict("records")
            },
            "seed": self.seed,
            "hit": self.hit,
            "random": {"regret": self.random_regret, "total": self.random_total},
            "baseline": self.baseline,
            "differences": {
                row["policy"]: {k: _plain(v) for k, v in row.items() if k != "policy"}
                for row in self.differences.to_dict("records")
            },
            "notes": list(self.notes),
        }


def _plain(value: Any) -> float | None:
    number = float(value)
    return number if np.isfinite(number) else None


def backtest(
    frame: "pd.DataFrame | PoolFolder",
    label: str,
    *,
    budget: int | None = None,
    policies: Player | Iterable[Player] | Mapping[str, Player] | None = None,
    model: str | Model[Any] | Callable[[int], Model[Any]] | None = None,
    columns: Columns | None = None,
    id: str | None = None,
    batch: int = 1,
    repeats: int = 10,
    seed: int = 0,
    minimize: bool = False,
    range: tuple[float, float] | None = None,
    categories: str | Sequence[str] = (),
    binary: bool = False,
    hit: float | None = None,
    start: int = 0,
    jobs: int | None = 1,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Backtest:
    """Replay a fully labelled table: each policy buys `budget` labels, one repeat after another.

    Args:
        frame: The table, of pandas, polars or Arrow: one candidate a row, every one labelled; or a
            pool folder with labels.
        label: The column of the labels.
        budget: T; by default a fifth of the table, and at most 200.
        policies: One or several: names (see `serendip.policies.registry.POLICIES`), import paths
            such as `mypackage:MyPolicy`, policies, or a mapping of names to any of these; by
            default, as with none in the list, all of serendip's that fit the model.
        model: A name, an import path, a model, or what makes one of the number of features; by
            default that of `columns`, or what fits.
        columns: What the other columns are.
        id: The column of names; by default rows are named by their number.
        batch: Labels bought at once.
        repeats: Runs of each policy, which differ in their random numbers.
        seed: Of all randomness; the same seed gives the same table whatever `jobs`.
        minimize: Whether smaller labels are better.
        range: The smallest and the largest label there can be.
        categories: Labels in words, worst first; they are counted from 0 to 1.
        binary: Whether every label is 0 or 1.
        hit: Labels at least this good count as hits (at most, with minimize); by default the best
            tenth of the table, or all better than the worst label where these are fewer.
        start: Labels of the budget that are picked at random first, the same for all policies.
        jobs: Processes; None for all cores.
        engine: Where they run; by default on this machine.
        progress: Called with (runs done, runs in all).
    """
    frame = _checked_kinds(frame, columns, engine)
    hit = None if hit is None else number("hit", hit)
    kind = LabelKind(minimize, range, listed(categories, "categories"), binary)
    folder = frame.manifest.on_disk if isinstance(frame, PoolFolder) else None
    spec = _with_model(columns or Columns(), model).named(binary=binary, folder=folder)
    chosen = _chosen(policies)  # nonsense is refused before the table is read
    plan = planned(frame, label, id, spec, kind, budget, batch)
    prior = plan.model.posterior((), stream(whole("seed", seed), Purpose.PRIOR))
    for one in chosen.values():
        check_policy(one, prior, spec.entry.name)
    chosen = chosen or _fitting(plan, spec.entry, prior)
    repeats, seed, start = whole("repeats", repeats, 1), whole("seed", seed), whole("start", start)
    jobs = None if jobs is None else whole("jobs", jobs, 1)
    if not 0 <= start < plan.budget:
        raise InvalidInput(
            f"start, the labels picked at random first, must be at least 0 and leave some of the "
            f"budget of {plan.budget}; got {start}."
        )
    names = list(chosen)
    players = [Started(one, start) if start else one for one in chosen.values()]
    seeds = [seed + turn for turn in np.arange(repeats).tolist()]
    tasks = [(plan, player, one) for player in players for one in seeds]
    traces: dict[int, tuple[Trace, float]] = {}
    for index, outcome in run_all(_run, tasks, jobs, engine):
        traces[index] = outcome
        if progress is not None:
            progress(len(traces), len(tasks))
    steps = _steps(plan, names, repeats, traces, minimize)
    sign = -1.0 if minimize else 1.0
    hits = Hits.of(plan.labels, None if hit is None else sign * hit)
    best = Best.of(plan.labels, plan.budget)
    summary = _summary(plan, steps, hits, best, sign)
    baseline = _baseline(summary)
    return Backtest(
        n=len(plan.labels),
        budget=plan.budget,
        model=spec.entry.name,
        repeats=repeats,
        seed=seed,
        steps=steps,
        summary=summary,
        differences=_differences(steps, names, baseline),
        baseline=baseline,
        hit=sign * hits.level + 0.0,  # no negative zero
        random_regrets=tuple(
            expected_random_regret(plan.labels, step)
            for step in np.arange(1, plan.budget + 1).tolist()
        ),
        random_total=sign * plan.budget * float(plan.labels.mean()),
        notes=(*plan.notes, *notes_on_ties(hits, best, plan.budget, sign)),
    )


def _checked_kinds(frame: object, columns: object, engine: object) -> "pd.DataFrame | PoolFolder":
    if columns is not None:
        instance("columns", columns, Columns, 'Columns, such as Columns("linear")')
    if engine is not None:
        instance("engine", engine, Engine, 'an Engine, such as Engine("ray")')
    wanted = "a pandas DataFrame, or a pool folder that open_folder opened"
    return frame if isinstance(frame, PoolFolder) else data_frame("frame", frame, wanted)


def _with_model(
    columns: Columns, model: str | Model[Any] | Callable[[int], Model[Any]] | None
) -> Columns:
    if model is None:
        return columns
    if columns.model != "":
        raise InvalidInput("The model is given twice, as model and in columns; give it once.")
    if isinstance(model, str) and is_path(model):
        return replace(columns, model=MODELS.get(model, allow=(model,)))
    return replace(columns, model=model)


def _chosen(
    policies: Player | Iterable[Player] | Mapping[str, Player] | None,
) -> dict[str, Policy[Any]]:
    """The policies asked for, by the name that the tables call them."""
    if policies is None:
        return {}
    if isinstance(policies, Mapping):
        return {(said := _named(name)): _policy(one, said) for name, one in policies.items()}
    several: Iterable[Player] = (
        policies
        if isinstance(policies, Iterable) and not isinstance(policies, str)
        else (policies,)
    )
    chosen: dict[str, Policy[Any]] = {}
    for one in several:
        name = one if isinstance(one, str) else str(getattr(one, "__name__", type(one).__name__))
        if name in chosen and not isinstance(one, str):
            raise InvalidInput(
                f"Two policies are called {name}; give them names: "
                'policies={"one": …, "other": …}.'
            )
        chosen[name] = _policy(one, name)
    return chosen


def _named(name: object) -> str:
    if not isinstance(name, str):
        raise InvalidInput(f"Policies are called by texts; got {shown(name)}.")
    return checked_line("The name of a policy", name)


def _policy(one: Player, name: str) -> Policy[Any]:
    entry = REGISTRY.get(one, allow=(one,)) if isinstance(one, str) else adopt_policy(name, one)
    return entry.make()


def _fitting(plan: Plan, model: ModelEntry, prior: Posterior) -> dict[str, Policy[Any]]:
    """Those of ours that the model serves, but for what would take too long."""
    found = {}
    for name, entry in POLICIES.items():
        small = entry.suits is None or len(plan.labels) <= entry.suits
        if entry.offered and small and (model.linear or not entry.costly):
            policy = entry.make()
            if serves(prior, policy):
                found[name] = policy
    return found


def _run(task: tuple[Plan, Policy[Any], int]) -> tuple[Trace, float]:
    plan, policy, seed = task
    start = perf_counter()
    world = plan.world
    trace = play(world.pool, world.oracle, plan.model, policy, plan.budget, seed, batch=plan.batch)
    return trace, (perf_counter() - start) / plan.budget


def _steps(
    plan: Plan,
    names: Sequence[str],
    repeats: int,
    traces: dict[int, tuple[Trace, float]],
    minimize: bool,
) -> "pd.DataFrame":
    import pandas as pd

    sign = -1.0 if minimize else 1.0
    tables = []
    for index in range(len(names) * repeats):
        trace, seconds = traces[index]
        table = trace.frame(
            truth=plan.labels, ids=plan.ids, policy=names[index // repeats], repeat=index % repeats
        )
        # The model may have seen labels mapped to [0, 1]; people see their own.
        table["label"] = sign * plan.labels[trace.items]
        table["total"] = table["label"].cumsum()
        table["seconds"] = seconds
        kept = ["policy", "repeat", "seed", "step", "item", "id", "label", "total", "regret"]
        tables.append(table[[*kept, "seconds"]])
    return pd.concat(tables, ignore_index=True)


def _summary(
    plan: Plan, steps: "pd.DataFrame", hits: Hits, best: Best, sign: float
) -> "pd.DataFrame":
    import pandas as pd

    share = hits.n / len(plan.labels)
    rows = []
    for policy, mine in steps.groupby("policy", sort=False):
        runs = [run for _, run in mine.groupby("repeat")]
        regret = np.array([run["regret"].iloc[-1] for run in runs])
        total = np.array([run["total"].iloc[-1] for run in runs])
        values = [sign * run["label"].to_numpy() for run in runs]
        n_hits = np.mean([hits.among(v) for v in values])
        rows.append(
            {
                "policy": policy,
                "regret": regret.mean(),
                "regret_se": _standard_error(regret),
                "total": total.mean(),
                "total_se": _standard_error(total),
                "seconds_per_ask": np.mean([run["seconds"].iloc[0] for run in runs]),
                "hits": n_hits,
                "enrichment": n_hits / (plan.budget * share) if share > 0 else np.nan,
                "best": np.mean([sign * v.max() for v in values]),
                "recall": np.mean([best.share(v) for v in values]),
            }
        )
    return pd.DataFrame(rows)


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _baseline(summary: "pd.DataFrame") -> str:
    """The best of the policies that are not ours; of all, where only ours were run."""
    others = summary[[entry_for_plots(one).role is not Role.ours for one in summary["policy"]]]
    table = others if len(others) else summary
    return str(table["policy"].iloc[int(np.argmin(table["regret"]))])


def _differences(steps: "pd.DataFrame", names: Sequence[str], baseline: str) -> "pd.DataFrame":
    import pandas as pd

    last = steps.groupby(["policy", "repeat"], sort=False)["regret"].last().unstack("policy")
    rows = []
    for name in names:
        if name == baseline:
            continue
        difference = (last[name] - last[baseline]).to_numpy()
        error = _standard_error(difference)
        width = error * float(stats.t.ppf(0.975, max(1, len(difference) - 1)))
        rows.append(
            {
                "policy": name,
                "difference": difference.mean(),
                "low": difference.mean() - width,
                "high": difference.mean() + width,
            }
        )
    return pd.DataFrame(rows, columns=["policy", "difference", "low", "high"])
