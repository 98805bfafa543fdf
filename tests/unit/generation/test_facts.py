"""Facts, computed from figures: each kind against a case by hand, and its refusals."""

from datetime import date
from decimal import Decimal
from typing import get_args

import pytest
from pydantic import TypeAdapter

from memrig.generation.facts import _Teller, compute
from memrig.generation.factspec import FactSpec
from memrig.generation.model import KeyFact
from memrig.generation.story import Story, StoryError, tell
from support.stories import pump_spec

KINDS = [
    get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(get_args(FactSpec)[0])
]


def story(**series: list[float]) -> Story:
    """The pump's story with these figures, a day an episode from 2024-03-04 on."""
    spec = pump_spec(timeline={"start": date(2024, 3, 4), "episodes": 10})
    signals = tuple(s.model_copy(update={"limit": 60.0}) for s in spec.signals)
    told = tell(spec.model_copy(update={"signals": signals}))
    values = {name: tuple(Decimal(str(v)) for v in of) for name, of in series.items()}
    return Story(told.spec, told.phases, {**told.values, **values})


def fact(kind: str, **fields: object) -> FactSpec:
    return TypeAdapter(FactSpec).validate_python({"id": "f", "kind": kind, **fields})


RISING = [20, 21, 20, 22, 40, 45, 50, 60, 70, 80]
FALLING = [80, 81, 80, 79, 80, 78, 50, 45, 40, 30]
BUMP = [10, 11, 10, 30, 50, 31, 10, 12, 11, 11]
FLAT = [50, 52, 49, 51, 50, 50, 51, 50, 49.5, 50]
SHOWN = story(inlet=RISING, outlet=FALLING, valve=BUMP, tank=FLAT)
RISE, FALL = {"signal": "inlet", "above": 30}, {"signal": "outlet", "below": 60}


def computed(kind: str, now: int = 10, **fields: object) -> KeyFact:
    return compute(SHOWN, fact(kind, **fields), now)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_fact_can_be_told(kind):
    """A kind that a spec may name has a method that computes it."""
    assert callable(getattr(_Teller, kind))


def test_a_value_is_what_one_document_gives():
    """Label, value, unit and date."""
    found = computed("value", signal="inlet", at="calm:2")
    assert found.text == "Inlet pressure was 21 kPa on 2024-03-05"
    assert found.evidence == (2,)


def test_a_limit_is_a_value_beside_the_documents_own_limit():
    """Above, below, or exactly at it."""
    found = computed("limit", signal="inlet", at="now")
    assert found.text == "Inlet pressure was 80 kPa, above its limit of 60.0 kPa"
    assert "exactly at its limit" in computed("limit", signal="inlet", at="now", now=8).text


def test_a_change_rests_on_both_its_ends():
    """From the first episode to the question's own, unless the spec names others."""
    found = computed("change", signal="inlet")
    assert found.text.startswith("Inlet pressure rose from 20 kPa to 80 kPa | ")
    assert (found.evidence, found.values) == ((1, 10), ("20", "80"))
    assert "fell from 80 kPa to 40 kPa" in computed("change", signal="outlet", now=9).text


def test_a_ratio_gives_a_number_that_no_document_holds():
    """Percent of what it was."""
    found = computed("ratio", signal="inlet")
    assert found.text.startswith("Inlet pressure rose by 300 percent | ")
    assert found.evidence == (1, 10)


def test_an_extreme_is_the_first_of_the_highest_and_its_day():
    """The ends of the stretch are evidence as well."""
    found = computed("extreme", signal="valve", which="highest")
    assert found.text == "Valve backlash had its highest value, 50 kPa, on 2024-03-08"
    assert found.evidence == (1, 5, 10)


def test_a_recovery_is_told_by_its_turn_and_its_end():
    """Away by the most, and back."""
    found = computed("recovery", signal="valve")
    assert found.text.startswith("Valve backlash was back at 11 kPa after 50 kPa | ")
    assert found.evidence == (1, 5, 10)


