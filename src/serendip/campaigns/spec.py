"""What a campaign is about: one validated description, the same in Python, TOML and options.

Whether the pool has the columns, and whether model and policy exist and go together, is found out
when the campaign begins (`beginning.prepared`); nothing heavy is imported here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from serendip.campaigns.errors import StoreDamaged
from serendip.core.errors import InvalidInput
from serendip.core.settings import About, Control, Kind, Section, Where, described, documented
from serendip.problems.settings import TableSettings, all_policies

if TYPE_CHECKING:
    from serendip.core.labels import Labels
    from serendip.problems.label_kinds import LabelMap

_NAME = r"[^\W_][\w .+-]{0,79}"


@documented
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(TableSettings):
    """All that is decided when a campaign begins."""

    what: ClassVar[str] = "campaign"

    name: Annotated[
        str,
        About(
            "A name for the campaign.",
            Section.aim,
            "first-screen",
            title="Name of the campaign",
            where=~Where.command,  # there it is the argument
            control=Control.own,
        ),
    ]
    pool: Annotated[
        Path,
        About(
            "The table of candidates (CSV, TSV, XLSX or Parquet), one a row; or a pool folder.",
            Section.aim,
            "candidates.csv",
            where=Where.command | Where.file,  # elsewhere the table is sent
        ),
    ]
    label: Annotated[
        str,
        About(
            "The column results are written in; the pool need not have it.",
            Section.aim,
            "yield",
            more="Where it has, labels that are there count as known already and cost nothing.",
            column=True,
            control=Control.role,
        ),
    ]
    budget: Annotated[
        int,
        About(
            "Experiments there is money for.",
            Section.aim,
            40,
            more="Failed ones count, excluded candidates do not.",
            least=1,
            served=1_000_000,
        ),
    ]
    batch: Annotated[
        int,
        About(
            "Candidates that are proposed at once, unless told.",
            Section.aim,
            8,
            least=1,
            served=1_000_000,
        ),
    ] = 8
    prior_data: Annotated[
        Path | None,
        About(
            "A table of ids and labels that are known already.",
            Section.labels,
            "last-year.csv",
            title="Results known already",
        ),
    ] = None
    smiles: Annotated[
        str | None,
        About(
            "The column of molecules, as SMILES.",
            Section.shapes,
            "structure",
            more="They become fingerprints; needs pip install 'serendip[chem]'.",
            column=True,
            tables=True,
            control=Control.role,
        ),
    ] = None
    policy: Annotated[
        str, About("The policy that chooses candidates.", Section.rare, "ids", among=all_policies)
    ] = "ids"
    snapshot: Annotated[
        bool,
        About(
            "Keep a copy of the pool beside the store.",
            Section.rare,
            True,
            tables=True,
            where=Where.command | Where.file,  # a server keeps what is sent
        ),
    ] = False

    def __post_init__(self) -> None:
        from serendip.models.registry import MODELS, Input, takes, usual_model
        from serendip.problems.folders.manifest import read_manifest

        if not isinstance(self.name, str) or not re.fullmatch(_NAME, self.name):
            raise InvalidInput(
                f"A campaign's name is up to 80 letters, digits, blanks and . + - _, and begins "
                f"with a letter or digit; got {self.name!r}."
            )
        if not self.model:
            usual = usual_model(
                self.rows,
                self.columns,
                self.edges,
                binary=self.binary,
                folder=read_manifest(self.pool).on_disk if self.pool.is_dir() else None,
            )
            object.__setattr__(self, "model", usual)
        TableSettings.__post_init__(self)
        if self.smiles is not None and takes(self.model) is not Input.features:
            raise InvalidInput(
                f"Molecules need a model of features, such as auto; got {self.model!r}."
            )
        entry = MODELS.get(self.model)
        if entry is not None:
            self._check_range(entry.unit_labels)

    @property
    def labels(self) -> "Labels":
        """What may be written as a label."""
        return self.label_kind.labels

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the largest label there can be, where that was said."""
        return self.label_kind.bounds

    def label_map(self, unit_labels: bool) -> "LabelMap":
        """Between the user's labels and the model's, where larger is better.

        Where the range of the labels is known, the model sees it as [0, 1].

        Args:
            unit_labels: Whether the model needs labels in [0, 1].
        """
        self._check_range(unit_labels)
        return self.label_kind.label_map()

    def _check_range(self, unit_labels: bool) -> None:
        if unit_labels and not self.label_kind.declared:
            raise InvalidInput(
                f"The {self.model} model needs to know the range of the labels; "
                "add --range LOW HIGH, --categories or --binary."
            )

    @classmethod
    def from_log(cls, stored: Mapping[str, Any]) -> "Settings":
        """Settings as a log has them: what was accepted then is not judged again.

        Args:
            stored: Of `events.Created`.
        """
        made = object.__new__(cls)
        for one in described(cls):
            value = stored.get(one.word)
            if value is None and one.required:
                raise StoreDamaged(
                    f"The log does not say the {one.name} of the campaign; restore a backup of "
                    "the store."
                )
            if value is None:
                value = one.default
            elif one.kind is Kind.file:
                value = Path(value)
            elif isinstance(value, list):
                value = tuple(value)
            object.__setattr__(made, one.name, value)
        return made


def read_toml(file: Path) -> dict[str, Any]:
    """The settings in a TOML file, unchecked but for being TOML; paths are beside the file."""
    import tomllib

    try:
        values = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise InvalidInput(f"{file} could not be read ({problem.strerror}).") from None
    except (ValueError, RecursionError) as problem:
        said = str(problem).splitlines()[0]
        raise InvalidInput(f"{file} is not TOML ({said}); see `serendip init --example`.") from None
    for one in described(Settings):
        if one.kind is Kind.file and isinstance(values.get(one.word), str):
            values[one.word] = str(file.parent / values[one.word])
    return values
