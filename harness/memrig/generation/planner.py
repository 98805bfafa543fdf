"""The deterministic planner: a story's figures by formula, its events by draw."""

from memrig.errors import DataError
from memrig.generation.model import Plan
from memrig.generation.questions import plan_questions
from memrig.generation.spec import Spec
from memrig.generation.story import Story, StoryError, tell
from memrig.generation.stream import Happenings, merge, routine


class FormulaPlanner:
    """Plans without a model. The same spec gives the same plan on every machine."""

    name = "deterministic"

    async def plan(self, spec: Spec) -> Plan:
        """Plans one scope.

        Raises:
            DataError: a formula, fact or question of the spec does not work out.
        """
        return plan_by_formula(spec)


def plan_by_formula(spec: Spec) -> Plan:
    """As `FormulaPlanner.plan`."""
    try:
        story = tell(spec)
        return assemble(story, routine(story))
    except StoryError as error:
        raise unworkable(spec, error) from error


def assemble(story: Story, happenings: Happenings) -> Plan:
    """A plan from a story's figures, wherever those come from: stream, facts, questions.

    Args:
        story: the figures.
        happenings: one entry an episode of the story.

    Raises:
        StoryError: a fact does not hold, or a question does not fit.
    """
    stream = merge(story, happenings)
    return Plan(story.spec, stream, plan_questions(story, stream))


def unworkable(spec: Spec, error: StoryError) -> DataError:
    """That a spec's parts do not fit each other."""
    fix = "change the formula, the reference or the threshold"
    return DataError(str(error), where=f"spec {spec.name}", fix=fix)
