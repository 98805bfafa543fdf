"""Questions as programs: what is looked for in the event log, as data that can be written out.

A program is answered as of a moment: after so many turns, on the day of the last of them. It names
entities by their ids and values as the log writes them; no word of the question is in it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Condition(_Frozen):
    """An attribute that has this value now."""

    attribute: str
    value: str


class Named(_Frozen):
    """An entity by its id."""

    op: Literal["named"] = "named"
    entity: str


class Referred(_Frozen):
    """The entity that another one's attribute points to now."""

    op: Literal["referred"] = "referred"
    of: Subject
    attribute: str


class Having(_Frozen):
    """The only entity of a kind that meets all conditions."""

    op: Literal["having"] = "having"
    kind: str
    conditions: tuple[Condition, ...] = Field(min_length=1)


class Sharing(_Frozen):
    """The only entity of a kind whose attribute is now the same as another value."""

    op: Literal["sharing"] = "sharing"
    kind: str
    attribute: str
    same_as: Value


Subject = Annotated[Named | Referred | Having | Sharing, Field(discriminator="op")]


class Value(_Frozen):
    """An attribute's value: now, on a day, at first, or before the last change."""

    op: Literal["value"] = "value"
    of: Subject
    attribute: str
    which: Literal["now", "on", "first", "before"] = "now"
    day: str = ""


class Identity(_Frozen):
    """Which entity it is."""

    op: Literal["identity"] = "identity"
    of: Subject


class Changes(_Frozen):
    """How many times an attribute changed after it was first told."""

    op: Literal["changes"] = "changes"
    of: Subject
    attribute: str


class History(_Frozen):
    """All values that an attribute had, the first one first."""

    op: Literal["history"] = "history"
    of: Subject
    attribute: str


class Since(_Frozen):
    """The day from which an attribute had a value."""

    op: Literal["since"] = "since"
    of: Subject
    attribute: str
    value: str


class Claimant(_Frozen):
    """The source that claims a value."""

    op: Literal["claimant"] = "claimant"
    entity: str
    attribute: str
    value: str


class Claim(_Frozen):
    """The value that a source claims."""

    op: Literal["claim"] = "claim"
    entity: str
    attribute: str
    source: str


class Claims(_Frozen):
    """Who claims what."""

    op: Literal["claims"] = "claims"
    entity: str
    attribute: str


class Count(_Frozen):
    """How many entities of a kind meet all conditions."""

    op: Literal["count"] = "count"
    kind: str
    conditions: tuple[Condition, ...] = Field(min_length=1)


class Which(_Frozen):
    """The entities of a kind that meet all conditions, or the values that they have of `show`."""

    op: Literal["which"] = "which"
    kind: str
    conditions: tuple[Condition, ...] = Field(min_length=1)
    show: str = ""


class Computed(_Frozen):
    """A number from the values of attributes.

    `difference` is the larger less the smaller of two; `percent` how far the second is from the
    first, in percent of the first and without a sign; `days` the days between two dates.
    """

    op: Literal["computed"] = "computed"
    operator: Literal["difference", "sum", "mean", "percent", "days"]
    operands: tuple[Value, ...] = Field(min_length=2)


class Explained(_Frozen):
    """What was said of a case under several heads, together."""

    op: Literal["explained"] = "explained"
    of: Subject
    attributes: tuple[str, ...] = Field(min_length=1)


Program = Annotated[
    Value
    | Identity
    | Changes
    | History
    | Since
    | Claimant
    | Claim
    | Claims
    | Count
    | Which
    | Computed
    | Explained,
    Field(discriminator="op"),
]

for _model in (Referred, Sharing, Value, Identity, Changes, History, Since, Computed, Explained):
    _model.model_rebuild()
