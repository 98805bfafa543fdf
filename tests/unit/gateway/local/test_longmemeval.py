"""The built-in reader on real conversations: quick, the same everywhere, and better than nothing.

The check of an answer is crude on purpose: most of the expected words, and every number, are in it.
It holds a floor; it is no score of the benchmark.
"""

import json
import os
import re
import time
from functools import cache
from pathlib import Path

import pytest

from memrig.gateway.local.conversation import Asked, Passage
from memrig.gateway.local.extractive import Answer, answer_to

ROOT = Path(__file__).parents[4]
FOLDER = Path(os.environ.get("MEMRIG_DATA_DIR", ROOT.parent / "shared" / "data"))
REAL = FOLDER / "longmemeval_oracle.json"
needs_data = pytest.mark.skipif(not REAL.is_file(), reason=f"needs {REAL.name}")

EVERY = 4  #: one question in so many
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SMALL = frozenset(
    ("a", "an", "the", "of", "in", "on", "at", "to", "my", "i", "you", "is", "was", "it")
)


@cache
def read() -> tuple[list[tuple[dict, Answer]], float]:
    """The answers to a part of the questions, and the CPU seconds they took."""
    questions = json.loads(REAL.read_bytes())[::EVERY]
    asked = [posed(question) for question in questions]
    answer_to(asked[0])  # loads the stemmer
    start = time.process_time()
    answers = [answer_to(one) for one in asked]
    spent = time.process_time() - start
    return list(zip(questions, answers, strict=True)), spent


def posed(question: dict) -> Asked:
    """A question with its evidence sessions as memories."""
    sessions = zip(question["haystack_sessions"], question["haystack_dates"], strict=True)
    memories = tuple(
        Passage("\n".join(f"{t['role']}: {t['content']}" for t in turns), date, f"m{n}")
        for n, (turns, date) in enumerate(sessions, 1)
    )
    return Asked(question["question"], question["question_date"], memories)


def tokens(text: object) -> list[str]:
    """Words and numbers, small numbers as digits."""
    found = re.findall(r"[a-z0-9]+(?:[.,][0-9]+)*", str(text).lower().replace("'s", ""))
    plain = [str(_NUMBERS.index(word)) if word in _NUMBERS else word for word in found]
    return [word for word in plain if word not in _SMALL]


def holds(answer: str, expected: object) -> bool:
    """Whether an answer has most of the words and all of the numbers."""
    got, wanted = set(tokens(answer)), tokens(expected)
    share = sum(word in got for word in wanted) / max(1, len(wanted))
    return share >= 0.6 and all(word in got for word in wanted if word.isdigit())


@needs_data
def test_a_question_takes_well_under_fifty_milliseconds():
    """Of CPU time, over contexts of some 5,000 tokens; so 500 take a fraction of a minute."""
    answers, spent = read()
    assert len(answers) == 125
    assert spent / len(answers) < 0.05


@needs_data
@pytest.mark.parametrize(
    ("kind", "floor"), [("single-session-user", 0.6), ("knowledge-update", 0.5)]
)
def test_facts_that_a_person_stated_are_mostly_found(kind, floor):
    """Where one sentence holds the answer."""
    found = [
        holds(answer.text, question["answer"])
        for question, answer in read()[0]
        if question["question_type"] == kind and "_abs" not in question["question_id"]
    ]
    assert len(found) >= 15
    assert sum(found) / len(found) >= floor


@needs_data
def test_an_answer_is_short_and_cites_a_memory_unless_it_abstains():
    """At most sixty words beside a Yes or No, from at most two memories."""
    for _, answer in read()[0]:
        assert len(answer.text.split()) <= 61
        assert (1 <= len(answer.cited) <= 2) is answer.known
        assert 0 <= answer.confidence <= 1
