"""Reports, questions and verdicts of runs whose questions are answered, judged and paid for."""

from memrig.grading.base import Grade
from memrig.model.judgement import Verdict, Vote
from memrig.model.transcript import AnswerRecord, ModelCallRecord, QuestionRecord
from memrig.model.trial import Outcome
from memrig.report.model import (
    AnsweringSummary,
    ModelCost,
    PublishedRow,
    Report,
    ShownCitation,
    ShownQuestion,
    ShownTool,
    ShownVerdict,
    ShownVote,
)
from memrig.runs.judge import Judged
from memrig.stats.summary import Kind, MetricValue
from support.reports import HOSTILE, LONG, hostile_report, sample_report, shown_question

#: (accuracy, n, kind) by group, in the order of a summary.
GROUPS: dict[str, tuple[float, int, Kind]] = {
    "overall": (0.62, 500, "micro"),
    "macro": (0.587, 500, "macro"),
    "without abstention": (0.631, 470, "tag"),
    "abstention": (0.5, 30, "tag"),
    "knowledge-update": (0.705, 78, "category"),
    "multi-session": (0.429, 133, "category"),
    "single-session-assistant": (0.911, 56, "category"),
    "single-session-preference": (0.3, 30, "category"),
    "single-session-user": (0.857, 70, "category"),
    "temporal-reasoning": (0.481, 133, "category"),
}
HEADLINE = ("accuracy", "recall_any@1", "recall_any@5", "recall_any@10")
READER, JUDGE = "gpt-4o-2024-08-06", "gpt-4o-mini"


def accuracies() -> tuple[MetricValue, ...]:
    """Accuracy and recall of LongMemEval by group; abstention has nothing to retrieve."""
    return tuple(
        MetricValue(
            suite="longmemeval",
            protocol="longmemeval-compatible",
            metric=metric,
            group=group,
            value=1.0 if metric != "accuracy" else value,
            low=0.9 if metric != "accuracy" else value - 0.05,
            high=1.0 if metric != "accuracy" else value + 0.05,
            n=n,
            interval="wilson",
            kind=kind,
        )
        for metric in HEADLINE
        for group, (value, n, kind) in GROUPS.items()
        if metric == "accuracy" or group != "abstention"
    )


def cost(phase: str, purpose: str, model: str, usd: float | None, **changes: int) -> ModelCost:
    """One row of the costs: a hundred calls, two of them made again."""
    numbers = {"calls": 100, "attempts": 102, "input_tokens": 250_000, "output_tokens": 9_000}
    fields = {"phase": phase, "purpose": purpose, "model": model, "usd": usd}
    return ModelCost.model_validate(fields | numbers | changes)


def row(system: str, metric: str, value: float, **changes: object) -> PublishedRow:
    """Somebody's published number."""
    fields: dict[str, object] = {
        "system": system,
        "reader": "gpt-4o",
        "metric": metric,
        "value": value,
        "n": 500,
        "source": f"https://example.org/{system.lower().replace(' ', '-')}",
        "as_of": "2025-01",
    }
    return PublishedRow.model_validate(fields | changes)


PUBLISHED = (
    row("Zep", "micro", 0.7041),
    row("Zep", "macro", 0.7227),
    row("AgentOS", "unspecified", 0.856, dated="read", as_of="2026-11", note="p50 3.6 s"),
)
COSTS = (
    cost("ingest", "memory", "gpt-4o-mini", 0.0531),
    cost("answer", "reader", READER, 1.2345, calls=500, attempts=503),
    cost("judge", "judge", JUDGE, 0.0072, calls=500, attempts=500),
)
ANSWERING = AnsweringSummary(
    reader=READER,
    served_readers=("gpt-4o-2024-08-06-eu",),
    prompt="direct",
    context_limit=16_000,
    context_tokens_p50=3055.4,
    context_tokens_p95=4575.0,
    budget="",
    judge=JUDGE,
    served_judges=(JUDGE,),
    judge_agreement=0.984,
    comparable=False,
    why=(f"judged by {JUDGE}, published numbers mostly by gpt-4o-2024-08-06",),
)


def answered_question(**changes: object) -> ShownQuestion:
    """An agent's wrong answer: cited, judged by three votes, after two tool calls."""
    fields: dict[str, object] = {
        "rank": None,
        "asked_at": "2023-06-01 09:30",
        "answer": "On the first Monday of May.",
        "confidence": 0.8,
        "score": 0.0,
        "verdicts": (
            ShownVerdict(
                task="answer",
                score=0.0,
                reason="",
                votes=(
                    ShownVote(score=0.0, said="No."),
                    ShownVote(score=1.0, said="Yes, nearly."),
                    ShownVote(score=None, said="the reply is no verdict"),
                ),
            ),
        ),
        "citations": (
            ShownCitation(handle="m2", sources=("D1:3",), text="In June.", relevant=False),
            ShownCitation(handle="m3", sources=("D4:7",), text="On Sunday.", relevant=True),
        ),
        "unknown_citations": 1,
        "tools": (
            ShownTool(
                name="memory_search",
                arguments='{"query":"support group"}',
                result="3 results: m1, m2, m3",
                is_error=False,
                latency_ms=4.2,
            ),
            ShownTool(
                name="memory_retrieve",
                arguments='{"handle":"m9"}',
                result='{"error":"there is no m9"}',
                is_error=True,
                latency_ms=0.0,
            ),
        ),
    }
    return shown_question(**(fields | changes))


