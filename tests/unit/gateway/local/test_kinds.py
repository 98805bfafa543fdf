"""A question's words tell what kind of answer it wants."""

import pytest

from memrig.gateway.local.kinds import Kind, asked, fits, kind_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many days ago did I buy a kettle?", Kind.ELAPSED),
        ("Which came first, the car or the house?", Kind.ORDER),
        ("What percentage discount did I get?", Kind.PERCENT),
        ("How much did I spend on shoes?", Kind.MONEY),
        ("How long is my commute?", Kind.DURATION),
        ("How many hours did I sleep?", Kind.DURATION),
        ("How many bikes do I own?", Kind.COUNT),
        ("What time do I get up?", Kind.TIME),
        ("When did Ada move?", Kind.DATE),
        ("Who gave me the book?", Kind.PERSON),
        ("Where do I keep the keys?", Kind.PLACE),
        ("Do I have a bike?", Kind.POLAR),
        ("Could you suggest a book?", Kind.THING),
        ("What degree do I have?", Kind.THING),
    ],
)
def test_the_kind_of_a_question(question, kind):
    """By its question word, and what stands beside it."""
    assert kind_of(question) is kind


def test_only_the_part_that_asks_decides():
    """A story may stand before it, with full stops in names."""
    text = "I was at St. Mary's when it rained. What did Dr. Lee say?"
    assert asked(text) == "what did dr. lee say?"
    assert kind_of(text) is Kind.THING


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [
        (Kind.MONEY, "It cost $40.", "It cost a lot."),
        (Kind.DURATION, "It took four hours.", "It took long."),
        (Kind.COUNT, "I own three.", "I own some."),
        (Kind.TIME, "I get up at 6:45 am.", "I get up early."),
        (Kind.DATE, "It was on March 3rd.", "It was nice."),
        (Kind.PERSON, "It was from my aunt.", "it was a gift."),
        (Kind.PERCENT, "It was 20% off.", "It was cheap."),
    ],
)
def test_a_sentence_fits_when_it_holds_an_answer_of_the_kind(kind, yes, no):
    """Whether or not it is the right one."""
    assert fits(kind, yes) is True
    assert fits(kind, no) is False


def test_a_kind_without_a_shape_fits_nothing_and_everything():
    """So it says neither."""
    assert fits(Kind.THING, "anything") is None
