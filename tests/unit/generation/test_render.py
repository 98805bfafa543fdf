"""The deterministic renderer: a sheet becomes a document that holds it all, and nothing else."""

import asyncio
import re
import statistics
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.errors import DataError
from memrig.generation.model import Reading
from memrig.generation.phrases import FILLER
from memrig.generation.render import SeededRenderer, document
from memrig.grading.typed.numbers import find_numbers
from memrig.grading.typed.words import fold
from support.stories import STYLE, sheet_of


@given(seed=st.integers(0, 2**63), readings=st.integers(2, 10), events=st.integers(0, 6))
def test_every_reading_and_event_stands_in_the_text_as_it_is(seed, readings, events):
    """Value, unit and label on one line; events whole; the day in ISO 8601."""
    sheet = sheet_of(readings, events)
    text = document(sheet, STYLE, seed)
    lines = text.splitlines()
    for section in sheet.sections:
        for reading in section.readings:
            assert any(
                {reading.label, reading.value, reading.unit} <= set(_parts(line, reading))
                for line in lines
            )
    assert all(event in text for event in sheet.events)
    assert sheet.day.isoformat() in text


def _parts(line: str, reading: Reading) -> list[str]:
    wanted = (reading.label, reading.value, reading.unit)
    return [part for part in wanted if re.search(rf"(?<![\w.]){re.escape(part)}(?!\w)", line)]


@given(seed=st.integers(0, 2**63), least=st.integers(120, 400), width=st.integers(30, 400))
def test_a_document_is_within_its_band(seed, least, width):
    """Whatever is drawn."""
    style = STYLE.model_copy(update={"words": (least, least + width)})
    assert least <= len(document(sheet_of(), style, seed).split()) <= least + width


@given(seed=st.integers(0, 2**63))
def test_the_same_sheet_and_seed_give_the_same_text(seed):
    """A dataset can be made again by everybody."""
    assert document(sheet_of(), STYLE, seed) == document(sheet_of(), STYLE, seed)


def test_the_text_is_the_same_on_every_machine():
    """Byte for byte."""
    text = document(sheet_of(2, 1), STYLE, 5)
    assert sha256(text.encode()).hexdigest() == PINNED


#: A change of templates changes it, and is a new version of the shipped datasets.
PINNED = "540a4a9dadf9b1bbf60b6b549ed7dbe06d404a3c807722006e5f84f3280f1221"


def test_no_figure_comes_from_the_filler():
    """Else a key fact's number could stand in a document that does not show it."""
    text = fold(document(sheet_of(0, 0), STYLE, 3).replace("2024-03-04", ""))
    assert re.search(r"\d", text) is None
    assert [template for template in FILLER if find_numbers(fold(template))] == []


def test_documents_are_no_clones_of_each_other():
    """Of the same sheet, two documents share few runs of four words."""
    texts = [document(sheet_of(), STYLE, seed) for seed in range(40)]
    runs = [_runs(text) for text in texts]
    shared = [len(a & b) / len(a | b) for a, b in pairwise(runs)]
    assert statistics.mean(shared) < 0.15
    assert len({text.splitlines()[2] for text in texts}) > 1


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return set(zip(words, words[1:], words[2:], words[3:], strict=False))


@pytest.mark.parametrize("measure", [lambda t: len(t.split()), len, lambda t: t.count("\n")])
def test_length_does_not_depend_on_how_large_the_sheet_is(measure):
    """Signal and distractor sheets may differ in size; their documents must not."""
    small = [measure(document(sheet_of(4, 1), STYLE, seed)) for seed in range(300)]
    large = [measure(document(sheet_of(8, 3), STYLE, 1000 + seed)) for seed in range(300)]
    below = sum((a < b) + (a == b) / 2 for a in small for b in large) / 90_000
    assert 0.4 < below < 0.6


def test_a_sheet_too_large_for_its_band_is_refused_by_name():
    """Rather than cut."""
    style = STYLE.model_copy(update={"words": (20, 50)})
    with pytest.raises(DataError, match=r"20 to 50 words") as caught:
        document(sheet_of(), style, 1)
    assert "Northgate, 2024-03-04" in caught.value.where


def test_a_band_too_narrow_for_sentences_is_refused():
    """A document cannot be cut within one."""
    style = STYLE.model_copy(update={"words": (300, 310)})
    with pytest.raises(DataError, match="26 wide"):
        document(sheet_of(), style, 1)


def test_the_renderer_is_the_function():
    """The seam is asynchronous for those that call a model."""
    text = asyncio.run(SeededRenderer().render(sheet_of(), STYLE, 9))
    assert text == document(sheet_of(), STYLE, 9)
