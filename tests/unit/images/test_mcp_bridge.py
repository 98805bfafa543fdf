"""The bridge to MCP servers, with a tiny server of the tests' own behind it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memrig_adapters import Duplicate, Episode, NotFound, Query, SearchMode, Turn
from memrig_adapters.errors import AdapterBug
from support import mcp_server
from support.command import ROOT

sys.path.insert(0, str(ROOT / "images" / "mcp-bridge"))

from mcp_bridge_adapter import McpBridge, McpBridgeWithForget
from mcp_mapping import arguments_of, at, filled, json_of, load_mapping
from mcp_stdio import ServerError

MAPPING = f"""
[server]
name = "notes"
command = ["{sys.executable}", "{mcp_server.PATH}"]
environment = {{ NOTES = "{{state}}/notes.json" }}
keeps = true

[store]
tool = "add_notes"
arguments = {{ notes = "{{each}}" }}
each = {{ name = "{{id}}", text = "{{text}}" }}

[search]
tool = "find_notes"
arguments = {{ part = "{{query}}" }}
by = "word"
results = "found"
id = "name"
text = "texts.0"
ignore = ["the", "is", "what"]

[read]
tool = "read_note"
arguments = {{ name = "{{id}}" }}
text = "text"

[delete]
tool = "drop_note"
arguments = {{ name = "{{id}}" }}
"""
BY_QUESTION = (
    ("find_notes", "rank_notes"),
    ('{ part = "{query}" }', '{ question = "{query}", top = "{limit}" }'),
    ('by = "word"', 'score = "score"'),
)
DAY = datetime(2024, 5, 1, tzinfo=UTC)

Make = Callable[..., McpBridgeWithForget]


@pytest.fixture
async def bridge(tmp_path: Path) -> AsyncIterator[Make]:
    """Makes bridges by the mapping above, with texts of it replaced; ends their servers."""
    made: list[McpBridge] = []

    def make(*changes: tuple[str, str], kind: type[McpBridge] = McpBridgeWithForget) -> Any:
        text = MAPPING
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / f"{len(made)}.toml"
        path.write_text(text)
        made.append(kind(load_mapping(path)))
        return made[-1]

    yield make
    for one in made:
        await one.close()


async def filled_with(bridge: McpBridge, *texts: str) -> McpBridge:
    """A started bridge that holds an episode e0, e1, … a text."""
    await bridge.start()
    await bridge.ingest_batch([Episode(f"e{n}", text, DAY) for n, text in enumerate(texts)])
    return bridge


async def refs(bridge: McpBridge, question: str, limit: int = 5) -> list[str]:
    return [hit.ref_id for hit in await bridge.search(Query(question, limit))]


async def test_what_is_declared_comes_from_the_mapping_and_the_server(bridge):
    """Name and mode from the file; the version, where the file says none, from the server."""
    made = bridge()
    await made.start()
    told = made.capabilities
    assert (told.name, told.version, told.search_modes) == ("notes", "1.2.3", (SearchMode.KEYWORD,))
    assert told.reports_source_turns


async def test_hits_carry_the_servers_text_and_the_source(bridge):
    """Turn by turn, with the time of the episode."""
    made = bridge()
    await made.start()
    turns = (Turn("t1", "Ann", "I like tea."), Turn("t2", "Bob", "Coffee for me."))
    (items,) = await made.ingest_batch([Episode("e", "Ann: I like tea.\nBob: …", DAY, turns)])
    (hit,) = await made.search(Query("What is coffee?", 5))
    assert items == 2
    assert (hit.text, hit.timestamp) == ("Bob: Coffee for me.", DAY)
    assert (hit.source_episode_ids, hit.source_turn_ids) == (("e",), ("t2",))


async def test_a_known_episode_is_not_stored_again(bridge):
    """Neither one of an earlier batch nor one of the same."""
    made = await filled_with(bridge(), "tea")
    again = await made.ingest_batch([Episode("e0", "other"), Episode("n", "x"), Episode("n", "y")])
    assert again == [Duplicate(), 1, Duplicate()]
    assert await made.flush() == 2


async def test_rare_words_count_more_than_common_ones(bridge):
    """A server that finds substrings does not rank; equal ones stand in the order they came."""
    made = await filled_with(bridge(), "Ann likes tea", "Bob likes figs", "Cid likes tea")
    assert await refs(made, "What likes figs, the tea?") == ["e1#0", "e0#0", "e2#0"]
    assert await refs(made, "tea", limit=1) == ["e0#0"]


async def test_a_substring_within_a_word_is_no_hit(bridge):
    """The server finds "ann" in "planned"; the bridge wants the beginning of a word."""
    made = await filled_with(bridge(), "It was planned", "Anna came")
    assert await refs(made, "ann") == ["e1#0"]


async def test_a_ranking_server_is_asked_once_and_its_scores_hold(bridge):
    """What it says of its own accord has no source."""
    made = await filled_with(bridge(*BY_QUESTION), "red bike", "red figs and tea", "blue")
    hits = await made.search(Query("red figs", 3))
    assert [(hit.ref_id, hit.score) for hit in hits] == [("e1#0", 2), ("e0#0", 1), ("own", 0.5)]
    assert hits[2].source_episode_ids == ()


async def test_an_item_is_read_from_the_server(bridge):
    """An unknown one is NOT_FOUND."""
    made = await filled_with(bridge(), "tea")
    assert (await made.retrieve("e0#0")).text == "tea"
    with pytest.raises(NotFound):
        await made.retrieve("own")


async def test_a_forgotten_episode_is_gone_from_the_server(bridge):
    """And may come again."""
    made = await filled_with(bridge(), "tea", "more tea")
    assert await made.forget(["e0", "never", "e0"]) == 1
    assert await refs(made, "tea") == ["e1#0"]
    assert await made.ingest_batch([Episode("e0", "tea")]) == [1]


async def test_a_server_that_gives_ids_of_its_own_is_followed(bridge):
    """The reply to storing names them; sources, reading and forgetting go by them."""
    own = ('arguments = { notes = "{each}" }', 'arguments = { text = "{text}" }\nid = "key"')
    each = ('each = { name = "{id}", text = "{text}" }', "")
    made = await filled_with(bridge(("add_notes", "keep_note"), own, each), "tea", "more tea")
    first, second = await made.search(Query("tea", 5))
    assert (first.ref_id, first.source_episode_ids) == ("k1", ("e0",))
    assert (await made.retrieve("k2")).source_episode_ids == ("e1",)
    assert await made.forget(["e0"]) == 1
    assert await refs(made, "tea") == [second.ref_id]


async def test_reset_leaves_nothing(bridge):
    """Not in the server's file either."""
    made = await filled_with(bridge(), "tea")
    await made.reset()
    assert await refs(made, "tea") == []
    assert await made.flush() == 0


