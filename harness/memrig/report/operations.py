"""Scores by what it takes to answer, and what a reader that only copies cannot do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import get_args

from memrig.grading.base import Metric
from memrig.model.gold import Operation
from memrig.report.estimates import Estimator
from memrig.report.model_depth import CategoryLimit, OperationRow, OperationSummary
from memrig.report.settled import Settled, recall_name, score_name

_BUILT_IN = "local/"
JOINING = "needs several statements joined"
COUNTING = "needs counting"
LISTING = "needs several statements put together"
COMPUTING = "needs computing"
#: What an operation needs beyond one statement to copy from; the others need nothing more.
_NEEDS: Mapping[str, str] = MappingProxyType(
    {
        "join": JOINING,
        "count": COUNTING,
        "list": LISTING,
        "compute": COMPUTING,
    }
)


def operation_summary(
    settled: Sequence[Settled], metrics: Sequence[Metric], reader: str, seed: int
) -> OperationSummary | None:
    """Scores by operation; None where the data names none.

    Args:
        settled: every question of the run.
        metrics: the protocol's.
        reader: the model that answered; empty in other modes.
        seed: of the intervals' draws.
    """
    known = [row for row in settled if row.graded and row.operation]
    if not known:
        return None
    score, recall = score_name(known), recall_name(known)
    scores, recalls = (Estimator(metrics, name, seed) for name in (score, recall))
    built_in = _built_in(reader) and bool(score)
    return OperationSummary(
        score=score,
        recall=recall,
        rows=tuple(
            OperationRow(
                operation=operation,
                n=len(grades),
                score=scores.mean(grades, operation),
                recall=recalls.mean(grades, operation),
            )
            for operation in get_args(Operation)
            if (grades := [row.grade for row in known if row.operation == operation])
        ),
        reader=reader if built_in else "",
        limits=tuple(_limits(known, scores)) if built_in else (),
    )


def beyond(row: Settled, reader: str) -> bool:
    """Whether a question is known to need more than its built-in reader can do."""
    return _built_in(reader) and bool(row.operation and need_of(row))


def _built_in(reader: str) -> bool:
    return reader.startswith(_BUILT_IN)


def need_of(row: Settled) -> str:
    """What a question needs beyond copying out of one statement; empty: nothing."""
    return _NEEDS.get(row.operation, LISTING if row.several else "")


def _limits(known: Sequence[Settled], scores: Estimator) -> list[CategoryLimit]:
    categories = sorted({row.grade.category for row in known})
    return [
        _limit(name, [row for row in known if row.grade.category == name], scores)
        for name in categories
    ]


def _limit(category: str, rows: Sequence[Settled], scores: Estimator) -> CategoryLimit:
    more = [row for row in rows if need_of(row)]
    within = [row for row in rows if not need_of(row)]
    why = Counter(need_of(row) for row in more)
    return CategoryLimit(
        category=category,
        n=len(rows),
        beyond=len(more),
        why=dict(sorted(why.items())),
        score_within=scores.mean([row.grade for row in within], f"within {category}"),
        score_beyond=scores.mean([row.grade for row in more], f"beyond {category}"),
    )
