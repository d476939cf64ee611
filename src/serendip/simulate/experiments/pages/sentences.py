"""Every sentence of the paper that compares policies, as claims that can be judged.

A sentence is judged at every setting it is made for: where it names none, at all; where it names no
UCB, against that with theory's width and that with a width of one standard deviation. IDS is the
paper's SampleVIDS, TS Thompson sampling. The noise of the linear figure is not printed, and both
readings are taken.
"""

from collections.abc import Iterator, Mapping

from serendip.simulate.experiments.pages.claims import (
    Below,
    BestInEvery,
    Claim,
    Comparison,
    FartherBelow,
    GrowsAs,
    GrowsLinearly,
    Level,
    MoreBy,
    MoreByShare,
    Rises,
    SlightlyBelow,
)
from serendip.simulate.experiments.printed import POLICIES, TABLE

IDS, TS, RANDOM = "vids", "thompson", "random"

_LINEAR = ("linear", "linear-printed")
_GRAPHS = ("graph-random", "graph-complete", "graph-star")
_FIGURE = (*_LINEAR, "logistic", *_GRAPHS, "low-rank")
_UCB: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(_LINEAR, ("oful", "ucb")),
    "logistic": ("glm-ucb",),
}
"""The UCB of the paper where it has one; in the linear model it does not say which."""

_REAL: tuple[tuple[str, str, str], ...] = (
    ("pndc", "table", "pndc"),
    ("pndc", "pndc", "as the authors"),
    ("cncci", "table", "cncci"),
    ("cncci", "cncci", "as the authors"),
)
"""(data, experiment, setting): with the printed UCB, and with one that knows the scales."""


def _say(sentence: str, place: str, *said: tuple[str, Comparison]) -> Iterator[Claim]:
    return (Claim(sentence, place, name, comparison) for name, comparison in said)


def _of_data(sentence: str, place: str, said: Mapping[str, tuple[Comparison, ...]]) -> list[Claim]:
    """Claims about real data, by data set."""
    return [
        Claim(sentence, place, experiment, comparison, (setting,))
        for data, experiment, setting in _REAL
        for comparison in said.get(data, ())
    ]


def _of_ens(sentence: str, *said: tuple[Comparison, tuple[str, ...] | None]) -> Iterator[Claim]:
    return (
        Claim(sentence, "App. ENS", "ens", comparison, settings) for comparison, settings in said
    )


def _marked(data: str) -> BestInEvery:
    """What the table marks in red: in each of its columns the lowest printed mean."""
    best = {pool: (min(POLICIES, key=column.mean),) for pool, column in TABLE[data].items()}
    return BestInEvery(best, POLICIES)


def _both(*comparisons: Comparison) -> Mapping[str, tuple[Comparison, ...]]:
    return dict.fromkeys(TABLE, comparisons)


