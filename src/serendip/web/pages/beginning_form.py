"""The form of a new campaign: what was filled in, what is wrong, and the settings it means."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from serendip.campaigns.errors import CampaignExists
from serendip.campaigns.intake.misfits import Misfit, misfits
from serendip.campaigns.intake.preview import ColumnGuess, Role, guessed_roles, settings_of
from serendip.campaigns.spec import Settings
from serendip.core.errors import InvalidInput, SerendipError
from serendip.core.labels import Binary, Continuous, Labels, Ordered
from serendip.core.settings import Kind, Setting, described
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.pages.numbers import decimal
from serendip.web.pages.setting_form import (
    first_values,
    form_settings,
    given_settings,
    sent_values,
)
from serendip.web.pages.wording import said
from serendip.web.server.service import Campaigns
from serendip.web.server.tables import Tables

if TYPE_CHECKING:
    import pandas as pd

_FIRST_ROWS = 6
_MOST_ROWS = 24
_OWN = {"label": "", "better": "larger", "kind": "number", "low": "", "high": "", "words": ""}
"""Fields that are drawn in a template, as they are first shown."""


@dataclass(slots=True)
class Beginning:
    """A table that was sent in, and what people said of it so far."""

    file: str
    """As they called it."""
    frame: "pd.DataFrame"
    guesses: tuple[ColumnGuess, ...]
    roles: dict[str, Role]
    values: dict[str, str]
    replayed: bool = False
    """Whether the table is for a backtest, which needs a result in every row."""
    errors: dict[str, str] = field(default_factory=dict)
    """By the name of the field; under "" what belongs to none."""
    misfits: tuple[Misfit, ...] = ()

    @classmethod
    def of(cls, frame: "pd.DataFrame", file: str, replayed: bool = False) -> "Beginning":
        """The form as it is first shown."""
        guesses = guessed_roles(frame)
        roles = {one.name: one.role for one in guesses}
        if replayed:
            roles = {n: Role.ignored if r is Role.smiles else r for n, r in roles.items()}
        values = {**_OWN, "name": _name_of(file), "missing": ""}
        made = cls(file, frame, guesses, roles, values, replayed)
        made.values |= first_values(made.fields)
        if not replayed:
            left = made.n_candidates - made.n_labelled
            made.values["budget"] = str(max(1, min(40, left // 4)))
        return made

    @classmethod
    def filled(
        cls, frame: "pd.DataFrame", file: str, form: Mapping[str, Any], replayed: bool = False
    ) -> "Beginning":
        """The form as it was sent."""
        made = cls.of(frame, file, replayed)
        given = {name: form[name] for name in (*_OWN, "name") if name in form}
        made.values |= {name: one.strip() for name, one in given.items() if isinstance(one, str)}
        made.values |= sent_values(made.fields, form)
        made.values["missing"] = "impute" if form.get("missing") else ""
        for place, name in enumerate(frame.columns):
            try:
                made.roles[str(name)] = Role(str(form.get(f"role-{place}", "")))
            except ValueError:
                continue
        return made

    @property
    def told(self) -> Mapping[str, Setting]:
        """What is told of each setting."""
        return {one.word: one for one in described(self._owner)}

    @property
    def fields(self) -> tuple[Setting, ...]:
        """The settings that have a field of their own."""
        return form_settings(self._owner)

    @property
    def _owner(self) -> type:
        return BacktestSettings if self.replayed else Settings

    @property
    def n_candidates(self) -> int:
        """Rows of the table."""
        return len(self.frame)

    @property
    def label_column(self) -> str | None:
        """The column of the table that holds results, if it has one."""
        return next((name for name, role in self.roles.items() if role is Role.label), None)

    @property
    def n_labelled(self) -> int:
        """Candidates that have a result already."""
        column = self.label_column
        return 0 if column is None else int(self.frame[column].notna().sum())

    @property
    def n_missing(self) -> int:
        """Empty cells in columns that would be used."""
        used = (Role.number, Role.category)
        return sum(one.n_missing for one in self.guesses if self.roles[one.name] in used)

    @property
    def is_matrix(self) -> bool:
        """Whether rows and columns of a matrix were chosen."""
        return Role.row in self.roles.values() or Role.column in self.roles.values()

    @property
    def labels(self) -> Labels:
        """What may be written as a result, as far as was said."""
        try:
            return self._labels()
        except InvalidInput:
            return Continuous(None, None)

    def _labels(self) -> Labels:
        if self.values["kind"] == "binary":
            return Binary()
        if self.values["kind"] == "words":
            return Ordered(self._words())
        ends = self._range()
        return Continuous(*ends) if ends else Continuous(None, None)

    def _words(self) -> tuple[str, ...]:
        return tuple(one.strip() for one in self.values["words"].split(",") if one.strip())

    def _range(self) -> tuple[float, float] | None:
        low, high = self.values["low"], self.values["high"]
        if not low and not high:
            return None
        if not (low and high):
            raise InvalidInput("Give both ends of the range, or neither.")
        try:
            return decimal(low), decimal(high)
        except InvalidInput as problem:
            words = str(problem).replace("A label must be a number", "A range is two numbers")
            raise InvalidInput(words) from None

    def named(self, *roles: Role) -> tuple[str, ...]:
        """The columns that have one of some roles."""
        return tuple(name for name, role in self.roles.items() if role in roles)

    def check_cells(self, frame: "pd.DataFrame") -> None:
        """Finds the cells that do not fit, in the table as read with these names and labels."""
        self.frame = frame
        impute = self.values["missing"] == "impute"
        self.misfits = misfits(self.frame, self.roles, self.labels, impute, self.replayed)

    def of_column(self, name: str) -> list[str]:
        """What is wrong with a column as a whole."""
        return [one.says for one in self.misfits if one.column == name and one.place is None]

    def of_cell(self, name: str, place: int) -> str:
        """What is wrong with a cell."""
        mine = (one for one in self.misfits if one.column == name and one.place == place)
        return next((one.says for one in mine), "")

    @property
    def rows(self) -> list[int]:
        """Places of the rows to show: the first few, and those with something wrong in them."""
        first = range(min(_FIRST_ROWS, len(self.frame)))
        wrong = sorted({one.place for one in self.misfits if one.place is not None})
        return [*first, *(one for one in wrong if one >= _FIRST_ROWS)][:_MOST_ROWS]

    def settings(self, pool: Path, others: Mapping[str, Path]) -> dict[str, Any]:
        """What to begin a campaign with; where something is wrong, `errors` and `misfits` say so.

        Args:
            pool: The table.
            others: `edges` and `prior_data`, where they were sent in.
        """
        found: dict[str, Any] = {"pool": str(pool), "name": self.values["name"]}
        self._put(found, "name", lambda: self._named())
        self._put(found, "", lambda: settings_of(self.roles, self.frame))
        found["label"] = self.label_column or self.values["label"]
        if not found["label"]:
            self.errors["label"] = "Say what is measured, such as yield."
        elif self.label_column is None and found["label"] in self.roles:
            self.errors["label"] = (
                f"The table has a column {found['label']!r}; make Result its role, "
                "or choose another name."
            )
        found |= given_settings(self.fields, self.values, self.errors)
        left = self.n_candidates - self.n_labelled
        if "budget" not in self.errors and found.get("budget", 0) > left:
            self.errors["budget"] = (
                f"There are {left:,} candidates without a result; make it {left:,} or fewer."
            )
        self.put_kind(found)
        found |= {name: str(path) for name, path in others.items()}
        return {name: one for name, one in found.items() if one not in (None, ())}

    def put_kind(self, found: dict[str, Any]) -> None:
        """Adds what was said of the results, and of empty cells."""
        self._put(found, "range", self._kind)
        found["minimize"] = self.values["better"] == "smaller"
        found["missing"] = self.values["missing"] or None

    def _named(self) -> str:
        if not self.values["name"]:
            raise InvalidInput("Give the campaign a name.")
        return self.values["name"]

    def _kind(self) -> dict[str, Any]:
        self._labels()
        kind = self.values["kind"]
        if kind == "binary":
            return {"binary": True}
        if kind == "words":
            return {"categories": list(self._words())}
        return {"range": self._range()}

    def _put(self, found: dict[str, Any], name: str, value: Any) -> None:
        """Adds a setting, or notes beside its field why it cannot be."""
        try:
            made = value()
            found.update(made if isinstance(made, dict) else {name: made})
        except InvalidInput as problem:
            self.errors[name] = said(problem)

    def refused(self, problem: SerendipError) -> None:
        """Notes why the campaign could not begin, beside what caused it where that is known."""
        says = said(problem)
        if isinstance(problem, CampaignExists) or says.startswith("A campaign's name"):
            self.errors["name"] = says
            return
        column = re.match(r"(?:Every value of )?[Cc]olumn '([^']+)'", says)
        if column and column[1] in self.roles:
            self.misfits = (*self.misfits, Misfit(column[1], says))
            return
        self.errors["budget" if says.startswith("The budget") else ""] = says


def _name_of(file: str) -> str:
    """A campaign's name from that of the file."""
    stem = re.sub(r"[^\w .+-]+", " ", Path(file).stem).strip(" ._+-")
    return stem[:60] or "campaign"


