"""What a backtest is told: the settings of tables, and how the labels are bought again."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from serendip.core.settings import About, Control, Section, documented
from serendip.problems.settings import TableSettings, all_policies

if TYPE_CHECKING:
    from serendip.problems.framing import Columns


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestSettings(TableSettings):
    """All that is decided before a backtest, but for where it runs."""

    what: ClassVar[str] = "backtest"

    label: Annotated[
        str,
        About("The column of the labels.", Section.aim, "yield", column=True, control=Control.role),
    ]
    budget: Annotated[
        int | None,
        About(
            "Labels to buy.",
            Section.aim,
            40,
            otherwise="a fifth of the table, at most 200",
            least=1,
            served=1_000_000,
        ),
    ] = None
    policies: Annotated[
        tuple[str, ...],
        About(
            "Policies to run.",
            Section.aim,
            ["ids"],
            otherwise="all that fit the model",
            option="--policy",
            among=all_policies,
            control=Control.own,
        ),
    ] = ()
    batch: Annotated[
        int, About("Labels bought at once.", Section.aim, 8, least=1, served=1_000_000)
    ] = 1
    repeats: Annotated[int, About("Runs of each policy.", Section.aim, 10, least=1, served=200)] = (
        10
    )
    hit: Annotated[
        float | None,
        About(
            "Labels at least this good are hits.",
            Section.rare,
            80,
            title="What is a hit",
            otherwise="the best tenth",
        ),
    ] = None
    start: Annotated[
        int,
        About(
            "Labels picked at random first, the same for all policies.",
            Section.rare,
            8,
            title="Random start",
            least=0,
            served=1_000_000,
        ),
    ] = 0

    def arguments(self, columns: "Columns | None" = None) -> dict[str, Any]:
        """What `backtest` is told after the table and the column of the labels.

        Args:
            columns: What the columns of the table are, and the model; by default what the settings
                say.
        """
        own = columns is None
        return {
            "budget": self.budget,
            "policies": self.policies or None,
            "model": (self.model or None) if own else None,
            "columns": self.frame_columns("") if own else columns,
            "id": self.id,
            "batch": self.batch,
            "repeats": self.repeats,
            "seed": self.seed,
            "minimize": self.minimize,
            "range": self.range,
            "categories": self.categories,
            "binary": self.binary,
            "hit": self.hit,
            "start": self.start,
        }
