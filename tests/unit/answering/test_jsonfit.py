"""Tool results are cut so that they stay JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memrig.answering.jsonfit import LEAST, MARK, cleaned, dumps, fit, size

TEXTS = st.text(max_size=200)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(TEXTS, inner, max_size=6),
    max_leaves=25,
)
ITEM = st.fixed_dictionaries(
    {"handle": st.sampled_from(["m1", "m22"]), "date": st.just("2024-03-05 17:00"), "text": TEXTS}
)


@given(VALUES.map(cleaned), st.integers(LEAST, 1500))
def test_a_result_fits_is_json_and_says_that_it_was_cut(value, limit):
    """Whatever it is, and however little is left."""
    shown = fit(value, limit)
    text = dumps(shown)
    assert len(text.encode()) <= limit
    assert json.loads(text) == shown
    assert shown == value or shown[MARK] is True


@given(st.lists(ITEM, max_size=12), st.integers(LEAST, 3000))
def test_results_lose_the_last_items_and_then_the_end_of_a_text(items, limit):
    """What stands first is whole, and every item keeps its handle and date."""
    kept = fit({"results": items}, limit).get("results", [])
    assert kept[:-1] == items[: len(kept)][:-1]
    for item, whole in zip(kept, items, strict=False):
        assert (item["handle"], item["date"]) == (whole["handle"], whole["date"])
        assert whole["text"].startswith(item.get("text", "").removesuffix("…"))


@given(st.lists(ITEM, min_size=1, max_size=12))
def test_what_fits_is_not_touched(items):
    """No mark where nothing is missing."""
    value = {"results": items}
    assert fit(value, size(value)) == value
    assert MARK in fit(value, max(LEAST, size(value) - 1))


def test_much_of_the_room_is_used():
    """A long text is cut, not dropped."""
    value = {"results": [{"handle": "m1", "date": "d", "text": "é" * 5000}]}
    assert 990 <= size(fit(value, 1000)) <= 1000


def test_what_json_cannot_carry_is_replaced():
    """Half a character, an infinite number, an abyss."""
    deep: object = "end"
    for _ in range(200):
        deep = [deep]
    value = cleaned({"a": "x\ud800", "b": float("inf"), "c": deep})
    assert (value["a"], value["b"]) == ("x?", None)
    assert "…" in dumps(value)
    dumps(value).encode()
