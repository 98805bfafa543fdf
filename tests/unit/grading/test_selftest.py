"""The graders' self-test: over everything that ships, in CI; and that it can fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.grading.phrasings import swapped
from memrig.grading.selftest import (
    BOUNDS,
    Item,
    Table,
    as_markdown,
    items_of,
    selftest,
    show,
    within,
)
from memrig.grading.typed import grade_text
from memrig.model.gold import (
    AbstentionGold,
    BooleanGold,
    EntityGold,
    NumberGold,
    TextGold,
    shown,
)
from memrig.suites.base import SuiteOptions, load_suite
from memrig.suites.practical import built_in

DOCS = Path(__file__).parents[3] / "docs" / "scoring.md"


def items_from(name: str, **options: int) -> list[Item]:
    """The questions of a suite's own data."""
    suite = load_suite(name)
    return list(items_of(suite.scenarios(SuiteOptions(suite.protocols[0], **options))))


ITEMS = items_from("practical")
ITEM = Item("q", "facts", "What rent does she pay?", NumberGold(
    type="number", value=925, unit="GBP", siblings=(850,)
))  # fmt: skip


@pytest.fixture(scope="module")
def table():
    """The self-test of suite `practical`."""
    return selftest(ITEMS)


def test_every_question_of_practical_is_tested():
    """All 144, with the gold that the suite itself reads."""
    own = {
        f"{person.id} {person.id}#{question.id}": question.answer
        for person in built_in().scenarios
        for question in person.questions
    }
    assert len(own) == 144
    assert {item.question_id: item.gold for item in ITEMS} == own


def test_no_answer_of_the_self_test_is_out_of_bounds(table):
    """Gold 0.99 and above, everything else below its bound, each single answer."""
    assert [show(trial) for trial in table.failures] == []


def test_every_category_and_every_type_is_in_the_table(table):
    """Each with every kind of answer."""
    assert {row.group for row in table.by_category} == {item.category for item in ITEMS}
    assert {row.group for row in table.by_type} == {item.gold.type for item in ITEMS}
    assert sum(row.questions for row in table.by_category) == len(ITEMS)
    for row in (*table.by_category, *table.by_type):
        assert set(row.means) == set(BOUNDS)


def test_the_table_in_docs_is_the_one_that_the_command_prints(table):
    """`memrig data selftest --suite practical`."""
    assert as_markdown(table) in DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "grader"),
    [
        ("gold", lambda answer, gold, question: 0.0),
        ("negated", lambda answer, gold, question: float("925" in answer)),
        ("sibling", lambda answer, gold, question: float("9" in answer or "8" in answer)),
        ("dump", lambda answer, gold, question: float("925" in answer)),
        ("echo", lambda answer, gold, question: float("rent" in answer)),
        ("don't know", lambda answer, gold, question: float("know" in answer)),
        ("numbers", lambda answer, gold, question: float("50" in answer)),
    ],
)
def test_a_grader_with_a_fault_fails_the_self_test(kind, grader):
    """Each kind of answer finds its fault."""
    assert kind in {trial.kind for trial in selftest([ITEM], grader).failures}


def test_a_matcher_of_substrings_fails_on_every_category_of_practical():
    """What published benches do."""

    def lenient(answer: str, gold: object, question: str) -> float:
        del question
        return float(shown(gold).split()[0].lower() in answer.lower())

    failed = {trial.item.category for trial in selftest(ITEMS, lenient).failures}
    assert failed == {item.category for item in ITEMS}


def test_abstaining_is_right_where_there_is_no_answer():
    """The bound is turned round."""
    item = Item("q", "abstention", "What is her cat called?", AbstentionGold(type="abstention"))
    table = selftest([item], grade_text)
    assert table.failures == ()
    assert table.by_type[0].means["gold"] == 1
    assert "don't know" not in table.by_type[0].means
    wrong = selftest([item], lambda answer, gold, question: 0.0)
    assert {trial.kind for trial in wrong.failures} == {"gold"}
    assert wrong.breaches == ("abstention: gold scores 0.000", "abstention: gold scores 0.000")


