"""How a sentence of the paper is judged: by the contrasts that it says lie on one side of zero."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from serendip.core.arrays import Floats
from serendip.simulate.experiments.pages.contrasts import Claimed, Contrast, Word, joined
from serendip.simulate.experiments.regrets import Regrets
from serendip.simulate.experiments.results import Results


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a claim stands at one setting."""

    setting: str
    figures: str
    word: Word


class Comparison(Protocol):
    """A kind of claim about an experiment."""

    @property
    def says(self) -> str:
        """The claim in the names of our policies."""
        ...

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        """A verdict for each setting."""
        ...


def _gap(
    regrets: Regrets, setting: str, policy: str, rival: str, step: int | None = None
) -> Floats:
    table = regrets.at(setting, step)
    return (table[policy] - table[rival]).to_numpy()


@dataclass(frozen=True, slots=True)
class Below:
    """Regret of one policy is below that of another."""

    policy: str
    rival: str
    throughout: bool = False
    """At every quarter of the steps, and not only after the last."""

    @property
    def says(self) -> str:
        return f"{self.policy} below {self.rival}" + (", at every quarter" * self.throughout)

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        for setting in regrets.settings:
            steps = regrets.steps(setting) if self.throughout else regrets.steps(setting)[-1:]
            parts = {
                step: Contrast(_gap(regrets, setting, self.policy, self.rival, step), "below")
                for step in steps
            }
            word = joined([part.word for part in parts.values()])
            shown = str(parts[steps[-1]])
            if parts[steps[-1]].word != word:
                worst = next(step for step in steps if parts[step].word == word)
                shown += f"; after {worst} labels {parts[worst]}"
            yield Verdict(setting, shown, word)


@dataclass(frozen=True, slots=True)
class Level:
    """Two policies have the same regret."""

    policy: str
    rival: str

    @property
    def says(self) -> str:
        return f"{self.policy} level with {self.rival}"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        for setting in regrets.settings:
            part = Contrast(_gap(regrets, setting, self.policy, self.rival), "zero")
            yield Verdict(setting, str(part), part.word)


@dataclass(frozen=True, slots=True)
class SlightlyBelow:
    """Regret of one policy is below that of another, but by no more than a share of it."""

    policy: str
    rival: str
    share: float = 0.2

    @property
    def says(self) -> str:
        return f"{self.policy} below {self.rival}, by at most {self.share:.0%}"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        for setting in regrets.settings:
            table = regrets.at(setting)
            mine, other = table[self.policy].to_numpy(), table[self.rival].to_numpy()
            parts = [
                Contrast(mine - other, "below"),
                Contrast(mine - (1 - self.share) * other, "above"),
            ]
            shown = f"{mine.mean():.1f} against {other.mean():.1f}"
            yield Verdict(setting, shown, joined([part.word for part in parts]))


@dataclass(frozen=True, slots=True)
class GrowsLinearly:
    """Regret lies on a rising line over three settings that are numbers."""

    policy: str

    @property
    def says(self) -> str:
        return f"{self.policy} grows linearly"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        if len(regrets.settings) < 3:
            return
        first, middle, last = sorted(regrets.settings, key=float)
        values = [regrets.at(one)[self.policy].to_numpy() for one in (first, middle, last)]
        early = (values[1] - values[0]) / (float(middle) - float(first))
        late = (values[2] - values[1]) / (float(last) - float(middle))
        parts = [Contrast(late - early, "zero"), Contrast(values[2] - values[0], "above")]
        shown = f"slope {early.mean():.2f}, then {late.mean():.2f}"
        yield Verdict(f"{first} to {last}", shown, joined([part.word for part in parts]))


@dataclass(frozen=True, slots=True)
class Rises:
    """Regret rises from each setting, a number, to the next."""

    policy: str

    @property
    def says(self) -> str:
        return f"{self.policy} rises with it"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        ordered = sorted(regrets.settings, key=float)
        for before, after in pairwise(ordered):
            mine = regrets.at(after)[self.policy] - regrets.at(before)[self.policy]
            part = Contrast(mine.to_numpy(), "above")
            yield Verdict(f"{before} to {after}", str(part), part.word)


