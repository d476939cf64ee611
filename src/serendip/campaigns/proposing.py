"""The next batch: what to propose, and why."""

from serendip.campaigns.analysis.reasons import reasons
from serendip.campaigns.errors import NothingLeft
from serendip.campaigns.log.events import Proposal
from serendip.campaigns.log.state import State
from serendip.campaigns.problem import Problem
from serendip.core.progress import report
from serendip.core.rng import Purpose, stream
from serendip.core.threads import one_blas_thread


def proposals(
    problem: Problem, state: State, name: str, wanted: int, retry_failed: bool
) -> tuple[Proposal, ...]:
    """The batch that the log implies, the same in every process.

    Args:
        problem: Pool, model and policy.
        state: Where the campaign stands.
        name: The campaign's name.
        wanted: How many; fewer come where less is left.
        retry_failed: Whether candidates whose experiment failed may be proposed again.
    """
    left = min(state.free, problem.available(state, retry_failed))
    if left < 1:
        raise NothingLeft(nothing_left(state, retry_failed))
    view = problem.view(state, name)
    choices = problem.choices(state, view.posterior, min(wanted, left), retry_failed)
    rng = stream(problem.settings.seed, Purpose.REASONS, state.version)
    ids = problem.candidates.ids
    report("explaining the proposals")
    with one_blas_thread():
        found = reasons(view, choices, rng)
    return tuple(
        Proposal(
            item=ids[why.item],
            expected=float(why.expected),
            uncertainty=float(why.uncertainty),
            chance_of_top=float(why.chance_of_top),
            kind=str(why.kind),
            regret_share=float(why.regret_share),
            information_share=float(why.information_share),
            reason=why.sentence,
        )
        for why in found
    )


def nothing_left(state: State, retry_failed: bool) -> str:
    """Why nothing can be proposed."""
    if state.remaining < 1:
        return (
            f"The budget of {state.budget} experiments is spent; `serendip budget NAME N` makes "
            "it larger."
        )
    if state.free < 1:
        return (
            f"The rest of the budget is promised to {len(state.pending)} pending proposals; tell "
            "their results, or take them back with `serendip undo`."
        )
    more = "" if retry_failed or not state.failed else " --retry-failed proposes failed ones again."
    return f"No candidate is left to propose.{more}"