async def test_a_server_that_dies_in_a_call_fails_it_and_is_started_again(bridge):
    """The error says how it ended; what its file held is there again."""
    made = await filled_with(bridge(), "tea")
    with pytest.raises(ServerError, match="ended with exit code 7"):
        await made.ingest_batch([Episode("e9", "die now")])
    assert await refs(made, "tea") == ["e0#0"]
    assert await made.flush() == 1


async def test_a_killed_server_without_a_file_leaves_an_empty_memory(bridge):
    """Half of one could not be told from a whole one."""
    made = await filled_with(bridge(("keeps = true", ""), ("NOTES", "NOT_A_FILE")), "tea")
    os.kill(made._server.pid, signal.SIGKILL)
    await asyncio.wait([made._server._reading], timeout=10)
    with pytest.raises(ServerError, match="what it held is lost"):
        await made.search(Query("tea", 5))
    assert await refs(made, "tea") == []
    assert await made.flush() == 0


async def test_a_servers_chatter_is_skipped_and_its_questions_answered(bridge):
    """A line that is no JSON, a ping, and a request that nobody offers to answer."""
    banner = ("NOTES", 'BANNER = "Welcome", NOTES')
    assert await refs(await filled_with(bridge(banner), "tea"), "tea") == ["e0#0"]


