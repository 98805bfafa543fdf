"""Cheats with what a memory found: sources, hits, queries, bytes and times of searches."""

from collections.abc import Callable

from support.submissions import Json
from support.tampering import Cheat, Tampering


def _found(record: Json) -> bool:
    return bool(record["searches"]) and bool(record["searches"][0]["hits"])


def _in_search(change: Callable[[Json], object]) -> Callable[[Tampering], None]:
    """Changes the first search that found something."""

    def forge(forgery: Tampering) -> None:
        forgery.question(lambda record: change(record["searches"][0]), _found)

    return forge


def _future(forgery: Tampering) -> None:
    """A hit's source is an episode that is only told later."""
    last = forgery.edit_each("ingest", lambda record: None, forgery.first)
    records = forgery.records(forgery.first)
    later = [record for record in records if record["kind"] == "ingest"][last - 1]
    name = later["acks"][-1]["episode_id"]

    def change(record: Json) -> None:
        record["searches"][0]["hits"][0]["episodes"] = [name]

    forgery.question(change, _found)


def _never(search: Json) -> None:
    search["hits"][0]["episodes"] = ["s99m1"]


def _future_turn(search: Json) -> None:
    search["hits"][0]["turns"] = ["s99m1"]


def _too_many(search: Json) -> None:
    hits = search["hits"]
    search["hits"] = [hits[n % len(hits)] for n in range(search["limit"] + 5)]
    search["payload_bytes"] *= 3


def _surplus(search: Json) -> None:
    search["surplus_hits"] = -3


def _surplus_short(search: Json) -> None:
    """Hits that were one too many were not its worst ones."""
    del search["hits"][2:]
    search["surplus_hits"] = 5


def _helped(forgery: Tampering) -> None:
    def change(record: Json) -> None:
        search = record["searches"][0]
        search["query"] += " " + search["hits"][0]["text"]

    forgery.question(change, _found)


def _twice(forgery: Tampering) -> None:
    """A second search, of which the better one is kept first."""

    def change(record: Json) -> None:
        again = dict(record["searches"][0])
        record["searches"].append(again)
        record["memory_ns"] += again["ns"]
        record["ns"] += again["ns"]

    forgery.question(change, _found)


def _deeper(search: Json) -> None:
    search["limit"] = 100


def _mode(search: Json) -> None:
    search["mode"] = "SEARCH_MODE_HYBRID"


def _filtered(search: Json) -> None:
    """Asked for the day of the evidence."""
    search["filters"] = [{"field": "timestamp", "operator": "equal", "value": "2024-03-01"}]


def _bytes(search: Json) -> None:
    search["payload_bytes"] = 64


