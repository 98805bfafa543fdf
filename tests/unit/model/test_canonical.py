"""Canonical JSON, digests and derived seeds."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.model.canonical import (
    canonical_json,
    derive,
    digest_bytes,
    digest_file,
    digest_of,
    short,
)
from memrig.model.scenario import Question

SAFE = st.integers(min_value=-(2**53) + 1, max_value=2**53 - 1)
VALUES = st.recursive(
    st.none() | st.booleans() | SAFE | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


def shuffled(value: object, random_: random.Random) -> object:
    """The same value with every object's keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        random_.shuffle(keys)
        return {key: shuffled(value[key], random_) for key in keys}
    if isinstance(value, list):
        return [shuffled(item, random_) for item in value]
    return value


@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_count(value, random_):
    """Equal content, equal bytes, equal digest."""
    assert canonical_json(shuffled(value, random_)) == canonical_json(value)


@given(VALUES, VALUES)
def test_different_values_have_different_forms(one, other):
    """Nothing is lost on the way; only true and 1 are equal in Python and not in JSON."""
    if repr(one) != repr(other) and one != other:
        assert digest_of(one) != digest_of(other)


def test_the_form_is_that_of_rfc_8785():
    """Sorted keys, no space, shortest numbers, plain UTF-8."""
    value = {"b": [1.0, 1e21, 0.1], "a": "é\n", "c": None}
    assert canonical_json(value) == '{"a":"é\\n","b":[1,1e+21,0.1],"c":null}'.encode()


def test_a_model_is_its_json():
    """Models and their dumps hash alike."""
    question = Question(question_id="q1", text="who?")
    assert digest_of(question) == digest_of(question.model_dump(mode="json"))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 2**53, {"a": {1, 2}}, {1: "a"}])
def test_what_json_cannot_hold_is_refused(value):
    """Silently changing a value would make two inputs equal."""
    with pytest.raises(TypeError):
        canonical_json(value)


def test_a_file_has_the_digest_of_its_bytes(tmp_path):
    """Whatever its size, in chunks."""
    data = b"x" * (2 * 1024**2 + 7)
    (tmp_path / "f").write_bytes(data)
    assert digest_file(tmp_path / "f") == digest_bytes(data)


def test_digests_are_pinned():
    """A change would rename every run."""
    assert digest_of({"a": 1}) == (
        "sha256:015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    )
    assert short(digest_of({"a": 1})) == "015abd7f5cc5"


@given(SAFE, st.lists(st.text(alphabet="abc", min_size=1, max_size=3), min_size=1, max_size=3))
def test_each_purpose_has_a_seed_of_its_own(seed, purpose):
    """The draw for one purpose says nothing of another's."""
    others = [derive(seed, *purpose, "x"), derive(seed, "x", *purpose), derive(seed + 1, *purpose)]
    assert derive(seed, *purpose) not in others
    assert derive(seed, *purpose) == derive(seed, *purpose)
    assert 0 <= derive(seed, *purpose) < 2**64


def test_derived_seeds_are_pinned():
    """A change would redraw every sample and interval."""
    assert derive(2026, "limit") == 13_366_320_870_960_123_057
    assert derive(2026, "interval", "mrr") == 12_171_337_898_752_066_758