async def test_a_failing_tool_is_an_error_with_its_words(bridge):
    """Not an empty result."""
    made = await filled_with(bridge(('part = "{query}"', "part = 3")), "tea")
    with pytest.raises(ServerError, match=r"find_notes failed: .*lower"):
        await made.search(Query("tea", 5))


async def test_a_server_without_a_mapped_tool_does_not_start(bridge):
    """The missing one is named; tools are read page by page."""
    with pytest.raises(AdapterBug, match=r"no tool drop_notes$"):
        await bridge(("drop_note", "drop_notes")).start()


async def test_a_command_that_is_not_there_is_named(bridge):
    """Before anything else happens."""
    with pytest.raises(ServerError, match="'/no/server' cannot be started"):
        await bridge((sys.executable, "/no/server")).start()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[read]", "[reed]"), "unknown: reed"),
        (('tool = "drop_note"', ""), r"\[delete\]: tool is missing"),
        (('"texts.0"', "3"), r"\[search\]: text is not a str: 3"),
        (('by = "word"', 'by = "letter"'), r"\[search\] by is 'letter'"),
        (("{query}", "{question}"), r"nothing stands for \{question\}"),
        (("each = {", 'id = "key"\neach = {'), "id is of one item"),
        (("{each}", "{id}"), r"each and \{each\} in arguments go together"),
        (("[server]", "[server"), "0.toml: "),
    ],
)
def test_a_mistake_in_the_mapping_is_named(bridge, change, message):
    """File, section and key."""
    with pytest.raises(AdapterBug, match=message):
        bridge(change)


async def test_without_delete_there_is_no_forget(bridge):
    """And the class that has it says so."""
    deleting = '\n[delete]\ntool = "drop_note"\narguments = { name = "{id}" }\n'
    assert not hasattr(McpBridge, "forget") or McpBridge.forget is not McpBridgeWithForget.forget
    await bridge((deleting, ""), kind=McpBridge).start()
    with pytest.raises(AdapterBug, match="serve McpBridge instead"):
        await bridge((deleting, "")).start()


def test_one_call_stores_one_item_where_the_tool_takes_no_list(bridge):
    """And none for no item."""
    store = bridge(
        ('notes = "{each}"', 'name = "{id}", text = "{text} ({time})"'),
        ('each = { name = "{id}", text = "{text}" }', ""),
    )._mapping.store
    items = [{"id": "a", "text": "tea", "time": "", "episode": "e"}] * 2
    assert arguments_of(store, items) == [{"name": "a", "text": "tea ()"}] * 2
    assert arguments_of(store, []) == []


def test_calls_that_store_many_stay_small(bridge):
    """No more text in one than a server can be relied on to take; an item is never cut."""
    store = bridge()._mapping.store
    sizes = (600_000, 400_000, 1, 2_000_000, 5)
    items = [{"id": "a", "text": "x" * n, "time": "", "episode": "e"} for n in sizes]
    calls = [[len(n["text"]) for n in call["notes"]] for call in arguments_of(store, items)]
    assert calls == [[600_000, 400_000], [1], [2_000_000], [5]]


def test_a_placeholder_alone_keeps_its_type():
    """`"{limit}"` becomes a number, within a text it becomes its digits."""
    values = {"limit": 3, "query": "a {limit}"}
    assert filled({"n": ["{limit}", "top {limit}", "{query}", 7]}, values) == {
        "n": [3, "top 3", "a {limit}", 7]
    }


def test_a_result_is_read_from_structured_content_or_from_text():
    """A path leads nowhere without an error."""
    text = [{"type": "text", "text": '{"a": [{"b": 1}]}'}]
    assert at(json_of({"content": text}), "a.0.b") == 1
    assert at(json_of({"content": text, "structuredContent": {"a": 2}}), "a") == 2
    assert at(json_of({"content": [{"type": "text", "text": "no JSON"}]}), "a.0") is None
    assert at({"a": []}, "a.0.b") is None


def test_the_image_s_own_mapping_is_well_formed():
    """It names the five tools of server-memory that a memory needs."""
    mapping = load_mapping(ROOT / "images" / "mcp-bridge" / "server.toml")
    assert mapping.tools == {"create_entities", "search_nodes", "open_nodes", "delete_entities"}
