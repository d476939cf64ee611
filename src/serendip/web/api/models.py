"""What goes over the wire, as the OpenAPI document describes it."""

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from serendip.campaigns.spec import Settings
from serendip.simulate.backtests.settings import BacktestSettings
from serendip.web.api.kinds import (
    Body,
    Cell,
    Column,
    Columns,
    Finite,
    Item,
    Name,
    TableId,
    Who,
    Whole,
    Word,
)
from serendip.web.api.setting_fields import with_settings

MOST_ROWS = 20_000
"""Rows of a table that may come as JSON; larger ones are sent in as files."""


def _one_label(value: Any, check: ValidatorFunctionWrapHandler) -> Any:
    """One sentence for whatever is wrong with a label, in place of one for each kind it is not."""
    try:
        return check(value)
    except ValidationError:
        raise PydanticCustomError(
            "label",
            "a label is a finite number, a text of 1 to 200 letters or, where labels are binary, "
            "true or false; leave out what has no result yet",
        ) from None


Label = Annotated[bool | Finite | Word, WrapValidator(_one_label)]


RENAMED = {"rows": "rows_column", "columns": "columns_column"}
"""Settings of a campaign whose words mean something else in a request."""


@with_settings(
    Settings,
    names=RENAMED,
    types={"name": Name, "rows": Columns, "columns": Columns},
)
class NewCampaign(Body):
    """A campaign to begin: its candidates as `rows` or as a `table` sent in before."""

    table: TableId | None = None
    rows: list[dict[Column, Cell]] | None = Field(
        default=None,
        min_length=1,
        max_length=MOST_ROWS,
        description="One candidate a row, by the names of the columns.",
    )
    who: Who


class Status(BaseModel):
    """A campaign in figures."""

    name: str
    label: str
    version: int = Field(description="How many events its log has.")
    candidates: int
    budget: int
    measured: int
    failed: int = Field(description="Experiments that failed; they are paid for.")
    pending: int
    excluded: int
    known: int = Field(description="Labels from before the campaign.")
    remaining: int = Field(description="Experiments of the budget that are not paid for yet.")
    total: float | None = Field(description="Sum of the labels bought.")
    best_item: str | None
    best: float | None
    last: str = Field(description="The last event in words.")


class CampaignDetail(Status):
    """A campaign in figures, and what was decided when it began."""

    settings: dict[str, Any]


class CampaignList(BaseModel):
    """Some of the campaigns, by name."""

    total: int
    offset: int
    campaigns: list[Status]


class AskBody(Body):
    """How many candidates, and whether failed ones may come again."""

    count: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None, description="By default the batch of the campaign."
    )
    retry_failed: bool = False
    who: Who


class Proposals(BaseModel):
    """What to measure next; recorded, and pending until a result is told."""

    version: int
    id_column: str = Field(description="Which of the columns of a proposal is its id.")
    label: str = Field(description="The column for the result.")
    proposals: list[dict[str, Any]] = Field(
        description="The columns of the table, what is expected, and why."
    )


class TellBody(Body):
    """Results by candidate: a label, `failed` or `excluded`."""

    results: dict[Item, Label] = Field(
        min_length=1,
        max_length=10_000,
        description="All are recorded, or none. Labels are numbers or, as text, what a cell of a "
        "table may hold; true and false only where labels are binary.",
    )
    correct: bool = Field(default=False, description="Labels told before are replaced.")
    key: str | None = Field(
        default=None,
        pattern=r"^[\x21-\x7e]{1,200}$",
        description="The same as the header Idempotency-Key.",
    )
    who: Who


class TellAnswer(BaseModel):
    """What was recorded."""

    version: int
    measured: int
    failed: int
    excluded: int
    corrected: int
    repeats: list[str] = Field(description="Told before with the same value; nothing was done.")
    unproposed: list[str] = Field(description="Not proposed by the campaign; recorded.")


class ItemBody(Body):
    """One candidate."""

    item: Item
    who: Who


class UndoBody(Body):
    """What to take back; by default the last command."""

    item: Item | None = Field(default=None, description="The last that happened to it.")
    event: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    who: Who


class UndoAnswer(BaseModel):
    """What was taken back, in words."""

    version: int
    undone: list[str]


class BudgetBody(Body):
    """How many experiments there is money for, in all."""

    budget: Whole
    who: Who


class Path(BaseModel):
    """The total after each label from now on; the first entry is now."""

    expected: list[float]
    low: list[float]
    high: list[float]


class ForecastAnswer(BaseModel):
    """What the budget will bring."""

    expected_total: float
    low: float
    high: float
    level: float = Field(description="The chance that the total lies between low and high.")
    total_so_far: float
    value_of_ten_more: float
    random_total: float = Field(description="The same total, by random choice from now on.")
    random_so_far: float = Field(description="What as many results picked at random would sum to.")
    next_each: float = Field(description="Expected of each of the next ten experiments.")
    random_each: float = Field(description="Expected of a candidate picked at random.")
    stop_advice: str
    path: Path


class Page(BaseModel):
    """Some rows of a table."""

    total: int
    offset: int
    columns: list[str]
    rows: list[dict[str, Any]]


class Event(BaseModel):
    """Something that happened to a campaign."""

    event: int
    at: str
    who: str
    kind: str
    item: str
    value: float | None
    what: str = Field(description="In words.")
    counts: bool = Field(description="False where it was taken back.")


class EventList(BaseModel):
    """Some of the log, oldest first."""

    version: int = Field(description="How many events the log has.")
    events: list[Event]


class TableAnswer(BaseModel):
    """A table that was sent in."""

    table: TableId
    name: str
    rows: int
    columns: list[str]


@with_settings(
    BacktestSettings, types={"rows": Columns, "columns": Columns}, optional=frozenset({"label"})
)
class NewBacktest(Body):
    """A backtest of a table that is labelled, or of a campaign's own labels."""

    table: TableId | None = None
    campaign: Name | None = None


class BacktestAnswer(BaseModel):
    """A backtest as it stands."""

    id: str
    title: str
    began: str
    state: str = Field(description="waiting, running, done, failed or cancelled.")
    done: int
    total: int
    detail: str = Field(description="Why it failed.")


class BacktestList(BaseModel):
    """The backtests this server remembers, newest first."""

    backtests: list[BacktestAnswer]


class BacktestResult(BaseModel):
    """What came out of a backtest, as `serendip backtest --format json` prints it."""

    model_config = ConfigDict(extra="allow")

    title: str
    label: str
    n: int
    budget: int
    model: str
    repeats: int
    seed: int
    baseline: str
    hit: float
    policies: dict[str, dict[str, float | None]]
    differences: dict[str, dict[str, float | None]]
    notes: list[str]
    curves: dict[str, Any]
