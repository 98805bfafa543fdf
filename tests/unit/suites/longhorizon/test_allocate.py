"""The data gates of the questions: shares, depth, checkpoints, two sets, no two seeds alike."""

from collections import Counter
from itertools import combinations

import pytest

from memrig.errors import UsageError
from memrig.model.gold import (
    AbstentionGold,
    DateGold,
    EntityGold,
    NumberGold,
    OrderedListGold,
    SetGold,
)
from memrig.suites.longhorizon.allocate import BINS, CHECKPOINTS, allocate, quotas, shares
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.programs import CATEGORIES, FORMS, forms_of
from memrig.suites.longhorizon.questions import WorldQuestion
from memrig.suites.longhorizon.world import simulate

SEEDS = (42, 123, 456, 789, 1001)


@pytest.fixture(scope="module")
def logs():
    """The worlds of five seeds at 5,000 turns."""
    made = {}
    for seed in SEEDS:
        made[seed] = EventLog.create()
        simulate(made[seed], LEXICON, seed, 5_000)
    yield made
    for log in made.values():
        log.close()


@pytest.fixture(scope="module")
def asked(logs):
    """200 questions about each."""
    return {seed: allocate(log, LEXICON, 200) for seed, log in logs.items()}


@pytest.fixture(scope="module")
def everything(asked):
    """The questions of all seeds."""
    return [question for questions in asked.values() for question in questions]


@pytest.fixture(scope="module")
def holdout(logs):
    """200 questions about what is held out of the first world."""
    return allocate(logs[42], LEXICON, 200, holdout=True)


@pytest.mark.parametrize(
    ("total", "weights", "expected"),
    [(200, [15, 15, 15, 55], [30, 30, 30, 110]), (7, [1, 1, 1], [3, 2, 2]), (1, [1, 3], [0, 1])],
)
def test_a_number_is_divided_by_largest_remainders(total, weights, expected):
    """Nothing is lost, and equals are served in order."""
    assert shares(total, weights) == expected


def test_every_category_has_its_share(asked):
    """Within one of each other, in every world; nothing is cut at the tail."""
    for questions in asked.values():
        counts = Counter(question.category for question in questions)
        assert counts == quotas(200)
        assert {*counts} == {*CATEGORIES}


def test_checkpoints_have_their_shares(asked):
    """15 % of the questions after each quarter of the turns but the last, 55 % at the end."""
    for questions in asked.values():
        counts = Counter(question.asked_after for question in questions)
        assert counts == {1_250: 30, 2_500: 30, 3_750: 30, 5_000: 110}
    assert sum(share for _, share in CHECKPOINTS) == 100


def test_each_category_is_asked_at_every_checkpoint(everything):
    """None is left to the end."""
    found = Counter((q.category, q.asked_after) for q in everything)
    assert len(found) == len(CATEGORIES) * len(CHECKPOINTS)


def test_depth_is_the_place_of_the_last_evidence(everything):
    """Among the turns told before the question: with it, all has been told."""
    several = 0
    for question in everything:
        turns = [int(name[1:]) for name in question.evidence]
        several += len(turns) > 1
        expected = max(turns) / question.asked_after if turns else None
        assert question.depth == expected
    assert several > 100


def test_figures_and_dates_are_graded_in_exactness_too(everything):
    """Exactly those: a name or a sentence has no unit to leave out."""
    for question in everything:
        has = "specificity" in {aspect.dimension for aspect in question.aspects}
        assert has is isinstance(question.answer, NumberGold | DateGold)


def test_the_order_of_a_history_is_graded_apart_from_its_values(everything):
    """Accuracy asks which there were, temporal awareness in which order."""
    orders = [
        (question, aspect.answer)
        for question in everything
        for aspect in question.aspects
        if isinstance(aspect.answer, OrderedListGold)
    ]
    assert len(orders) > 10
    for question, order in orders:
        assert isinstance(question.answer, SetGold)
        assert order.items == question.answer.items
        assert len(order.items) == len(question.hops)


@pytest.mark.parametrize(
    ("dimension", "categories"),
    [
        ("temporal_awareness", {"temporal_evolution", "temporal_trap"}),
        ("source_attribution", {"source_attribution"}),
    ],
)
def test_what_a_category_is_about_is_a_dimension_of_its_questions(
    everything, dimension, categories
):
    """What has no answer has no dimension beside being right."""
    for question in everything:
        dimensions = {aspect.dimension for aspect in question.aspects}
        if question.category in categories:
            assert dimension in dimensions
        if not question.answerable:
            assert not dimensions


def test_evidence_is_spread_evenly_over_ten_depths(asked):
    """Each bin holds 10 % of a world's questions with evidence, within three points."""
    for seed, questions in asked.items():
        depths = [q.depth for q in questions if q.depth is not None]
        counts = Counter(int(depth * BINS) for depth in depths)
        parts = {place: counts[place] / len(depths) for place in range(BINS)}
        assert all(0.07 <= part <= 0.13 for part in parts.values()), (seed, parts)


def test_within_a_category_evidence_is_spread_too(everything):
    """Over five worlds, no category leaves a tenth of the depths out."""
    found = {(q.category, int(q.depth * BINS)) for q in everything if q.depth is not None}
    missing = [(c, b) for c in CATEGORIES for b in range(BINS) if (c, b) not in found]
    assert missing == []


def test_two_seeds_share_hardly_a_question(asked):
    """At least 95 % of the texts differ between any two worlds."""
    for one, other in combinations(asked.values(), 2):
        texts = {question.text for question in other}
        same = sum(question.text in texts for question in one)
        assert same <= 0.05 * len(one)


