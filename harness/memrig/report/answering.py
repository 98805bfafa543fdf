"""How a run's questions were answered and judged, and whether that may be compared."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from memrig.grading.base import Grade
from memrig.grading.judges.reference import REFERENCE_JUDGES, judge_warning
from memrig.report.collect import Collected
from memrig.report.model import AnsweringSummary, PublishedRow
from memrig.report.published import published
from memrig.runs.directory import Execution, models_elsewhere
from memrig.runs.lock import Lock
from memrig.suites.base import load_suite, suite_names
from memrig.suites.datasets import DATASETS
from memrig.suites.longitudinal_shipped import SHIPPED

_BUILT_IN = "local/"
_NO_PROVIDER = "{} was asked at an address of the user's own, not at its provider's"
#: Protocols whose numbers others publish, and under which benchmark.
_PUBLISHED = {
    "longmemeval-compatible": "longmemeval",
    "longmemeval-strict": "longmemeval",
    "longmemeval-typed": "longmemeval",
    "locomo-judge": "locomo",
    "locomo-judge-strict": "locomo",
}


def answering_summary(
    lock: Lock,
    executions: Iterable[Execution],
    found: Collected,
    incomplete: str = "",
    unanswered: int = 0,
) -> AnsweringSummary | None:
    """How questions were answered and judged; None in mode retrieval.

    Args:
        lock: the run's.
        executions: its invocations.
        found: its trials.
        incomplete: why the run is not whole; empty if it is.
        unanswered: questions to which no answer was given, where answers came in a file.
    """
    if lock.mode == "retrieval":
        return None
    answer, shown = lock.answer, found.context_tokens
    p50, p95 = np.quantile(shown, [0.5, 0.95]) if any(shown) else (None, None)
    why = [*_why(lock), *_why_partial(lock, incomplete, unanswered)]
    why += map(_NO_PROVIDER.format, models_elsewhere(executions))
    if lock.adapter.name == "baseline:full-context" and found.context_cut:
        limit = answer.context_tokens if answer else 0
        why.append(f"{found.context_cut} contexts were cut to {limit:,} tokens: not all was shown")
    return AnsweringSummary(
        reader=lock.reader,
        served_readers=tuple(sorted(found.costs.served.get("answer", set()) - {""})),
        prompt=answer.prompt if answer and lock.mode == "reader" else "",
        context_limit=answer.context_tokens if answer and lock.mode == "reader" else 0,
        context_tokens_p50=None if p50 is None else round(float(p50), 1),
        context_tokens_p95=None if p95 is None else round(float(p95), 1),
        budget=lock.budget.preset,
        judge=lock.judge,
        served_judges=tuple(sorted(found.costs.served.get("judge", set()) - {""})),
        judge_agreement=_agreement(found.grades) if lock.judge else None,
        context_cut=found.context_cut,
        comparable=not why,
        why=tuple(why),
    )


def _why(lock: Lock) -> Iterator[str]:
    """What keeps these numbers from being set beside published ones."""
    if lock.reader.startswith(_BUILT_IN):
        yield f"the reader {lock.reader} is built into memrig and no LLM"
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


def _why_partial(lock: Lock, incomplete: str, unanswered: int) -> Iterator[str]:
    """What was left out of these numbers, or put together otherwise than others do."""
    if incomplete:
        yield f"the run is not whole: {incomplete}"
    if "only_answered" in lock.options:
        yield "only questions with an answer in the file were graded"
    if unanswered:
        yield f"{unanswered} questions have no answer in the file and count as wrong"
    if lock.isolation == "pooled":
        yield "all scenarios were in one memory (pooled)"
    if lock.adapter.pod == "baseline":
        yield "a baseline of the rig is no memory system"
    models = lock.adapter.manifest.models if lock.adapter.manifest else ()
    if built_in := [name for name in models if name.startswith(_BUILT_IN)]:
        yield f"the memory system used models that are built into memrig ({', '.join(built_in)})"


def is_dataset(lock: Lock) -> bool:
    """Whether the questions come from the published data of the suite, whole and unchanged.

    Of a suite that makes its worlds itself, they always do.
    """
    return not lock.sample and (
        lock.data.name in {lock.suite, *DATASETS, *SHIPPED} or is_made(lock)
    )


def is_made(lock: Lock) -> bool:
    """Whether the suite makes its scenarios from seeds; False where it is no longer installed."""
    return lock.suite in suite_names() and load_suite(lock.suite).made_of_seeds


def _agreement(grades: Sequence[Grade]) -> float | None:
    values = [grade.agreement for grade in grades if grade.agreement is not None]
    return round(float(np.mean(values)), 4) if values else None


def published_rows(lock: Lock) -> tuple[PublishedRow, ...]:
    """What others published on the same data; empty where nobody did, or the data differ."""
    benchmark = _PUBLISHED.get(lock.protocol)
    if benchmark is None or not is_dataset(lock) or lock.mode == "retrieval":
        return ()
    variant = lock.data.name.removeprefix(benchmark).removeprefix("-")
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
