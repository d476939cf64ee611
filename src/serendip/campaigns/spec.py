"""What a campaign is about: one validated description, the same in Python, TOML and flags.

Whether the pool has the columns, and whether model and policy exist and go together, is found out
when the campaign begins (`beginning.prepared`); nothing heavy is imported here.
"""

import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serendip.campaigns.errors import StoreDamaged
from serendip.campaigns.log.wire import SETTINGS, todays
from serendip.core.errors import InvalidInput
from serendip.core.labels import Labels
from serendip.models.registry import MODELS, Input, ModelEntry, takes, usual_model
from serendip.problems.label_kinds import LabelKind, LabelMap

if TYPE_CHECKING:
    from serendip.problems.framing import Columns

_NAME = re.compile(r"[^\W_][\w .+-]{0,79}", re.UNICODE)


@dataclass(frozen=True, slots=True)
class Settings:
    """All that is decided when a campaign begins."""

    name: str
    pool: Path
    """The table of candidates, one a row."""
    label: str
    """The column that results are written in; the pool need not have it."""
    budget: int
    """Experiments there is money for."""
    id: str | None = None
    """The column that names the candidates; by default they are named by their row."""
    minimize: bool = False
    """Whether smaller labels are better."""
    range: tuple[float, float] | None = None
    """The smallest and the largest label there can be."""
    categories: tuple[str, ...] = ()
    """Labels in words, worst first."""
    binary: bool = False
    """Whether every label is 0 or 1."""
    model: str = ""
    """By default low-rank with rows and columns, graph with edges, logistic with binary labels,
    linear for a pool folder,
    auto otherwise."""
    policy: str = "ids"
    seed: int = 0
    batch: int = 8
    """How many candidates `ask` proposes unless told."""
    prior_data: Path | None = None
    """A table of ids and labels that are known already."""
    smiles: str | None = None
    """The column of molecules, which become fingerprints."""
    rows: tuple[str, ...] = ()
    """Low rank: the columns that name the row of the matrix together."""
    columns: tuple[str, ...] = ()
    """Low rank: likewise for the column of the matrix."""
    rank: int | None = None
    """Low rank: the most that the rank may be."""
    edges: Path | None = None
    features: tuple[str, ...] = ()
    """Columns to use; by default all but the id, the label and those ignored."""
    ignore: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    """Columns of numbers that are names, such as a batch; they become categories."""
    missing: str = "error"
    """What to do about empty cells: error or impute."""
    snapshot: bool = False
    """Whether to keep a copy of the pool beside the store."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise InvalidInput(
                f"A campaign's name is up to 80 letters, digits, blanks and . + - _, and begins "
                f"with a letter or digit; got {self.name!r}."
            )
        for name in ("rows", "columns"):
            if isinstance(getattr(self, name), str):
                object.__setattr__(self, name, (getattr(self, name),))
        if not self.model:
            usual = usual_model(
                self.rows,
                self.columns,
                self.edges,
                binary=self.binary,
                folder=self.pool.is_dir(),
            )
            object.__setattr__(self, "model", usual)
        _check_whole("budget", self.budget, 1)
        _check_whole("batch", self.batch, 1)
        _check_whole("seed", self.seed, 0)
        if self.rank is not None:
            _check_whole("rank", self.rank, 1)
        single = {name: getattr(self, name) for name in ("label", "id", "smiles")}
        several = {"rows": self.rows, "columns": self.columns}
        named = [*single.items(), *((key, one) for key, many in several.items() for one in many)]
        for name, value in named:
            if value is not None and not (isinstance(value, str) and value.strip()):
                raise InvalidInput(f"{name} must name a column; got {value!r}.")
        if self.missing not in ("error", "impute"):
            raise InvalidInput(f"missing must be 'error' or 'impute'; got {self.missing!r}.")
        kind = self.label_kind  # refuses what does not go together
        if self.smiles is not None and takes(self.model) is not Input.features:
            raise InvalidInput(
                f"Molecules need a model of features, such as auto; got {self.model!r}."
            )
        entry = MODELS.get(self.model)
        if entry is not None:
            self._check_range(entry.unit_labels, kind)

    @property
    def label_kind(self) -> LabelKind:
        """What was said of the labels."""
        return LabelKind(self.minimize, self.range, self.categories, self.binary)

    @property
    def labels(self) -> Labels:
        """What may be written as a label."""
        return self.label_kind.labels

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The least and the largest label there can be, where that was said."""
        return self.label_kind.bounds

    @property
    def name_columns(self) -> tuple[str, ...]:
        """Columns of the pool whose cells are names."""
        return (*self.rows, *self.columns, *self.nominal)

    def frame_columns(self, model: str | ModelEntry | None = None) -> "Columns":
        """What the columns of the pool are to the model: the one of the settings, or another."""
        from serendip.problems.framing import Columns

        return Columns(
            model=model or self.model,
            features=self.features or None,
            ignore=self.ignore,
            nominal=self.nominal,
            missing="impute" if self.missing == "impute" else "error",
            rows=self.rows,
            columns=self.columns,
            rank=self.rank,
            edges=self.edges,
        )

    def label_map(self, unit_labels: bool) -> LabelMap:
        """Between the user's labels and the model's, where larger is better.

        Where the range of the labels is known, the model sees it as [0, 1].

        Args:
            unit_labels: Whether the model needs labels in [0, 1].
        """
        kind = self.label_kind
        self._check_range(unit_labels, kind)
        return kind.label_map()

    def _check_range(self, unit_labels: bool, kind: LabelKind) -> None:
        if unit_labels and not kind.declared:
            raise InvalidInput(
                f"The {self.model} model needs to know the range of the labels; "
                "add --range LOW HIGH, --categories or --binary."
            )

    def as_json(self) -> dict[str, Any]:
        """Plain values by the words of `wire.SETTINGS`, as they go into the log."""
        plain: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            plain[SETTINGS[field.name]] = (
                str(value)
                if isinstance(value, Path)
                else list(value)
                if isinstance(value, tuple)
                else value
            )
        return plain

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], beside: Path | None = None) -> "Settings":
        """Settings that somebody gives, as plain values: in a TOML file, flags or a request.

        Args:
            values: By the words of `wire.SETTINGS`; what is None counts as not given.
            beside: The folder that paths are relative to; by default the working folder.
        """
        known = {SETTINGS[field.name]: field for field in fields(cls)}
        given = {name: value for name, value in todays(values).items() if value is not None}
        for name in given:
            if name not in known:
                from serendip.core.naming import known as check

                check(name, known, "setting", "settings")
        for name in ("name", "pool", "label", "budget"):
            if SETTINGS[name] not in given:
                raise InvalidInput(f"A campaign needs a {name}; add it to the settings.")
        made = {
            known[name].name: _typed(name, _kind(known[name].type), value, beside)
            for name, value in given.items()
        }
        return cls(**made)

    @classmethod
    def from_log(cls, stored: Mapping[str, Any]) -> "Settings":
        """Settings as a log has them: what was accepted then is not judged again.

        Args:
            stored: Of `events.Created`.
        """
        made = object.__new__(cls)
        for field in fields(cls):
            value = stored.get(SETTINGS[field.name])
            if value is None and field.default is MISSING:
                raise StoreDamaged(
                    f"The log does not say the {field.name} of the campaign; restore a backup of "
                    "the store."
                )
            kind = _kind(field.type)
            if value is None:
                value = field.default
            elif kind.startswith("Path"):
                value = Path(value)
            elif isinstance(value, list):
                value = tuple(value)
            object.__setattr__(made, field.name, value)
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
    for name in ("pool", "prior_data", "edges"):
        if isinstance(values.get(name), str):
            values[name] = str(file.parent / values[name])
    return values


