"""Key facts: what states them, what only touches upon their matter, and what denies them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.grading.typed.facts import fact_score
from memrig.grading.typed.reading import read

#: Sentences of many domains, none of them from a data set.
FACTS = (
    "revenue was recognized before delivery in three consecutive quarters",
    "receivables are growing faster than revenue",
    "liver enzyme elevation correlates with the drug dose",
    "dissolved oxygen in the river is declining downstream of the plant",
    "the employee copied confidential files outside working hours",
    "the correlation between bonds and equities has turned positive",
    "the student hides requests for complete solutions inside hypothetical questions",
    "Meridian Capital is quietly buying shares through shell companies",
    "an undocumented endpoint receives 40% of production traffic",
    "zoning permits were granted shortly after donations to the council member",
    "adverse events were reclassified as unrelated to the study drug",
    "sleep disturbance decreased from nightly to rare",
    "the outage was caused by an expired certificate rather than by a network failure",
    "the tenant paid the deposit of 1,200 euros on 5 March 2024",
    "the volatility regime shifted from low to high within 14 trading days",
    "the nightly backup fails since the storage migration, so that no restore is possible",
)
NUMBERED = [fact for fact in FACTS if any(letter.isdigit() for letter in fact)]
#: Says nothing about any of them.
ELSEWHERE = (
    "The cafeteria will reopen on Monday with a new menu.",
    "Two paintings hang in the hall.",
    "Everybody enjoyed the concert.",
)


def score(said, fact, question=""):
    """How far the fact is stated."""
    return fact_score(read(said, question), fact)


def sentence(fact):
    """The fact as one writes it."""
    return f"{fact[0].upper()}{fact[1:]}."


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_states_itself(fact):
    """Word for word it is worth all of 1."""
    assert score(sentence(fact), fact) == 1


@pytest.mark.parametrize("fact", FACTS)
@pytest.mark.parametrize(
    "frame",
    [
        "It is false that {}.",
        "It is not true that {}.",
        "It is no longer the case that {}.",
        "{} That is not true.",
        "{} None of this is true.",
        "There is no evidence that {}.",
    ],
)
def test_a_denied_fact_is_not_stated(frame, fact):
    """Whatever the way of denying it."""
    said = frame.format(sentence(fact) if frame.startswith("{}") else fact)
    assert score(said, fact) <= 0.15


@pytest.mark.parametrize("fact", NUMBERED)
def test_a_changed_number_takes_the_fact_with_it(fact):
    """Every digit counts."""
    for digit in {letter for letter in fact if letter.isdigit()}:
        changed = fact.replace(digit, str((int(digit) + 3) % 10))
        assert score(sentence(changed), fact) == 0


@pytest.mark.parametrize("fact", FACTS)
@pytest.mark.parametrize("other", FACTS)
def test_one_fact_does_not_state_another(fact, other):
    """Reports share words, and yet no facts."""
    if fact != other:
        assert score(sentence(other), fact) <= 0.1


@given(fact=st.sampled_from(FACTS), data=st.data())
def test_a_quarter_of_a_fact_is_nothing(fact, data):
    """No quarter of its words, whichever it is, earns any credit."""
    words = fact.split()
    kept = data.draw(st.sets(st.integers(0, len(words) - 1), max_size=len(words) // 4))
    said = " ".join(words[place] for place in sorted(kept))
    assert score(said, fact) == 0


@given(fact=st.sampled_from(FACTS), aside=st.lists(st.sampled_from(ELSEWHERE), max_size=6))
def test_what_else_is_said_takes_nothing_from_a_fact(fact, aside):
    """Other matters before and after it leave it stated."""
    half = len(aside) // 2
    said = " ".join([*aside[:half], sentence(fact), *aside[half:]])
    assert score(said, fact) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("retries rose on the billing host", "the queue of unpaid invoices grew"),
        ("the patient took less iron", "her headaches returned in autumn"),
    ],
)
def test_the_order_of_clauses_does_not_matter(first, second):
    """Either may come first."""
    fact = f"{first} and {second}"
    assert score(f"{second}, and {first}.", fact) == score(f"{first}, and {second}.", fact) == 1


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("revenue recognized before delivery", "Revenue was recognised prior to delivery."),
        ("accounts receivable growing", "Accounts receivable have been increasing."),
        ("liver enzymes elevated at higher drug doses",
         "Higher doses of the medication raised liver enzymes."),
        ("dissolved oxygen declining downstream of the plant",
         "Downstream of the plant the dissolved oxygen has dropped."),
        ("service degradation due to pool exhaustion",
         "The service degraded because the pool was exhausted."),
        ("the supplier was acquired by a competitor", "A competitor bought the vendor."),
        ("the deploy is not the root cause", "The deploy was a red herring."),
        ("the deploy is not the root cause", "The deploy was a mere coincidence."),
        ("the spill was not caused by the storm", "The spill was unrelated to the storm."),
        ("the network is not the cause", "The network was ruled out as the cause."),
        ("transit is an incomplete substitute for the car",
         "Transit is not a complete substitute for the car."),
        ("the schedule is unreliable", "The schedule is not reliable."),
        ("rents in San Francisco keep increasing", "Rents in SF keep rising."),
        ("sessions are stable", "Sessions remained within normal range."),
    ],
)  # fmt: skip
def test_a_fact_may_be_said_in_other_words(fact, said):
    """Derivations, general synonyms, set phrases and acronyms."""
    assert score(said, fact) >= 0.8


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("geo latency increasing", "Geo latency is decreasing."),
        ("the correlation of bonds and equities is positive",
         "The correlation of bonds and equities is negative."),
        ("connection pool exhaustion", "Use separate connection pools."),
        ("geo API latency increasing", "Monitor the geo API latency with alerts."),
        ("disk failures on the primary", "Disk failures: 0 on the primary."),
        ("disk failures on the primary", "The primary had 0 disk failures."),
        ("retry rate elevated", "The retry rate is normal."),
        ("address lookup p99 rose from 184 ms to 244 ms on the second gateway host",
         "Address lookup p99 fell from 184 ms to 244 ms on the second gateway host."),
    ],
)  # fmt: skip
def test_the_matter_alone_or_its_opposite_is_not_the_fact(fact, said):
    """The subject without its claim, the other direction, and none of it."""
    assert score(said, fact) <= 0.4


def test_a_direction_is_not_borrowed_from_the_sentence_beside():
    """That the pressure rose does not mend that the strokes fell."""
    said = "Pump strokes fell from 73 to 90 this week. Line pressure rose from 2 to 3 bar."
    assert score(said, "pump strokes rose from 73 to 90") == 0


def test_one_word_of_an_answer_states_one_word_of_a_fact():
    """ "Approval" is not both the permit and its granting."""
    fact = "permits were granted after donations"
    assert score("The approval takes six months.", fact) == 0


@pytest.mark.parametrize(
    ("fact", "said", "stated"),
    [
        ("growth of 30%", "growth of 30 percent", True),
        ("growth of 30%", "growth of 0.3", True),
        ("growth of 30%", "growth of 3%", False),
        ("a delay of 2 hours", "a delay of 120 minutes", True),
        ("a delay of 2 hours", "a delay of 2 days", False),
        ("latency of ~38 ms", "latency of 37.8 ms", True),
        ("latency of ~38 ms", "latency of 39 ms", False),
        ("circling for 15-25 minutes", "circling for 15 to 25 minutes", True),
        ("circling for 15-25 minutes", "circling for 20 minutes", False),
        ("more than 30 days overdue", "more than 60 days overdue", False),
        ("the 3rd session was missed", "the 4th session was missed", False),
        ("not within 30 days", "not within 60 days", False),
        ("no report on 3 May 2024", "no report on 4 May 2024", False),
    ],
)
def test_a_number_is_read_with_its_unit(fact, said, stated):
    """Percentages and shares, units that convert, what is about so much, ranges and ordinals."""
    assert (score(said, fact) > 0) == stated


def test_a_long_fact_may_lack_a_number_but_not_have_another():
    """A number left out is a part of it left out; a changed one makes it false."""
    fact = (
        "the auditor found unsigned invoices from one vendor in three warehouses, all approved by "
        "the same regional manager within hours of delivery"
    )
    said = (
        "The auditor found unsigned invoices from one vendor in {}warehouses, all approved by the "
        "same regional manager within hours of delivery."
    )
    assert 0.5 < score(said.format(""), fact) <= score(said.format("three "), fact) == 1
    assert score(said.format("seven "), fact) == 0


def test_what_a_fact_sets_its_claim_off_from_may_go_unsaid():
    """ "Not DNS" need not be said; to say that it was DNS speaks against it."""
    fact = "the outage was caused by an expired certificate, not by a network failure"
    assert score("An expired certificate caused the outage.", fact) == 1
    assert score("An expired certificate and a network failure caused the outage.", fact) < 0.7


def test_a_denial_of_the_whole_reaches_over_its_sentences():
    """ "It is false that A. B." and "A. B. That is not true." deny B and A too."""
    first, second = "The pump has been leaking.", "Pressure is falling in the main line."
    fact = "pressure falling in the main line"
    assert score(f"It is false that {first.lower()} {second}", fact) == 0
    assert score(f"{second} {first} That is not true.", fact) == 0
    assert score(f"The following is false: {second}", fact) == 0


def test_what_a_question_supposes_is_denied_alone():
    """ "It is not true that …" to a leading question, and then the answer."""
    question = "Was the leak caused by a storm?"
    said = "It is not true that the leak was caused by a storm. Corrosion in the main line was it."
    assert score(said, "corrosion in the main line", question) == 1


@pytest.mark.parametrize("fact", FACTS)
def test_a_question_is_no_answer(fact):
    """Neither its echo nor its words as a statement."""
    question = "What can be said about the pattern of changes in the data over time?"
    assert score(question, fact, question) == 0
    assert score("There is a pattern of changes in the data over time.", fact, question) == 0


@pytest.mark.parametrize(
    ("fact", "said", "least"),
    [
        ("visits fell from 40-50 to 10-15 with a short revival to 30 visits during the open day",
         "Visits fell from 40-50 to 10-15 a week.", 0.3),
    ],
)  # fmt: skip
def test_a_compound_fact_is_stated_in_part(fact, said, least):
    """What it tells around its claim may be missing, at a cost."""
    assert least <= score(said, fact) < score(sentence(fact), fact) == 1


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("revenue was recognized before delivery", "Revenue was recognized after delivery."),
        ("the outage was caused by the deploy", "The deploy was triggered by the outage."),
        ("receivables are growing faster than revenue",
         "Revenue is growing faster than receivables."),
    ],
)  # fmt: skip
def test_sides_exchanged_are_another_fact(fact, said):
    """What stands beside before, after, a cause and a comparison tells which is which."""
    assert score(said, fact) <= 0.25


_DAY = "What did the sheet of 2024-01-10 give for the address lookup?"
_LOOKUP = "Address lookup was 184 ms on 2024-01-10"


@pytest.mark.parametrize(
    "said",
    ["Address lookup: 184 ms", "It gave 184 ms.", "184 ms", "On that day it stood at 184 ms."],
)
def test_a_date_of_the_question_need_not_be_repeated(said):
    """Who is asked for a day's figure answers with the figure."""
    assert score(said, _LOOKUP, _DAY) == 1
    assert score(said, _LOOKUP) == 0


