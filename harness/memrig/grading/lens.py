"""Protocols `lens-v1` and `lens-v3.4`: what a memory shows that builds up over many episodes.

Every metric is scored question by question, and only where it can be measured there; a profile
makes one number of them (scoring §4). Two protocols score alike and weigh differently.
"""

from collections.abc import Iterator

from memrig.grading.base import Asked, JudgeUse, Marks, Metric
from memrig.grading.beside import citation_scores, derived_hits
from memrig.grading.lens_evidence import Cited, cited_by, required, retrieved
from memrig.grading.lens_judged import (
    NAIVE,
    NO_FACTS,
    NO_NAIVE,
    PROMPT_DIGESTS,
    Found,
    action_quality,
    agreement,
    judge_tasks,
    naive_missing,
    quality,
    text_gold,
)
from memrig.grading.profile import LENS_V1, LENS_V3_4, Profile
from memrig.grading.typed import VERSION, grade_text
from memrig.model.canonical import digest_of, short
from memrig.model.judgement import JudgeTask
from memrig.model.longitudinal import DECISION, SYNTHESIS
from memrig.model.transcript import AnswerRecord
from memrig.model.trial import Mode

#: Goes up when code changes what a grade would be; prompts are hashed.
_VERSION = 1
#: An answer of no more characters shows no reasoning.
_SHORT = 50
#: An insight stands on at least so many episodes.
_SEVERAL = 2

NO_EVIDENCE = "the question requires no evidence"
NOT_SEEN = "how the answers came about was not seen"
NOT_ASKED = "the reader was not asked to cite"

_METRICS = (
    Metric("fact_recall", binary=False, headline=True),
    Metric("evidence_grounding", binary=False, headline=True),
    Metric("evidence_coverage", binary=False, headline=True),
    Metric("budget_compliance", binary=True, headline=True),
    Metric("answer_quality", binary=False),
    Metric("insight_depth", binary=True),
    Metric("reasoning_quality", binary=True),
    Metric("action_quality", binary=False),
    Metric("evidence_retrieved", binary=False),
    Metric("citation_precision", binary=False),
    Metric("naive_baseline_advantage", binary=False),
    Metric("fact_recall_naive", binary=False),
)


class LensGrader:
    """Scores questions by LENS's metrics.

    A fault of the adapter leaves no answer and no hits, and so scores 0 in all that the question
    measures.

    Args:
        profile: what makes one number of a run's metrics.
    """

    modes: tuple[Mode, ...] = ("agent", "reader", "native")
    judge: JudgeUse = "optional"
    #: About four key facts a question, each in both orders: what a forecast counts with.
    usual_tasks = 8

    def __init__(self, profile: Profile) -> None:
        self.protocol = profile.name
        self.profile = profile
        read = short(digest_of([VERSION, *PROMPT_DIGESTS]), 8)
        self.version = f"{_VERSION}-{read}"
        twice = any(part.metric == "citation_coverage" for part in profile.parts)
        more = (Metric("citation_coverage", binary=False),) if twice else ()
        self.metrics: tuple[Metric, ...] = (*_METRICS, *more)

    def tasks(self, asked: Asked) -> tuple[JudgeTask, ...]:
        """What a judge can decide about this question."""
        return judge_tasks(asked)

    def grade(self, asked: Asked) -> Marks:
        """Scores one question."""
        grader = f"{self.protocol}/{self.version}"
        cited = cited_by(asked.record)
        found: dict[str, Found] = {
            **dict(_evidence(asked, cited)),
            **dict(_answer(asked)),
            **dict(_conduct(asked, cited)),
            "answer_quality": quality(asked, grader),
            **dict(_naive(asked)),
        }
        if asked.gold.category in DECISION:
            found["action_quality"] = action_quality(asked, grader)
        found["naive_baseline_advantage"] = naive_missing(asked) or quality(asked, grader, NAIVE)
        named = [metric.name for metric in self.metrics if metric.name in found]
        return Marks(
            scores={name: value for name in named if isinstance(value := found[name], float)},
            weights={"evidence_grounding": float(cited.refs)},
            missing={name: why for name in named if isinstance(why := found[name], str)},
            counts=dict(_counts(asked, cited)),
            derived_hits=derived_hits(asked),
            agreement=agreement(asked.verdicts.values()),
        )