def _fast(search: Json) -> None:
    search["ns"] = max(1, search["ns"] // 10)


def _backwards(forgery: Tampering) -> None:
    def change(record: Json) -> None:
        record["searches"][0]["ns"] = record["memory_ns"] = -5

    forgery.question(change, _found)


def _no_time(forgery: Tampering) -> None:
    def change(record: Json) -> None:
        record["searches"][0]["ns"] = record["memory_ns"] = record["ns"] = 0

    forgery.question(change, _found)


def _question_fast(forgery: Tampering) -> None:
    """The question took less than its own search."""

    def change(record: Json) -> None:
        record["ns"] = record["memory_ns"] // 2

    forgery.question(change, _found)


def _stream_fast(forgery: Tampering) -> None:
    """Ingest is over before its first acknowledgement."""
    forgery.edit_each("ingest_end", lambda record: record.update(ns=1000))


def _baseline(forgery: Tampering) -> None:
    """The opponent of all others finds less."""

    def change(record: Json) -> None:
        search = record["searches"][0]
        gone = search["hits"].pop(0)
        search["payload_bytes"] -= len(gone["text"].encode()) + len(gone["ref_id"].encode())

    forgery.question(change, _found)


def _agent_more(forgery: Tampering) -> None:
    """One turn more than it had, and the budget says so nowhere."""
    budget = forgery.lock["budget"] | {"turns": 7}
    forgery.relock(budget=budget)


def _agent_calls(forgery: Tampering) -> None:
    forgery.relock(budget=forgery.lock["budget"] | {"tool_calls": 4})


def _agent_tokens(forgery: Tampering) -> None:
    forgery.relock(budget=forgery.lock["budget"] | {"tokens": 500})


def _agent_result(forgery: Tampering) -> None:
    """The model was told something else than the memory found."""

    def change(record: Json) -> None:
        record["tool_uses"][0]["result"] = '{"results": []}'

    forgery.question(change, lambda record: bool(record["tool_uses"]))


def _agent_arguments(forgery: Tampering) -> None:
    def change(record: Json) -> None:
        record["searches"][0]["query"] += " blue"
        use = record["tool_uses"][0]
        use["arguments_json"] = use["arguments_json"].replace('"query": "', '"query": "blue ')

    forgery.question(change, lambda record: bool(record["tool_uses"]))


def _tool(forgery: Tampering) -> None:
    """A tool was used where no model is given any."""
    use = {"name": "memory_search", "arguments_json": "{}", "result": "{}", "is_error": False}
    forgery.question(lambda record: record.update(tool_uses=[use | {"ns": 1}]), _found)


def _answer(forgery: Tampering) -> None:
    """An answer, where only what was found is measured."""
    forgery.question(lambda record: record.update(answer={"text": "nine years"}), _found)


CHEATS = (
    Cheat("source-future", "story", "claims an episode as source that is told later",
          "evidence found before it was told", "sources.acknowledged", _future),
    Cheat("source-never", "retrieval", "claims an episode as source that nobody told",
          "evidence that was never there", "sources.acknowledged", _in_search(_never)),
    Cheat("source-turn", "retrieval", "claims a turn as source that nobody told",
          "evidence that was never there", "sources.acknowledged", _in_search(_future_turn)),
    Cheat("hits-more", "retrieval", "keeps more hits than were asked for",
          "more tries at the evidence", "sources.hits", _in_search(_too_many)),
    Cheat("surplus-negative", "retrieval", "counts fewer surplus hits than none",
          "a system that looks as if it kept its limits", "sources.hits", _in_search(_surplus)),
    Cheat("surplus-short", "retrieval", "cuts the worst hits off as surplus",
          "better ranks", "sources.hits", _in_search(_surplus_short)),
    Cheat("query-helped", "retrieval", "searches with words of the answer",
          "evidence that is easy to find", "sources.query", _helped),
    Cheat("search-twice", "retrieval", "searches twice for a question",
          "the better of two", "sources.query", _twice),
    Cheat("search-deeper", "retrieval", "asks for a hundred hits, and shows ten",
          "hits to choose from", "sources.query", _in_search(_deeper)),
    Cheat("search-mode", "retrieval", "searches in a mode of its own",
          "a mode that helps", "sources.query", _in_search(_mode)),
    Cheat("search-filtered", "retrieval", "has a filter on the evidence's day",
          "evidence that is easy to find", "sources.query", _in_search(_filtered)),
    Cheat("payload-lower", "retrieval", "counts fewer bytes than its hits have",
          "a budget that was not kept", "budgets.payload", _in_search(_bytes)),
    Cheat("search-faster", "retrieval", "makes a search ten times as fast",
          "a system that looks fast", "budgets.durations", _in_search(_fast)),
    Cheat("search-backwards", "retrieval", "ends a search before it began",
          "a system that looks fast", "budgets.durations", _backwards),
    Cheat("search-no-time", "retrieval", "searches in no time at all",
          "a system that looks fast", "budgets.durations", _no_time),
    Cheat("question-faster", "retrieval", "ends a question before its search did",
          "a system that looks fast", "budgets.durations", _question_fast),
    Cheat("acks-slow", "retrieval", "acknowledges after the stream was over",
          "throughput that nobody measured", "times.acknowledged", _stream_fast),
    Cheat("tool-stray", "retrieval", "has a tool used that nobody gave it",
          "help that nobody sees", "models.prompts", _tool),
    Cheat("answer-stray", "retrieval", "has an answer where none is asked for",
          "a right answer", "models.answers", _answer),
    Cheat("baseline-weaker", "baseline", "has the rig's own baseline find less",
          "an opponent that is easily beaten", "sources.baseline", _baseline),
    Cheat("turns-more", "agent", "took a turn more than the budget has",
          "more tries", "budgets.outcomes", _agent_more),
    Cheat("calls-more", "agent", "made more calls of tools than the budget has",
          "more tries", "budgets.spent", _agent_calls),
    Cheat("tokens-more", "agent", "used more tokens than the budget has",
          "more room to think", "budgets.spent", _agent_tokens),
    Cheat("result-other", "agent", "notes another result than the model was shown",
          "hits that nobody sees", "models.prompts", _agent_result),
    Cheat("arguments-other", "agent", "notes another query than the model's",
          "queries that help", "models.prompts", _agent_arguments),
)  # fmt: skip
