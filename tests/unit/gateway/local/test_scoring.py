"""Sentences are ranked by what they hold of the question, in every process alike."""

import os
import subprocess
import sys

from memrig.gateway.local.conversation import Passage
from memrig.gateway.local.kinds import Kind
from memrig.gateway.local.scoring import essentials, rank

RANKS = """
from memrig.gateway.local.conversation import Passage
from memrig.gateway.local.kinds import Kind
from memrig.gateway.local.scoring import rank

names = "amber birch cedar daisy elder fern grass hazel iris juniper".split()
texts = [" ".join(names[: n + 1]) + " grow here." for n in range(10)]
memories = [Passage(text, "2024-03-05", str(n)) for n, text in enumerate(texts * 2)]
for found in rank("what of " + " ".join(names) + "?", Kind.THING, memories):
    print(found.order, found.score.hex(), found.coverage.hex())
"""


def ranked(question: str, *texts: str) -> list[str]:
    found = rank(question, Kind.THING, [Passage(text) for text in texts])
    return [support.line.text for support in found]


def test_a_rare_word_weighs_more_than_a_common_one():
    """What stands in most sentences tells little."""
    texts = ("Ada likes red.", "Ada likes tea.", "Ada likes art.", "Someone saw a violin.")
    assert ranked("What of Ada and the violin?", *texts)[0] == "Someone saw a violin."


def test_words_of_the_same_turn_count_a_little():
    """The sentence beside the match is better than a stranger's."""
    texts = ("user: My violin is old. It has a case.", "user: That other case is black.")
    found = ranked("violin case?", *texts)
    assert found.index("It has a case.") < found.index("That other case is black.")


def test_a_speakers_name_is_part_of_what_is_said():
    """Ada's own sentence answers what Ada did."""
    assert ranked("What did Ada paint?", "Ben: I paint a lake.", "Ada: I paint a horse.")[0] == (
        "I paint a horse."
    )


def test_a_sentence_without_a_word_of_the_question_is_not_ranked():
    """Nor is anything where the question has no words."""
    assert ranked("Where is the violin?", "I like tea.") == []
    assert ranked("?", "I like tea.") == []


def test_coverage_is_the_share_of_the_question_that_is_held():
    """All of it is 1, in a memory of one sentence too."""
    (found,) = rank("violin case", Kind.THING, [Passage("The violin has a case.")])
    assert found.coverage == 1.0
    (half,) = rank("violin bow", Kind.THING, [Passage("The violin has a case.")])
    assert half.coverage == 0.5


def test_talk_about_the_talk_is_no_part_of_a_question():
    """What was discussed is; an item of a list is asked for by its number."""
    question = "Can you remind me of our previous chat about dogs: what was the 3rd breed?"
    assert essentials(question) == ["dog", "3rd", "breed", "#3"]


def test_of_a_question_that_is_a_whole_text_the_end_asks():
    """Some prompts end in one very long line."""
    text = " ".join(f"word{n}" for n in range(5000))
    assert essentials(text)[-1] == "word4999"
    assert len(essentials(text)) == 64


def test_scores_are_the_same_bits_in_every_process():
    """Sets of words have another order in each; exact sums do not feel it."""
    said = {
        subprocess.run(
            [sys.executable, "-c", RANKS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True, check=True, text=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(said) == 1
    assert len(said.pop().splitlines()) == 20