CLAIMS: tuple[Claim, ...] = (
    *_say(
        "IDS has been shown to outperform UCB in problem with rich structural information, "
        "e.g. sparse linear bandit",
        "§1",
        ("sparse", Below(IDS, "ucb")),
    ),
    *_of_data(
        "can discover about 20% more plausible reaction conditions than random policies and "
        "other simple baseline policies",
        "§1",
        _both(*(MoreByShare(IDS, rival, 0.2) for rival in (RANDOM, "ucb", TS))),
    ),
    *_say(
        "we expect TS and IDS perform the same [in complete graphs]",
        "§5.2, graph model",
        ("graph-complete", Level(IDS, TS)),
    ),
    *_say(
        "We expect IDS outperforms TS more significantly in star graphs than it does in random "
        "graphs",
        "§5.2, graph model",
        ("graph-star", FartherBelow(IDS, TS, "graph-random", in_share=False)),
        ("graph-star", FartherBelow(IDS, TS, "graph-random", in_share=True)),
    ),
    *_say(
        "IDS has lower cumulative regrets over all the steps in linear model, logistic model, "
        "graph random and graph star model",
        "§5.2, results",
        *(
            (name, Below(IDS, rival, throughout=True))
            for name in (*_LINEAR, "logistic", "graph-random", "graph-star")
            for rival in (TS, *_UCB.get(name, ()), RANDOM)
        ),
    ),
    *_say(
        "TS and IDS always outperform random policy and UCB (if available)",
        "§5.2, results",
        *(
            (name, Below(policy, rival))
            for name in _FIGURE
            for policy in (TS, IDS)
            for rival in (RANDOM, *_UCB.get(name, ()))
        ),
    ),
    *_say(
        "IDS and TS performs almost the same for complete graph",
        "§5.2, results",
        ("graph-complete", Level(IDS, TS)),
    ),
    *_say(
        "IDS has slightly lower regrets than TS in random graph",
        "§5.2, results",
        ("graph-random", SlightlyBelow(IDS, TS)),
    ),
    *_say(
        "It has significantly lower regrets than TS and random [in star graphs]",
        "§5.2, results",
        *(("graph-star", Below(IDS, rival)) for rival in (TS, RANDOM)),
    ),
    *_say(
        "the cumulative regrets at step 100 grows linearly with d",
        "§5.2, results; Fig. 1 b, d",
        *(
            (name, GrowsLinearly(policy))
            for name in (*_LINEAR, "logistic")
            for policy in (IDS, TS, *_UCB[name], RANDOM)
        ),
    ),
    *_say(
        "A higher noise also leads to a higher regret",
        "§5.2, results; Fig. 1 f, h, j, l",
        *((name, Rises(policy)) for name in (*_GRAPHS, "low-rank") for policy in (IDS, TS)),
    ),
    *_say(
        "IDS performs better in different levels of d for linear models and different levels of σ "
        "for graph random, graph star, matrix",
        "§5.2, results",
        *(
            (name, Below(IDS, rival))
            for name in (*_LINEAR, "logistic", "graph-random", "graph-star", "low-rank")
            for rival in (TS, *_UCB.get(name, ()), RANDOM)
        ),
    ),
    *_of_data(
        "IDS showed a dominant performance in all 11 molecules",
        "§5.3, results",
        {"pndc": (BestInEvery((IDS,), POLICIES),)},
    ),
    *_of_data(
        "with an average of 1.58 more discoveries than random policy",
        "§5.3, results",
        {"pndc": (MoreBy(IDS, RANDOM, 1.58),)},
    ),
    *_of_data(
        "Either IDS or TS performs the best in the 9 combinations of catalyst and base",
        "§5.3, results",
        {"cncci": (BestInEvery((IDS, TS), POLICIES),)},
    ),
    *_of_data(
        "IDS discovers 14.1 more plausible reaction conditions on average than random",
        "§5.3, results",
        {"cncci": (MoreBy(IDS, RANDOM, 14.1),)},
    ),
    *_of_data(
        "Summary of cumulative regrets [by the means of its rows IDS < TS < UCB < Random]",
        "Table 1",
        _both(Below(IDS, TS), Below(IDS, "ucb"), Below(TS, "ucb"), Below("ucb", RANDOM)),
    ),
    *_of_data(
        "Best algorithm for each column is marked in red",
        "Table 1, caption",
        {data: (_marked(data),) for data in TABLE},
    ),
    *_of_ens(
        "ENS performs worse than IDS when noise level of the problem is low",
        (Below(IDS, "ens"), ("0.1", "1.0")),
    ),
    *_of_ens(
        "ENS performs worse in the low-noise models while outperform IDS in higher noise settings",
        (Below(IDS, "ens"), ("0.1", "1.0")),
        (Below("ens", IDS), ("5.0", "10.0")),
    ),
    *_of_ens(
        "this will lead to linear regret instead of √T regret that can be achieved by IDS",
        (GrowsAs("ens", 1.0), None),
        (GrowsAs(IDS, 0.5, at_most=True), None),
    ),
)
