"""A question about a world, with everything that is known of it on the host's side."""

from pydantic import BaseModel, ConfigDict, Field

from memrig.model.gold import Aspect, Gold, GoldAnswer, Operation
from memrig.suites.longhorizon.golds import aspects_of, gold_of
from memrig.suites.longhorizon.interpreter import Answer
from memrig.suites.longhorizon.model import WorldEvent, turn_id
from memrig.suites.longhorizon.programs.base import Draft, Form, Scene, predicate_of
from memrig.suites.longhorizon.query import Named, Program, Since, Value


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", json_schema_serialization_defaults_required=True
    )


class HopRecord(_Frozen):
    """A value that the answer rests on, as the log writes it, and the turn that tells it."""

    entity: str
    attribute: str
    value: str
    event_id: int
    turn_id: str


class StepRecord(_Frozen):
    """A step of the proof of uniqueness: candidates looked at, and those that fitted."""

    what: str
    scanned: int
    matched: int


class WorldQuestion(_Frozen):
    """A line of `questions.jsonl`; docs/formats.md explains every field."""

    question_id: str = ""
    category: str
    template: str
    text: str
    program: Program
    answer: GoldAnswer
    aspects: tuple[Aspect, ...] = ()
    operation: Operation
    answerable: bool
    asked_after: int
    as_of_turn: str
    as_of_day: str
    evidence: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    hops: tuple[HopRecord, ...] = ()
    competing: tuple[str, ...] = ()
    proof: tuple[StepRecord, ...] = ()
    subjects: tuple[str, ...] = ()
    depth: float | None = Field(default=None, ge=0, lt=1)

    def gold(self) -> Gold:
        """What a grader gets to know."""
        return Gold(
            question_id=self.question_id,
            category=self.category,
            answer=self.answer,
            evidence=self.evidence,
            evidence_turns=self.evidence,
            stale=self.stale,
            scorable=bool(self.evidence),
            note="" if self.evidence else "unanswerable: nothing that was told holds the answer",
            tags=() if self.answerable else ("abstention",),
            template=self.template,
            aspects=self.aspects,
            operation=self.operation,
        )


def question_of(scene: Scene, form: Form, event: WorldEvent) -> WorldQuestion | None:
    """The question that a form makes of an event.

    None where it makes none, where the interpreter's answer is not the only one, where the
    question is the other set's, or where a turn of the evidence was told again later.
    """
    if not scene.owns(event.entity):
        return None
    draft = form.make(scene, event)
    if draft is None:
        return None
    found = scene.now.answer(draft.program)
    if bool(found.unknown) is not bool(draft.reason):
        return None
    subjects = _subjects(scene, draft, found)
    if not subjects or _told_again(scene, found):
        return None
    return _question(scene, form, draft, found, (predicate_of(event), subjects))


def _subjects(scene: Scene, draft: Draft, found: Answer) -> tuple[str, ...]:
    """What a question is about; empty: some of it belongs to the other set."""
    entities = dict.fromkeys(hop.entity for hop in found.hops)
    if isinstance(draft.program, Value | Since) and isinstance(draft.program.of, Named):
        entities.setdefault(draft.program.of.entity)
    return tuple(entities) if all(scene.owns(entity) for entity in entities) else ()


def _told_again(scene: Scene, found: Answer) -> bool:
    """Whether the evidence is not the only place that tells it."""
    return any(
        other.kind == "recalled" and other.turn < scene.now.told
        for hop in found.hops
        for other in scene.log.retold(hop.event)
    )


def _question(
    scene: Scene,
    form: Form,
    draft: Draft,
    found: Answer,
    about: tuple[str, tuple[str, ...]],
) -> WorldQuestion:
    evidence = () if draft.reason else found.turns
    answer = gold_of(scene, draft, found)
    told = scene.now.told
    return WorldQuestion(
        category=form.category,
        template=f"{form.category}/{form.name}/{about[0]}",
        text=draft.texts[int(scene.chance.random() * len(draft.texts))],
        program=draft.program,
        answer=answer,
        aspects=aspects_of(scene, draft, found, answer),
        operation=draft.operation,
        answerable=not draft.reason,
        asked_after=told,
        as_of_turn=turn_id(told - 1),
        as_of_day=scene.now.day,
        evidence=tuple(turn_id(turn) for turn in evidence),
        stale=tuple(turn_id(turn) for turn in sorted(found.stale - set(evidence))),
        hops=() if draft.reason else _hops(found),
        competing=tuple(found.wrong),
        proof=tuple(
            StepRecord(what=s.what, scanned=s.scanned, matched=s.matched) for s in found.steps
        ),
        subjects=about[1],
        depth=evidence[-1] / told if evidence else None,
    )


def _hops(found: Answer) -> tuple[HopRecord, ...]:
    return tuple(
        HopRecord(
            entity=hop.entity,
            attribute=hop.attribute,
            value=hop.value,
            event_id=hop.event,
            turn_id=turn_id(hop.turn),
        )
        for hop in found.hops
    )
