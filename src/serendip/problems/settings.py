"""The settings that campaigns and backtests have in common: what is told of a table.

Those of campaigns alone are in `campaigns/spec.py`, those of backtests in
`simulate/backtests/settings.py`. Nothing heavy is imported here: `serendip --help` reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from serendip.core.settings import About, Control, Kind, Section, Where, as_plain, described, typed

if TYPE_CHECKING:
    from serendip.core.registry import Registry
    from serendip.models.registry import ModelEntry
    from serendip.problems.framing import Columns
    from serendip.problems.label_kinds import LabelKind


def _all_models() -> "Registry[Any]":
    from serendip.models.registry import REGISTRY

    return REGISTRY


def all_policies() -> "Registry[Any]":
    """All that choose, by their names."""
    from serendip.policies.registry import REGISTRY

    return REGISTRY


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSettings:
    """What is told of a table, its labels and its model."""

    what: ClassVar[str]
    """What is described, for messages."""

    id: Annotated[
        str | None,
        About(
            "The column that names the candidates.",
            Section.aim,
            "id",
            otherwise="their rows",
            column=True,
            tables=True,
            control=Control.role,
        ),
    ] = None
    minimize: Annotated[
        bool, About("Smaller labels are better.", Section.labels, True, control=Control.own)
    ] = False
    range: Annotated[
        tuple[float, float] | None,
        About(
            "The smallest and the largest label possible.",
            Section.labels,
            [0, 100],
            control=Control.own,
        ),
    ] = None
    categories: Annotated[
        tuple[str, ...],
        About(
            "Labels in words, worst first.",
            Section.labels,
            ["low", "medium", "high"],
            commas=True,
            control=Control.own,
        ),
    ] = ()
    binary: Annotated[
        bool, About("Every label is 0 or 1.", Section.labels, True, control=Control.own)
    ] = False
    features: Annotated[
        tuple[str, ...],
        About(
            "Columns to use.",
            Section.columns,
            ["temperature", "ligand"],
            otherwise="all but the id and the label",
            column=True,
            tables=True,
            where=~Where.page,
        ),
    ] = ()
    ignore: Annotated[
        tuple[str, ...],
        About(
            "Columns to leave out.",
            Section.columns,
            ["comment"],
            column=True,
            tables=True,
            control=Control.role,
        ),
    ] = ()
    nominal: Annotated[
        tuple[str, ...],
        About(
            "Columns of numbers that are names, such as a plate.",
            Section.columns,
            ["plate"],
            more="They become categories.",
            column=True,
            tables=True,
            control=Control.role,
        ),
    ] = ()
    missing: Annotated[
        Literal["error", "impute"],
        About(
            "Empty cells of features: an error, or filled in (impute).",
            Section.columns,
            "impute",
            more="Numbers are filled in by the mean of their column, words by a category of "
            "their own.",
            title="Fill in empty cells",
            tables=True,
            control=Control.own,
        ),
    ] = "error"
    rows: Annotated[
        tuple[str, ...],
        About(
            "Low rank: columns that name the row of a matrix.",
            Section.shapes,
            ["base", "solvent"],
            more="What describes a row or a column is found among the other columns.",
            column=True,
            control=Control.role,
        ),
    ] = ()
    columns: Annotated[
        tuple[str, ...],
        About(
            "Low rank: columns that name the column of a matrix.",
            Section.shapes,
            ["substrate"],
            column=True,
            control=Control.role,
        ),
    ] = ()
    rank: Annotated[
        int | None,
        About(
            "Low rank: the most that the rank may be.",
            Section.shapes,
            4,
            title="Rank of a matrix",
            otherwise="inferred",
            least=1,
            served=100,
        ),
    ] = None
    edges: Annotated[
        Path | None,
        About(
            "Graph: a table with two columns of ids.",
            Section.shapes,
            "edges.csv",
            title="Edges of a graph",
        ),
    ] = None
    model: Annotated[
        str,
        About(
            "The model that predicts labels.",
            Section.rare,
            "auto",
            otherwise="what fits",
            among=_all_models,
        ),
    ] = ""
    """See `models.registry.usual_model` for what fits."""
    seed: Annotated[
        int,
        About(
            "Of all randomness: the same seed and labels give the same choices.",
            Section.rare,
            0,
            least=0,
            served=2**63 - 1,
        ),
    ] = 0

    def __post_init__(self) -> None:
        for one in described(type(self)):
            value = getattr(self, one.name)
            if one.kind is Kind.several and one.about.column and isinstance(value, str):
                value = (value,)
                object.__setattr__(self, one.name, value)
            one.check(value)
        self.label_kind  # noqa: B018  # refuses what does not go together

    @property
    def label_kind(self) -> "LabelKind":
        """What was said of the labels."""
        from serendip.problems.label_kinds import LabelKind

        return LabelKind(self.minimize, self.range, self.categories, self.binary)

    @property
    def name_columns(self) -> tuple[str, ...]:
        """Columns whose cells are names."""
        return (*self.rows, *self.columns, *self.nominal)

    def frame_columns(self, model: "str | ModelEntry | None" = None) -> "Columns":
        """What the columns of the table are to the model: that of the settings, or another."""
        from serendip.problems.framing import Columns

        return Columns(
            model=self.model if model is None else model,
            features=self.features or None,
            ignore=self.ignore,
            nominal=self.nominal,
            missing=self.missing,
            rows=self.rows,
            columns=self.columns,
            rank=self.rank,
            edges=self.edges,
        )

    def as_json(self) -> dict[str, Any]:
        """Plain values by the words of the settings, as they go into logs."""
        return as_plain(self)

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], beside: Path | None = None) -> Self:
        """Settings that somebody gives, as plain values: in a TOML file, options or a request.

        Args:
            values: By the words of the settings; what is None counts as not given.
            beside: The folder that paths are relative to; by default the working folder.
        """
        return cls(**typed(cls, cls.what, values, beside))
