"""What makes a dataset fair: shapes that tell nothing, questions that say what they ask."""

from collections import Counter

from memrig.generation.model import Draft
from memrig.generation.planner import plan_by_formula
from memrig.generation.render import document
from memrig.generation.spec import Spec
from memrig.generation.validators.plan import QuestionForm
from memrig.generation.validators.separable import Separability
from support.stories import pump_spec


def rendered(spec: Spec) -> Draft:
    plan = plan_by_formula(spec)
    made = enumerate(plan.episodes)
    return Draft(plan, {e.episode_id: document(e.sheet, spec.document, n) for n, e in made})


def test_a_theme_of_another_shape_is_told_by_its_figures():
    """Fewer series than the story: the fix says so."""
    spec = pump_spec()
    theme = spec.distractors.themes[0]
    small = theme.model_copy(update={"signals": theme.signals[:2]})
    distractors = spec.distractors.model_copy(update={"themes": (small,)})
    draft = rendered(spec.model_copy(update={"distractors": distractors}))
    found = [f for f in Separability().check(draft) if f.where == "figures"]
    assert len(found) == 1
    assert "as many series" in found[0].fix


def test_a_threshold_that_a_prompt_keeps_to_itself_is_a_finding():
    """Nobody could know from where on something counts as moved."""
    spec = pump_spec()
    quiet = tuple(
        question.model_copy(update={"prompt": question.prompt.replace("30", "most")})
        for question in spec.questions
    )
    found = list(QuestionForm().check(rendered(spec.model_copy(update={"questions": quiet}))))
    assert found
    assert all("inlet above 30" in finding.message for finding in found)


def test_each_place_of_a_day_is_the_storys_equally_often():
    """Dealt, not thrown: chance does not make the first document of a day the telling one."""
    spec = pump_spec(distractors=pump_spec().distractors.model_dump() | {"ratio": 3})
    days: dict[object, list[str]] = {}
    for episode in plan_by_formula(spec).episodes:
        days.setdefault(episode.timestamp.date(), []).append(episode.kind)
    assert Counter(kinds.index("signal") for kinds in days.values()) == dict.fromkeys(range(4), 5)
