"""LoCoMo's official F1, against a plain computation of its own and over the real answers."""

import json
import os
import re
import string
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem import PorterStemmer

from memrig.grading.base import Asked
from memrig.grading.locomo_f1 import GRADER, true_category
from memrig.grading.locomo_text import official_f1, parts_f1, token_f1, tokens
from memrig.model.gold import AbstentionGold, Gold, TextGold
from memrig.model.scenario import Question
from memrig.model.transcript import AnswerRecord, QuestionRecord
from memrig.model.trial import Outcome

ROOT = Path(__file__).parents[3]
REAL = Path(os.environ.get("MEMRIG_LOCOMO_FILE", ROOT.parent / "shared" / "data" / "locomo10.json"))
STEMMER = PorterStemmer()


def plain_bag(text: str) -> list[str]:
    """Written from the protocol's description, one step after the other."""
    text = text.replace(",", "").lower()
    text = "".join(letter for letter in text if letter not in string.punctuation)
    for article in ("a", "an", "the", "and"):
        text = re.sub(rf"\b{article}\b", " ", text)
    return [STEMMER.stem(word) for word in " ".join(text.split()).split()]


def plain_f1(answer: str, gold: str) -> float:
    """2 x overlap over the sum of lengths."""
    said, right = plain_bag(answer), plain_bag(gold)
    rest, same = Counter(right), 0
    for word in said:
        if rest[word] > 0:
            rest[word] -= 1
            same += 1
    return 2 * same / (len(said) + len(right)) if same else 0.0


def plain_official(answer: str, gold: str, category: int) -> float:
    if category == 5:
        low = answer.lower()
        return 1.0 if "no information available" in low or "not mentioned" in low else 0.0
    if category == 1:
        best = [
            max(plain_f1(part.strip(), wanted.strip()) for part in answer.split(","))
            for wanted in gold.split(",")
        ]
        return sum(best) / len(best)
    if category == 3:
        gold = gold.split(";", maxsplit=1)[0].strip()
    return plain_f1(answer, gold)


WORDS = st.lists(
    st.sampled_from(["the", "a", "running", "runs", "ran", "Dogs", "dog's", "and", ",", ";", "7"]),
    max_size=8,
).map(" ".join)


@given(WORDS, WORDS, st.integers(1, 5))
def test_the_metric_is_the_one_that_the_protocol_describes(answer, gold, category):
    """In every category."""
    expected = plain_official(answer, gold, category)
    assert official_f1(answer, gold, category) == pytest.approx(expected)


@pytest.mark.skipif(not REAL.is_file(), reason="LoCoMo's file is not here")
def test_the_metric_agrees_over_the_real_answers():
    """Each gold answer against its own and its neighbour's, in its own category."""
    pairs = [
        (str(qa.get("answer", "")), qa["category"])
        for dialogue in json.loads(REAL.read_bytes())
        for qa in dialogue["qa"]
    ]
    assert len(pairs) == 1986
    for (gold, category), (other, _) in zip(pairs, [*pairs[1:], pairs[0]], strict=True):
        for answer in (gold, other, f"{gold}, {other}"):
            expected = plain_official(answer, gold, category)
            assert official_f1(answer, gold, category) == pytest.approx(expected)


def test_tokens_are_stems_without_articles_and_punctuation():
    """The articles of the protocol hold "and"."""
    assert tokens("The cats, and a dog's 2,000 toys!") == ["cat", "dog", "2000", "toy"]


def test_a_share_of_the_words_earns_a_share():
    """Repeated words count as often as both sides have them."""
    assert token_f1("red red boat", "red boat") == pytest.approx(0.8)
    assert token_f1("", "red boat") == 0


def test_multi_hop_answers_are_cut_at_commas():
    """Each part of the gold looks for its best match."""
    assert parts_f1("swimming, pottery", "pottery, camping") == 0.5
    assert official_f1("pottery", "pottery, camping", 1) == 0.5
    assert official_f1("pottery", "pottery, camping", 4) == pytest.approx(2 / 3)


def test_an_open_domain_gold_ends_at_its_first_semicolon():
    """What follows is explanation."""
    assert official_f1("Likely no", "Likely no; because she loves reading", 3) == 1


def grade(text: str, number: int, *, abstained: bool = False, category: str = "x"):
    gold = (
        AbstentionGold(type="abstention", reason="a trap")
        if number == 5
        else TextGold(type="text", value="pottery, camping")
    )
    record = QuestionRecord(
        scenario_id="s",
        question_id="q1",
        outcome=Outcome(status="answered"),
        ns=1,
        answer=AnswerRecord(text=text, abstained=abstained),
    )
    tags = (f"locomo:{number}", "other") if number else ("other",)
    question = Question(question_id="q1", text="What?")
    return GRADER.grade(
        Asked(
            question, record, Gold(question_id="q1", category=category, answer=gold, tags=tags),
            {}, 10, mode="agent",
        )
    )  # fmt: skip


@pytest.mark.parametrize("category", ["multi-hop", "single-hop"])
def test_the_rule_follows_the_files_category_not_its_shown_name(category):
    """Other label sets rename them."""
    assert grade("pottery", 1, category=category).scores["f1"] == 0.5


@pytest.mark.parametrize(
    ("text", "abstained", "score"),
    [
        ("No information available.", False, 1),
        ("That is NOT MENTIONED in the chat", False, 1),
        ("I do not know", False, 0),
        ("I do not know", True, 1),
        ("a trap", False, 0),
        ("", False, 0),
    ],
)
def test_an_adversarial_question_wants_the_official_words_or_an_abstention(text, abstained, score):
    """Its gold, a trap, is not looked at."""
    assert grade(text, 5, abstained=abstained).scores["f1"] == score


def test_abstaining_earns_nothing_where_there_is_an_answer():
    """The words are compared."""
    assert grade("not mentioned", 4, abstained=True).scores["f1"] == 0


def test_a_gold_that_does_not_tell_its_category_is_ungraded():
    """The rule cannot be chosen."""
    assert "category" in grade("pottery", 0).ungraded
    assert true_category(Gold(question_id="q", category="c", tags=("locomo:2",))) == 2
