"""What other systems have published, each number with its source and its date.

Micro (over all questions) and macro (over question types) are kept apart, and so are the variants
of a benchmark: vendors mix them. Where a source gives numbers by type, both are recomputed from
them with the official counts.
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

#: Questions by type, of each benchmark and variant that has them.
LONGMEMEVAL_COUNTS: Mapping[str, int] = {
    "single-session-user": 70,
    "single-session-assistant": 56,
    "single-session-preference": 30,
    "multi-session": 133,
    "temporal-reasoning": 133,
    "knowledge-update": 78,
}
LOCOMO_COUNTS: Mapping[str, int] = {
    "multi-hop": 282,
    "temporal": 321,
    "open-domain": 96,
    "single-hop": 841,
}


class PublishedScore(BaseModel):
    """One published number.

    Args:
        benchmark: "longmemeval" or "locomo" (judged, categories 1 to 4).
        variant: "s", "m" or "oracle" of LongMemEval; empty for LoCoMo.
        system: what was measured.
        reader: the model that answered; empty where the source does not say.
        judge: the model that judged; empty where the source does not say.
        metric: micro, macro, or unspecified where the source does not say and nothing tells.
        value: the score as a fraction.
        reported: what the source states as its headline, where `value` was recomputed.
        n: how many questions, where known.
        top_k: how many items were retrieved, where known.
        context_tokens: tokens of context a question, where known.
        source: where it was read.
        as_of: a day, a month or a year; `dated` says of what.
        dated: "published" where the source is dated, "read" where only the reading is.
        note: what a reader has to know.
        by_type: scores by question type, as fractions.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    benchmark: Literal["longmemeval", "locomo"]
    variant: Literal["", "s", "m", "oracle"] = ""
    system: str = Field(min_length=1)
    reader: str = ""
    judge: str = ""
    metric: Literal["micro", "macro", "unspecified"]
    value: float = Field(ge=0, le=1)
    reported: float | None = Field(default=None, ge=0, le=1)
    n: int | None = Field(default=None, gt=0)
    top_k: int | None = None
    context_tokens: int | None = None
    source: str = Field(min_length=8)
    as_of: str = Field(pattern=r"^20\d\d(?:-[01]\d(?:-[0-3]\d)?)?$")
    dated: Literal["published", "read"]
    note: str = ""
    by_type: dict[str, float] = Field(default_factory=dict)


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    scores: tuple[PublishedScore, ...]


@cache
def _all() -> tuple[PublishedScore, ...]:
    data = (files("memrig.report") / "published.json").read_bytes()
    return _File.model_validate_json(data).scores


def published(benchmark: str, variant: str = "") -> tuple[PublishedScore, ...]:
    """The published scores of a benchmark's variant, in the file's order; perhaps none.

    Variants are never mixed: LongMemEval has "s", "m" and "oracle", LoCoMo has "" alone.
    """
    return tuple(s for s in _all() if (s.benchmark, s.variant) == (benchmark, variant))
