"""How an answer is read: numbers and dates in it, its clauses, and what is meant by them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.grading.typed import grade_text
from memrig.grading.typed.abstention import abstains
from memrig.grading.typed.dates import find_dates
from memrig.grading.typed.facts import fact_score
from memrig.grading.typed.numbers import find_numbers
from memrig.grading.typed.reading import Status, read
from memrig.grading.typed.words import fold
from memrig.model.gold import AbstentionGold, NumberGold, TextGold


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("four hours and thirty-seven minutes", "4 hours and 37 minutes"),
        ("three hundred and twenty-five thousand", "325000"),
        ("three and a half million", "3500000"),
        ("half a dozen", "6"),
        ("twice", "2 times"),
        ("Three, six, four", "3, 6, 4"),
        ("one of the boards", "one of the boards"),
        ("Chelín’s", "chelin's"),
        ("She isn't, can't and won't", "she is not, can not and will not"),
        ("1. Foo\n2. Bar", "\nfoo\n\nbar"),
    ],
)
def test_texts_are_brought_to_one_spelling(text, plain):
    """No accents, no capitals, number words as digits, contractions undone."""
    assert fold(text) == plain


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("5 March 2024", [(2024, 3, 5)]),
        ("March 5th", [(None, 3, 5)]),
        ("Thursday, 7 November 2024", [(2024, 11, 7)]),
        ("the 5th of March, 2024", [(2024, 3, 5)]),
        ("Mar. 5, 2024", [(2024, 3, 5)]),
        ("2024-03-05", [(2024, 3, 5)]),
        ("13–20 July 2024", [(2024, 7, 13), (2024, 7, 20)]),
        ("July 13-20, 2024", [(2024, 7, 13), (2024, 7, 20)]),
        ("from 13 July to 20 July 2024", [(2024, 7, 13), (2024, 7, 20)]),
        ("in March", [(None, 3, None)]),
        ("£1,950", []),
        ("13/13/2024", []),
    ],
)
def test_dates_are_found_in_many_spellings(text, dates):
    """A year said last holds for what stands before it."""
    assert [date.key for date in find_dates(fold(text))] == dates


def test_a_date_in_digits_may_be_read_both_ways():
    """05/03 is in March or in May."""
    (date,) = find_dates("05/03/2024")
    assert set(date.readings()) == {(2024, 3, 5), (2024, 5, 3)}


@pytest.mark.parametrize(
    ("text", "quantities"),
    [
        ("£925 a month", [(925, "£")]),
        ("38,000 kronor", [(38000, "kronor")]),
        ("SEK 38 000", [(38000, "sek")]),
        ("£3.5m", [(3_500_000, "£")]),
        ("38 m", [(38, "m")]),
        ("350.000 pesos", [(350_000, "pesos")]),
        ("3.450 kg", [(3.45, "kg")]),
        ("19-minute", [(19, "minute")]),
        ("78 per cent", [(78, "%")]),
        ("9 pm", [(21, "pm")]),
        ("on 5 March 2024 she paid £7", [(7, "£")]),
        ("£30 more than £980", [(30, "£")]),
        ("the 21st", []),
    ],
)
def test_quantities_are_found_with_their_units(text, quantities):
    """Without those of dates, ordinals, and what something is compared with."""
    assert [(q.value, q.unit) for q in find_numbers(fold(text))] == quantities


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("She lives in Bath.", Status.ASSERTED),
        ("She does not live in Bath.", Status.DENIED),
        ("She no longer lives in Bath.", Status.DENIED),
        ("She lives in Bath, no longer.", Status.DENIED),
        ("It is false that she lives in Bath.", Status.DENIED),
        ("It is not true that she does not live in Bath.", Status.ASSERTED),
        ("She lives in Bath. That is not true.", Status.DENIED),
        ("She denied living in Bath.", Status.DENIED),
        ("She refused to move to Bath.", Status.DENIED),
        ("She stopped going to Bath.", Status.DENIED),
        ("She lives in York rather than Bath.", Status.DENIED),
        ("Not York, Bath.", Status.ASSERTED),
        ("Not York, Bath or Hull.", Status.DENIED),
        ("She lives in York, not Bath.", Status.DENIED),
        ("She lives in Bath because she does not like York.", Status.ASSERTED),
        ("She used to live in Bath.", Status.FORMER),
        ("She was in Bath until May, then in York.", Status.FORMER),
        ("She moved from Bath to York.", Status.FORMER),
        ("She was in Bath, but now she is in York.", Status.FORMER),
        ("If she lived in Bath, she would say so.", Status.OPEN),
        ("Does she live in Bath?", Status.OPEN),
    ],
)
def test_a_place_in_an_answer_has_polarity_and_time(text, status):
    """Asserted, denied, former, or left open."""
    reading = read(text, "Where does Ann live now?")
    at = reading.text.index("bath")
    assert reading.status(at, at + 4) is status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("A doctor must never prescribe penicillin.", Status.ASSERTED),
        ("She does not tolerate penicillin.", Status.ASSERTED),
        ("It is not penicillin.", Status.DENIED),
        ("Penicillin is not what must be avoided.", Status.DENIED),
        ("It is not true that a doctor must never prescribe penicillin.", Status.DENIED),
    ],
)
def test_what_the_question_denies_is_no_denial_of_its_answer(text, status):
    """Only that it is the answer can be denied."""
    reading = read(text, "Which drug must a doctor never prescribe?")
    at = reading.text.index("penicillin")
    assert reading.status(at, at + 10) is status


@pytest.mark.parametrize(
    ("answer", "plain", "loose"),
    [
        ("I don't know.", True, True),
        ("It was never mentioned.", True, True),
        ("Dmitri is never given penicillin.", False, True),
        ("I don't know, but it is probably Tom.", False, False),
        ("Not mentioned. Tom.", False, False),
        ("Tom.", False, False),
        ("", False, False),
    ],
)
def test_not_knowing_is_told_from_knowing_that_not(answer, plain, loose):
    """Where there is an answer to be had, only plain words are an abstention."""
    assert abstains(answer, "What may he take?", plainly=True) is plain
    assert abstains(answer, "What may he take?") is loose


def test_a_declared_abstention_is_one_whatever_the_words():
    """The flag of the answer counts."""
    number = NumberGold(type="number", value=5)
    assert grade_text("5", number, "How many?", abstained=True) == 0
    assert grade_text("hm", AbstentionGold(type="abstention"), "How many?", abstained=True) == 1


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("The service deploy raised retry latency in the geo layer.", 1),
        ("The geo layer's retry latency was raised by the service deploy.", 1),
        ("The service deploy did not raise retry latency in the geo layer.", 0),
        ("There is no evidence that the service deploy raised retry latency in the geo layer.", 0),
        ("The service was slow.", 0),
        ("If the service deploy raised retry latency in the geo layer, we would see it.", 0),
    ],
)
def test_a_fact_is_found_by_its_words_and_their_polarity(said, score):
    """In any order; a quarter of them is nothing."""
    fact = "service deploy raised retry latency in the geo layer"
    assert fact_score(read(said), fact) == score


@pytest.mark.parametrize(
    ("said", "score"),
    [
        ("parking is limited to two hours near the gym", 1),
        ("parking is limited to 3 hours near the gym", 0),
        ("parking is limited near the gym", 0),
    ],
)
def test_a_fact_with_another_number_is_another_fact(said, score):
    """Numbers are exact."""
    assert fact_score(read(said), "parking limited to 2 hours near the gym") == score


def test_a_denied_part_of_a_fact_must_be_denied():
    """ "Not video" is as much part of it as the call."""
    fact = "telephone call, no video"
    assert fact_score(read("By telephone call, not by video."), fact) == 1
    assert fact_score(read("By telephone call and video."), fact) < 0.5


def test_a_fact_may_name_alternatives():
    """Any of them will do."""
    assert fact_score(read("true lives"), "biographies | true lives") == 1
    assert fact_score(read("novels"), "biographies | true lives") == 0


def test_only_what_follows_the_one_final_mark_is_graded():
    """Steps before it are no competing values; two marks are two answers."""
    number = NumberGold(type="number", value=5, siblings=(3,))
    assert grade_text("First 3, then 5.\nAnswer: 5", number, "How many?") == 1
    assert grade_text("Answer: 3\nAnswer: 5", number, "How many?") == 0


@given(st.text(max_size=200))
def test_any_text_is_graded_between_0_and_1(text):
    """Whatever a model says."""
    for gold in (
        NumberGold(type="number", value=5, unit="GBP"),
        TextGold(type="text", value="5 red boats"),
        AbstentionGold(type="abstention"),
    ):
        assert 0 <= grade_text(text, gold, "How many boats?") <= 1


_PIECES = [
    "it is", "not", "5", "no longer", ",", ".", "and", "£5", "until", "5 May 2024", "but", "(",
    ")", "from", "to", "-", "one", "half", "million", "never", "that is not true", "1.", "\n", "?",
]  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=25))
def test_any_order_of_telling_words_is_graded(pieces):
    """No rule falls over another."""
    number = NumberGold(type="number", value=5, unit="GBP", siblings=(3,))
    assert grade_text(" ".join(pieces), number, "How much is it now?") in (0, 1)
