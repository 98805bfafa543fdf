"""From a LongMemEval record to a scenario: what is ingested, and what counts as evidence.

The official retrieval protocol indexes user turns alone, so that its gold is the sessions (or the
turns) whose user turns the data marks. Every other protocol ingests both roles, and its gold is the
sessions that the record names (or the marked turns of either role).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from memrig.model.gold import Gold, GoldAnswer
from memrig.model.scenario import Episode, Event, Question, Scenario, Turn
from memrig.suites.longmemeval_data import Record, Said, Session
from memrig.suites.longmemeval_gold import raw_answer, typed_answer

OFFICIAL = "longmemeval-official"
ALL_TURNS = "longmemeval-all-turns"
TYPED = "longmemeval-typed"
ABSTENTION = "abstention"

ABSTAINS = "abstention: nothing to find"
NO_USER_EVIDENCE = "no user turn holds the answer (official protocol)"
NO_EVIDENCE = "the data marks no turn that holds the answer"


@dataclass(frozen=True, slots=True)
class Shape:
    """How records become scenarios.

    Args:
        user_only: ingest user turns alone.
        turns: an episode is a turn instead of a session.
        by_date: sessions in order of their dates (stable) instead of the file's.
        answer: makes the gold answer.
    """

    user_only: bool
    turns: bool
    by_date: bool
    answer: Callable[[Record], GoldAnswer]


def shape_of(protocol: str, granularity: str, order: str) -> Shape:
    """The shape that options ask for; an empty granularity or order is the default."""
    return Shape(
        user_only=protocol == OFFICIAL,
        turns=granularity == "turn",
        by_date=order == "date",
        answer=typed_answer if protocol == TYPED else raw_answer,
    )


def scenario_of(record: Record, shape: Shape) -> Scenario:
    """One question and its haystack; the timeline is made as it is read."""
    gold = gold_of(record, shape)
    return Scenario(record.question_id, _Timeline(record, shape), {record.question_id: gold})


@dataclass(frozen=True, slots=True)
class _Timeline:
    record: Record
    shape: Shape

    def __iter__(self) -> Iterator[Event]:
        sessions = self.record.sessions
        if self.shape.by_date:
            sessions = tuple(sorted(sessions, key=lambda session: session.date))
        make = _turn_episodes if self.shape.turns else _session_episodes
        for session in sessions:
            yield from make(session, turns_of(session, self.shape), self.shape)
        yield Question(
            question_id=self.record.question_id,
            text=self.record.question,
            asked_at=self.record.asked_at,
        )


def turns_of(session: Session, shape: Shape) -> list[Said]:
    """The turns of a session that are ingested: those of the shape's roles that hold any text."""
    return [
        turn
        for turn in session.turns
        if not turn.empty and (turn.role == "user" or not shape.user_only)
    ]


def _session_episodes(session: Session, turns: list[Said], shape: Shape) -> Iterator[Episode]:
    if not turns:
        return
    if shape.user_only:
        text = " ".join(turn.text for turn in turns)
        yield Episode(episode_id=session.name, timestamp=session.date, text=text)
        return
    yield Episode(
        episode_id=session.name,
        timestamp=session.date,
        text="\n".join(_line(turn) for turn in turns),
        turns=tuple(
            Turn(turn_id=_turn_id(session, turn), speaker=turn.role, text=turn.text)
            for turn in turns
        ),
    )


def _turn_episodes(session: Session, turns: list[Said], shape: Shape) -> Iterator[Episode]:
    for turn in turns:
        yield Episode(
            episode_id=_turn_id(session, turn),
            timestamp=session.date,
            text=turn.text if shape.user_only else _line(turn),
        )


def _turn_id(session: Session, turn: Said) -> str:
    return f"{session.name}_{turn.place}"


def _line(turn: Said) -> str:
    return f"{turn.role}: {turn.text}"


def gold_of(record: Record, shape: Shape) -> Gold:
    """What is right, and which episodes hold it.

    At turn granularity `evidence` and `evidence_turns` are the same: episodes are turns.
    """
    named = [s for s in record.sessions if s.session_id in record.answer_session_ids]
    marked = [(s, turn) for s in named for turn in turns_of(s, shape) if turn.marked]
    turns = tuple(_turn_id(session, turn) for session, turn in marked)
    if shape.turns:
        evidence = turns
    elif shape.user_only:
        evidence = tuple(dict.fromkeys(session.name for session, _ in marked))
    else:
        evidence = tuple(session.name for session in named if turns_of(session, shape))
    note = _not_scorable(record, evidence, shape)
    return Gold(
        question_id=record.question_id,
        category=record.question_type,
        answer=shape.answer(record),
        evidence=evidence,
        evidence_turns=turns,
        scorable=not note,
        note=note,
        tags=(ABSTENTION,) if record.abstains else (),
    )


def _not_scorable(record: Record, evidence: tuple[str, ...], shape: Shape) -> str:
    if record.abstains:
        return ABSTAINS
    if evidence:
        return ""
    return NO_USER_EVIDENCE if shape.user_only else NO_EVIDENCE
