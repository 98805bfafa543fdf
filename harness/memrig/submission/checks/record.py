"""Checks of the record of models by itself: keys, requests, replies, tokens, prices, attempts."""

from collections.abc import Iterator

from memrig.errors import GatewayError
from memrig.gateway.identity import MEMORY
from memrig.gateway.jsons import Json, as_object, load_object
from memrig.gateway.local import run_local
from memrig.gateway.prices import PriceTable
from memrig.gateway.record import Attempt, Exchange
from memrig.gateway.wire.base import WireError
from memrig.gateway.wire.formats import WIRES
from memrig.runs.lock import Lock
from memrig.runs.models import models_of
from memrig.submission.checks.base import Check, RunEvidence, at
from memrig.submission.checks.exchanged import Place, has_usage, replays
from memrig.submission.model import Found

#: Built-in models that give the same bits everywhere.
_SAME_EVERYWHERE = frozenset({"local/extractive", "local/hash-embed"})
_ANSWERING = frozenset({"reader", "agent", "naive"})
_MEMORY_PHASES = frozenset({"ingest", "search", "answer"})


def _where(run: RunEvidence, exchange: Exchange) -> str:
    return at(f"run {run.name}", f"exchange {exchange.key[:12]}", exchange.scope or "no scope")


def _each(run: RunEvidence) -> Iterator[Exchange]:
    for key in run.models.exchanges:
        yield run.models.exchanges[key]


def _keys(run: RunEvidence) -> Iterator[Found]:
    for name in run.models.exchanges:
        exchange = run.models.exchanges[name]
        place = Place.of(exchange)
        if not name == exchange.key == place.key or exchange.same != place.same:
            message = "its key is not that of its request and place"
            yield Found(where=_where(run, exchange), message=message)


def _requests(run: RunEvidence) -> Iterator[Found]:
    for exchange in _each(run):
        if exchange.response is None and exchange.state == "ok":
            continue  # mode live keeps no bodies; `models.recorded` says so where it matters
        asked = load_object(run.models.requests.get(exchange.request, ""))
        if asked is None:
            message = f"its request {exchange.request[:12]} is not in the record"
            yield Found(where=_where(run, exchange), message=message)
            continue
        named = as_object(asked.get("request")).get("model"), asked.get("format")
        if named != (exchange.model, exchange.format):
            message = f"is of {exchange.model} ({exchange.format}), its request asks {named[0]}"
            yield Found(where=_where(run, exchange), message=message)


def _lawful(run: RunEvidence) -> Iterator[Found]:
    lock, trials = run.lock, frozenset(run.trials)
    replayed = replays(run.executions)
    for exchange in _each(run):
        for message in _strange(exchange, lock):
            yield Found(where=_where(run, exchange), message=message)
        if exchange.trial_id not in trials and not replayed:
            message = f"is of trial {exchange.trial_id}, which the run does not have"
            yield Found(where=_where(run, exchange), message=message)


def _strange(exchange: Exchange, lock: Lock) -> Iterator[str]:
    """In what an exchange is none that a run with this lock makes."""
    answering = lock.answer.model if lock.answer else ""
    purpose, phase = exchange.purpose, exchange.phase
    if purpose == MEMORY:
        models, phases = models_of(lock.adapter), _MEMORY_PHASES
    elif purpose == "judge":
        models, phases = frozenset({lock.judge}), frozenset({"judge"})
    elif purpose in _ANSWERING:
        models, phases = frozenset({answering}), frozenset({"answer"})
    else:
        yield f"was made for {purpose!r}, which calls no model"
        return
    if exchange.model not in models:
        yield f"the {purpose} called {exchange.model}, the lock names {sorted(models)}"
    if phase not in phases:
        yield f"the {purpose}'s call is charged to phase {phase!r}"
    if exchange.seed not in lock.seeds:
        yield f"is of seed {exchange.seed}, which the run does not have"
    if min(exchange.attempt, exchange.vote, exchange.occurrence, exchange.attempts) < 0:
        yield "has an attempt, a vote or an occurrence below 0"
    if exchange.ns < 0:
        yield f"took {exchange.ns} ns"


def _tokens(run: RunEvidence) -> Iterator[Found]:
    for exchange in _each(run):
        wire = next((one for one in WIRES.values() if one.format == exchange.format), None)
        if exchange.state != "ok" or exchange.response is None or wire is None:
            continue
        body = as_object(load_object(run.models.requests.get(exchange.request, "") or "{}"))
        try:
            reply = wire.read(exchange.response.encode(), as_object(body.get("request")))
        except WireError as error:
            yield Found(where=_where(run, exchange), message=f"holds no reply: {error}")
            continue
        pairs = [("served_model", exchange.served_model, reply.served_model)]
        if has_usage(reply):
            pairs += [
                ("input_tokens", str(exchange.input_tokens), str(reply.input_tokens)),
                ("output_tokens", str(exchange.output_tokens), str(reply.output_tokens)),
            ]
        for name, has, wanted in pairs:
            if has != wanted:
                message = f"{name} is {has}, its reply says {wanted}"
                yield Found(where=_where(run, exchange), message=message)


