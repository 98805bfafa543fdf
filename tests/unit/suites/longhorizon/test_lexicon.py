"""The words of the world: names, pools and phrasings."""

import re
from collections import Counter

import pytest

from memrig.gateway.local.text import content_stems
from memrig.grading.typed import grade_text
from memrig.model.gold import EntityGold
from memrig.suites.longhorizon.lexicon import LEXICON, EventPhrases
from memrig.suites.longhorizon.schema import KINDS, PREDICATES

POOLED = [
    (attribute.pool, attribute.value)
    for kind in KINDS.values()
    for attribute in kind.attributes
    if attribute.pool
]
CHANGING = [
    f"{kind.name}.{attribute.name}"
    for kind in KINDS.values()
    for attribute in kind.attributes
    if attribute.changes
]
NAMED = [kind for kind in KINDS if kind not in ("log", "incident")]
PLACE = re.compile(r"\{(\w+)\}")
#: What the sentences of each kind of event must name, and may name.
PLACES = {
    "updated": ({"noun", "value"}, {"old"}),
    "updated_later": ({"noun", "value", "day"}, set()),
    "corrected": ({"noun", "value"}, {"old"}),
    "retracted": ({"noun", "value"}, {"old"}),
    "claimed": ({"noun", "value", "source"}, set()),
    "recalled": ({"noun", "value", "day"}, set()),
    "recalled_claim": ({"noun", "value", "day", "source"}, set()),
    "supposed": ({"noun", "value"}, set()),
    "rumoured": ({"noun", "value", "source"}, set()),
}


def places(template: str) -> Counter[str]:
    return Counter(name.lower() for name in PLACE.findall(template))


def said(template: str) -> set[str]:
    """The stems of a template's own words."""
    return set(content_stems(PLACE.sub("", template)))


def distinct(templates) -> bool:
    return len({template.lower() for template in templates}) == len(templates)


# ------------------------------------------------------------------------------------ phrasings


@pytest.mark.parametrize("predicate", PREDICATES)
def test_each_predicate_has_five_statements_and_three_questions(predicate):
    """No two alike but for case, each with its entity and value once."""
    stated, asks = LEXICON.stated(predicate), LEXICON.asks(predicate)
    at = LEXICON.asks_at(predicate)
    assert (len(stated) >= 5, len(asks) >= 3, len(at) >= 2) == (True, True, True)
    assert distinct((*stated, *asks, *at, *LEXICON.nouns(predicate)))
    assert all(places(text) == {"entity": 1, "value": 1} for text in stated)
    assert all(places(text) == {"entity": 1} for text in (*asks, *LEXICON.nouns(predicate)))
    assert all(places(text) == {"entity": 1, "day": 1} for text in at)


@pytest.mark.parametrize("predicate", CHANGING)
def test_a_question_leans_to_no_statement_over_a_later_one(predicate):
    """What an attribute's question shares with any statement, all its noun phrases share too.

    Else whoever goes by words finds the first statement sooner than the update.
    """
    stated = set().union(*(said(text) for text in LEXICON.stated(predicate)))
    nouns = set.intersection(*(said(text) for text in LEXICON.nouns(predicate)))
    for question in LEXICON.asks(predicate):
        assert (said(question) & stated) - nouns == set(), question


@pytest.mark.parametrize("predicate", PREDICATES)
def test_statements_and_questions_share_the_attribute_s_word(predicate):
    """In a statement it may be the value's own: "34 sites", "Anchor team"."""
    kind, _, name = predicate.partition(".")
    attribute = KINDS[kind].attribute(name)
    value = LEXICON.pool(attribute.pool)[0] if attribute.pool else attribute.unit
    head = set.intersection(*(said(f"{text} {value}") for text in LEXICON.stated(predicate)))
    for question in (*LEXICON.asks(predicate), *LEXICON.asks_at(predicate)):
        assert said(question) & head, question


@pytest.mark.parametrize("kind", EventPhrases.model_fields)
def test_events_are_told_in_five_ways_with_what_they_need(kind):
    """Each names what happened, and nothing that such an event does not have."""
    needed, more = PLACES[kind]
    templates = LEXICON.told(kind)
    assert len(templates) >= 5
    assert distinct(templates)
    for template in templates:
        found = places(template)
        assert needed <= found.keys() <= needed | more, template
        assert set(found.values()) == {1}, template


def test_an_event_without_a_value_before_can_be_told():
    """Some sentences of every kind name no old value."""
    assert all(LEXICON.told_alone(kind) for kind in EventPhrases.model_fields)
    assert not any("{old}" in text for kind in PLACES for text in LEXICON.told_alone(kind))


def test_noun_phrases_nest():
    """The attribute of an attribute reads as English."""
    lead = LEXICON.noun("project.lead", "Project Amber Beltaron")
    assert LEXICON.noun("person.hometown", lead) == (
        "the hometown of the lead of Project Amber Beltaron"
    )


