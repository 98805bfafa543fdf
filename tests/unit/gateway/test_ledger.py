"""Tokens and money: never negative, never overspent by more than what was estimated too low."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.errors import GatewayError, UsageError
from memrig.gateway.config import Limit, Limits
from memrig.gateway.ledger import Ledger, check_prices
from memrig.model.chat import PHASES, CallContext
from support.gateways import GPT, Prices, ask, context, gateway_of
from support.llm_standin import Fault, Say

COUNTS = st.integers(0, 400)
MAYBE = st.none() | st.integers(1, 1000)


@dataclass(frozen=True)
class Planned:
    """One call: what is reserved for it, what it takes, and how long it is under way."""

    trial: str
    phase: str
    reserved: int
    actual: int
    fails: bool
    ends_after: int

    @property
    def context(self) -> CallContext:
        return CallContext(self.phase, "memory", self.trial, "s", 0)


PLANNED = st.builds(
    Planned,
    trial=st.sampled_from(["t1", "t2"]),
    phase=st.sampled_from(PHASES),
    reserved=COUNTS,
    actual=COUNTS,
    fails=st.booleans(),
    ends_after=st.integers(0, 3),
)


def limit_of(tokens: int | None, cents: int | None) -> Limit:
    return Limit(tokens=tokens, usd=None if cents is None else cents / 100)


LIMITS = st.builds(
    lambda run, trial, phase: Limits(
        run=limit_of(*run), trial=limit_of(*trial), phases={"ingest": limit_of(*phase)}
    ),
    *[st.tuples(MAYBE, MAYBE)] * 3,
)


def end(reservation, plan: Planned) -> None:
    """A call's end: what it took is a cent a token."""
    with reservation:
        if not plan.fails:
            reservation.settle(plan.actual, plan.actual / 100)


def excess(account) -> tuple[float, float]:
    """How far an account is over its limit, in tokens and nano-dollars."""
    limit = account.limit
    tokens = 0 if limit.tokens is None else account.spent_tokens - limit.tokens
    money = 0 if limit.usd is None else account.spent_nano - round(limit.usd * 1e9)
    return max(0, tokens), max(0, money)


def run(limits: Limits, plans: list[Planned]) -> tuple[Ledger, int]:
    """Runs calls that overlap, looking at every step; how much was estimated too low at worst."""
    ledger = Ledger(limits)
    under_way: list[tuple[int, object, Planned]] = []
    low = 0
    for step, plan in enumerate(plans):
        for due, reservation, earlier in [e for e in under_way if e[0] <= step]:
            end(reservation, earlier)
            under_way.remove((due, reservation, earlier))
        try:
            reservation = ledger.reserve(plan.context, plan.reserved, plan.reserved / 100)
        except GatewayError as error:
            assert error.kind == "budget"
        else:
            under_way.append((step + plan.ends_after, reservation, plan))
        at_once = [max(0, p.actual - p.reserved) for _, _, p in under_way if not p.fails]
        low = max(low, sum(at_once))
        check(ledger)
    for _, reservation, plan in under_way:
        end(reservation, plan)
    check(ledger)
    return ledger, low


def check(ledger: Ledger) -> None:
    for account in ledger:
        assert account.spent_tokens >= 0
        assert account.spent_nano >= 0
        assert account.reserved_tokens >= 0
        assert account.reserved_nano >= 0


@given(limits=LIMITS, plans=st.lists(PLANNED, max_size=30))
def test_overlapping_calls_overspend_by_no_more_than_their_low_estimates(limits, plans):
    """Those that were under way together when the limit was passed; nothing is left reserved."""
    ledger, low = run(limits, plans)
    for account in ledger:
        assert (account.reserved_tokens, account.reserved_nano) == (0, 0)
        tokens, money = excess(account)
        assert tokens <= low
        assert money <= low * 10**7


@given(limits=LIMITS, plans=st.lists(PLANNED, max_size=30))
def test_calls_one_after_the_other_overspend_by_one_low_estimate(limits, plans):
    """The last one's: after it, nothing fits."""
    calls = [Planned(p.trial, p.phase, p.reserved, p.actual, p.fails, 0) for p in plans]
    ledger, _ = run(limits, calls)
    most = max((max(0, p.actual - p.reserved) for p in calls), default=0)
    for account in ledger:
        assert excess(account)[0] <= most