def _costs(run: RunEvidence) -> Iterator[Found]:
    table = PriceTable.load()
    if run.lock.prices != table.digest:
        return  # `config.prices` says so
    for exchange in _each(run):
        cost = table.cost(exchange.model, exchange.input_tokens, exchange.output_tokens)
        if exchange.state == "ok" and exchange.cost_usd != cost:
            message = f"cost {exchange.cost_usd} dollars, by the table {cost}"
            yield Found(where=_where(run, exchange), message=message)
    for attempt in run.models.attempts:
        cost = table.cost(attempt.model, attempt.input_tokens, attempt.output_tokens)
        charged = cost if attempt.status == 200 and not attempt.error else None
        free = attempt.cost_usd is None and not (attempt.input_tokens or attempt.output_tokens)
        if attempt.cost_usd != charged and not free:
            message = f"an attempt cost {attempt.cost_usd} dollars, by the table {charged}"
            yield Found(
                where=at(f"run {run.name}", f"exchange {attempt.key[:12]}"), message=message
            )


def _attempts(run: RunEvidence) -> Iterator[Found]:
    last: dict[str, Attempt] = {}
    for attempt in run.models.attempts:
        before = last.get(attempt.key)
        if attempt.number not in {1, before.number + 1 if before else 1}:
            message = f"attempt {attempt.number} follows {before.number if before else 'none'}"
            yield Found(
                where=at(f"run {run.name}", f"exchange {attempt.key[:12]}"), message=message
            )
        last[attempt.key] = attempt
    for key in sorted(last.keys() - run.models.exchanges.keys()):
        message = "was attempted, and is not in the record"
        yield Found(where=at(f"run {run.name}", f"exchange {key[:12]}"), message=message)
    for exchange in _each(run):
        final = last.get(exchange.key)
        if exchange.state == "ok" and (message := _unlike(exchange, final)):
            yield Found(where=_where(run, exchange), message=message)


def _unlike(exchange: Exchange, final: Attempt | None) -> str:
    """In what a reply is not that of its last attempt; empty where it is."""
    if final is None:
        return "was answered, and never attempted"
    for name in ("model", "phase", "purpose", "trial_id", "input_tokens", "output_tokens"):
        has, wanted = getattr(exchange, name), getattr(final, name)
        if has != wanted:
            return f"{name} is {has!r}, its last attempt has {wanted!r}"
    if (final.status, final.error) != (200, "") or final.cost_usd != exchange.cost_usd:
        return f"was answered at {exchange.cost_usd} dollars, its last attempt was not"
    if exchange.attempts != final.number:
        return f"took {exchange.attempts} attempts, {final.number} are on record"
    return ""


def _local(run: RunEvidence) -> Iterator[Found]:
    """What the built-in models said, they say again."""
    for exchange in _each(run):
        if exchange.model not in _SAME_EVERYWHERE or exchange.state == "cancelled":
            continue
        asked = load_object(run.models.requests.get(exchange.request, ""))
        if asked is None or (exchange.response is None and exchange.state == "ok"):
            continue  # `models.requests` and `models.recorded` say so
        has = load_object(exchange.response or "") if exchange.state == "ok" else None
        if (exchange.state, has) != _said(exchange.format, as_object(asked.get("request"))):
            message = f"{exchange.model} says something else to this request"
            yield Found(where=_where(run, exchange), message=message)


def _said(wire: str, body: Json) -> tuple[str, dict[str, object] | None]:
    """What a built-in model comes to: a state, and its reply."""
    try:
        return "ok", run_local(wire, body)
    except GatewayError as error:
        return error.kind, None


RUN_CHECKS: tuple[Check[RunEvidence], ...] = (
    Check(
        "models.keys",
        "Every exchange goes by the key of its request and place",
        "a reply moved to another question",
        _keys,
    ),
    Check(
        "models.requests",
        "Every exchange has its request, to the model that it names",
        "replies to what was never asked",
        _requests,
    ),
    Check(
        "models.lawful",
        "Every exchange is one of a trial, and of a model that the lock names",
        "other models than the run says",
        _lawful,
    ),
    Check(
        "models.tokens",
        "Tokens and the serving model are what the replies say",
        "costs made smaller, or another model's replies",
        _tokens,
    ),
    Check(
        "models.costs",
        "Costs are tokens at the price of the table",
        "a system that is cheaper than it is",
        _costs,
    ),
    Check(
        "models.attempts",
        "Every reply is that of its last attempt",
        "failures and retries left out",
        _attempts,
    ),
    Check(
        "models.local",
        "What the built-in models said, they say again",
        "answers better than the built-in reader gives",
        _local,
    ),
)