@pytest.mark.parametrize(
    "said",
    [
        "It gave 148 ms.",
        "Address lookup was 184 ms on 2024-01-12.",
        "170 ms, 184 ms, 190 ms, 201 ms",
        "Address lookup is on the sheet of 2024-01-10.",
    ],
)
def test_another_figure_or_day_or_a_list_is_no_answer_to_it(said):
    """What the question gives away is not repeated, and nothing else is credited for it."""
    assert score(said, _LOOKUP, _DAY) == 0


def test_to_drive_somewhere_is_no_cause():
    """What stands beside "drives" is not compared; "driven by" is a cause."""
    said = (
        "The nurse considered the bus as an alternative but drives for specific practical reasons, "
        "carrying samples and returning home late at night."
    )
    fact = (
        "the nurse drives rather than using the bus because of specific practical needs including "
        "carrying samples and returning home late at night"
    )
    assert score(said, fact) > 0.5


def test_a_relative_clause_denies_itself_alone():
    """ "That is not documented" is of the endpoint; its traffic is real."""
    said = "An endpoint that is not documented receives traffic."
    assert score(said, "an undocumented endpoint receives traffic") == 1


def test_how_a_figure_is_introduced_says_nothing():
    """ "Stood at", "was", "came to": the figure is the fact."""
    question = "What was the temperature at the north gauge on 2022-06-01?"
    said = "The temperature at the north gauge was 28.7 degrees, on 2022-06-01."
    fact = "the temperature at the north gauge stood at 28.7 degrees on 2022-06-01"
    assert score(said, fact, question) == 1
    assert score(said.replace("28.7", "27.8"), fact, question) == 0
