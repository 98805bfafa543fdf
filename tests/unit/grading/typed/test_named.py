"""Entities, options, sets, orders and mappings: what counts as said, and what does not."""

import pytest

from memrig.grading.typed import grade_text
from memrig.model.gold import (
    ChoiceGold,
    EntityGold,
    Entry,
    GoldAnswer,
    Item,
    MappingGold,
    OrderedListGold,
    SetGold,
)

#: (gold, question, answers that are right, answers that are wrong)
CASES: list[tuple[GoldAnswer, str, list[str], list[str]]] = [
    (
        EntityGold(value="Marisa", type="entity", siblings=("Marisol", "Teo", "Anders")),
        "Who was the previous owner of Amara's car?",
        [
            "Marisa",
            "The previous owner was Marisa.",
            "Amara bought it from Marisa",
            "It was Marisa, not Teo.",
            "Not Marisol, Marisa.",
            "The car previously belonged to Marisa.",
            "It used to belong to Marisa.",
            "Marisa's",
            "MARISA!",
            "It wasn't Marisol; it was Marisa.",
        ],
        [
            "Marisol",
            "It was not Marisa",
            "Marisa or Teo",
            "Marisa, Marisol, Teo, Anders",
            "Marisa isn't the previous owner.",
            "It was never Marisa's",
            "neither Marisa nor Teo",
            "It is false that it was Marisa",
            "The previous owner was Teo. Marisa was the previous owner.",
            "no idea, not Marisa",
        ],
    ),
    (
        EntityGold(
            value="coriander", aliases=("cilantro",), type="entity", siblings=("prawns", "lentils")
        ),
        (
            "Which ingredient should be left out when somebody cooks for Amara, because she "
            "finds its taste revolting?"
        ),
        [
            "coriander",
            "Leave out the coriander.",
            "Coriander should be left out.",
            "She can't stand coriander.",
            "Amara doesn't like coriander",
            "No coriander.",
            "Never put coriander in her food",
            "avoid cilantro",
        ],
        [
            "It is not coriander",
            "coriander is not the ingredient that should be left out",
            "It is not true that coriander should be left out",
            "prawns",
            "coriander, no longer",
            "coriander and prawns",
            "Coriander should not be left out",
            "It isn't coriander.",
        ],
    ),
    (
        EntityGold(value="amoxicillin", type="entity", siblings=("shellfish", "prawns")),
        "Which drug must a doctor never prescribe for Amara again?",
        [
            "amoxicillin",
            "A doctor must never prescribe amoxicillin again.",
            "She must not be given amoxicillin",
            "Amoxicillin must never be prescribed for her.",
        ],
        [
            "It isn't amoxicillin",
            "It is not true that a doctor must never prescribe amoxicillin",
            "It was never amoxicillin",
        ],
    ),
    (
        EntityGold(
            value="Amara",
            aliases=("Amara herself", "Amara Obi"),
            type="entity",
            siblings=("an obscure Nigerian poet", "Ngozi"),
        ),
        "Who was the author of the verses that Amara recited at her sister's ceremony?",
        [
            "Amara",
            "Amara wrote them herself",
            "Amara herself",
            "The author was Amara.",
            "It was Amara.",
            "The verses were written by Amara",
        ],
        [
            "Who was the author of the verses that Amara recited at her sister's ceremony?",
            "Amara recited verses at her sister's ceremony",
            "Ngozi",
            "an obscure Nigerian poet",
            "It was not Amara",
            "Ngozi wrote them for Amara",
        ],
    ),
    (
        ChoiceGold(type="choice", value="inside", options=("outside", "inside")),
        "It is a sunny day and Nia books lunch for Tomás. Should he be placed outside or inside?",
        [
            "inside",
            "Inside, not outside.",
            "He should sit inside.",
            "Place him inside rather than outside",
        ],
        [
            "outside",
            "outside or inside",
            "not inside",
            "inside and outside",
            "It is not true that he should be placed inside",
        ],
    ),
    (
        SetGold(
            type="set",
            items=(Item(value="milk"), Item(value="cream"), Item(value="soft cheese")),
            siblings=("hazelnuts", "oat cream", "figs"),
        ),
        "Which kind of food and drink is better not served to Rosa, for the sake of her digestion?",
        [
            "milk, cream and soft cheese",
            "Rosa should avoid milk, cream, and soft cheese.",
            "Milk, cream, soft cheese",
            "- milk\n- cream\n- soft cheese",
            "She can't digest milk, cream or soft cheese.",
        ],
        [
            "hazelnuts, oat cream and figs",
            "It is not milk, cream and soft cheese",
            "milk, cream, soft cheese, hazelnuts, oat cream, figs",
            "It is not true that milk, cream and soft cheese are better not served",
            "oat cream",
        ],
    ),
    (
        MappingGold(
            type="mapping",
            entries=(Entry(key="Mull", value="£720"), Entry(key="Arran", value="£645")),
        ),
        "What did a week cost in full in the cottage on Mull, and what in the one on Arran?",
        [
            "Mull: £720, Arran: £645",
            "A week on Mull cost £720 and on Arran £645.",
            "£720 on Mull and £645 on Arran",
            "£720 and £645",
            "Mull and Arran cost £720 and £645 respectively.",
            "On Mull £720; on Arran £645.",
            "The one on Mull cost £720. The one on Arran cost £645.",
        ],
        [
            "Mull £645, Arran £720",
            "Mull and Arran",
            "£645 and £720",
            "It is not true that Mull cost £720 and Arran £645",
            "What did a week cost in full in the cottage on Mull, and what in the one on Arran?",
        ],
    ),
    (
        OrderedListGold(
            type="ordered_list",
            items=(
                Item(value="Marmalade"),
                Item(value="Bishop"),
                Item(value="radiogram", aliases=("Mr. Terlouw's radiogram",)),
            ),
        ),
        (
            "Put these three in the order in which Priya brought them back to working "
            "condition: the radiogram, the Bishop, Marmalade."
        ),
        [
            "Marmalade, Bishop, radiogram",
            "First Marmalade, then the Bishop, and finally the radiogram.",
            "1. Marmalade\n2. Bishop\n3. radiogram",
            "Marmalade, then Bishop, then Mr. Terlouw's radiogram",
        ],
        [
            "radiogram, Bishop, Marmalade",
            (
                "Put these three in the order in which Priya brought them back to working "
                "condition: the radiogram, the Bishop, Marmalade."
            ),
            "Bishop, Marmalade, radiogram",
            "It is not true that it was Marmalade, Bishop, radiogram",
        ],
    ),
    (
        EntityGold(value="Saturday", aliases=("Saturdays",), type="entity", siblings=("Sunday",)),
        "On which day of the week does Amara normally go to the pool in Portishead nowadays?",
        [
            "Saturday",
            "on Saturdays",
            "She used to swim on Sundays but now goes on Saturdays.",
            "She switched from Sunday to Saturday.",
            "Saturday (formerly Sunday)",
        ],
        [
            "Sunday",
            "She used to go on Saturdays but now goes on Sundays.",
            "Saturday and Sunday",
            "It used to be Saturday.",
        ],
    ),
    (
        EntityGold(
            value="Solveig's brother",
            aliases=("the brother of Solveig", "her flatmate's brother"),
            type="entity",
            siblings=("Solveig", "Eskil", "Sunniva"),
        ),
        "Whom does the dog Balder really belong to?",
        [
            "Solveig's brother",
            "The brother of Solveig",
            "Balder belongs to Solveig's brother, not to Solveig.",
            "to her flatmate's brother",
        ],
        ["Solveig", "Solveig or Solveig's brother", "Eskil", "not Solveig's brother"],
    ),
    (
        EntityGold(
            value="4:37",
            aliases=("four hours and thirty-seven minutes", "4 hours 37 minutes", "4 h 37 min"),
            type="entity",
            siblings=("four hours and thirty minutes", "five hours"),
        ),
        "What was Rosa's finishing time in her marathon?",
        ["4:37", "4 hours and 37 minutes", "She finished in four hours and thirty-seven minutes."],
        ["4:30", "five hours"],
    ),
    (
        EntityGold(
            value="ten in the morning",
            aliases=("10:00", "10 am", "ten o'clock", "not before ten"),
            type="entity",
            siblings=("eight", "half past eleven"),
        ),
        "From what time of day may one phone Rosa?",
        ["ten in the morning", "not before ten", "10 am", "from ten o'clock"],
        ["eight", "half past eleven"],
    ),
    (
        EntityGold(value="Teo", type="entity", siblings=("Mrs. Pell", "Anders")),
        (
            "Who could open Amara's front door at the beginning of 2025, if she had locked "
            "herself out?"
        ),
        [
            "Teo",
            "Teo has the spare key.",
            "Mrs. Pell had a key until the autumn, then Teo got it.",
            "Mrs. Pell no longer has a key; Teo does.",
        ],
        ["Mrs. Pell", "Teo or Mrs Pell", "Anders"],
    ),
]

RIGHT = [(gold, question, answer) for gold, question, right, _ in CASES for answer in right]
WRONG = [(gold, question, answer) for gold, question, _, wrong in CASES for answer in wrong]


@pytest.mark.parametrize(("gold", "question", "answer"), RIGHT)
def test_a_right_answer_passes(gold, question, answer):
    """By any of its names, in prose or bare."""
    assert grade_text(answer, gold, question) == 1


@pytest.mark.parametrize(("gold", "question", "answer"), WRONG)
def test_a_wrong_answer_fails(gold, question, answer):
    """Denied, mistaken for a sibling, in a wrong order, or one of several: it is not the answer."""
    assert grade_text(answer, gold, question) == 0
