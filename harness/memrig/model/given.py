"""Answers that were produced elsewhere, as `memrig grade` takes them."""

from pydantic import BaseModel, ConfigDict, Field


class GivenAnswer(BaseModel):
    """One answer. `cited` are ids of the data's episodes; an empty answer is an abstention."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    answer: str
    cited: tuple[str, ...] = ()
    confidence: float | None = Field(default=None, ge=0, le=1)
