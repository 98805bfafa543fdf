"""Validators of a plan's form: checkpoints, evidence, numbers of facts, kinds of questions."""

import re
from collections import Counter
from collections.abc import Iterator

from memrig.generation.factspec import Level, levels_of
from memrig.generation.model import Draft, Finding, PlannedQuestion
from memrig.generation.spec import Spec
from memrig.generation.textcheck import figures
from memrig.generation.validators.base import View
from memrig.model.longitudinal import QUESTION_TYPES, SYNTHESIS

#: A synthesis question has so many facts at least: fewer are found by luck.
LEAST_FACTS = 3
#: And rests on so many episodes at least.
LEAST_EVIDENCE = 2
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")


class EvidenceBeforeCheckpoint:
    """Implements `Validator`."""

    name = "evidence-before-checkpoint"
    reason = "what comes after its question cannot be known"

    def limit(self, spec: Spec) -> str:  # noqa: ARG002 - the same for every scope
        """See `Validator`."""
        return "every evidence episode at or before its question's checkpoint"

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        view = View(draft)
        signals, positions = view.signals(), view.positions()
        for question in draft.plan.questions:
            for number in question.evidence:
                at = positions[signals[number].episode_id] if number in signals else None
                if at is None or at > question.checkpoint_after:
                    place = "does not exist" if at is None else f"is at {at} in the stream"
                    yield Finding(
                        self.name,
                        f"question {question.question_id}",
                        f"its evidence, signal episode {number}, {place}; the checkpoint is "
                        f"after {question.checkpoint_after}",
                        "ask later, or refer to an earlier episode",
                    )


class QuestionForm:
    """Implements `Validator`."""

    name = "question-form"
    reason = "a question without enough facts or evidence is answered by luck, or by one episode"

    def limit(self, spec: Spec) -> str:  # noqa: ARG002 - the same for every scope
        """See `Validator`."""
        return (
            f"unique ids, all {len(QUESTION_TYPES)} types, synthesis questions with "
            f"{LEAST_FACTS} facts and {LEAST_EVIDENCE} evidence episodes, prompts without their "
            "facts' values and with their thresholds"
        )

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        questions = draft.plan.questions
        for name, times in Counter(question.question_id for question in questions).items():
            if times > 1:
                yield self._finding(name, f"the id stands {times} times", "give each its own id")
        for missing in [kind for kind in QUESTION_TYPES if kind not in {q.type for q in questions}]:
            message = f"no question has the type {missing}, expected one of each type"
            yield Finding(self.name, "questions", message, f"add a question of type {missing}")
        for question in questions:
            yield from self._counts(question)
            if quoted := _quoted(question):
                message = f"its prompt quotes {', '.join(quoted)}, which is to be found"
                yield self._finding(question.question_id, message, "ask without the figure")
            for level in _untold(draft.plan.spec, question):
                message = f"its prompt does not say that {level} is what is meant by moved"
                yield self._finding(question.question_id, message, "name the threshold in it")

    def _counts(self, question: PlannedQuestion) -> Iterator[Finding]:
        facts, evidence = len(question.facts), len(set(question.evidence))
        if not facts:
            message = "it has no facts, so nothing can be found in an answer"
            yield self._finding(question.question_id, message, "name facts")
        if question.type not in SYNTHESIS:
            return
        if 0 < facts < LEAST_FACTS:
            message = f"it has {facts} facts, expected {LEAST_FACTS} for {question.type}"
            yield self._finding(question.question_id, message, "name more facts")
        if evidence < LEAST_EVIDENCE:
            message = f"its evidence is {evidence} episode, expected {LEAST_EVIDENCE}"
            yield self._finding(question.question_id, message, "name facts of other episodes")

    def _finding(self, question: str, message: str, fix: str) -> Finding:
        return Finding(self.name, f"question {question}", message, fix)


def _quoted(question: PlannedQuestion) -> list[str]:
    """Values of its facts that a prompt gives away; single digits may stand for anything."""
    said = figures(question.prompt)
    values = {value for fact in question.facts for value in fact.values if len(value) > 1}
    return sorted(said & values)


def _untold(spec: Spec, question: PlannedQuestion) -> list[str]:
    """Thresholds of its facts that a prompt keeps to itself: nobody could know what moved when."""
    wanted = {fact.fact_id for fact in question.facts}
    said = set(_NUMBER.findall(question.prompt))
    return sorted(
        {
            f"{level.signal} {'above' if level.above is not None else 'below'} {number}"
            for fact in spec.facts
            if fact.id in wanted
            for level in levels_of(fact)
            if (number := _plainly(level)) not in said
        }
    )


def _plainly(level: Level) -> str:
    return f"{level.above if level.above is not None else level.below:g}"
