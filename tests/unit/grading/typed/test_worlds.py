"""What a world of projects, hosts and logs holds: codes, addresses, versions, successions, rumours.

Each case is an answer as people and models give it, with the score that it deserves.
"""

import pytest

from memrig.grading.typed import grade_text
from memrig.model.gold import (
    AbstentionGold,
    DateGold,
    EntityGold,
    GoldAnswer,
    NumberGold,
    TextGold,
)

BUDGET = "What is the budget of Project Marram now?"
LEAD = "Who leads Project Marram now?"
MEMORY = "How much memory does host nyx-41 have?"
THEN = "What was the budget of Project Marram on 14 July 2031?"
PET = "What pet does Mara Ellison have?"
NOTHING = AbstentionGold(type="abstention")


def number(value: float, unit: str, *siblings: float, tolerance: float = 0) -> NumberGold:
    return NumberGold(type="number", value=value, unit=unit, siblings=siblings, tolerance=tolerance)


def entity(value: str, *siblings: str) -> EntityGold:
    return EntityGold(type="entity", value=value, siblings=siblings)


def scored(answer: str, gold: GoldAnswer, question: str) -> float:
    return grade_text(answer, gold, question)


@pytest.mark.parametrize(
    ("answer", "gold", "question"),
    [
        ("Host 10.42.7.19 has 64 GB.", number(64, "GB", 128), MEMORY),
        ("The memory of nyx-41 (10.42.7.19) is 64 gigabytes.", number(64, "GB", 128), MEMORY),
        ("64GB", number(64, "GB", 128), MEMORY),
        ("As SEC-004512 and SEC-004513 show, 3 log-ins.", number(3, "log-ins"), "How many?"),
        ("Release 4.12.1 listens on 8443.", number(8443, "", 9443), "On which port?"),
        ("It was opened on 4 March 2031 from 10.9.12.4.", DateGold(
            type="date", value="2031-03-04"), "When was INC-0042 opened?"),
        ("Version 4.12.10 shipped on 4 March 2031.", DateGold(
            type="date", value="2031-03-04"), "When did it ship?"),
    ],
)  # fmt: skip
def test_addresses_versions_and_codes_are_no_numbers_and_no_dates(answer, gold, question):
    """They stand beside the value, and do not compete with it."""
    assert scored(answer, gold, question) == 1


@pytest.mark.parametrize(
    ("answer", "score"), [("10.9.12.4", 1), ("It is 10.9.12.4.", 1), ("10.9.12.40", 0)]
)
def test_an_address_is_one_word(answer, score):
    """Never cut, never the beginning of another."""
    gold = entity("10.9.12.4", "10.9.12.40")
    assert scored(answer, gold, "What is the address of nyx-41?") == score


@pytest.mark.parametrize("answer", ["v4.12.1", "It went from 4.12.0 to 4.12.1.", "4.12.1."])
def test_a_version_may_have_its_v_and_its_predecessor(answer):
    """The dots of the old one end no sentence."""
    assert scored(answer, entity("4.12.1", "4.12.0"), "Which version is current?") == 1


@pytest.mark.parametrize("answer", ["4,950ms", "4950 milliseconds", "4.95 seconds"])
def test_milliseconds_are_seconds(answer):
    """Converted where that is exact."""
    assert scored(answer, number(4950, "ms", 450), "How long is the timeout?") == 1


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Mara Ellison took over from Tobias Renn.", 1),
        ("Tobias Renn handed Project Marram over to Mara Ellison.", 1),
        ("Mara Ellison replaced Tobias Renn as lead.", 1),
        ("Mara Ellison leads it; before it was Tobias Renn.", 1),
        ("There are rumours that it is Tobias Renn, but it is Mara Ellison.", 1),
        ("Tobias Renn took over from Mara Ellison.", 0),
        ("Mara Ellison handed Project Marram over to Tobias Renn.", 0),
        ("Tobias Renn replaced Mara Ellison as lead.", 0),
        ("There are rumours that it is Mara Ellison.", 0),
        ("Allegedly it is Mara Ellison.", 0),
    ],
)
def test_who_succeeds_whom(answer, score):
    """The one who comes holds, the one who goes is of the past; a rumour asserts nothing."""
    assert scored(answer, entity("Mara Ellison", "Tobias Renn"), LEAD) == score


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("On 14 July it was 38,000 EUR; now it is 41,500 EUR.", 1),
        ("It was 38,000 EUR.", 1),
        ("On 14 July it was 41,500 EUR; now it is 38,000 EUR.", 0),
        ("It is 41,500 EUR.", 0),
    ],
)
def test_a_question_of_the_past_is_not_answered_by_what_is_now(answer, score):
    """What is now may stand beside it."""
    assert scored(answer, number(38_000, "EUR", 41_500), THEN) == score


