"""Problems that were solved: what was done and why, in prose."""

from memrig.suites.longhorizon.model import WorldEvent
from memrig.suites.longhorizon.programs.base import Draft, Form, Maker, Scene, condition
from memrig.suites.longhorizon.query import Explained, Having

_CATEGORY = "problem_solving"


def _explained(attributes: tuple[str, str], *wordings: str) -> Maker:
    """Asks for two attributes of the case that had a symptom, which `{said}` stands for."""

    def make(scene: Scene, event: WorldEvent) -> Draft | None:
        symptom = scene.standing(event, "symptom")
        if symptom is None:
            return None
        texts = tuple(wording.format(said=scene.shown(symptom)) for wording in wordings)
        case = Having(kind="case", conditions=(condition(symptom),))
        return Draft(Explained(of=case, attributes=attributes), texts, "explain")

    return make


#: What was done about a symptom, and why.
approach = _explained(
    ("approach", "reason"),
    "A symptom shows again: {said}. Which approach was taken in the case that had it, and what was "
    "the reason?",
    "Which approach did we take, and for what reason, when the symptom was this: {said}?",
    "The symptom of a case was: {said}. State its approach and its reason.",
)
#: What was turned down, under which constraint.
rejected = _explained(
    ("constraint", "rejected"),
    "In the case with this symptom: {said}. Which option was rejected, and what was the "
    "constraint?",
    "The symptom was: {said}. Under which constraint did we work, and what did we reject?",
    "When the symptom was this: {said}, what was the constraint and which option was rejected?",
)
#: How it ended, and by which approach.
outcome = _explained(
    ("approach", "outcome"),
    "The symptom was: {said}. Which approach did we follow, and what was the outcome?",
    "What was the approach, and what the outcome, of the case with this symptom: {said}?",
    "State approach and outcome of the case in which the symptom was: {said}.",
)

FORMS: tuple[Form, ...] = (
    Form(_CATEGORY, "approach", ("case.reason",), approach, anchored=False),
    Form(_CATEGORY, "rejected", ("case.rejected", "case.constraint"), rejected, anchored=False),
    Form(_CATEGORY, "outcome", ("case.outcome",), outcome, anchored=False),
)