async def form_of(
    tables: Tables, upload: str, given: Mapping[str, Any] | None, replayed: bool = False
) -> Beginning:
    """The form of a table that was sent in: as it is first shown, or as it was sent.

    Args:
        tables: That were sent in.
        upload: The id of this one.
        given: What was filled in.
        replayed: Whether it is for a backtest.
    """
    frame, file = await tables.frame(upload), tables.path(upload).name
    if given is None:
        form = await asyncio.to_thread(Beginning.of, frame, file, replayed)
    else:
        form = await asyncio.to_thread(Beginning.filled, frame, file, given, replayed)
    names = form.named(Role.id, Role.row, Role.column)
    cells = await tables.frame(upload, names, form.named(Role.label))
    await asyncio.to_thread(form.check_cells, cells)
    return form


async def tables_sent(
    campaigns: Campaigns, form: Beginning, given: Mapping[str, Any]
) -> dict[str, Path]:
    """Tables besides the pool by their settings: sent in now, or kept from an earlier try."""
    found = {}
    for name in (one.word for one in form.fields if one.kind is Kind.file):
        sent = given.get(f"{name}-file")
        try:
            if sent is not None and not isinstance(sent, str) and sent.filename:
                form.values[name] = await campaigns.keep(sent.filename, sent)
            if form.values[name]:
                found[name] = campaigns.kept(form.values[name])
        except SerendipError as problem:
            form.values[name] = ""
            form.errors[name] = said(problem)
    return found
