"""The claims of the paper with their verdicts, as Markdown."""

from collections import Counter
from collections.abc import Sequence

from serendip.simulate.experiments.catalogue import EXPERIMENTS
from serendip.simulate.experiments.pages.claims import Claim, Verdict
from serendip.simulate.experiments.pages.contrasts import WORDS
from serendip.simulate.experiments.pages.sentences import CLAIMS
from serendip.simulate.experiments.results import Results

_EXPLAINED = """A claim *holds* where the 95 % interval of the paired difference lies on the paper's
side of zero, *fails* where it lies on the other, and *cannot be told* where it holds zero. What is
said to be equal (two policies, two slopes, an amount) holds where it holds zero. No claim is
restricted but by its own words. “Slightly” is read as at most a fifth, “about 20 %” as 15 to 25 %,
“grows linearly” as equal slopes between the first two settings and the last two, “over all the
steps” as after each quarter of them; random choice is left out where regret is to rise with noise,
on which it cannot depend. What is best in all pools must be so in every one, with
intervals wide enough to hold together; nothing else is corrected for the number of claims.

IDS is `vids`, the paper's SampleVIDS. Claims about real data are judged twice: as the table was
made (`table`: the noise that fits the printed IDS, and a UCB with scales of its own), and with a
UCB that is told the same scales as the others (`pndc`, `cncci`).

Two kinds of sentence are not judged: those that compare bounds (§4.1, on sparse linear bandits) and
those that name no figure (“the benefits of IDS”, “may be highly useful”, “tends to over explore”).
"""


def claims_section(results: Results) -> str:
    """The count, a row for each sentence, and every comparison at every setting."""
    judged = [(claim, claim.judge(results)) for claim in CLAIMS]
    verdicts = [verdict for _, found in judged for verdict in found]
    lines = [
        "## The claims at a glance",
        "",
        f"Of {len(verdicts)} comparisons that the paper's sentences make, {_counted(verdicts)}.",
        "",
        _EXPLAINED,
        "| the paper says | where | holds | fails | cannot be told |",
        "|---|---|---:|---:|---:|",
    ]
    groups: dict[tuple[str, str], list[tuple[Claim, list[Verdict]]]] = {}
    for claim, found in judged:
        groups.setdefault((claim.sentence, claim.place), []).append((claim, found))
    for (sentence, place), members in groups.items():
        counts = Counter(verdict.word for _, found in members for verdict in found)
        shown = " | ".join(str(counts[word]) for word in WORDS)
        lines.append(f"| “{sentence}” | {place} | {shown} |")
    lines += ["", "## The claims, comparison by comparison", ""]
    for (sentence, place), members in groups.items():
        lines += [f"“{sentence}” ({place}):", "", "| experiment | comparison | verdicts |"]
        lines.append("|---|---|---|")
        for claim, found in members:
            shown = "; ".join(
                f"{_setting(claim, one)} {one.figures} **{one.word}**" for one in found
            )
            lines.append(f"| {claim.experiment} | {claim.comparison.says} | {shown or 'not run'} |")
        lines.append("")
    return "\n".join(lines)


def _counted(verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.word for verdict in verdicts)
    held, failed, untold = (counts[word] for word in WORDS)
    return f"{held} hold, {failed} fail and {untold} cannot be told"


def _setting(claim: Claim, verdict: Verdict) -> str:
    experiment = EXPERIMENTS.get(claim.experiment)
    if experiment is None or experiment.pooled:
        return f"{verdict.setting}:"
    return f"{experiment.parameter} = {verdict.setting}:"