def test_steadiness_is_the_range_of_all_values():
    """Evidence: the ends, the lowest and the highest."""
    found = computed("steady", signal="tank")
    assert found.text == "Tank head stayed between 49 kPa and 52 kPa"
    assert found.evidence == (1, 2, 3, 10)


def test_an_onset_rests_on_the_last_before_and_the_first_beyond():
    """Both readings are in it: no document alone holds them."""
    found = computed("onset", **RISE)
    assert (
        found.text == "Inlet pressure left its earlier range on 2024-03-08, from 22 kPa to 40 kPa"
    )
    assert found.evidence == (4, 5)


def test_an_order_rests_on_both_onsets():
    """First and then, each with its day."""
    found = computed("order", first=RISE, then=FALL)
    assert "Inlet pressure moved first, on 2024-03-08" in found.text
    assert found.evidence == (4, 5, 6, 7)


def test_a_gap_is_the_days_between_two_onsets():
    """By the calendar, not by episodes."""
    found = computed("gap", first=RISE, then=FALL)
    assert found.text.startswith("Outlet pressure moved 2 days after Inlet pressure | ")


def test_a_coincidence_is_two_onsets_on_one_day():
    """Another pair is none."""
    found = computed("coincidence", first=RISE, then={"signal": "inlet", "above": 25})
    assert found.text == (
        "On 2024-03-08 Inlet pressure went from 22 kPa to 40 kPa, "
        "and Inlet pressure from 22 kPa to 40 kPa"
    )
    with pytest.raises(StoryError, match="do not move in the same episode"):
        computed("coincidence", first=RISE, then=FALL)


def test_what_moved_most_is_so_in_percent():
    """All of the compared signals are evidence at both ends."""
    found = computed("most", signals=["tank", "inlet", "outlet"])
    assert found.text == "Inlet pressure changed most, by 300 percent"
    assert found.evidence == (1, 10)


@pytest.mark.parametrize(
    ("kind", "fields", "problem"),
    [
        ("value", {"signal": "inlet", "at": "wear:last"}, "the question comes after"),
        ("change", {"signal": "inlet", "end": "wear:last"}, "the question comes after"),
        ("change", {"signal": "tank", "end": "calm:1"}, "is no stretch"),
        ("change", {"signal": "tank", "start": "calm:1", "end": "wear:1"}, "in both episode"),
        ("onset", {"signal": "inlet", "above": 75}, "does not go above 75 for good"),
        ("onset", {"signal": "inlet", "above": 10}, "does not go above 10 for good"),
        ("onset", {"signal": "valve", "above": 20}, "does not go above 20 for good"),
        ("recovery", {"signal": "inlet"}, "does not come back"),
        ("order", {"first": FALL, "then": RISE}, "order .* is not as stated"),
        ("gap", {"first": FALL, "then": RISE}, "does not follow"),
    ],
)
def test_a_fact_that_is_not_so_is_refused(kind, fields, problem):
    """By what the figures show up to the question: no fact is taken on an author's word."""
    with pytest.raises(StoryError, match=problem):
        computed(kind, now=9 if kind != "change" or "start" not in fields else 8, **fields)


def test_a_percentage_of_nothing_is_refused():
    """A series that starts at 0 has no ratio."""
    zero = story(inlet=[0, *RISING[1:]])
    with pytest.raises(StoryError, match="no percentage"):
        compute(zero, fact("ratio", signal="inlet"), 10)


def test_the_values_that_a_fact_rests_on_stand_in_its_evidence():
    """Each in the document of one of its episodes."""
    for made in (computed("order", first=RISE, then=FALL), computed("steady", signal="tank")):
        held = {str(v) for of in SHOWN.values.values() for n in made.evidence for v in [of[n - 1]]}
        assert set(made.values) <= held
