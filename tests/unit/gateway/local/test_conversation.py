"""The question and the memories of a prompt, whoever wrote the prompt."""

import json

import pytest

from memrig.gateway.local.conversation import (
    Asked,
    Conversation,
    Passage,
    Tool,
    Turn,
    abstention,
    json_keys,
    read,
    search_tool,
)

SHAPE = 'Give one JSON object: {"answer": "...", "cited": ["handle"], "confidence": 0.0}'
SEARCH = Tool("memory_search", "query")


def said(*texts: str, **more: object) -> Conversation:
    return Conversation(tuple(Turn("user", text) for text in texts), **more)


def test_marked_memories_and_question_are_taken_alone():
    """Instructions around them are no memory; escapes are undone."""
    prompt = (
        "Answer from the memories.\n"
        '<memory handle="m1" date="2024-03-05 17:00">I like R&amp;B &lt;3</memory>\n'
        '<memory handle="m2">Tea.</memory>\n'
        '<question date="2024-04-01 10:00">What do I like?</question>'
    )
    assert read(said(prompt)) == Asked(
        "What do I like?",
        "2024-04-01 10:00",
        (Passage("I like R&B <3", "2024-03-05 17:00", "m1"), Passage("Tea.", "", "m2")),
    )


def test_a_marked_question_without_memories_has_none():
    """The prompt's own words are not taken for memories."""
    asked = read(said("You know Paris.\n(no memories)\n<question>Where is Ada?</question>"))
    assert asked == Asked("Where is Ada?", "", ())


def test_a_memory_cannot_ask_the_question():
    """Its mark-up is escaped, so it stays text."""
    prompt = (
        '<memory handle="m1">&lt;question&gt;Who?&lt;/question&gt;</memory>'
        "<question>Where is Ada?</question>"
    )
    assert read(said(prompt)).question == "Where is Ada?"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Ada moved to Rome.\n\nWhere did Ada move?", "Where did Ada move?"),
        ("Where did Ada move? Answer in a word.\n\nAda moved to Rome.", "Where did Ada move?"),
        ("Ada moved.\nQuestion: her new city\nAnswer:", "her new city"),
        ("Ada moved to Rome.\nName her city.\nAnswer:", "Name her city."),
        ("What did St. Mary's say?", "What did St. Mary's say?"),
    ],
)
def test_a_free_prompts_question_is_labelled_or_last(text, question):
    """A label wins, then the last sentence with a question mark, then the last line that tells."""
    assert read(said(text)).question == question


def test_a_free_prompts_memories_are_its_blocks_with_the_date_above_them():
    """A block's date holds until the next one."""
    text = "[2024-03-05]\nAda moved.\n\nShe likes it.\n\n[2024-04-01]\nShe left.\n\nWhere is Ada?"
    found = read(said(text)).passages
    assert [passage.text.split("\n")[-1] for passage in found] == [
        "Ada moved.",
        "She likes it.",
        "She left.",
    ]
    assert [passage.date[:12] for passage in found] == [
        "[2024-03-05]",
        "[2024-03-05]",
        "[2024-04-01]",
    ]


def test_results_of_a_search_are_memories():
    """With their handles and dates."""
    result = {"results": [{"handle": "m3", "date": "2024-03-05 17:00", "text": "Rome."}]}
    turns = (Turn("user", "<question>Where?</question>"), Turn("tool", json.dumps(result)))
    assert read(Conversation(turns)).passages == (Passage("Rome.", "2024-03-05 17:00", "m3"),)


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        ('["a", "b"]', ["a", "b"]),
        ('[{"id": "1", "memory": "a"}]', ["a"]),
        ('{"error": "none"}', []),
        ("plain words", ["plain words"]),
    ],
)
def test_results_of_other_tools_are_read_as_far_as_they_tell(result, texts):
    """A list, a list of objects, or text."""
    turns = (Turn("user", "<question>Where?</question>"), Turn("tool", result))
    assert [passage.text for passage in read(Conversation(turns)).passages] == texts


def test_results_that_a_prompt_repeats_are_memories_too():
    """As in the turn that is kept for when the budget is used up."""
    text = '<result tool="graph">["Ada lives in Rome."]</result><question>Where?</question>'
    assert read(said(text)).passages == (Passage("Ada lives in Rome."),)


def test_json_is_asked_for_by_the_last_message():
    """Its members are those that the instructions name; a memory's words do not count."""
    assert json_keys(said(SHAPE)) == ("answer", "cited", "confidence")
    assert json_keys(said(f'{SHAPE} and "abstained"')) == (
        "answer",
        "cited",
        "confidence",
        "abstained",
    )
    assert json_keys(said(SHAPE, "And now in words?")) == ()
    assert json_keys(said(f"<memory>{SHAPE}</memory> Where?")) == ()
    assert json_keys(said("Where?", json_mode=True)) == ("answer", "cited", "confidence")


def test_the_instructions_sentence_for_not_knowing_is_found():
    """But not one that a memory or a question holds."""
    rule = "Reply with exactly this sentence: I don't know: this is not mentioned."
    assert abstention(said(rule)) == "I don't know: this is not mentioned."
    assert abstention(said("<memory>I don't know: it is late.</memory>")) == ""


def test_a_memory_is_searched_once():
    """And not where no tool takes a query, or its name says that it does something else."""
    question = Turn("user", "Where?")
    assert search_tool(Conversation((question,), (Tool("x_search", "query"), SEARCH))) == SEARCH
    assert search_tool(Conversation((question, Turn("tool", "[]")), (SEARCH,))) is None
    assert search_tool(Conversation((question,), (Tool("memory_search", ""),))) is None
    assert search_tool(Conversation((question,), (Tool("memory_forget", "query"),))) is None


@pytest.mark.parametrize("text", ["<memory ", "<memory>", "<question>", "</memory><question>"])
def test_marks_that_are_never_closed_cost_no_time_and_mark_nothing(text):
    """A stranger's prompt may hold thousands; each would be looked for to the end."""
    asked = read(said(f"{text * 20_000}\nWhere is Ada?"))
    assert asked.question.endswith("Where is Ada?")
    assert all(not passage.handle for passage in asked.passages)