@dataclass(frozen=True, slots=True)
class GrowsAs:
    """Regret grows as a power of the number of labels, from half of them to the last."""

    policy: str
    power: float
    at_most: bool = False
    """Whether it may grow more slowly, or fall."""

    @property
    def says(self) -> str:
        how = "at most " * self.at_most
        return f"{self.policy} grows {how}as t to the {self.power:g}"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        for setting in regrets.settings:
            steps = regrets.steps(setting)
            half = regrets.at(setting, steps[len(steps) // 2 - 1])[self.policy]
            whole = regrets.at(setting)[self.policy]
            claimed: Claimed = "below" if self.at_most else "zero"
            part = Contrast((whole - 2**self.power * half).to_numpy(), claimed)
            shown = f"{half.mean():.1f}, then {whole.mean():.1f}"
            yield Verdict(setting, shown, part.word)


@dataclass(frozen=True, slots=True)
class FartherBelow:
    """One policy is farther below another than it is in another experiment, at each setting."""

    policy: str
    rival: str
    than: str
    """The other experiment."""
    in_share: bool
    """Whether the gap is measured as a share of the rival's regret."""

    @property
    def says(self) -> str:
        unit = "as a share" if self.in_share else "in regret"
        return f"{self.policy} farther below {self.rival} than in {self.than}, {unit}"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        other = regrets.of_experiment(self.than)
        for setting in (one for one in regrets.settings if one in other.settings):
            gaps = []
            for one in (regrets, other):
                gap = _gap(one, setting, self.policy, self.rival)
                scale = one.at(setting)[self.rival].mean() if self.in_share else 1.0
                gaps.append(gap / scale)
            common = min(len(gap) for gap in gaps)
            part = Contrast(gaps[0][:common] - gaps[1][:common], "below")
            unit = "{:+.2f}" if self.in_share else "{:+.1f}"
            shown = " against ".join(unit.format(gap.mean()) for gap in gaps)
            yield Verdict(setting, shown, part.word)


@dataclass(frozen=True, slots=True)
class BestInEvery:
    """In every pool one of the named policies has the lowest mean.

    Each pool's interval is so wide that all hold together at 95 %.
    """

    best: Mapping[str, tuple[str, ...]] | tuple[str, ...]
    """In which pool which; or which in all."""
    among: tuple[str, ...]

    @property
    def says(self) -> str:
        best = "the marked one" if isinstance(self.best, Mapping) else " or ".join(self.best)
        return f"{best} lowest in every pool"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        for setting in regrets.settings:
            pools = regrets.pools(setting)
            wins, words = 0, list[Word]()
            for pool, table in pools.items():
                named = self.best[pool] if isinstance(self.best, Mapping) else self.best
                mine, rival = (
                    min(policies, key=lambda one, table=table: float(table[one].mean()))
                    for policies in (named, [one for one in self.among if one not in named])
                )
                gap = (table[mine] - table[rival]).to_numpy()
                wins += bool(gap.mean() < 0)
                words.append(Contrast(gap, "below", 1 - 0.05 / len(pools)).word)
            yield Verdict(setting, f"lowest mean in {wins} of {len(pools)}", joined(words))


@dataclass(frozen=True, slots=True)
class MoreBy:
    """The sum of labels is larger by an amount: regret is smaller by it."""

    policy: str
    rival: str
    amount: float

    @property
    def says(self) -> str:
        return f"{self.policy} {self.amount:g} more than {self.rival}"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        for setting in regrets.settings:
            gap = _gap(regrets, setting, self.policy, self.rival)
            shown = Contrast(-gap, "zero")
            yield Verdict(setting, str(shown), Contrast(gap + self.amount, "zero").word)


@dataclass(frozen=True, slots=True)
class MoreByShare:
    """The sum of labels is larger by a share, give or take `within`."""

    policy: str
    rival: str
    share: float
    within: float = 0.05

    @property
    def says(self) -> str:
        return f"{self.policy} {self.share:.0%} (± {self.within:.0%}) more than {self.rival}"

    def judge(self, regrets: Regrets) -> Iterator[Verdict]:
        for setting in regrets.settings:
            table = regrets.at(setting)
            mine, other = (
                (table["best"] - table[one]).to_numpy() for one in (self.policy, self.rival)
            )
            parts = [
                Contrast(mine - (1 + self.share - self.within) * other, "above"),
                Contrast(mine - (1 + self.share + self.within) * other, "below"),
            ]
            shown = f"{mine.mean() / other.mean() - 1:+.0%}"
            yield Verdict(setting, shown, joined([part.word for part in parts]))


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence of the paper says of one experiment."""

    sentence: str
    """In the paper's words, shortened."""
    place: str
    """Section, figure or table."""
    experiment: str
    comparison: Comparison
    settings: tuple[str, ...] | None = None
    """Where the sentence says so; None for all settings of the experiment."""

    def judge(self, results: Results) -> list[Verdict]:
        """A verdict for each setting; none where the experiment was not run."""
        regrets = Regrets(results, self.experiment, self.settings)
        return list(self.comparison.judge(regrets)) if regrets.settings else []
