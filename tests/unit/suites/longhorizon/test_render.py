"""Turns in words: what is said can be read back, graded and found."""

import random
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest

from memrig.gateway.local.conversation import Asked, Passage
from memrig.gateway.local.extractive import answer_to
from memrig.gateway.local.text import lines
from memrig.grading.typed import grade_text
from memrig.model.gold import DateGold, EntityGold, GoldAnswer, NumberGold, TextGold
from memrig.suites.longhorizon.lexicon import LEXICON
from memrig.suites.longhorizon.log import EventLog
from memrig.suites.longhorizon.model import Entity, PlannedTurn, WorldEvent
from memrig.suites.longhorizon.render import Renderer, filled, told
from memrig.suites.longhorizon.schema import KINDS, METRIC_UNITS, Attribute
from support.inverting import Said, line_readings, readings

TOLD_AT = "2031-05-05T08:00:00Z"
WAYS = ("updated", "updated_later", "corrected", "retracted", "recalled", "supposed", "rumoured")


@dataclass(frozen=True)
class Instance:
    """Random values for one predicate: the right one, the one before, and who is asked."""

    kind: str
    attribute: Attribute
    name: str
    unit: str
    value: str
    old: str

    @property
    def predicate(self) -> str:
        return f"{self.kind}.{self.attribute.name}"

    def said(self, value: str) -> str:
        name = value.removeprefix("person/")
        return LEXICON.value(self.kind, self.attribute.name, value, self.unit, name)

    def gold(self) -> GoldAnswer:
        value, old = self.said(self.value), self.said(self.old)
        match self.attribute.value:
            case "number":
                wrong = (float(self.old),)
                unit = self.unit
                return NumberGold(type="number", value=float(self.value), unit=unit, siblings=wrong)
            case "date":
                return DateGold(type="date", value=self.value, siblings=(self.old,))
            case "text":
                return TextGold(type="text", value=value, key_facts=(value,))
            case _:
                return EntityGold(type="entity", value=value, siblings=(old,))


