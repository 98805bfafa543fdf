"""Plans: one stream that tells nobody which is which, and questions that know no later episode."""

import re
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrig.errors import DataError
from memrig.generation.facts import day_text
from memrig.generation.factspec import levels_of
from memrig.generation.planner import FormulaPlanner, plan_by_formula
from memrig.generation.spec import Spec
from memrig.generation.specfile import BUILT_IN, built_in
from memrig.grading.typed.facts import fact_score
from memrig.grading.typed.reading import read
from memrig.model.longitudinal import QUESTION_TYPES
from support.stories import pump_spec

PLACES = st.sampled_from(["first", "last", "1", "2", "3", "30%", "50%", "90%"])
REFS = st.one_of(
    st.just("now"), st.builds("{}:{}".format, st.sampled_from(["calm", "wear", "story"]), PLACES)
)


def sized(spec: Spec, episodes: int, ratio: float, seed: int = 1) -> Spec:
    timeline = spec.timeline.model_copy(update={"episodes": episodes})
    distractors = spec.distractors.model_copy(update={"ratio": ratio})
    changes = {"timeline": timeline, "distractors": distractors, "seed": seed}
    return spec.model_copy(update=changes)


def asking(after: str, start: str, end: str) -> Spec:
    """A spec with one question and one fact over a stretch, both by reference."""
    fact = {"id": "f", "kind": "steady", "signal": "tank", "start": start, "end": end}
    question = {
        "id": "q",
        "type": "negative",
        "after": after,
        "prompt": f"Since {{{start}}}?",
        "facts": ["f"],
    }
    return pump_spec(facts=[fact], questions=[question])


@settings(deadline=None)
@given(
    refs=st.tuples(REFS, REFS, REFS),
    episodes=st.integers(5, 60),
    ratio=st.sampled_from([0, 0.5, 1, 2.3, 3]),
    seed=st.integers(0, 2**40),
)
def test_evidence_is_always_before_its_checkpoint(refs, episodes, ratio, seed):
    """Whatever a spec refers to: such a plan comes out, or none at all."""
    try:
        plan = plan_by_formula(sized(asking(*refs), episodes, ratio, seed))
    except DataError:
        return
    places = {e.number: n for n, e in enumerate(plan.episodes, start=1) if e.kind == "signal"}
    (question,) = plan.questions
    assert question.evidence
    assert all(places[number] <= question.checkpoint_after for number in question.evidence)
    assert max(question.evidence) <= question.after
    last_day = plan.episodes[question.checkpoint_after - 1].sheet.day
    assert all(day <= day_text(last_day) for day in re.findall(r"\d{4}-\d\d-\d\d", question.prompt))


@pytest.mark.parametrize(
    ("refs", "problem"),
    [
        (("calm:last", "wear:first", "now"), "comes after"),
        (("now", "story:first", "now"), "'now' means nothing here"),
        (("calm:last", "elsewhere:first", "now"), "no phase is named 'elsewhere'"),
    ],
)
def test_what_lies_after_a_question_is_refused_by_the_questions_name(refs, problem):
    """With the spec's, too."""
    with pytest.raises(DataError, match=f"spec pump: question 'q': .*{problem}"):
        plan_by_formula(asking(*refs))


@pytest.mark.parametrize("placeholder", ["wear:last", "calm", "", "calm:5x"])
def test_a_prompt_names_only_days_that_have_been(placeholder):
    """A placeholder is a reference, and none to the future."""
    spec = asking("calm:last", "story:first", "now")
    question = spec.questions[0].model_copy(update={"prompt": f"On {{{placeholder}}}?"})
    with pytest.raises(DataError, match="the prompt names"):
        plan_by_formula(spec.model_copy(update={"questions": (question,)}))


@settings(deadline=None)
@given(
    episodes=st.integers(5, 60),
    ratio=st.sampled_from([0, 0.5, 1, 2.3, 3]),
    seed=st.integers(0, 2**40),
)
def test_the_stream_is_in_time_order_and_its_ids_say_nothing(episodes, ratio, seed):
    """One report day holds one document of the story; ids are of one pattern."""
    plan = plan_by_formula(sized(asking("calm:last", "story:first", "now"), episodes, ratio, seed))
    kinds = Counter(episode.kind for episode in plan.episodes)
    assert kinds["signal"] == episodes
    assert abs(kinds["distractor"] - episodes * ratio) < 0.51
    stamps = [episode.timestamp for episode in plan.episodes]
    assert stamps == sorted(set(stamps))
    assert len({episode.episode_id for episode in plan.episodes}) == len(stamps)
    assert all(re.fullmatch(r"e-[0-9a-f]{10}", e.episode_id) for e in plan.episodes)
    for day, of_day in groupby(plan.episodes, key=lambda e: e.sheet.day):
        told = list(of_day)
        assert [e.kind for e in told].count("signal") == 1
        assert all(e.timestamp.date() == day for e in told)
    for kind in kinds:
        numbers = [e.number for e in plan.episodes if e.kind == kind]
        assert numbers == list(range(1, len(numbers) + 1))


