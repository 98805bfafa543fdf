"""Problems that were solved: what was done and why, in prose."""

from memrig.suites.longhorizon.model import WorldEvent
from memrig.suites.longhorizon.programs.base import Draft, Form, Scene
from memrig.suites.longhorizon.query import Condition, Explained, Having

_CATEGORY = "problem_solving"


def _symptom(scene: Scene, event: WorldEvent) -> WorldEvent | None:
    held = scene.now.standing(event.entity, "symptom")
    return held[0] if held else None


def _of(symptom: WorldEvent) -> Having:
    return Having(kind="case", conditions=(Condition(attribute="symptom", value=symptom.value),))


def approach(scene: Scene, event: WorldEvent) -> Draft | None:
    """What was done about a symptom, and why."""
    symptom = _symptom(scene, event)
    if symptom is None:
        return None
    said = scene.shown(symptom)
    texts = (
        (
            f"A symptom shows again: {said}. Which approach was taken in the case that had it, and "
            "what was the reason?"
        ),
        f"Which approach did we take, and for what reason, when the symptom was this: {said}?",
        f"The symptom of a case was: {said}. State its approach and its reason.",
    )
    program = Explained(of=_of(symptom), attributes=("approach", "reason"))
    return Draft(program, texts, "explain")


def rejected(scene: Scene, event: WorldEvent) -> Draft | None:
    """What was turned down, under which constraint."""
    symptom = _symptom(scene, event)
    if symptom is None:
        return None
    said = scene.shown(symptom)
    texts = (
        (
            f"In the case with this symptom: {said}. Which option was rejected, and what was the "
            "constraint?"
        ),
        f"The symptom was: {said}. Under which constraint did we work, and what did we reject?",
        (
            f"When the symptom was this: {said}, what was the constraint and which option was "
            "rejected?"
        ),
    )
    program = Explained(of=_of(symptom), attributes=("constraint", "rejected"))
    return Draft(program, texts, "explain")


def outcome(scene: Scene, event: WorldEvent) -> Draft | None:
    """How it ended, and by which approach."""
    symptom = _symptom(scene, event)
    if symptom is None:
        return None
    said = scene.shown(symptom)
    texts = (
        f"The symptom was: {said}. Which approach did we follow, and what was the outcome?",
        f"What was the approach, and what the outcome, of the case with this symptom: {said}?",
        f"State approach and outcome of the case in which the symptom was: {said}.",
    )
    program = Explained(of=_of(symptom), attributes=("approach", "outcome"))
    return Draft(program, texts, "explain")


FORMS: tuple[Form, ...] = (
    Form(_CATEGORY, "approach", ("case.reason",), approach, anchored=False),
    Form(_CATEGORY, "rejected", ("case.rejected", "case.constraint"), rejected, anchored=False),
    Form(_CATEGORY, "outcome", ("case.outcome",), outcome, anchored=False),
)
