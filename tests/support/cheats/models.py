"""Cheats with what models were asked and said, and with what that cost."""

import json
from collections.abc import Callable

from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering, canonical


def _answered(record: Json) -> bool:
    return bool(record["answer"]) and record["outcome"]["status"] == "answered"


def _of(record: Json) -> Json:
    """The first call of a question."""
    call: Json = record["model_calls"][0]
    return call


def _gold(forgery: Tampering) -> None:
    """The answer in the transcript is the right one."""
    forgery.question(lambda record: record["answer"].update(text="nine years"), _answered)


def _cited(forgery: Tampering) -> None:
    def change(record: Json) -> None:
        record["answer"]["cited"] = [one["handle"] for one in record["answer"]["memories"]]

    forgery.question(
        change, lambda record: _answered(record) and bool(record["answer"]["memories"])
    )


def _confident(forgery: Tampering) -> None:
    forgery.question(lambda record: record["answer"].update(confidence=1.0), _answered)


def _slipped_in(forgery: Tampering) -> None:
    """A memory that no search found is among those that the reader was shown."""

    def change(record: Json) -> None:
        memories = record["answer"]["memories"]
        memories.append(memories[0] | {"handle": f"m{len(memories) + 1}", "ref_id": "notes"})

    forgery.question(
        change, lambda record: _answered(record) and bool(record["answer"]["memories"])
    )


def _exchange(
    change: Callable[[Json], object], purpose: str = "reader"
) -> Callable[[Tampering], None]:
    """Changes the first exchange of a purpose."""

    def forge(forgery: Tampering) -> None:
        def edit(lines: Rows) -> None:
            rows = [line["exchange"] for line in lines if "exchange" in line]
            change(next(row for row in rows if row["purpose"] == purpose))

        forgery.edit_models(edit)

    return forge


def _said(row: Json, text: str) -> None:
    """Another reply, in the shape of the wire."""
    value = json.loads(row["response"])
    if "choices" in value:
        value["choices"][0]["message"]["content"] = text
    else:
        value["content"] = [{"type": "text", "text": text}]
    row["response"] = canonical(value)


def _reply(forgery: Tampering) -> None:
    """The reply in the record and the answer in the transcript."""
    text = "nine years"
    _exchange(lambda row: _said(row, text))(forgery)

    def change(record: Json) -> None:
        record["answer"] |= {"text": text, "raw": "", "cited": []}

    forgery.question(change, _answered)


def _hinted(forgery: Tampering) -> None:
    """The reader's prompt says a little more than the memory found."""

    def edit(lines: Rows) -> None:
        exchange = next(
            line["exchange"] for line in lines
            if "exchange" in line and line["exchange"]["purpose"] == "reader"
        )  # fmt: skip
        for line in lines:
            request = line.get("request")
            if request and request["digest"] == exchange["request"]:
                request["body"] = request["body"].replace("</memory>", " (nine years)</memory>", 1)

    forgery.edit_models(edit)


def _model_swapped(forgery: Tampering) -> None:
    """A dearer model answered than the lock names."""
    forgery.relock(answer=forgery.lock["answer"] | {"model": "gpt-4.1-nano"})


def _prompts(forgery: Tampering) -> None:
    forgery.relock(answer=forgery.lock["answer"] | {"prompts": f"sha256:{'e1' * 32}"})


def _context(forgery: Tampering) -> None:
    """The reader was shown more than the lock allows."""
    forgery.relock(answer=forgery.lock["answer"] | {"context_tokens": 100})


def _served(forgery: Tampering) -> None:
    """In record, attempts and transcript; the reply itself names another one."""
    _everywhere(forgery, served_model="gpt-4o-mini-2024-07-18")