def answered_report(**changes: object) -> Report:
    """A run of LongMemEval with reader, judge, costs and published numbers beside it."""
    fields: dict[str, object] = {
        "run_id": "longmemeval-bm25-0123456789",
        "suite": "longmemeval",
        "protocol": "longmemeval-compatible",
        "mode": "reader",
        "headline": HEADLINE,
        "metrics": accuracies(),
        "answering": ANSWERING,
        "costs": COSTS,
        "published": PUBLISHED,
        "worst": (answered_question(), shown_question(2, score=0.5, answer="", rank=1)),
    }
    return sample_report(**(fields | changes))


def grade(**changes: object) -> Grade:
    """A right answer's grade."""
    fields: dict[str, object] = {
        "trial_id": "t",
        "scenario_id": "s",
        "cluster": "s",
        "question_id": "q",
        "category": "temporal-reasoning",
        "seed": 1,
        "repeat": 0,
        "protocol": "longmemeval-compatible",
        "grader": "longmemeval-compatible/1",
        "status": "graded",
        "outcome": "answered",
        "scores": {"accuracy": 1.0},
    }
    return Grade.model_validate(fields | changes)


def ungraded(reason: str, **changes: object) -> Grade:
    """A question that counts in no mean."""
    return grade(**({"status": "ungraded", "reason": reason, "scores": {}} | changes))


def record(status: str = "answered", kind: str = "", **changes: object) -> QuestionRecord:
    """A question that a reader answered for 2 cents: 120 ms of search, 1.2 s of model."""
    fields: dict[str, object] = {
        "scenario_id": "s",
        "question_id": "q",
        "outcome": Outcome.model_validate({"status": status, "kind": kind}),
        "ns": 1_320_000_000,
        "memory_ns": 120_000_000,
        "answer": AnswerRecord(text="in May"),
        "model_calls": (call(),),
    }
    return QuestionRecord.model_validate(fields | changes)


def call(cost_usd: float | None = 0.02, **changes: object) -> ModelCallRecord:
    """One call of the reader."""
    fields: dict[str, object] = {
        "purpose": "reader",
        "model": READER,
        "served_model": READER,
        "key": "k",
        "input_tokens": 3000,
        "output_tokens": 20,
        "cost_usd": cost_usd,
        "ns": 1_200_000_000,
        "attempts": 1,
    }
    return ModelCallRecord.model_validate(fields | changes)


def verdict(*scores: float | None, score: float | None = None, **changes: object) -> Verdict:
    """What these votes came to; each took a tenth of a second longer than the one before."""
    votes = tuple(
        Vote(
            score=value,
            reply="" if value is None else "Yes.",
            reason="the reply is no verdict" if value is None else "",
            served_model="judge-1",
            input_tokens=100,
            output_tokens=5,
            cost_usd=0.01,
            ns=(6 + number) * 100_000_000,
            asked=3 if value is None else 1,
            attempts=4 if value is None else 1,
        )
        for number, value in enumerate(scores, 1)
    )
    fields: dict[str, object] = {
        "trial_id": "t",
        "scenario_id": "s",
        "question_id": "q",
        "protocol": "longmemeval-compatible",
        "model": JUDGE,
        "task": "answer",
        "votes": votes,
        "quorum": len(scores) // 2 + 1,
        "score": score,
        "agreement": None,
    }
    return Verdict.model_validate(fields | changes)


def judged(score: float | None = 1.0, *verdicts: Verdict, **changes: object) -> Judged:
    """A question that was graded as soon as its trial was sealed."""
    found = grade() if score is not None else ungraded("no judge was asked")
    return Judged(found, record(**changes), verdicts, score)


def hostile_answers() -> Report:
    """Names of models and systems, reasons and sources that hold what `HOSTILE` holds."""
    answering = ANSWERING.model_copy(
        update={"reader": HOSTILE, "served_readers": (HOSTILE + LONG,), "why": (HOSTILE + LONG,)}
    )
    costs = (cost("answer", "reader", HOSTILE, None), cost("judge", "judge", LONG, 1.0))
    published = (row(HOSTILE, "micro", 0.5, note=HOSTILE), row(LONG, "macro", 0.5))
    changes = {"answering": answering, "costs": costs, "published": published}
    accuracy = tuple(v for v in accuracies() if v.metric == "accuracy")
    return hostile_report().model_copy(update={**changes, "metrics": accuracy})
