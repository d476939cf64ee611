"""What the paper says comes out, as comparisons that can be judged by paired differences."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import stats

from serendip.experiments.experiment import final_regrets

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True)
class Claim:
    """Regret of one policy below that of another, or level with it."""

    experiment: str
    policy: str
    relation: Literal["below", "level with"]
    rival: str
    settings: tuple[str, ...] | None = None
    """Where it is claimed; None for every setting."""


CLAIMS = (
    *(
        Claim(name, "vids", "below", "thompson")
        for name in ("linear", "linear-printed", "logistic")
    ),
    Claim("linear", "thompson", "below", "oful"),
    Claim("linear-printed", "thompson", "below", "oful"),
    Claim("logistic", "thompson", "below", "glm-ucb"),
    *(Claim(f"graph-{kind}", "vids", "below", "thompson") for kind in ("random", "star")),
    Claim("graph-complete", "vids", "level with", "thompson", ("0.1", "1.0")),
    Claim("low-rank", "vids", "below", "thompson"),
    Claim("ens", "vids", "below", "ens", ("0.1",)),
    Claim("ens", "ens", "below", "vids", ("10.0",)),
    Claim("cncci", "vids", "below", "thompson", ("as the authors",)),
    Claim("pndc", "vids", "below", "thompson", ("as the authors",)),
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a claim stands at one setting."""

    claim: Claim
    setting: str
    difference: float
    """Mean regret(policy) − regret(rival), paired by seed."""
    low: float
    high: float
    """95 % interval."""
    scale: float
    """Mean regret of random choice, which sets the scale of the paper's figures."""

    @property
    def words(self) -> str:
        """Holds, fails, or cannot be told apart."""
        if self.claim.relation == "level with":
            if self.low <= 0 <= self.high:
                return "holds"
            # A gap the eye cannot see in the paper's figure, though the seeds can.
            small = abs(self.difference) < 0.02 * self.scale
            return "holds at the figure's scale" if small else "fails"
        if self.high < 0:
            return "holds"
        return "fails" if self.low > 0 else "cannot be told apart"


def judged(name: str, steps: "DataFrame") -> list[Verdict]:
    """Every claim about an experiment, at every setting it is made for."""
    final = final_regrets(steps)
    found = []
    for claim in (claim for claim in CLAIMS if claim.experiment == name):
        for setting in dict.fromkeys(final["setting"]):
            if claim.settings is not None and setting not in claim.settings:
                continue
            here = final[final["setting"] == setting]
            wide = here.pivot(index="seed", columns="policy", values="regret")
            gap = (wide[claim.policy] - wide[claim.rival]).to_numpy()
            width = float(stats.t.ppf(0.975, len(gap) - 1)) * gap.std(ddof=1) / np.sqrt(len(gap))
            mean = float(gap.mean())
            scale = float(wide["random"].mean())
            found.append(Verdict(claim, setting, mean, mean - width, mean + width, scale))
    return found
