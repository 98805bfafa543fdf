"""Checks of the record of models by itself."""

import json
from dataclasses import replace

import pytest

from memrig.gateway.keys import Keys
from memrig.gateway.wire.formats import WIRES
from memrig.model.chat import CallContext
from memrig.submission.checks import record
from support.evidence import found
from support.happened import attempted, exchange_of, recorded_as, with_models_of


def caught(check_id, run):
    return found(record.RUN_CHECKS, check_id, run)


@pytest.fixture
def reader(judged):
    """One exchange of the reader's."""
    return exchange_of(judged.run, "reader")


class TestKeys:
    def test_a_key_is_what_the_gateway_makes_of_the_request(self, judged, reader):
        """The verifier's rule is the gateway's."""
        body = json.loads(judged.run.models.requests[reader.request])["request"]
        context = CallContext(
            phase="answer", purpose="reader", trial_id="t", scope=reader.scope, seed=reader.seed
        )
        key = Keys().name(WIRES["openai.chat"].format, body, {}, context)
        assert (key.exact, key.same, key.request) == (reader.key, reader.same, reader.request)

    @pytest.mark.parametrize(
        "changes",
        [{"scope": "another"}, {"vote": 2}, {"seed": 3}, {"request": "0" * 64}, {"same": "0" * 64}],
        ids=lambda changes: next(iter(changes)),
    )
    def test_an_exchange_that_was_moved_has_another_key(self, judged, reader, changes):
        """A reply stays where it was given."""
        run = recorded_as(judged.run, reader.key, **changes)
        assert caught("models.keys", judged.run) == []
        assert len(caught("models.keys", run)) == 1

    def test_a_request_left_out_is_missed(self, judged, reader):
        """Nobody could see what was asked."""
        kept = {key: body for key, body in judged.run.models.requests.items()
                if key != reader.request}  # fmt: skip
        assert caught("models.requests", judged.run) == []
        assert (
            "is not in the record"
            in caught("models.requests", with_models_of(judged.run, requests=kept))[0]
        )

    def test_a_request_names_its_model(self, judged, reader):
        """The one that the exchange is booked under."""
        run = recorded_as(judged.run, reader.key, model="gpt-cheap")
        assert "its request asks gpt-4o-mini" in caught("models.requests", run)[0]


class TestLawful:
    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"model": "gpt-9"}, "called gpt-9"),
            ({"purpose": "planner"}, "'planner'"),
            ({"purpose": "memory"}, "the memory called"),
            ({"phase": "ingest"}, "charged to phase 'ingest'"),
            ({"seed": 1}, "of seed 1"),
            ({"trial_id": "another"}, "of trial another"),
            ({"occurrence": -1}, "below 0"),
            ({"ns": -1}, "took -1 ns"),
        ],
        ids=lambda value: str(value)[:20],
    )
    def test_an_exchange_is_one_of_the_run(self, judged, reader, changes, says):
        """Made for its purpose, by a model that the lock names."""
        run = recorded_as(judged.run, reader.key, **changes)
        assert caught("models.lawful", judged.run) == []
        assert says in caught("models.lawful", run)[0]


class TestCosts:
    @pytest.mark.parametrize(
        "changes",
        [{"input_tokens": 1}, {"output_tokens": 1}, {"served_model": "gpt-9"}],
        ids=lambda changes: next(iter(changes)),
    )
    def test_tokens_are_those_of_the_reply(self, judged, reader, changes):
        """Which says them itself."""
        run = recorded_as(judged.run, reader.key, **changes)
        assert caught("models.tokens", judged.run) == []
        assert f"{next(iter(changes))} is" in caught("models.tokens", run)[0]

    def test_what_is_no_reply_is_objected_to(self, judged, reader):
        """It would never have been taken for one."""
        run = recorded_as(judged.run, reader.key, response='{"choices":[]}')
        assert "holds no reply" in caught("models.tokens", run)[0]

    def test_a_cost_is_tokens_at_the_price(self, judged, reader):
        """Of the table that ships."""
        run = recorded_as(judged.run, reader.key, cost_usd=0.0)
        assert caught("models.costs", judged.run) == []
        assert "cost 0.0 dollars" in caught("models.costs", run)[0]

    def test_an_attempt_costs_what_its_reply_does(self, judged, reader):
        """Reports sum attempts."""
        run = with_models_of(judged.run, attempts=attempted(judged.run, reader.key, cost_usd=0.0))
        assert "an attempt cost" in caught("models.costs", run)[0]


class TestAttempts:
    @pytest.mark.parametrize(
        "changes",
        [
            {"input_tokens": 1},
            {"status": 500},
            {"error": "provider"},
            {"trial_id": "x"},
            {"number": 1},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    def test_a_reply_is_its_last_attempts(self, judged, reader, changes):
        """In everything that both say."""
        run = recorded_as(judged.run, reader.key, attempts=2) if "number" in changes else judged.run
        run = with_models_of(run, attempts=attempted(run, reader.key, **changes))
        assert caught("models.attempts", judged.run) == []
        assert caught("models.attempts", run)

    def test_an_attempt_left_out_is_missed(self, judged, reader):
        """Numbers have no gaps, and every reply was attempted."""
        fewer = tuple(one for one in judged.run.models.attempts if one.key != reader.key)
        run = with_models_of(judged.run, attempts=fewer)
        assert "never attempted" in caught("models.attempts", run)[0]

    def test_an_exchange_left_out_is_missed(self, judged, reader):
        """It was attempted."""
        fewer = {key: one for key, one in judged.run.models.exchanges.items() if key != reader.key}
        run = with_models_of(judged.run, exchanges=fewer)
        assert "was attempted, and is not in the record" in caught("models.attempts", run)[0]


class TestBuiltIn:
    def test_a_built_in_model_says_the_same_again(self, read):
        """An answer that it never gave is not its own."""
        exchange = exchange_of(read.run, "reader")
        value = json.loads(exchange.response)
        value["choices"][0]["message"]["content"] = "the attic"
        run = recorded_as(read.run, exchange.key, response=json.dumps(value))
        assert caught("models.local", read.run) == []
        assert "says something else" in caught("models.local", run)[0]

    def test_a_built_in_model_that_did_not_fail_did_not(self, read):
        """A question would be taken out of the score."""
        exchange = exchange_of(read.run, "reader")
        run = recorded_as(read.run, exchange.key, state="rejected", response=None)
        assert caught("models.local", run)

    def test_nobody_else_is_asked_again(self, judged):
        """A provider's model says what it says."""
        local = replace(judged.run, name="other")
        assert caught("models.local", local) == []
