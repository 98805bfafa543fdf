"""Values: what is drawn for an attribute, and what never is."""

import random

import pytest

from memrig.suites.longhorizon.arcs import Last, Thing
from memrig.suites.longhorizon.model import Entity
from memrig.suites.longhorizon.schema import KINDS
from memrig.suites.longhorizon.values import Values, iso, parted
from support.plain_words import PlainWords

TODAY = 741_000


def thing(kind="person", name="a", *, holdout=False, unit=""):
    return Thing(Entity(f"{kind}/{name}", kind, name, holdout=holdout, unit=unit), KINDS[kind])


def values(*things, words=None):
    chance = random.Random(5).random  # noqa: S311
    return Values(words or PlainWords(), chance, things, TODAY, 400)


class FewWords(PlainWords):
    """Pools of four."""

    def pool(self, name):
        return super().pool(name)[:4]


def test_a_day_is_written_as_iso():
    """As in the log."""
    assert iso(741_000) == "2029-10-15"


def test_no_value_is_drawn_twice_while_there_are_others():
    """Neither of the key's own, nor of the sibling's."""
    draw = values(words=FewWords())
    one, other = thing(name="a"), thing(name="b")
    one.twin, other.twin = other, one
    pet = KINDS["person"].attribute("pet")
    found = [draw.draw(who, pet, TODAY, 0) for who in (one, other, one, other)]
    assert len(set(found)) == 4
    assert one.used["pet"] == (found[0], found[2])


def test_where_all_values_were_said_the_one_that_holds_is_not_said_again():
    """A change is a change."""
    draw = values(words=FewWords())
    one = thing()
    role = KINDS["person"].attribute("role")
    held = ""
    for number in range(40):
        value = draw.draw(one, role, TODAY, number)
        assert value != held
        held = value
        one.last["role"] = Last(number, "stated", value, TODAY, None)


def test_values_that_follow_one_another_leave_room_for_what_comes():
    """Five statuses of ten, in their order, from whichever is first."""
    for seed in range(30):
        chance = random.Random(seed).random  # noqa: S311
        draw = Values(PlainWords(), chance, (), TODAY, 400)
        incident = thing("incident")
        incident.turns["status"] = tuple(range(5))
        found = []
        for turn in range(5):
            value = draw.draw(incident, KINDS["incident"].attribute("status"), TODAY, turn)
            incident.last["status"] = Last(turn, "stated", value, TODAY, None)
            found.append(int(value.split()[1]))
        assert found == sorted(set(found))


def test_what_is_no_truth_uses_no_status_up():
    """A rumour of the last status does not end the story."""
    draw = values()
    incident = thing("incident")
    incident.turns["status"] = (1,)
    for _ in range(50):
        draw.draw(incident, KINDS["incident"].attribute("status"), TODAY, None)
    value = draw.draw(incident, KINDS["incident"].attribute("status"), TODAY, 1)
    assert value not in incident.used["status"][:-1]


def test_a_person_is_not_its_own_mentor():
    """And mentors are of the same set."""
    people = [thing(name=str(n), holdout=n > 2) for n in range(6)]
    draw = values(*people)
    mentor = KINDS["person"].attribute("mentor")
    for person in people:
        for _ in range(2):
            found = draw.draw(person, mentor, TODAY, 0)
            assert found != person.entity.entity_id
            assert (int(found[-1]) > 2) == person.entity.holdout


@pytest.mark.parametrize(
    ("kind", "name", "least", "most"),
    [
        ("person", "birthday", TODAY - 7_305 - 14_610, TODAY - 7_305),
        ("incident", "opened", TODAY - 7, TODAY),
        ("project", "deadline", TODAY + 20, TODAY + 419),
        ("rollout", "launch", TODAY + 20, TODAY + 419),
    ],
)
def test_days_lie_where_they_belong(kind, name, least, most):
    """Birthdays behind, deadlines ahead."""
    draw = values()
    found = [draw.draw(thing(kind), KINDS[kind].attribute(name), TODAY, 0) for _ in range(200)]
    assert iso(least) <= min(found) < max(found) <= iso(most)


@pytest.mark.parametrize(
    ("unit", "most", "tenths"),
    [("%", 98.9, True), ("kWh", 990, True), ("hours", 990, True), ("EUR", 9_900, False)],
)
def test_numbers_are_decimals_without_a_needless_zero(unit, most, tenths):
    """Tenths where the unit has them."""
    draw = values()
    value = KINDS["metric"].attribute("value")
    found = [draw.draw(thing("metric", unit=unit), value, TODAY, 0) for _ in range(500)]
    assert max(map(float, found)) <= most
    assert any("." in number for number in found) == tenths
    assert not any(number.endswith(".0") for number in found)


def test_what_an_entity_is_asked_for_by_is_its_own():
    """No two hosts share an address while there are more."""
    draw = values()
    address = KINDS["host"].attribute("address")
    found = [draw.draw(thing("host", str(n)), address, TODAY, 0) for n in range(40)]
    assert len(set(found)) >= 39


def test_log_lines_share_what_can_be_counted():
    """Accounts come from a part of their pool, actions from all of it."""
    chance = random.Random(5).random  # noqa: S311
    draw = Values(PlainWords(), chance, (), TODAY, 80)
    log = KINDS["log"]
    lines = [thing("log", "a"), thing("log", "b", holdout=True)]
    accounts = [{draw.line(line, log.attribute("account")) for _ in range(1_000)} for line in lines]
    actions = {draw.line(lines[0], log.attribute("action")) for _ in range(1_000)}
    assert [len(found) for found in accounts] == [16, 4]
    assert not accounts[0] & accounts[1]
    assert len(actions) == 60


def test_what_entities_share_is_parted_between_the_question_sets():
    """A fifth of a large pool is the holdout's; a small pool is everybody's."""
    pool = tuple(f"v{n}" for n in range(50))
    held, others = parted(pool, True), parted(pool, False)
    assert (len(held), len(others)) == (10, 40)
    assert set(held) | set(others) == set(pool)
    assert parted(pool[:39], True) == parted(pool[:39], False) == pool[:39]
