"""Which judge model the published numbers of a protocol come from."""

from collections.abc import Mapping
from types import MappingProxyType

#: Of LongMemEval: `evaluate_qa.py` and `print_qa_metrics.py`, which takes no other. Of LoCoMo: the
#: judge of Mem0 and of those who followed it.
REFERENCE_JUDGES: Mapping[str, str] = MappingProxyType(
    {"longmemeval-compatible": "gpt-4o-2024-08-06", "locomo-judge": "gpt-4o-mini"}
)


def judge_warning(protocol: str, model: str) -> str:
    """Why scores under another judge are not comparable; empty for the reference judge.

    Empty too for protocols without one: nothing is published under them. A router's prefix
    (``openai/…``) and a dated snapshot of an undated name are the same judge; an undated alias of a
    dated one is not, since it moves.
    """
    reference = REFERENCE_JUDGES.get(protocol)
    name = model.removeprefix("openai/")
    if reference is None or name == reference or name.startswith(f"{reference}-20"):
        return ""
    return (
        f"judged by {model}, published numbers of {protocol} by {reference}: another judge gives "
        "other scores, so these are not comparable with published ones"
    )
