"""The format ``memrig.conversations/1``: inline multi-session conversations with typed questions.

Documented in docs/formats.md. The `practical` suite's own data is in it, and so is any file that a
user gives to that suite.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from memrig.model.gold import Gold, GoldAnswer
from memrig.model.scenario import Episode, Event, Question, Scenario
from memrig.suites.checks import utf8_flaw
from memrig.suites.fields import parsed, unreadable
from memrig.suites.problems import Problem, errors_of, refusal

FORMAT = "memrig.conversations/1"
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
#: An empty keyword would be in every hit.
Keyword = Annotated[str, Field(pattern=r"\S")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Message(_Strict):
    """What one speaker said."""

    id: Identifier
    speaker: str = Field(min_length=1)
    text: str = Field(min_length=1)


class Session(_Strict):
    """One sitting, with its date."""

    id: Identifier
    date: AwareDatetime
    messages: tuple[Message, ...] = Field(min_length=1)


class ConversationQuestion(_Strict):
    """A question, its typed gold answer, and the messages that hold it."""

    id: Identifier
    category: str = Field(min_length=1)
    question: str = Field(min_length=1)
    asked_at: AwareDatetime | None = None
    answer: GoldAnswer
    evidence: tuple[Identifier, ...] = Field(min_length=1)
    keywords: tuple[Keyword, ...] = ()
    stale: tuple[Identifier, ...] = ()


class Conversation(_Strict):
    """One person's sessions and the questions about them: a scenario."""

    id: Identifier
    persona: str = ""
    sessions: tuple[Session, ...] = Field(min_length=1)
    questions: tuple[ConversationQuestion, ...] = Field(min_length=1)


class ConversationSet(_Strict):
    """A whole file."""

    format: Literal["memrig.conversations/1"]
    name: str = Field(min_length=1)
    scenarios: tuple[Conversation, ...] = Field(min_length=1)


def read_set(path: Path) -> ConversationSet:
    """Reads a file of the format, refusing it at its first defect.

    Raises:
        DataError: names file, field, value and fix.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    return parse_set(parsed(data, str(path)), str(path))


def parse_set(raw: object, where: str) -> ConversationSet:
    """Checks a parsed file.

    Raises:
        DataError: as `read_set`.
    """
    problems, result = lint_set(raw)
    errors = errors_of(problems)
    if errors or result is None:
        raise refusal(errors, where)
    return result


def lint_set(raw: object) -> tuple[list[Problem], ConversationSet | None]:
    """Names every defect of a file, and returns what was read if it could be."""
    problems = list(_flawed_texts(raw))
    try:
        result = ConversationSet.model_validate(raw)
    except ValidationError as error:
        causes = [item for item in _causes(error) if item["type"] != "string_unicode"]
        return [*problems, *map(_shape_problem, causes)], None
    seen: set[str] = set()
    for conversation in result.scenarios:
        if conversation.id in seen:
            problems.append(_error(conversation.id, "scenario id occurs twice", "rename one"))
        seen.add(conversation.id)
        problems.extend(_lint_conversation(conversation))
    return problems, result


def _flawed_texts(raw: object) -> Iterator[Problem]:
    """Every string of a parsed file that is not UTF-8; a key stands for its place."""
    waiting: list[tuple[str, object]] = [("", raw)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, str) and (flaw := utf8_flaw(value)):
            yield _error(where or "(top level)", f"is not text: {flaw}", "repair the text")
        elif isinstance(value, dict):
            waiting += [(where, key) for key in value if utf8_flaw(key)]
            items = [(f"{where}.{_plain(key)}".lstrip("."), item) for key, item in value.items()]
            waiting += reversed(items)
        elif isinstance(value, list):
            waiting += reversed([(f"{where}.{n}", item) for n, item in enumerate(value)])


def _plain(text: object) -> str:
    """Printable whatever it holds."""
    return str(text).encode(errors="backslashreplace").decode()


def _causes(error: ValidationError) -> list[ErrorDetails]:
    """The errors without their echoes: a list whose only element is wrong also counts as empty."""
    items = error.errors()
    places = [item["loc"] for item in items]

    def echo(item: ErrorDetails) -> bool:
        length = len(item["loc"])
        inside = any(place[:length] == item["loc"] and len(place) > length for place in places)
        return item["type"] == "too_short" and inside

    return [item for item in items if not echo(item)]


def _shape_problem(item: ErrorDetails) -> Problem:
    location = ".".join(_plain(part) for part in item["loc"]) or "(top level)"
    value = item["input"]
    got = f", got {value!r:.80}" if isinstance(value, str | int | float | bool) else ""
    return _error(location, f"{item['msg']}{got}", "see docs/formats.md")


def _error(where: str, message: str, fix: str) -> Problem:
    return Problem("error", where, message, fix)


def _lint_conversation(conversation: Conversation) -> Iterator[Problem]:
    where = conversation.id
    texts: dict[str, str] = {}
    last: datetime | None = None
    for session in conversation.sessions:
        if last is not None and session.date < last:
            message = f"date {session.date:%Y-%m-%d} is before the session ahead of it"
            yield _error(f"{where}.{session.id}", message, "put sessions in time order")
        last = session.date
        for message_ in session.messages:
            if message_.id in texts:
                yield _error(f"{where}.{message_.id}", "message id occurs twice", "rename one")
            texts[message_.id] = message_.text
    names: set[str] = set()
    for question in conversation.questions:
        if question.id in names:
            yield _error(f"{where}.{question.id}", "question id occurs twice", "rename one")
        names.add(question.id)
        yield from _lint_question(f"{where}.{question.id}", question, texts)


def _lint_question(
    where: str, question: ConversationQuestion, texts: dict[str, str]
) -> Iterator[Problem]:
    for name in (*question.evidence, *question.stale):
        if name not in texts:
            message = f"names message {name!r}, which does not exist"
            yield _error(where, message, "name a message id of this scenario")
    both = set(question.evidence) & set(question.stale)
    if both:
        message = f"{sorted(both)} are both evidence and stale"
        yield _error(where, message, "a message either holds the answer or a superseded one")
    evidence = " ".join(texts.get(name, "") for name in question.evidence).lower()
    for keyword in question.keywords:
        if keyword.lower() not in evidence:
            message = f"keyword {keyword!r} is in no evidence message"
            yield Problem("warning", where, message, "the lenient rule may never hit; change it")


def scenario_of(conversation: Conversation) -> Scenario:
    """Every message an episode with its session's date; then all questions."""
    timeline: list[Event] = [
        Episode(
            episode_id=message.id,
            timestamp=session.date,
            text=f"{message.speaker}: {message.text}",
        )
        for session in conversation.sessions
        for message in session.messages
    ]
    gold = {}
    for item in conversation.questions:
        name = f"{conversation.id}#{item.id}"
        timeline.append(Question(question_id=name, text=item.question, asked_at=item.asked_at))
        gold[name] = Gold(
            question_id=name,
            category=item.category,
            answer=item.answer,
            evidence=item.evidence,
            stale=item.stale,
            keywords=item.keywords,
        )
    return Scenario(conversation.id, timeline, gold)