@pytest.mark.parametrize(
    "gold",
    [
        BooleanGold(type="boolean", value=True, about="she pays rent"),
        TextGold(type="text", value="By train from the old station on 5 May 2024"),
    ],
)
def test_what_practical_has_little_of_is_tested_too(gold):
    """A yes, and a text without key facts."""
    table = selftest([Item("q", "x", "How is it?", gold)])
    assert [show(trial) for trial in table.failures] == []


def every_item(name: str, seeds: tuple[int, ...], **options: int) -> Iterator[Item]:
    for seed in seeds:
        yield from items_from(name, seed=seed, **options)


def test_a_small_world_of_longhorizon_passes_answer_by_answer():
    """Every category; the standard worlds are the long lane's."""
    table = selftest(every_item("longhorizon", (42,), turns=300, questions=30))
    assert [show(trial) for trial in table.failures] == []
    assert len(table.by_category) == 15


def assert_in_docs(table: Table) -> None:
    """Every category's line, up to what is scored without the data: that has no bound."""
    told = DOCS.read_text(encoding="utf-8")
    lines = as_markdown(table).split("\n\n")[0].splitlines()[3:]
    assert len(lines) == len(table.by_category)
    for line in lines:
        assert line.rsplit(" | ", 2)[0] in told


@pytest.mark.slow
def test_the_standard_worlds_of_longhorizon_pass_as_docs_say():
    """5,000 turns and 200 questions of each of the four seeds, answer by answer."""
    table = selftest(every_item("longhorizon", (42, 123, 456, 789)))
    assert [show(trial) for trial in table.failures] == []
    assert_in_docs(table)


@pytest.mark.slow
def test_the_shipped_stories_of_longitudinal_pass_as_docs_say():
    """By the mean of every category: a name with "without" in it is still read as a denial."""
    table = selftest(items_from("longitudinal"))
    assert table.breaches == ()
    assert len(table.failures) <= 6
    assert_in_docs(table)


def test_a_story_of_longitudinal_passes():
    """One in six questions of the six stories, by the mean of every category."""
    table = selftest(items_from("longitudinal")[::6])
    assert table.breaches == ()


def test_the_answer_that_needs_no_data_is_reported_beside():
    """The best constant, and the most frequent value of each type; without a bound."""
    golds = ["Oslo", "Oslo", "Bergen"]
    items = [
        Item(f"q{n}", "places", f"Where does number {n} live?", EntityGold(type="entity", value=v))
        for n, v in enumerate(golds)
    ]
    items.append(Item("q3", "places", "Where is her cat?", AbstentionGold(type="abstention")))
    (row,) = selftest(items).by_category
    assert (row.blind.answer, row.blind.constant) == ("Oslo", 0.5)
    assert row.blind.commonest == 0.75
    assert selftest(items).breaches == ()


def test_texts_are_exchanged_for_those_that_say_nothing_of_the_same():
    """And their figures changed where each fact has one."""
    gold = TextGold(type="text", value="Rent rose to 925.", key_facts=("rent rose to 925",))
    same = TextGold(type="text", value="In May the rent rose to 925 after all.")
    other = TextGold(type="text", value="They hired a gardener.")
    assert list(swapped(gold, (gold, same, other))) == [other.value, "Rent rose to 1394."]


def test_a_long_answer_is_a_dump_however_right_a_part_of_it_is():
    """Six hundred words, and ten times those of the gold."""
    gold = TextGold(type="text", value="Rent rose to 925.", key_facts=("rent rose to 925",))
    assert grade_text("The rent rose to 925. " + "The rent is due. " * 50, gold) == 1
    assert grade_text("The rent rose to 925. " + "The rent is due. " * 150, gold) == 0


@pytest.mark.parametrize(("kind", "score"), [("gold", 0.989), ("sibling", 0.001), ("dump", 0.21)])
def test_bounds_are_of_single_answers_and_of_means(kind, score):
    """Scoring §2's."""
    assert not within(kind, score)
    assert within(kind, BOUNDS[kind][1])