def _evidence(asked: Asked, cited: Cited) -> Iterator[tuple[str, Found]]:
    yield "evidence_grounding", cited.grounding if asked.cites else NOT_ASKED
    wanted = required(asked)
    coverage = _coverage(asked, wanted, cited)
    yield "evidence_coverage", coverage
    # The predecessor's two names come to the same (docs/scoring.md).
    yield "citation_coverage", coverage
    precision = citation_scores(asked).get("citation_precision")
    if precision is not None:
        yield "citation_precision", precision
    if not wanted:
        yield "evidence_retrieved", NO_EVIDENCE
    elif asked.pod == "given":
        yield "evidence_retrieved", NOT_SEEN
    elif asked.mode == "native":
        yield "evidence_retrieved", "the memory system searched by itself"
    else:
        yield "evidence_retrieved", len(wanted & retrieved(asked.record)) / len(wanted)


def _coverage(asked: Asked, wanted: frozenset[str], cited: Cited) -> Found:
    if not wanted:
        return NO_EVIDENCE
    return len(wanted & cited.episodes(len(wanted))) / len(wanted) if asked.cites else NOT_ASKED


def _answer(asked: Asked) -> Iterator[tuple[str, Found]]:
    yield "fact_recall", _recall(asked, asked.record.answer)


def _recall(asked: Asked, answer: AnswerRecord | None) -> Found:
    gold = text_gold(asked)
    if gold is None:
        return NO_FACTS
    if answer is None:
        return 0.0
    return grade_text(answer.text, gold, asked.question.text, answer.abstained)


def _naive(asked: Asked) -> Iterator[tuple[str, Found]]:
    naive = asked.record.naive
    why = naive_missing(asked) if naive else NO_NAIVE
    yield "fact_recall_naive", why if why or naive is None else _recall(asked, naive.answer)


def _conduct(asked: Asked, cited: Cited) -> Iterator[tuple[str, Found]]:
    """How the answer came about, and how deep it goes."""
    outcome, answer = asked.record.outcome, asked.record.answer
    within = outcome.status != "budget_exceeded" and not outcome.adapters_fault
    yield "budget_compliance", NOT_SEEN if asked.pod == "given" else float(within)
    if asked.gold.category in SYNTHESIS:
        deep = float(len(cited.episodes()) >= _SEVERAL)
        yield "insight_depth", deep if asked.cites else NOT_ASKED
    if asked.pod == "given":
        yield "reasoning_quality", NOT_SEEN
    elif asked.mode != "agent":
        yield "reasoning_quality", f"mode {asked.mode} leaves no tool calls to count"
    else:
        # What is told to say so has a sentence of the rig's own for it, and that is long enough.
        said = answer is not None and not answer.abstained and len(answer.text) > _SHORT
        used = any(not use.is_error for use in asked.record.tool_uses)
        yield "reasoning_quality", float(said and used)


def _counts(asked: Asked, cited: Cited) -> Iterator[tuple[str, int]]:
    """What a timeline of the run shows beside the scores."""
    record, wanted = asked.record, required(asked)
    yield "episodes", asked.position
    yield "evidence_required", len(wanted)
    yield "evidence_cited", len(wanted & cited.episodes(len(wanted)))
    yield "evidence_retrieved", len(wanted & retrieved(record))
    yield "refs_cited", cited.refs
    if asked.pod == "given":
        return
    uses, searches = record.tool_uses, record.searches
    yield "tool_calls", len(uses)
    yield "turns", len(record.model_calls)
    if asked.mode != "native":
        # An agent's search stands among its tool calls too.
        yield "payload_bytes", sum(item.payload_bytes for item in uses or searches)


V1 = LensGrader(LENS_V1)
V3_4 = LensGrader(LENS_V3_4)