@given(limits=LIMITS, plans=st.lists(PLANNED, max_size=30))
def test_what_is_never_estimated_too_low_is_never_overspent(limits, plans):
    """However the calls overlap."""
    high = [
        Planned(p.trial, p.phase, max(p.reserved, p.actual), p.actual, p.fails, p.ends_after)
        for p in plans
    ]
    ledger, _ = run(limits, high)
    assert all(excess(account) == (0, 0) for account in ledger)


@given(plans=st.lists(PLANNED, max_size=20))
def test_every_account_adds_up(plans):
    """What the run spent is what its trials spent, and what its phases did."""
    ledger, _ = run(Limits(), plans)
    whole, *parts = list(ledger)
    for prefix in ("trial", "phase"):
        some = [part for part in parts if part.name.startswith(prefix)]
        assert sum(part.spent_tokens for part in some) == whole.spent_tokens
        assert sum(part.spent_nano for part in some) == whole.spent_nano


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(run=Limit(tokens=100)), "the run"),
        (Limits(trial=Limit(tokens=100)), "trial t1"),
        (Limits(phases={"answer": Limit(tokens=100)}), "phase answer"),
        (Limits(run=Limit(usd=0.00022)), "the run"),
    ],
)
async def test_a_call_that_does_not_fit_is_not_made(standin, limits, name):
    """The message names the limit, what is spent, and what is needed."""
    standin.script = lambda _: Say("x", input_tokens=60, output_tokens=20)
    async with gateway_of(standin, limits=limits) as gateway:
        await gateway.chat(ask("a"), context())
        with pytest.raises(GatewayError, match=f"limit of {name} is reached") as caught:
            await gateway.chat(ask("a"), context())
    assert caught.value.kind == "budget"
    assert len(standin.seen) == 1


async def test_other_trials_and_phases_have_limits_of_their_own(standin):
    """One that is used up holds nobody else back."""
    standin.script = lambda _: Say("x", input_tokens=60, output_tokens=20)
    async with gateway_of(standin, limits=Limits(trial=Limit(tokens=100))) as gateway:
        await gateway.chat(ask("a"), context(trial="t1"))
        await gateway.chat(ask("a"), context(trial="t2"))
        assert gateway.spent().calls == 2
        assert gateway.spent(trial_id="t2").input_tokens == 60
        assert gateway.spent(purpose="judge").calls == 0
        assert gateway.spent(phase="answer").by_model == {GPT: 2}


async def test_a_call_that_failed_has_spent_nothing(standin):
    """What was reserved for it is free again."""
    standin.fail_next(Fault(status=400))
    async with gateway_of(standin, limits=Limits(run=Limit(tokens=100))) as gateway:
        with pytest.raises(GatewayError):
            await gateway.chat(ask("a"), context())
        assert (await gateway.chat(ask("a"), context())).text == "heard: a"


@pytest.mark.parametrize(
    "limits", [Limits(run=Limit(usd=1)), Limits(phases={"judge": Limit(usd=1)})]
)
async def test_a_limit_in_money_needs_every_price(standin, limits):
    """A run whose cost cannot be known does not start; limits of tokens need no price."""
    models = frozenset({GPT, "unknown-2", "unknown-1"})
    with pytest.raises(UsageError, match="unknown-1, unknown-2"):
        async with gateway_of(standin, limits=limits, models=models):
            pass
    check_prices(models, Limits(run=Limit(tokens=5)), Prices())
    check_prices(frozenset({GPT}), limits, Prices())


async def test_a_model_without_a_price_is_counted_as_such(standin):
    """Its cost is unknown, not nothing."""
    models = frozenset({"unknown-1"})
    async with gateway_of(standin, models=models) as gateway:
        reply = await gateway.chat(ask(model="unknown-1"), context())
        spent = gateway.spent()
    assert reply.cost_usd is None
    assert (spent.unpriced, spent.cost_usd) == (1, 0.0)