@pytest.mark.parametrize(
    ("answer", "gold", "score"),
    [
        ("Together 93,500.50 EUR (41,500 and 52,000.50).", number(93_500.5, "EUR"), 1),
        ("41,500 + 52,000.50 = 93,500.50 EUR", number(93_500.5, "EUR"), 1),
        ("The average of 10, 20 and 60 tickets is 30 tickets.", number(30, "tickets"), 1),
        ("It rose by 12.5%: from 1,070 to 1,204 tickets.", number(12.5, "%", tolerance=0.05), 1),
        ("The average of 10, 20 and 60 tickets is 20 tickets.", number(30, "tickets"), 0),
        ("Together 93,000 EUR (41,500 and 52,000.50).", number(93_500.5, "EUR"), 0),
        ("93,500.50 EUR, 41,500 EUR, 52,000.50 EUR", number(93_500.5, "EUR"), 0),
    ],
)
def test_workings_may_stand_beside_a_result(answer, gold, score):
    """A list of values is none."""
    assert scored(answer, gold, "What does it come to?") == score


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("There is only an unconfirmed rumour.", 1),
        ("It was never confirmed; it was only rumoured to be a cat.", 1),
        ("Mara Ellison's pet was never mentioned. Mara Allison has a cat.", 1),
        ("The premise is wrong: Mara Ellison has no pet.", 1),
        ("Mara Ellison has a cat.", 0),
        ("Probably a cat.", 0),
    ],
)
def test_a_mere_rumour_or_a_false_premise_is_told_as_such(answer, score):
    """Where nothing is known, that is the answer."""
    assert scored(answer, NOTHING, PET) == score


def test_the_comma_of_a_thousand_makes_no_list():
    """Three amounts are not a dump of six things."""
    answer = "The budget is 1,041,500 EUR, up from 1,038,000 EUR, after 1,020,000 EUR."
    assert scored(answer, number(1_041_500, "EUR", 1_038_000, 1_020_000), BUDGET) == 1


def test_a_rumour_is_an_answer_where_one_is_asked_for_and_in_prose():
    """It asserts nothing; but it was told."""
    gold = entity("Mara Ellison", "Tobias Renn")
    said = "It is rumoured to be Mara Ellison."
    assert scored(said, gold, "Who is rumoured to lead Project Marram?") == 1
    assert scored(said, gold, LEAD) == 0
    facts = TextGold(type="text", value="Rumours.", key_facts=("merger rumours spread",))
    assert scored("Rumours of a merger spread through the office.", facts, "What spread?") == 1


@pytest.mark.parametrize(
    "question",
    [
        "What was the status of INC-0042 before it last changed?",
        "The status of INC-0042 has changed: what was it just before the last change?",
        "What was the status of INC-0042 right before that?",
    ],
)
def test_what_was_before_a_change_is_read_out_of_the_change(question):
    """Or said plainly; what came of it is no answer."""
    gold = entity("reported", "triaged", "resolved")
    assert scored("The status of INC-0042 has moved from reported to triaged.", gold, question) == 1
    assert scored("It was reported.", gold, question) == 1
    assert scored("reported", gold, question) == 1
    assert scored("It moved from triaged to reported.", gold, question) == 0
    assert scored("It is triaged.", gold, question) == 0


def test_milliseconds_end_a_sentence():
    """They are not the abbreviation of a title."""
    gold = number(209, "ms", 187)
    said = "It was not 187 ms. The latency was 209 ms. Ms. Varga said so."
    assert scored(said, gold, "What was the latency?") == 1
