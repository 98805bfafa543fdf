"""Free text and abstentions: what counts as said, and what does not."""

import pytest

from memrig.grading.typed import grade_text
from memrig.model.gold import AbstentionGold, GoldAnswer, TextGold

#: (gold, question, answers that are right, answers that are wrong)
CASES: list[tuple[GoldAnswer, str, list[str], list[str]]] = [
    (
        TextGold(
            type="text",
            value="Lookups slowed down; storage did not.",
            key_facts=("lookup latency degraded", "connection pool exhaustion"),
        ),
        "Is storage to blame?",
        [
            (
                "No evidence of storage trouble was found; the lookup latency degraded and the "
                "connection pool was exhausted."
            )
        ],
        [
            "I don't know whether the lookup latency degraded or the pool was exhausted.",
            "There is no evidence of lookup latency degradation or connection pool exhaustion.",
            "I can not tell from the notes.",
        ],
    ),
    (
        TextGold(
            type="text",
            value="By an ordinary telephone call before nine in the morning, not by video.",
            key_facts=("ordinary telephone call, no video", "before nine in the morning"),
        ),
        (
            "What is the best way to have a conversation from afar with Dmitri, and at what "
            "time of day?"
        ),
        [
            "By an ordinary telephone call before nine in the morning, not by video.",
            "Ring him with an ordinary telephone call, no video, before 9 in the morning.",
            "An ordinary telephone call without video, before nine in the morning",
        ],
        [
            "By video call before ten in the evening",
            (
                "It is not true that it is by an ordinary telephone call before nine in the "
                "morning, not by video"
            ),
            (
                "What is the best way to have a conversation from afar with Dmitri, and at what "
                "time of day?"
            ),
        ],
    ),
    (
        AbstentionGold(type="abstention"),
        "What is the name of Ann's hamster?",
        [
            "I don't know",
            "That is not mentioned in the conversation.",
            "No information about a hamster is available.",
            "It cannot be determined.",
            "Ann never mentioned a hamster; she only mentioned a cat called Tom.",
            "You did not mention this information. You mentioned Ann's cat, but not a hamster.",
            "There is no record of Ann's hamster.",
            "Unknown",
            "I'm sorry, but I don't have any information about that.",
            "The provided memories do not contain the name of Ann's hamster.",
        ],
        [
            "Tom",
            "Ann's hamster is called Tom.",
            "I don't know, but it is probably Tom",
            "Not mentioned. Tom.",
            "I'm not sure, but the name of Ann's hamster is Tom",
            "no",
            "It is unclear. The answer is Tom.",
            "What is the name of Ann's hamster?",
        ],
    ),
    (
        AbstentionGold(type="abstention"),
        "How many fish are in my 30-gallon tank?",
        [
            "You did not mention that you have a 30-gallon tank. You mentioned a 10-gallon tank.",
            "The information provided is not enough. You did not mention a 30-gallon tank.",
            "I couldn't find anything about a 30-gallon tank in your memories.",
            "There's nothing in the memory about this.",
            "I have no information on that.",
        ],
        [
            "There are 10 fish in your 30-gallon tank.",
            "10",
            "I'm not certain, but there are 10 fish in the tank.",
        ],
    ),
    (
        TextGold(type="text", value="Ann drinks green tea every morning"),
        "What does Ann drink?",
        ["Ann drinks green tea every morning", "Green tea, every morning."],
        [
            "black tea",
            "Ann drinks black tea",
            "Ann does not drink green tea every morning",
            "What does Ann drink?",
        ],
    ),
    (
        TextGold(
            type="text",
            value="She paid 300 pounds for the red bike on 5 May 2024",
            key_facts=("paid 300 pounds for the red bike", "on 5 May 2024"),
        ),
        "Tell me about the bike.",
        [],
        ["She paid £400 for the red bike on 6 May 2024"],
    ),
]

RIGHT = [(gold, question, answer) for gold, question, right, _ in CASES for answer in right]
WRONG = [(gold, question, answer) for gold, question, _, wrong in CASES for answer in wrong]


@pytest.mark.parametrize(("gold", "question", "answer"), RIGHT)
def test_a_right_answer_passes(gold, question, answer):
    """Key facts in other words, and every honest way of not knowing."""
    assert grade_text(answer, gold, question) == 1


@pytest.mark.parametrize(("gold", "question", "answer"), WRONG)
def test_a_wrong_answer_fails(gold, question, answer):
    """Denied or changed facts, and a value after all, are not."""
    assert grade_text(answer, gold, question) == 0
