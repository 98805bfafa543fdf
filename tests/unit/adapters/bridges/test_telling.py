"""How episodes and questions are put into words."""

from datetime import UTC, datetime

import pytest

from memrig_adapters import Episode, Question, Turn
from memrig_adapters.bridges.settings import Telling
from memrig_adapters.bridges.telling import asked, told

MOMENT = datetime(2031, 5, 2, 14, 10, 33, tzinfo=UTC)
TURN = Turn("t1", "Nadia", "We moved.")


@pytest.mark.parametrize(
    ("episode", "telling", "text"),
    [
        (Episode("e", "x", MOMENT, (TURN,)), "dated", "[2031-05-02 14:10] Nadia: We moved."),
        (Episode("e", "x", MOMENT, (TURN,)), "bare", "Nadia: We moved."),
        (Episode("e", "A note.", MOMENT), "dated", "[2031-05-02 14:10] A note."),
        (Episode("e", "A note."), "dated", "A note."),
        (
            Episode("e", "x", MOMENT, (TURN, Turn("t2", "Ben", ""), Turn("t3", "Ben", "When?"))),
            "dated",
            "[2031-05-02 14:10]\nNadia: We moved.\nBen: When?",
        ),
        (Episode("e", "Ben: ", MOMENT, (Turn("t", "Ben", ""),)), "bare", "Ben: "),
        (Episode("e", "Old.", datetime(1, 1, 1, tzinfo=UTC)), "dated", "[0001-01-01 00:00] Old."),
    ],
)  # fmt: skip
def test_an_episode_is_told_with_its_time_and_its_speakers(
    episode: Episode, telling: Telling, text: str
) -> None:
    """Several lines leave the first one to the time; silent turns say nothing."""
    assert told(episode, telling) == text


@pytest.mark.parametrize(
    ("question", "telling", "text"),
    [
        (Question("Where?", MOMENT), "dated", "[2031-05-02 14:10] Where?"),
        (Question("Where?", MOMENT), "bare", "Where?"),
        (Question("Where?"), "dated", "Where?"),
    ],
)
def test_a_question_is_asked_with_its_time(question: Question, telling: Telling, text: str) -> None:
    """An agent cannot know what day it is in the data."""
    assert asked(question, telling) == text
