"""The built-in reader gives the sentence, or the part of it, that supports the answer best."""

import pytest

from memrig.gateway.local.conversation import Asked, Passage
from memrig.gateway.local.extractive import UNKNOWN, answer_to

NOW = "2024-04-01 10:00"


def memories(*texts: str) -> tuple[Passage, ...]:
    """Told on the first days of March 2024, a week apart."""
    days = (f"2024-03-{1 + 7 * n:02} 17:00" for n in range(len(texts)))
    return tuple(
        Passage(text, day, f"m{n}")
        for n, (text, day) in enumerate(zip(texts, days, strict=True), 1)
    )


def answer(question: str, *texts: str) -> str:
    return answer_to(Asked(question, NOW, memories(*texts))).text


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How many bikes do I own?", "I now own three bikes and 2 cars.", "three bikes"),
        ("How long is my commute?", "My commute takes 45 minutes.", "45 minutes"),
        ("How much was the lamp?", "The lamp was $1,200.50 in all.", "$1,200.50"),
        ("What time do I get up?", "I get up at 6:45 am on weekdays.", "6:45 am"),
        ("What percentage off was the lamp?", "The lamp was 20% off.", "20%"),
        ("When did I move?", "I moved to Rome yesterday.", "29 February 2024"),
        ("When did I move?", "I moved to Rome.", "1 March 2024"),
        ("Which year did I move?", "I moved to Rome last year.", "2023"),
        ("Do I own a bike?", "I own a red bike.", "Yes: I own a red bike."),
        ("Do I own a bike?", "I don't own a bike.", "No: I don't own a bike."),
        ("Where did I move?", "I moved to Rome. It rains.", "I moved to Rome."),
    ],
)
def test_an_answer_is_as_short_as_is_reliable(question, text, expected):
    """A number with what it counts, a length of time, a price, a date; else the sentence."""
    assert answer(question, text) == expected


def test_several_numbers_are_not_chosen_among():
    """Where two would fit, the sentence stands."""
    text = "I own three bikes, or four bikes with the old one."
    assert answer("How many bikes do I own?", text) == text


@pytest.mark.parametrize(
    "text", ["The lamp is green.", "Rome is old.", ""], ids=["other", "another", "empty"]
)
def test_what_the_memories_do_not_tell_is_not_answered(text):
    """A weak match is taken for chance."""
    assert answer("Where did my cousin buy the violin?", text) == UNKNOWN


def test_no_memories_tell_nothing():
    """And there is nothing to cite and nothing to be sure of."""
    found = answer_to(Asked("Where do I live?", NOW, ()))
    assert (found.text, found.cited, found.confidence, found.known) == (UNKNOWN, (), 0.0, False)


def test_a_name_that_no_memory_has_is_not_answered_from_another_name():
    """However well the rest fits."""
    text = "I booked a room in Rome for a week."
    assert answer("When did I book a room in Rome?", text) == "1 March 2024"
    assert answer("When did I book a room in Oslo?", text) == UNKNOWN


def test_what_the_person_said_comes_before_what_the_assistant_said():
    """Unless the question is about what the assistant said."""
    text = "user: To sleep I drink valerian.\nassistant: To sleep I recommend to drink mint tea."
    assert "valerian" in answer("What tea do I drink to sleep?", text)
    assert "mint" in answer("Which tea did you recommend to sleep?", text)


def test_the_later_of_two_facts_holds_now():
    """The same words a week later."""
    assert answer("What is my current job?", "My job is baker.", "My job is pilot.") == (
        "My job is pilot."
    )


def test_a_time_that_the_question_names_picks_the_memory():
    """Told on the Friday before; another Friday's is left aside."""
    texts = ("I had lunch with Ada.", "I had lunch with Ben.", "I had lunch with Cleo.")
    assert (
        "Ben"
        in answer_to(
            Asked("Who did I have lunch with last Friday?", "2024-03-13 10:00", memories(*texts))
        ).text
    )


def test_an_item_of_a_list_is_found_by_its_number():
    """The seventh is the one that begins with 7."""
    jobs = "\n".join(f"{n}. Job of kind {chr(96 + n)}" for n in range(1, 10))
    assert answer("What was the 7th job?", f"assistant: Jobs:\n{jobs}") == "7. Job of kind g"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many days passed between my visit to Rome and my visit to Oslo?", "14 days"),
        ("How many weeks ago did I visit Oslo?", "2 weeks ago"),
        ("How many days had passed since I visited Rome when I visited Oslo?", "14 days"),
        ("Which did I visit first, the city of Oslo or the city of Rome?", "the city of Rome"),
        ("Which did I visit last, the city of Oslo or the city of Rome?", "the city of Oslo"),
    ],
)
def test_what_follows_from_two_dates_is_reckoned(question, expected):
    """And both memories are cited."""
    texts = ("I visit the city of Rome today.", "I rest.", "I visit the city of Oslo today.")
    found = answer_to(Asked(question, "2024-03-29 10:00", memories(*texts)))
    assert found.text == expected
    assert set(found.cited) <= {"m1", "m3"}
    assert "m3" in found.cited


def test_an_answer_cites_the_memory_it_comes_from():
    """And says how much of the question the memory holds."""
    found = answer_to(
        Asked("Where do I keep the keys?", NOW, memories("Tea.", "I keep the keys in a jar."))
    )
    assert found.cited == ("m2",)
    assert found.confidence == 1.0


def test_a_long_sentence_is_clipped_around_the_question_words():
    """To sixty words."""
    text = f"{'blah ' * 70}the violin is kept in Rome {'blah ' * 70}"
    found = answer("What about the violin?", text)
    assert "violin is kept in Rome" in found
    assert len(found.split()) == 60
