"""The meter: never negative, never overspent by more than one reserved call."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memrig.answering.meter import Meter, Reserved
from memrig.errors import HarnessError
from memrig.model.trial import Budget

LIMITS = st.builds(
    Budget,
    turns=st.integers(1, 6),
    tool_calls=st.integers(1, 6),
    payload_bytes=st.integers(1, 500),
    tokens=st.none() | st.integers(1, 500),
    usd=st.none() | st.floats(0.001, 2),
)


class Spending(RuleBasedStateMachine):
    """Any order of asking, settling and taking, with estimates that may be wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.meter: Meter | None = None
        self.open: Reserved | None = None
        self.last_tokens = self.last_payload = 0
        self.last_usd = 0.0

    @rule(budget=LIMITS)
    @precondition(lambda self: self.meter is None)
    def begin(self, budget):
        self.budget, self.meter = budget, Meter(budget)

    @rule(tokens=st.integers(0, 300))
    @precondition(lambda self: self.meter and not self.open)
    def ask(self, tokens):
        left = self.meter.tokens_left
        self.open = self.meter.reserve_turn(tokens)
        if self.open and left is not None:
            assert tokens <= left
        assert bool(self.open) or self.meter.hit

    @rule(tokens=st.integers(0, 900), usd=st.none() | st.floats(0, 3))
    @precondition(lambda self: self.open)
    def settle(self, tokens, usd):
        self.meter.settle_turn(self.open, tokens, usd)
        self.open, self.last_tokens, self.last_usd = None, tokens, usd or 0.0

    @rule(size=st.integers(0, 900))
    @precondition(lambda self: self.meter)
    def search(self, size):
        if self.meter.take_tool_call() and self.meter.may_ask_memory():
            self.meter.took_payload(size)
            self.last_payload = size

    @invariant()
    def nothing_is_negative(self):
        if self.meter:
            left = [self.meter.tokens_left, self.meter.usd_left, self.meter.payload_left]
            assert all(value is None or value >= 0 for value in left)
            assert self.meter.tool_calls_left >= 0

    @invariant()
    def nothing_is_overspent_by_more_than_the_last_call(self):
        if not self.meter:
            return
        assert self.meter.turns <= self.budget.turns
        assert self.meter.tool_calls <= self.budget.tool_calls
        assert self.meter.payload_bytes - self.last_payload <= self.budget.payload_bytes
        if self.budget.tokens is not None:
            assert self.meter.tokens - self.last_tokens <= self.budget.tokens
        if self.budget.usd is not None:
            assert self.meter.usd - self.last_usd <= self.budget.usd + 1e-9


TestSpending = Spending.TestCase
TestSpending.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)


def test_a_turn_is_refused_when_the_turns_are_used_up():
    """The kind is kept, and stays the first one."""
    meter = Meter(Budget(turns=1, tool_calls=1))
    meter.settle_turn(meter.reserve_turn(10), 10, None)
    assert meter.reserve_turn(10) is None
    assert (meter.hit, meter.take_tool_call(), meter.take_tool_call()) == ("turns", True, False)
    assert meter.hit == "turns"


def test_tokens_are_reserved_before_and_settled_after():
    """What was not used may be used again."""
    meter = Meter(Budget(tokens=100))
    reserved = meter.reserve_turn(100)
    assert meter.tokens_left == 0
    meter.settle_turn(reserved, 40, None)
    assert (meter.tokens_left, meter.hit) == (60, "")
    assert meter.reserve_turn(61) is None
    assert meter.hit == "tokens"


def test_the_next_turn_is_taken_to_cost_as_much_as_the_dearest():
    """So that money is not overspent by more than one call."""
    meter = Meter(Budget(usd=1.0))
    meter.settle_turn(meter.reserve_turn(1), 1, 0.6)
    assert meter.reserve_turn(1) is None
    assert (meter.hit, round(meter.usd_left, 9)) == ("usd", 0.4)


def test_more_bytes_than_were_left_are_a_limit_hit_and_as_many_are_not():
    """A limit is what may be used."""
    meter = Meter(Budget(payload_bytes=10))
    meter.took_payload(10)
    assert (meter.hit, meter.payload_left) == ("", 0)
    assert not meter.may_ask_memory()
    assert meter.hit == "payload_bytes"
    other = Meter(Budget(payload_bytes=10))
    other.took_payload(11)
    assert other.hit == "payload_bytes"


@given(LIMITS)
def test_a_turn_cannot_be_asked_for_or_settled_twice(budget):
    """That would be a defect of the rig."""
    meter = Meter(budget)
    reserved = meter.reserve_turn(0)
    with pytest.raises(HarnessError):
        meter.reserve_turn(0)
    meter.settle_turn(reserved, 0, None)
    with pytest.raises(HarnessError):
        meter.settle_turn(reserved, 0, None)