def _kind(annotation: object) -> str:
    """`Path`, `int`, `tuple[float, float] | None`, … without the modules they come from."""
    plain = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return str(annotation) if "[" in str(annotation) else plain.replace("pathlib.", "")


def _typed(name: str, kind: str, value: Any, beside: Path | None) -> Any:
    """A plain value as its field wants it; lists become tuples, texts paths."""
    if kind.startswith("Path"):
        if not isinstance(value, str | Path) or not str(value).strip() or "\0" in str(value):
            raise InvalidInput(f"{name} must be the path of a file; got {value!r}.")
        return (beside or Path()) / Path(value).expanduser()
    if kind.startswith("tuple[float"):
        try:
            low, high = (float(part) for part in value)
        except (TypeError, ValueError, OverflowError):
            raise InvalidInput(
                f"{name} must be two numbers, low and high; got {value!r}."
            ) from None
        return (low, high)
    if kind.startswith("tuple[str"):
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list | tuple) or not all(isinstance(p, str) for p in parts):
            raise InvalidInput(f"{name} must be a list of words; got {value!r}.")
        return tuple(part.strip() for part in parts)
    if kind == "bool" and not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false; got {value!r}.")
    if kind.startswith("int") and (not isinstance(value, int) or isinstance(value, bool)):
        raise InvalidInput(f"{name} must be a whole number; got {value!r}.")
    if kind.startswith("str") and not isinstance(value, str):
        raise InvalidInput(f"{name} must be text; got {value!r}.")
    return value


def _check_whole(name: str, value: int, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value < 2**63:
        raise InvalidInput(f"{name} must be a whole number from {least} on; got {value!r}.")