@pytest.mark.parametrize("predicate", PREDICATES)
def test_every_noun_phrase_reads_the_something_of_something(predicate):
    """So that it nests, and begins a sentence with a capital."""
    assert all(re.fullmatch(r"the .+ of \{entity\}", noun) for noun in LEXICON.nouns(predicate))


def test_a_log_line_names_all_that_a_log_has():
    """Five forms at least, each with the entity and every attribute once."""
    wanted = {"entity": 1} | {attribute.name: 1 for attribute in KINDS["log"].attributes}
    assert len(LEXICON.lines()) >= 5
    assert all(places(line) == wanted for line in LEXICON.lines())


def test_small_talk_is_plenty_and_states_nothing():
    """5,000 different at least, among them no number."""
    heard = {LEXICON.small_talk(draw) for draw in range(20_000)}
    assert len(heard) >= 5_000
    assert not any(re.search(r"[\d{}]", text) for text in heard)


# --------------------------------------------------------------------------------- names, pools


@pytest.mark.parametrize(("pool", "value"), sorted(set(POOLED)))
def test_a_pool_is_wide_and_repeats_nothing(pool, value):
    """40 values, of a choice 10, of a case's texts 300."""
    values = LEXICON.pool(pool)
    assert len(values) >= {"choice": 10, "text": 300}.get(value, 40)
    assert distinct(values)


@pytest.mark.parametrize("name", ["speakers", "sources", "gossips"])
def test_there_are_people_to_talk(name):
    """Twelve at least; thirty who claim something."""
    assert len(LEXICON.pool(name)) >= (30 if name == "sources" else 12)


@pytest.mark.parametrize("pool", ["symptom", "constraint", "approach", "reason", "rejected"])
def test_a_case_is_told_in_six_to_fourteen_words(pool):
    """A phrase, no sentence."""
    assert all(6 <= len(text.split()) <= 14 for text in LEXICON.pool(pool))


@pytest.mark.parametrize("kind", NAMED)
def test_names_are_unique_and_a_sibling_s_is_none_of_them(kind):
    """Over the whole capacity, of 20,000 at least."""
    capacity = LEXICON.capacity(kind)
    names = {LEXICON.name(kind, number) for number in range(capacity)}
    assert len(names) == capacity >= 20_000
    assert not any(LEXICON.sibling(kind, number) in names for number in range(capacity))


@pytest.mark.parametrize(("kind", "code"), [("log", "SEC"), ("incident", "INC")])
def test_logs_and_incidents_have_codes(kind, code):
    """Six digits; a sibling's follows, and is no name."""
    assert LEXICON.name(kind, 2256) == f"{code}-004512"
    assert LEXICON.sibling(kind, 2256) == f"{code}-004513"
    assert LEXICON.name(kind, 2257) == f"{code}-004514"
    assert len(LEXICON.name(kind, LEXICON.capacity(kind) - 1)) == len(f"{code}-004512")


@pytest.mark.parametrize("number", [-1, LEXICON.capacity("person")])
def test_a_name_out_of_range_is_refused(number):
    """Rather than given twice."""
    with pytest.raises(ValueError, match="24000 names"):
        LEXICON.name("person", number)


@pytest.mark.parametrize("kind", KINDS)
def test_a_sibling_is_told_apart_by_the_typed_graders(kind):
    """However near its name is."""
    for number in range(200):
        name, sibling = LEXICON.name(kind, number), LEXICON.sibling(kind, number)
        gold = EntityGold(type="entity", value=name, siblings=(sibling,))
        assert grade_text(f"It is {name}.", gold) == 1
        assert grade_text(f"It is {sibling}.", gold) == 0


# --------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("predicate", "value", "unit", "expected"),
    [
        ("project.budget", "41500", "EUR", "41,500 EUR"),
        ("metric.value", "1234567.25", "kWh", "1,234,567.25 kWh"),
        ("metric.value", "-12", "%", "-12%"),
        ("rollout.share", "7", "%", "7%"),
        ("component.port", "41500", "", "41500"),
        ("project.deadline", "2031-03-04", "", "4 March 2031"),
        ("project.stage", "design", "", "design"),
        ("project.lead", "person/x", "", "Elvin Brandow"),
    ],
)
def test_a_value_is_said_in_the_plain_style_of_its_field(predicate, value, unit, expected):
    """Thousands with commas, the percent sign attached, days in full, people by name."""
    kind, _, attribute = predicate.partition(".")
    assert LEXICON.value(kind, attribute, value, unit, "Elvin Brandow") == expected


def test_the_day_of_a_time_is_said_without_the_time():
    """An ISO time stands for its day."""
    assert LEXICON.day("2031-12-25T08:00:00Z") == "25 December 2031"


def test_an_unknown_pool_or_way_of_telling_is_an_error():
    """No empty answer."""
    for ask in (LEXICON.pool, LEXICON.told, LEXICON.stated):
        with pytest.raises(KeyError):
            ask("nothing")
