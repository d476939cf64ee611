"""Kinds of values in requests, and the request that all others are made from."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

_PLAIN = r"^[^\x00-\x1f\x7f]+$"

Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f\x7f/]+$"),
    Field(description="The name of a campaign."),
]
Column = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_PLAIN)]
Columns = Column | Annotated[list[Column], Field(min_length=1, max_length=5000)]
"""One column, or several that name something together."""
Item = Annotated[
    str,
    StringConstraints(min_length=1, max_length=500, pattern=_PLAIN),
    Field(description="A candidate, by its id."),
]
TableId = Annotated[
    str,
    StringConstraints(pattern=r"^[0-9a-f]{32}$"),
    Field(description="A table that was sent in with POST /tables."),
]
Who = Annotated[
    str | None,
    StringConstraints(min_length=1, max_length=80, pattern=_PLAIN),
    Field(default=None, description="Who does it, for the log; by default who runs the server."),
]
Whole = Annotated[int, Field(ge=1, le=1_000_000)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Cell = str | bool | int | Finite | None
Word = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_PLAIN)]


class Body(BaseModel):
    """A request: what it does not know it refuses, and texts are no numbers or truth values."""

    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=False)

    @field_validator("*", mode="before")
    @classmethod
    def _whole(cls, value: object) -> object:
        """8.0 is as whole a number as 8."""
        return int(value) if isinstance(value, float) and value.is_integer() else value