def _everywhere(forgery: Tampering, **changes: object) -> None:
    """Changes the first reader's call, its exchange and its attempt alike."""
    found: dict[str, str] = {}

    def edit(lines: Rows) -> None:
        rows = [line["exchange"] for line in lines if "exchange" in line]
        row = next(row for row in rows if row["purpose"] == "reader")
        found["key"] = row["key"]
        row |= changes
        for line in lines:
            attempt = line.get("attempt")
            if attempt and attempt["key"] == row["key"]:
                attempt |= {name: value for name, value in changes.items() if name in attempt}

    forgery.edit_models(edit)

    def change(record: Json) -> None:
        _of(record).update(changes)

    forgery.question(
        change, lambda one: bool(one["model_calls"]) and _of(one)["key"] == found["key"]
    )


def _call_cheaper(forgery: Tampering) -> None:
    """In the transcript alone."""
    forgery.question(
        lambda one: _of(one).update(cost_usd=0.0), lambda one: bool(one["model_calls"])
    )


def _call_faster(forgery: Tampering) -> None:
    forgery.question(lambda one: _of(one).update(ns=1000), lambda one: bool(one["model_calls"]))


def _question_faster(forgery: Tampering) -> None:
    """It is over as soon as the memory has answered."""

    def change(record: Json) -> None:
        record["ns"] = record["memory_ns"] + 1000

    forgery.question(change, lambda record: bool(record["model_calls"]))


def _call_hidden(forgery: Tampering) -> None:
    """A call that was paid for is not in the transcript."""
    forgery.question(lambda one: one.update(model_calls=[]), lambda one: bool(one["model_calls"]))


def _call_gone(forgery: Tampering) -> None:
    """Nor is it in the record."""
    gone: dict[str, str] = {}

    def change(record: Json) -> None:
        gone["key"] = _of(record)["key"]
        record["model_calls"] = []

    forgery.question(change, lambda one: bool(one["model_calls"]))

    def edit(lines: Rows) -> None:
        lines[:] = [
            line for line in lines
            if next(iter(line.values())).get("key") != gone["key"]
        ]  # fmt: skip

    forgery.edit_models(edit)


def _unrecorded(forgery: Tampering) -> None:
    """The call is in the transcript, what was said is not in the record."""

    def edit(lines: Rows) -> None:
        row = next(line["exchange"] for line in lines if "exchange" in line)
        row |= {"response": None, "events": None}

    forgery.edit_models(edit)


def _again(forgery: Tampering) -> None:
    """Asked twice; the better reply is used, the other one stays in the record."""

    def edit(lines: Rows) -> None:
        rows = [line["exchange"] for line in lines if "exchange" in line]
        row = next(row for row in rows if row["purpose"] == "reader")
        attempts = [
            line["attempt"] for line in lines if line.get("attempt", {}).get("key") == row["key"]
        ]
        row["occurrence"] = 1
        spare = dict(row) | {"key": "spare", "occurrence": 0}
        lines.append({"exchange": spare})
        lines += [{"attempt": dict(attempt) | {"key": "spare"}} for attempt in attempts]

    forgery.edit_models(edit)


def _another_question(forgery: Tampering) -> None:
    """One question's call is shown as another one's."""
    calls: list[Json] = []
    forgery.edit_each("question", lambda record: calls.extend(record["model_calls"]))

    def change(record: Json) -> None:
        record["model_calls"] = [calls[1]]

    forgery.question(change, lambda record: bool(record["model_calls"]))


def _key_own(forgery: Tampering) -> None:
    """A reply goes by a key that is not its request's."""
    lines = forgery.lines(forgery.models)
    row = next(line["exchange"] for line in lines if "exchange" in line)
    old, new = row["key"], "ab" * 32
    for line in lines:
        for part in line.values():
            part["key"] = new if part.get("key") == old else part.get("key", "")
            if not part["key"]:
                del part["key"]
    forgery.put_lines(forgery.models, lines)
    for trial in forgery.trials:
        text = forgery.files[f"{trial}/transcript.jsonl"]
        forgery.files[f"{trial}/transcript.jsonl"] = text.replace(old.encode(), new.encode())
        forgery.put_records(trial, forgery.records(trial))


def _request_gone(forgery: Tampering) -> None:
    def edit(lines: Rows) -> None:
        del lines[next(n for n, line in enumerate(lines) if "request" in line)]

    forgery.edit_models(edit)


