"""How a run's questions were answered and judged, and whether that may be compared."""

from collections.abc import Iterator, Sequence

import numpy as np

from memrig.grading.base import Grade
from memrig.grading.judges.reference import REFERENCE_JUDGES, judge_warning
from memrig.report.collect import Collected
from memrig.report.model import AnsweringSummary, PublishedRow
from memrig.report.published import published
from memrig.runs.lock import Lock
from memrig.suites.datasets import DATASETS

_BUILT_IN = "local/"
#: Protocols whose numbers others publish, and under which benchmark.
_PUBLISHED = {
    "longmemeval-compatible": "longmemeval",
    "longmemeval-strict": "longmemeval",
    "longmemeval-typed": "longmemeval",
    "locomo-judge": "locomo",
    "locomo-judge-strict": "locomo",
}


def answering_summary(lock: Lock, found: Collected) -> AnsweringSummary | None:
    """None in mode retrieval."""
    if lock.mode == "retrieval":
        return None
    answer, shown = lock.answer, found.context_tokens
    p50, p95 = np.quantile(shown, [0.5, 0.95]) if any(shown) else (None, None)
    why = tuple(_why(lock))
    return AnsweringSummary(
        reader=answer.model if answer else "",
        served_readers=tuple(sorted(found.costs.served.get("answer", set()) - {""})),
        prompt=answer.prompt if answer and lock.mode == "reader" else "",
        context_limit=answer.context_tokens if answer and lock.mode == "reader" else 0,
        context_tokens_p50=None if p50 is None else round(float(p50), 1),
        context_tokens_p95=None if p95 is None else round(float(p95), 1),
        budget=lock.budget.preset,
        judge=lock.judge,
        served_judges=tuple(sorted(found.costs.served.get("judge", set()) - {""})),
        judge_agreement=_agreement(found.grades) if lock.judge else None,
        comparable=not why,
        why=why,
    )


def _why(lock: Lock) -> Iterator[str]:
    """What keeps these numbers from being set beside published ones."""
    reader = lock.answer.model if lock.answer else ""
    if reader.startswith(_BUILT_IN):
        yield f"the reader {reader} is built into memrig and no LLM"
    if not lock.judge:
        yield f"graded by memrig's own rules ({lock.protocol}), not by the benchmark's judge"
    elif lock.protocol not in REFERENCE_JUDGES:
        yield f"the judge's rules are memrig's own ({lock.protocol}): nobody publishes under them"
    elif judge_warning(lock.protocol, lock.judge):
        usual = REFERENCE_JUDGES[lock.protocol]
        yield f"judged by {lock.judge}, published numbers mostly by {usual}"
    if lock.sample:
        yield "the built-in sample is not the dataset"
    elif not is_dataset(lock):
        yield f"the data are not the dataset ({lock.data.name})"
    if lock.limit is not None:
        yield f"only {lock.limit} of the questions were asked"
    if "labels" in lock.options:
        yield f"graded by other labels than the published ones ({lock.options['labels']})"


def is_dataset(lock: Lock) -> bool:
    """Whether the questions come from the published data of the suite, whole and unchanged."""
    return not lock.sample and (lock.data.name == lock.suite or lock.data.name in DATASETS)


def _agreement(grades: Sequence[Grade]) -> float | None:
    values = [grade.agreement for grade in grades if grade.agreement is not None]
    return round(float(np.mean(values)), 4) if values else None


def published_rows(lock: Lock) -> tuple[PublishedRow, ...]:
    """What others published on the same data; empty where nobody did, or the data differ."""
    benchmark = _PUBLISHED.get(lock.protocol)
    if benchmark is None or not is_dataset(lock) or lock.mode == "retrieval":
        return ()
    variant = lock.options.get("variant", "")
    return tuple(
        PublishedRow(
            system=item.system,
            reader=item.reader,
            judge=item.judge,
            top_k=item.top_k,
            metric=item.metric,
            value=item.value,
            n=item.n,
            source=item.source,
            as_of=item.as_of,
            dated=item.dated,
            note=item.note,
        )
        for item in published(benchmark, variant)
    )