def test_the_story_has_no_place_of_its_own_in_a_day():
    """First, last or between: over many days, each comes up as often."""
    plan = plan_by_formula(sized(pump_spec(), 200, 3))
    days = [list(of) for _, of in groupby(plan.episodes, key=lambda e: e.sheet.day)]
    places = Counter([e.kind for e in day].index("signal") for day in days)
    assert sorted(places) == [0, 1, 2, 3]
    assert min(places.values()) > 30


def test_sheets_hold_no_word_of_what_they_are_for():
    """The heading is the scope's, whatever the document belongs to."""
    plan = plan_by_formula(pump_spec())
    assert {e.sheet.heading for e in plan.episodes} == {"Pump house sheet"}
    for episode in plan.episodes:
        told = episode.sheet.model_dump_json()
        assert "SECRETSTORY" not in told
        assert not any(
            word in told for word in ("calm", "wear", "signal", "distractor", 'kitchen"')
        )


def test_events_all_come_up_before_one_comes_again():
    """And none stands twice in a sheet."""
    plan = plan_by_formula(pump_spec())
    told = [e.sheet.events for e in plan.episodes if e.kind == "signal"]
    assert all(len(set(events)) == len(events) >= 2 for events in told)
    times = Counter(event for events in told for event in events)
    assert max(times.values()) - min(times.values()) <= 2


async def test_the_same_spec_gives_the_same_plan():
    """Another seed gives another."""
    spec = pump_spec()
    assert await FormulaPlanner().plan(spec) == plan_by_formula(spec)
    assert plan_by_formula(spec) != plan_by_formula(sized(spec, 20, 1, seed=2))


def test_a_limit_stands_in_every_document_beside_its_value():
    """Of whatever day."""
    spec = pump_spec()
    limited = spec.signals[0].model_copy(update={"limit": 90.0})
    plan = plan_by_formula(spec.model_copy(update={"signals": (limited, *spec.signals[1:])}))
    for episode in plan.episodes:
        if episode.kind == "signal":
            value, limit, *_ = episode.sheet.sections[0].readings
            assert (value.label, limit.label) == ("Inlet pressure", "Inlet pressure limit")
            assert (limit.value, limit.unit) == ("90.0", "kPa")


@pytest.mark.parametrize("size", [(20, 1.0), (30, 3.0)])
@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_spec_works_out_at_both_sizes_of_the_shipped_dataset(name, size):
    """24 questions of all ten types, each answer stating its own facts in full."""
    plan = plan_by_formula(sized(built_in(name), *size))
    types = Counter(question.type for question in plan.questions)
    assert [types[kind] for kind in QUESTION_TYPES] == [4, 2, 1, 3, 3, 3, 2, 3, 1, 2]
    for question in plan.questions:
        answer = read(question.canonical_answer)
        low = [f.text for f in question.facts if fact_score(answer, f.text) < 0.99]
        assert low == [], question.question_id
    assert len({question.checkpoint_after for question in plan.questions}) >= 4


@settings(deadline=None, max_examples=40)
@given(name=st.sampled_from(BUILT_IN), episodes=st.integers(10, 90), seed=st.integers(0, 2**40))
def test_a_built_in_spec_works_out_at_any_length_and_for_any_seed(name, episodes, seed):
    """No fact of theirs hangs on a draw."""
    assert len(plan_by_formula(sized(built_in(name), episodes, 1, seed)).questions) == 24


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_paraphrase_asks_the_same_in_other_words(name):
    """Facts and checkpoint are those of another question; hardly a word of the prompt is."""
    questions = plan_by_formula(built_in(name)).questions
    for question in questions:
        if question.type != "paraphrase":
            continue
        twins = [
            q for q in questions
            if q.type != "paraphrase" and (q.facts, q.after) == (question.facts, question.after)
        ]  # fmt: skip
        assert twins, question.question_id
        own, other = (set(re.findall(r"[a-z]{4,}", q.prompt.lower())) for q in (question, twins[0]))
        assert len(own & other) <= len(own | other) / 4, question.question_id


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_prompt_of_a_built_in_spec_gives_figures_away(name):
    """Dates of control questions and thresholds of onsets aside, a prompt holds no number."""
    spec = built_in(name)
    levels = [level for fact in spec.facts for level in levels_of(fact)]
    beyond = {f"{level.above or level.below:g}" for level in levels}
    for question in plan_by_formula(spec).questions:
        bare = re.sub(r"\d{4}-\d\d-\d\d|p9\d", "", question.prompt)
        assert set(re.findall(r"\d[\d.]*\d|\d", bare)) <= beyond, question.question_id