def _attempts_hidden(forgery: Tampering) -> None:
    """What was paid to the provider is gone from the record."""

    def edit(lines: Rows) -> None:
        del lines[next(n for n, line in enumerate(lines) if "attempt" in line)]

    forgery.edit_models(edit)


def _attempt_cheaper(forgery: Tampering) -> None:
    def edit(lines: Rows) -> None:
        row = next(line["attempt"] for line in lines if "attempt" in line)
        row["cost_usd"] = 0.0

    forgery.edit_models(edit)


def _prices(forgery: Tampering) -> None:
    forgery.relock(prices=f"sha256:{'e1' * 32}")


def _opponent_weaker(forgery: Tampering) -> None:
    forgery.question(
        lambda record: record["naive"]["answer"].update(text="no idea"),
        lambda record: bool(record["naive"]) and bool(record["naive"]["answer"]),
    )


def _opponent_gone(forgery: Tampering) -> None:
    """Its answer is gone from the transcript, and its call from the record."""
    gone: list[str] = []

    def change(record: Json) -> None:
        gone.extend(call["key"] for call in record["naive"]["model_calls"])
        record["naive"] = None

    forgery.question(change, lambda record: bool(record["naive"]))

    def edit(lines: Rows) -> None:
        lines[:] = [
            line for line in lines if next(iter(line.values())).get("key") not in gone
        ]  # fmt: skip

    forgery.edit_models(edit)


def _opponent_failed(forgery: Tampering) -> None:
    """Its provider failed, says the transcript; its call is gone from the record."""
    gone: list[str] = []

    def change(record: Json) -> None:
        naive = record["naive"]
        gone.extend(call["key"] for call in naive["model_calls"])
        naive |= {"answer": None, "failure": "rejected: no", "shown": 0, "model_calls": []}

    forgery.question(change, lambda record: bool(record["naive"]))

    def edit(lines: Rows) -> None:
        lines[:] = [line for line in lines if next(iter(line.values())).get("key") not in gone]

    forgery.edit_models(edit)


def _found_before(forgery: Tampering) -> None:
    """The reader's reply was there already: it took no time, and neither did the question."""

    def change(record: Json) -> None:
        _of(record)["attempts"] = 0
        record["ns"] = record["memory_ns"] + 1000

    forgery.question(change, lambda record: bool(record["model_calls"]))


def _opponent_less(forgery: Tampering) -> None:
    """It says itself that it was shown less."""

    def change(record: Json) -> None:
        record["naive"] |= {"episodes": 3, "shown": 3}

    forgery.question(change, lambda record: bool(record["naive"]))


def _old_replies(forgery: Tampering) -> None:
    """Replies of last year, when the model was another one."""

    def edit(lines: Rows) -> None:
        for line in lines:
            for kind in ("exchange", "attempt"):
                if kind in line:
                    line[kind]["at"] = line[kind]["at"].replace("2026-", "2025-")

    forgery.edit_models(edit)


def _stranger(forgery: Tampering) -> None:
    """Somebody else's calls are in the record, too."""

    def edit(lines: Rows) -> None:
        row = next(line["exchange"] for line in lines if "exchange" in line)
        lines.append({"exchange": row | {"key": "x", "scope": "elsewhere", "model": "gpt-5"}})

    forgery.edit_models(edit)


