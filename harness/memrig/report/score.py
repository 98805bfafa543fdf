"""The running score of a run whose questions are answered and graded as it goes."""

from dataclasses import dataclass

from rich.text import Text

from memrig.report.terminal.base import BAD, DIM, GOOD, WARN
from memrig.report.text import one_line
from memrig.report.units import brief, dollars, percent
from memrig.runs.judge import Judged

_CATEGORY = 28
_NS = 1e6


@dataclass(slots=True)
class Score:
    """What was graded so far: how many, how well, at what cost. `usd` is None once unknown."""

    done: int = 0
    graded: int = 0
    total: float = 0.0
    usd: float | None = 0.0

    def take(self, judged: Judged) -> None:
        """Takes one question in."""
        self.done += 1
        if judged.score is not None:
            self.graded += 1
            self.total += judged.score
        for cost in judged.costs:
            self.usd = None if cost is None or self.usd is None else self.usd + cost


def question_line(judged: Judged, score: Score, questions: int) -> Text:
    """``[42/500] temporal-reasoning ✓ (search 120 ms, answer 1.2 s, judge 0.8 s)``."""
    number = str(score.done).rjust(len(str(questions)))
    text = Text(f"[{number}/{questions}] {one_line(judged.grade.category, _CATEGORY)} ")
    text.append_text(_mark(judged))
    if times := _times(judged):
        text.append(f" ({', '.join(times)})")
    if score.graded:
        text.append(f"  {percent(score.total / score.graded)} %", DIM)
    if score.usd is None:
        text.append("  cost unknown", DIM)
    elif score.usd:
        text.append(f"  {dollars(score.usd)}", DIM)
    return text


def _mark(judged: Judged) -> Text:
    outcome = judged.record.outcome
    if judged.score is None:
        # The score is the first metric's, and so is the first reason of those that are missing.
        why = judged.grade.reason or next(iter(judged.grade.missing.values()), "")
        return Text(f"– {one_line(why, 60)}", WARN)
    if outcome.adapters_fault:
        return Text(f"✗ {outcome.label}", BAD)
    if judged.score >= 1:
        return Text("✓", GOOD)
    return Text("✗", BAD) if judged.score <= 0 else Text(f"{judged.score:.2f}", WARN)


def _times(judged: Judged) -> list[str]:
    """What took its time; a search or an answer that was never made took none."""
    record = judged.record
    durations = {
        "search": 0 if record.native else record.memory_ns,
        "answer": record.answer_ns if record.answer else 0,
        # Votes are asked for side by side.
        "judge": max((vote.ns for item in judged.verdicts for vote in item.votes), default=0),
    }
    return [f"{name} {brief(ns / _NS)}" for name, ns in durations.items() if ns]
