"""Questions of a plan: prompts, checkpoints, facts and canonical answers."""

import random
import re
from collections.abc import Sequence

from memrig.generation.facts import compute, day_text
from memrig.generation.factspec import QuestionSpec
from memrig.generation.model import KeyFact, PlannedEpisode, PlannedQuestion
from memrig.generation.story import Story, StoryError, seed_of

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def plan_questions(story: Story, stream: Sequence[PlannedEpisode]) -> tuple[PlannedQuestion, ...]:
    """All questions of a scope, in the spec's order.

    Raises:
        StoryError: a fact does not hold where its question is asked.
    """
    positions = _checkpoints(story, stream)
    return tuple(_planned(story, question, positions) for question in story.spec.questions)


def _checkpoints(story: Story, stream: Sequence[PlannedEpisode]) -> list[int]:
    """By episode of the story, a place in the stream after it and before the story's next.

    Not always right after it: that would say which the story's documents are. The last is at the
    end of the stream, so that nothing is ingested in vain.
    """
    chance = random.Random(seed_of(story.spec, "checkpoints"))  # noqa: S311
    own = [place for place, episode in enumerate(stream, start=1) if episode.kind == "signal"]
    ends = [*(place - 1 for place in own[1:]), len(stream)]
    places = [chance.randint(first, last) for first, last in zip(own, ends, strict=True)]
    return [*places[:-1], len(stream)]


def _planned(story: Story, question: QuestionSpec, positions: Sequence[int]) -> PlannedQuestion:
    try:
        after = story.episode(question.after)
        facts = tuple(_facts(story, question, after))
        prompt = _prompt(story, question.prompt, after)
    except StoryError as error:
        raise StoryError(f"question {question.id!r}: {error}") from error
    return PlannedQuestion(
        question_id=f"{story.spec.name}-{question.id}",
        type=question.type,
        prompt=prompt,
        after=after,
        checkpoint_after=positions[after - 1],
        facts=facts,
        canonical_answer=" ".join([question.lead, *(f.answer for f in facts)]).strip(),
        evidence=tuple(sorted({number for fact in facts for number in fact.evidence})),
    )


def _facts(story: Story, question: QuestionSpec, after: int) -> list[KeyFact]:
    specs = {fact.id: fact for fact in story.spec.facts}
    found = []
    for name in question.facts:
        if name not in specs:
            raise StoryError(f"there is no fact {name!r}")
        try:
            found.append(compute(story, specs[name], after))
        except StoryError as error:
            raise StoryError(f"fact {name!r}: {error}") from error
    return found


def _prompt(story: Story, prompt: str, after: int) -> str:
    """The prompt with dates in the place of references.

    Raises:
        StoryError: a reference is none, or names a later episode.
    """

    def dated(found: re.Match[str]) -> str:
        try:
            number = story.episode(found[1], after)
        except (ValueError, IndexError) as error:
            raise StoryError(f"the prompt names {found[1]!r}: {error}") from error
        if number > after:
            raise StoryError(f"the prompt names {found[1]!r}, which comes after the question")
        return day_text(story.day(number))

    return PLACEHOLDER.sub(dated, prompt)