CHEATS = (
    Cheat("answer-gold", "reader", "writes the gold answer over the reader's",
          "a right answer", "models.answers", _gold),
    Cheat("answer-cites", "judged", "cites memories that the reply does not cite",
          "evidence for an answer", "models.answers", _cited),
    Cheat("answer-confident", "reader", "makes an answer more confident than it was",
          "better calibration", "models.answers", _confident),
    Cheat("memory-slipped-in", "reader", "shows the reader a memory that was not found",
          "the answer, in the prompt", "sources.shown", _slipped_in),
    Cheat("reply-replaced", "reader", "replaces the built-in reader's reply in the record, too",
          "a right answer", "models.local", _reply),
    Cheat("prompt-hinted", "judged", "plants the answer in the recorded prompt",
          "a right answer", "models.prompts", _hinted),
    Cheat("model-claimed", "judged", "names a cheaper reader in the lock than answered",
          "quality at a cheaper model's price", "models.lawful", _model_swapped),
    Cheat("prompts-own", "reader", "has prompts of its own, by their digest",
          "prompts that help one memory system", "config.answer", _prompts),
    Cheat("context-claimed", "reader", "claims a smaller context than the reader was shown",
          "quality at fewer tokens", "models.prompts", _context),
    Cheat("served-other", "judged", "names another serving model than the reply does",
          "a dated model's name", "models.tokens", _served),
    Cheat("tokens-lower", "judged", "counts fewer tokens in record, attempt and transcript",
          "a system that looks cheap", "models.tokens",
          lambda forgery: _everywhere(forgery, input_tokens=10)),
    Cheat("cost-lower", "judged", "counts less money in record, attempt and transcript",
          "a system that looks cheap", "models.costs",
          lambda forgery: _everywhere(forgery, cost_usd=0.000001)),
    Cheat("call-cheaper", "judged", "counts less money in the transcript alone",
          "a system that looks cheap", "models.calls", _call_cheaper),
    Cheat("call-faster", "judged", "has a call take less time in the transcript",
          "a reader that looks fast", "models.calls", _call_faster),
    Cheat("answer-faster", "judged", "answers in less time than the reader's reply took",
          "a reader that looks fast", "models.within", _question_faster),
    Cheat("reply-found", "judged", "likewise, and says that the reply was there already",
          "a reader that looks fast", "models.within", _found_before),
    Cheat("call-hidden", "judged", "leaves a call out of the transcript",
          "a system that looks cheap", "models.accounted", _call_hidden),
    Cheat("call-gone", "judged", "leaves it out of the record as well",
          "a system that looks cheap", "budgets.outcomes", _call_gone),
    Cheat("reply-unrecorded", "judged", "keeps a call without what was said",
          "an answer of which nobody sees how it came about", "models.recorded", _unrecorded),
    Cheat("asked-again", "judged", "asks the reader twice, and uses the better reply",
          "the better of two", "models.placed", _again),
    Cheat("reply-of-another", "reader", "shows one question's call as another's",
          "a better reply", "models.placed", _another_question),
    Cheat("key-own", "judged", "files a reply under a key of its own",
          "a reply moved to another question", "models.keys", _key_own),
    Cheat("request-gone", "judged", "leaves a request out of the record",
          "a prompt that nobody sees", "models.requests", _request_gone),
    Cheat("attempt-hidden", "judged", "leaves an attempt out of the record",
          "failures that do not show", "models.attempts", _attempts_hidden),
    Cheat("attempt-cheaper", "judged", "counts less money for an attempt",
          "a system that looks cheap", "models.costs", _attempt_cheaper),
    Cheat("prices-own", "judged", "counts by a price table of its own",
          "a system that looks cheap", "config.prices", _prices),
    Cheat("exchange-stray", "judged", "has another model's call in the record",
          "help from a model that nobody names", "models.lawful", _stranger),
    Cheat("replies-old", "judged", "has replies from a year before the run",
          "another, better model's replies", "models.dated", _old_replies),
    Cheat("opponent-weaker", "reader", "has the naive opponent answer worse",
          "an opponent that is easily beaten", "models.answers", _opponent_weaker),
    Cheat("opponent-gone", "reader", "leaves the opponent out where it was right",
          "an opponent that is easily beaten", "models.opponent", _opponent_gone),
    Cheat("opponent-failed", "reader", "says that the opponent's provider failed",
          "an opponent that is easily beaten", "models.opponent-failed", _opponent_failed),
    Cheat("opponent-less", "reader", "shows the opponent fewer episodes",
          "an opponent that is easily beaten", "models.answers", _opponent_less),
)  # fmt: skip
