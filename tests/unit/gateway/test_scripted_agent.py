"""The scripted agent knows what its tools returned, and nothing else."""

import json
import re

import pytest

from support.llm_standin import Say, Seen
from support.scripted_agent import series_agent
from support.series import Memory, readings, series_of

QUESTION = "How has the pump pressure developed, and what of the air flow? Give figures."
PRESSURES = (41, 42, 41, 58, 66, 73)
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def document(number: int, pressure: int) -> dict[str, str]:
    day = f"2024-03-{number:02}"
    text = (
        f"Date: {day}\n## Hall\nPump pressure: {pressure} bar\nAir flow was {200 + number % 2} l."
    )
    return {"handle": f"m{number}", "date": f"{day} 08:00", "text": text}


DOCUMENTS = [document(number, value) for number, value in enumerate(PRESSURES, 1)]


def seen(question: str, rounds: list[list[dict[str, str]]], *, tools: bool = True) -> Seen:
    """A conversation in OpenAI's format: a question, and a search's results a round."""
    messages: list[dict[str, object]] = [
        {"role": "user", "content": f"<question>{question}</question>"}
    ]
    for number, results in enumerate(rounds):
        call = {"function": {"name": "memory_search", "arguments": f'{{"query": "{number}"}}'}}
        messages.append({"role": "assistant", "tool_calls": [call]})
        messages.append({"role": "tool", "content": json.dumps({"results": results})})
    offered = [{"function": {"name": "memory_search", "parameters": {"properties": {}}}}]
    body = {"messages": messages, "tools": offered if tools else []}
    return Seen("/v1/chat/completions", {}, body, 1)


def answer(question: str, results: list[dict[str, str]]) -> dict[str, object]:
    """What it says once there are no tools any more."""
    said = series_agent(seen(question, [results], tools=False))
    assert isinstance(said, str)
    return dict(json.loads(said))


@pytest.mark.parametrize(
    "line",
    [
        "- Pump pressure: 41.5 bar",
        "* Pump pressure = 41.5 bar",
        "Pump pressure | 41.5 bar",
        "| Pump pressure | 41.5 | bar |",
        "Pump pressure stood at 41.5 bar.",
        "For Pump pressure the entry is 41.5 bar.",
        "The entry under Pump pressure reads 41.5 bar.",
    ],
)
def test_a_reading_is_read_however_it_is_written(line: str) -> None:
    """Lists, tables and sentences alike; the section is the title above."""
    assert list(readings(f"## Hall\n{line}\n")) == [("Hall", "Pump pressure", "41.5", "bar")]


def test_several_readings_on_a_line_are_read_each() -> None:
    """As monitoring systems print them."""
    found = list(readings("- /search: REQUESTS 176500 | p50: 48ms p95: 120ms | err: 0.09%"))
    assert [(label, value) for _, label, value, _ in found] == [
        ("/search REQUESTS", "176500"),
        ("/search p50", "48"),
        ("/search p95", "120"),
        ("/search err", "0.09"),
    ]


def test_a_series_is_in_the_order_of_the_days() -> None:
    """Not in that of the search results, and a day that was returned twice counts once."""
    shuffled = [*reversed(DOCUMENTS), DOCUMENTS[2]]
    found = series_of(Memory(d["handle"], d["date"], d["text"]) for d in shuffled)
    assert [int(point.value) for point in found["Pump pressure"].points] == list(PRESSURES)


def test_it_begins_with_a_search_for_the_question() -> None:
    """In the words of the question."""
    said = series_agent(seen(QUESTION, []))
    assert isinstance(said, Say)
    name, arguments = said.tools[0]
    assert (name, arguments["query"]) == ("memory_search", QUESTION)


def test_it_then_searches_for_the_labels_that_it_found() -> None:
    """A label is known only from a result."""
    said = series_agent(seen(QUESTION, [DOCUMENTS[:2]]))
    assert isinstance(said, Say)
    assert said.tools[0][1]["query"] in {"Pump pressure", "Air flow"}


def test_it_tells_what_the_figures_say_and_cites_where_they_stand() -> None:
    """A movement with both ends and its first day, and a range for what did not move."""
    said = answer(QUESTION, DOCUMENTS)
    assert "Pump pressure rose from 41 bar to 73 bar" in str(said["answer"])
    assert "Pump pressure first left its earlier range on 2024-03-04" in str(said["answer"])
    assert "Air flow stayed between 200 l and 201 l" in str(said["answer"])
    assert {"m1", "m3", "m4", "m6"} <= set(said["cited"])


def test_it_says_no_number_that_no_result_has() -> None:
    """But counts of days and percentages, which it works out."""
    text = re.sub(r"\d+ (?:percent|days)", "", str(answer(QUESTION, DOCUMENTS)["answer"]))
    shown = {n for each in DOCUMENTS for n in NUMBER.findall(each["text"] + each["date"])}
    assert set(NUMBER.findall(text)) <= shown


def test_it_abstains_where_nothing_was_found() -> None:
    """And cites nothing."""
    said = answer(QUESTION, [])
    assert (said["abstained"], said["cited"]) == (True, [])


def test_it_quotes_prose() -> None:
    """Where no document holds a figure."""
    letter = {"handle": "m1", "date": "2024-03-05 08:00", "text": "Hello! The pump broke down."}
    said = answer("What became of the pump?", [letter])
    assert said["answer"] == "2024-03-05: The pump broke down."


def test_the_same_conversation_gets_the_same_reply() -> None:
    """Nothing is drawn by chance."""
    assert answer(QUESTION, DOCUMENTS) == answer(QUESTION, DOCUMENTS)