def test_templates_are_stable_across_seeds(asked):
    """Two worlds have most of their forms in common, and these are named alike."""
    forms = [{q.template.rsplit("/", 1)[0] for q in questions} for questions in asked.values()]
    for one, other in combinations(forms, 2):
        assert len(one & other) >= 0.8 * len(one)


def test_no_question_is_asked_twice(asked):
    """Neither in words nor as a program; ids are unique and in the order of asking."""
    for questions in asked.values():
        assert len({q.text for q in questions}) == 200
        assert len({q.program.model_dump_json() for q in questions}) == 200
        assert [q.question_id for q in questions] == sorted({q.question_id for q in questions})
        moments = [q.asked_after for q in questions]
        assert moments == sorted(moments)


def test_every_category_has_at_least_three_templates(everything):
    """As forms, and in what five worlds are asked."""
    for category in CATEGORIES:
        used = {q.template for q in everything if q.category == category}
        assert len(forms_of(category)) >= 3
        assert len(used) >= 3, category


def test_all_forms_are_used(everything):
    """A form that no world can fill in is none."""
    used = {"/".join(q.template.split("/")[:2]) for q in everything}
    assert {f"{form.category}/{form.name}" for form in FORMS} == used


def test_evidence_was_told_before_the_question(everything):
    """And every answerable question has some; the others have none."""
    for question in everything:
        assert bool(question.evidence) is question.answerable
        assert all(int(turn[1:]) < question.asked_after for turn in question.evidence)
        assert not set(question.evidence) & set(question.stale)


def test_evidence_is_told_nowhere_else(logs, asked):
    """No event of a proof was told again before the question."""
    log = logs[42]
    for question in asked[42]:
        for hop in question.hops:
            again = [e for e in log.retold(hop.event_id) if e.kind == "recalled"]
            assert all(event.turn >= question.asked_after for event in again), question.text


def test_the_proof_shows_one_answer(everything):
    """Each step of a question with one answer had exactly one candidate that fitted."""
    for question in everything:
        if question.answerable and question.program.op not in {"claims", "count", "which"}:
            assert all(step.matched == 1 for step in question.proof), question.proof
            assert all(step.scanned >= 1 for step in question.proof)


def test_no_competing_value_is_the_right_one(everything):
    """A sibling that equals the gold would refuse the right answer."""
    for question in everything:
        match question.answer:
            case EntityGold() | NumberGold():
                assert question.answer.value not in question.answer.siblings
            case SetGold():
                items = {item.value for item in question.answer.items}
                assert not items & set(question.answer.siblings)


def test_most_questions_have_a_competing_answer(everything):
    """Traps have one each: what is stale, the sibling's, or hearsay."""
    for category in ("temporal_trap", "distractor_resistance", "temporal_evolution"):
        asked_once = [q for q in everything if q.category == category]
        found = [q for q in asked_once if q.operation in {"lookup", "latest", "as-of"}]
        assert sum(bool(q.competing or q.stale) for q in found) >= 0.95 * len(found)


def test_about_half_of_the_adversarial_questions_have_no_answer(everything):
    """Only there; the right reply to these is to say so."""
    adversarial = [q for q in everything if q.category == "adversarial_distractor"]
    without = [q for q in everything if not q.answerable]
    assert {q.category for q in without} == {"adversarial_distractor"}
    assert 0.4 <= len(without) / len(adversarial) <= 0.6
    for question in without:
        assert isinstance(question.answer, AbstentionGold)
        assert question.gold().tags == ("abstention",)
        assert not question.gold().scorable


def test_the_holdout_set_is_disjoint(logs, asked, holdout):
    """No entity, and no turn that an answer rests on, is in both."""
    log = logs[42]
    assert Counter(q.category for q in holdout) == quotas(200)
    standard = {subject for q in asked[42] for subject in q.subjects}
    held = {subject for q in holdout for subject in q.subjects}
    assert not standard & held
    assert all(log.entity(subject).holdout for subject in held)
    assert not any(log.entity(subject).holdout for subject in standard)
    assert {hop.entity for q in holdout for hop in q.hops} <= held
    evidence = [{turn for q in found for turn in q.evidence} for found in (asked[42], holdout)]
    assert not evidence[0] & evidence[1]


def test_the_same_seed_asks_the_same(logs, asked):
    """Twice from one world."""
    assert allocate(logs[123], LEXICON, 200) == asked[123]


def test_too_many_questions_are_refused_with_their_number():
    """A small world has so many, and says so."""
    with EventLog.create() as log:
        simulate(log, LEXICON, 3, 100)
        with pytest.raises(UsageError, match=r"a world of 100 turns has \d+ such questions"):
            allocate(log, LEXICON, 300, holdout=True)


@pytest.mark.parametrize("seed", [42, 123, 456, 789])
def test_the_sample_has_every_category(seed):
    """300 turns and 30 questions: two of each."""
    with EventLog.create() as log:
        simulate(log, LEXICON, seed, 300)
        counts = Counter(question.category for question in allocate(log, LEXICON, 30))
    assert counts == quotas(30)


@pytest.mark.slow
def test_two_thousand_questions_about_five_thousand_turns(logs):
    """They can be made; a category that has fewer leaves its rest to others."""
    questions = allocate(logs[42], LEXICON, 2_000)
    counts = Counter(question.category for question in questions)
    assert len({q.text for q in questions}) == 2_000
    assert min(counts.values()) >= 0.75 * quotas(2_000)["meta_memory"]


def test_a_question_is_its_own_record(everything):
    """Written and read back, it is the same."""
    for question in everything[:100]:
        assert WorldQuestion.model_validate_json(question.model_dump_json()) == question