def raw(attribute: Attribute, rng: random.Random) -> str:
    match attribute.value:
        case "number":
            low, high, step = attribute.span
            return str(low + step * rng.randrange((high - low) // step + 1))
        case "date":
            return (
                f"{rng.randrange(1960, 2037)}-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}"
            )
        case "reference":
            return f"person/{LEXICON.name('person', rng.randrange(24_000))}"
        case _:
            return rng.choice(LEXICON.pool(attribute.pool))


def instance(kind: str, attribute: Attribute, rng: random.Random) -> Instance:
    number = rng.randrange(LEXICON.capacity(kind))
    name = rng.choice((LEXICON.name, LEXICON.sibling))(kind, number)
    unit = rng.choice(METRIC_UNITS) if attribute.unit == "*" else attribute.unit
    value = old = raw(attribute, rng)
    while old == value:
        old = raw(attribute, rng)
    return Instance(kind, attribute, name, unit, value, old)


def predicates():
    return [(kind.name, attribute) for kind in KINDS.values() for attribute in kind.attributes]


@contextmanager
def world(entities: list[Entity], events: list[WorldEvent], draws: list[int]):
    """A log in which every event is told in the turn of its number."""
    with EventLog.create() as log:
        log.add_entities({entity.entity_id: entity for entity in entities}.values())
        log.add_turns((n, "people", "Nadia", TOLD_AT, draw) for n, draw in enumerate(draws))
        log.add_events(events)
        yield log


def entities_of(given: Instance, number: int) -> list[Entity]:
    made = [Entity(f"{given.kind}/{number}", given.kind, given.name, unit=given.unit)]
    if given.attribute.value == "reference":
        made += [Entity(v, "person", v.removeprefix("person/")) for v in (given.value, given.old)]
    return made


def told_in_pairs(rng: random.Random, pairs: int):
    """Pairs of events, a statement and what comes of it, with what must be read from each."""
    entities, events, expected = [], [], []
    for number in range(pairs):
        given = instance(*rng.choice(predicates()), rng)
        entities += entities_of(given, number)
        way = rng.choice((*WAYS, "claimed", "recalled_claim"))
        asked = rng.choice(LEXICON.pool("gossips" if way == "rumoured" else "sources"))
        first = WorldEvent(
            2 * number, 2 * number, f"{given.kind}/{number}", given.attribute.name,
            "claimed" if way in ("claimed", "recalled_claim") else "stated",
            given.old, given.unit, "2031-05-01", asked,
        )  # fmt: skip
        second = second_of(given, first, way, asked)
        events += [first, second]
        expected += [(given, first, first.kind, asked), (given, second, way, asked)]
    return entities, events, expected


def second_of(given: Instance, first: WorldEvent, way: str, asked: str) -> WorldEvent:
    if way in ("recalled", "recalled_claim"):
        again = replace(first, kind="recalled", source="Nadia", valid_from="2031-05-05")
        return replace(
            again, event_id=first.event_id + 1, turn=first.turn + 1, refers_to=first.event_id
        )
    changes = way in ("updated", "updated_later", "corrected", "retracted")
    return replace(
        first,
        event_id=first.event_id + 1,
        turn=first.turn + 1,
        kind="updated" if way == "updated_later" else way,
        value=given.value,
        valid_from="2031-06-01" if way == "updated_later" else "2031-05-05",
        source=asked,
        supersedes=first.event_id if changes else None,
    )


def matches(found: Said, given: Instance, event: WorldEvent, way: str, asked: str) -> bool:
    """Whether a reading agrees with the log in all that its sentence names."""
    day = "1 May 2031" if way.startswith("recalled") else LEXICON.day(event.valid_from)
    fields = (found.told, found.predicate, found.entity, found.value)
    return (
        fields == (way, given.predicate, given.name, given.said(event.value))
        and found.old in ("", given.said(given.old))
        and found.day in ("", day)
        and found.source.lower() in ("", asked.lower())
    )


def test_what_is_rendered_is_read_back_in_one_way_only():
    """5,000 random events of all predicates, inverted by patterns from the phrasings' files."""
    rng = random.Random(20310505)  # noqa: S311 -- no secret
    entities, events, expected = told_in_pairs(rng, 2_500)
    with world(entities, events, [rng.getrandbits(32) for _ in events]) as log:
        for turn, (given, event, way, asked) in zip(told(log, LEXICON), expected, strict=True):
            found = list(readings(turn.text))
            assert len(found) == 1, (turn.text, found)
            assert matches(found[0], given, event, way, asked), (turn.text, event)


def test_a_log_line_is_read_back_in_one_way_only():
    """All five attributes, from one sentence."""
    rng = random.Random(7)  # noqa: S311 -- no secret
    entities, turns, expected = [], [], []
    for number in range(300):
        name = LEXICON.name("log", rng.randrange(400_000))
        values = {a.name: raw(a, rng) for a in KINDS["log"].attributes}
        entities.append(Entity(f"log/{number}", "log", name))
        events = tuple(
            WorldEvent(n, number, f"log/{number}", attribute, "stated", value)
            for n, (attribute, value) in enumerate(values.items())
        )
        draw = rng.getrandbits(32)
        turns.append(PlannedTurn(number, "security_logs", "Nadia", TOLD_AT, events, draw))
        expected.append({"entity": name} | values)
    with world(entities, [], []) as log:
        renderer = Renderer(log, LEXICON)
        assert [list(line_readings(renderer.text(turn))) for turn in turns] == [
            [values] for values in expected
        ]


def test_a_sentence_is_one_and_short_and_names_no_speaker():
    """A colon after a few words is taken for a speaker's name, and cut, by whoever reads turns."""
    rng = random.Random(11)  # noqa: S311 -- no secret
    entities, events, _ = told_in_pairs(rng, 1_000)
    with world(entities, events, [rng.getrandbits(32) for _ in events]) as log:
        for turn in told(log, LEXICON):
            assert [line.speaker for line in lines(turn.text)] == [""], turn.text
            assert len(turn.text.split()) <= 60, turn.text
            assert turn.text[0].isupper(), turn.text


def test_a_log_line_is_one_sentence_and_names_no_speaker():
    """The same of the forms that tell five attributes at once."""
    values = {"entity": "SEC-004512"} | {a.name: "x1" for a in KINDS["log"].attributes}
    for template in LEXICON.lines():
        text = filled(template, values)
        assert [line.speaker for line in lines(text)] == [""], text


# ----------------------------------------------------------------------- graded, and found


def statement(given: Instance, template: str) -> str:
    return template.replace("{entity}", given.name).replace("{value}", given.said(given.value))


def change(given: Instance, template: str, number: int) -> str:
    places = {
        "noun": LEXICON.noun(given.predicate, given.name, number),
        "value": given.said(given.value),
        "old": given.said(given.old),
        "day": "17 June 2031",
    }
    return filled(template, places)


CHANGES = ("updated", "updated_later", "corrected", "retracted")


def sentences(kind: str, attribute: Attribute):
    """Every truth of a predicate in every wording: (given, question, sentence, way)."""
    rng = random.Random(f"{kind}.{attribute.name}")  # noqa: S311 -- no secret
    asks = LEXICON.asks(f"{kind}.{attribute.name}")
    for template in LEXICON.stated(f"{kind}.{attribute.name}"):
        given = instance(kind, attribute, rng)
        yield given, rng.choice(asks), statement(given, template), template
    ways = CHANGES if attribute.changes else ()
    for number, template in enumerate(text for way in ways for text in LEXICON.told(way)):
        given = instance(kind, attribute, rng)
        yield given, rng.choice(asks), change(given, template, number), template


@pytest.mark.parametrize(("kind", "attribute"), predicates())
def test_a_sentence_is_the_right_answer_for_the_value_it_states(kind, attribute):
    """By the typed graders, with the value before as a known wrong one."""
    for given, question, sentence, _ in sentences(kind, attribute):
        asked = question.replace("{entity}", given.name)
        assert grade_text(sentence, given.gold(), asked) == 1, (sentence, asked)


@pytest.mark.parametrize(("kind", "attribute"), predicates())
def test_a_reader_of_one_sentence_finds_the_latest_value(kind, attribute):
    """From two memories, of which the second changes the first.

    Where a date moves from one day to another, the reader takes the first day of the sentence.
    """
    first = LEXICON.stated(f"{kind}.{attribute.name}")
    for n, (given, question, sentence, template) in enumerate(sentences(kind, attribute)):
        if attribute.value == "date" and "from {old} to" in template:
            continue
        asked = question.replace("{entity}", given.name)
        before = statement(replace(given, value=given.old), first[n % len(first)])
        memories = [Passage(sentence, "2031-06-10", "m2")]
        if template not in first:
            memories.insert(0, Passage(before, "2031-05-02", "m1"))
        answer = answer_to(Asked(asked, "2031-09-01", tuple(memories)))
        assert grade_text(answer.text, given.gold(), asked) == 1, (sentence, asked, answer)


# --------------------------------------------------------------------------------- single rules

ALDA = Entity("person/alda", "person", "Alra Brandow")
DESK = WorldEvent(0, 0, "person/alda", "desk", "stated", "A-101", valid_from="2031-05-01")


def text_of(*events: WorldEvent, draw: int = 1) -> str:
    turn = PlannedTurn(1, "people", "Nadia", TOLD_AT, events, draw)
    with world([ALDA], [DESK], [0]) as log:
        return Renderer(log, LEXICON).text(turn)


def test_each_event_of_a_turn_is_a_sentence_with_the_entity_s_name():
    """So that each can be understood alone."""
    role = WorldEvent(1, 0, "person/alda", "role", "stated", "senior buyer")
    for draw in range(40):
        parts = text_of(DESK, role, draw=draw).split(". ")
        assert ["Alra Brandow" in part for part in parts] == [True, True]
        assert ("A-101" in parts[0], "senior buyer" in parts[1]) == (True, True)


def test_a_turn_without_events_is_small_talk():
    """It names nobody."""
    assert text_of(draw=5) == LEXICON.small_talk(5)


def test_a_change_without_a_value_before_is_told_without_one():
    """Nothing is left open in its sentence."""
    moved = replace(DESK, event_id=1, kind="updated", value="B-202", valid_from="2031-05-05")
    texts = {text_of(moved, draw=draw) for draw in range(200)}
    assert len(texts) > 3
    assert not any("{" in text or "A-101" in text for text in texts)


def test_an_event_without_a_day_of_its_own_is_told():
    """A supposition holds from no day."""
    supposed = replace(DESK, event_id=1, kind="supposed", valid_from="")
    assert "A-101" in text_of(supposed)


def test_the_same_turn_reads_the_same():
    """The wording comes from the turn's draw, and from nothing else."""
    assert [text_of(DESK, draw=draw) for draw in (0, 1, 2**32 - 1)] == [
        text_of(DESK, draw=draw) for draw in (0, 1, 2**32 - 1)
    ]
    assert len({text_of(DESK, draw=draw) for draw in range(100)}) == len(
        LEXICON.stated("person.desk")
    )
