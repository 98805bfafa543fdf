"""How an episode is cut: nothing lost, nothing invented, sources kept."""

import itertools
from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from memrig_adapters import Episode, Turn
from memrig_adapters.passages import MAX_CHARACTERS, MAX_WORDS, chunks_of, passages_of

SENTENCE = st.text(alphabet="abé漢 .!?。\n", min_size=1, max_size=120)
TEXT = st.lists(SENTENCE, min_size=1, max_size=60).map(" ".join)
WHEN = datetime(2024, 3, 5, tzinfo=UTC)


def test_turns_are_passages_with_speaker_and_turn_id() -> None:
    """Where an episode has turns, each that says something is a passage of its own."""
    turns = (Turn("t1", "Ann", "Hi."), Turn("t2", "Bob", " "), Turn("t3", "", "No name."))
    passages = passages_of(Episode("e", "Ann: Hi.\nBob:  \nNo name.", WHEN, turns))
    assert [(p.text, p.turn_id, p.episode_id, p.timestamp) for p in passages] == [
        ("Ann: Hi.", "t1", "e", WHEN),
        ("No name.", "t3", "e", WHEN),
    ]


def test_an_episode_of_empty_turns_falls_back_on_its_text() -> None:
    """If no turn says anything, the text is what is left."""
    passages = passages_of(Episode("e", "(silence)", None, (Turn("t", "Ann", ""),)))
    assert [(p.text, p.turn_id) for p in passages] == [("(silence)", None)]


def test_a_short_text_is_one_passage() -> None:
    """A text within the limits is kept as it is."""
    text = "One. Two.\nThree? "
    assert list(chunks_of(text)) == [text]


def test_a_long_text_is_cut_at_sentence_ends_with_overlap() -> None:
    """Chunks end where sentences end, and a chunk begins with the sentence before it."""
    sentences = [f"Sentence number {n} says a few words more." for n in range(100)]
    chunks = list(chunks_of(" ".join(sentences)))
    assert len(chunks) > 3
    for before, after in itertools.pairwise(chunks):
        assert before.endswith("more.")
        last = "Sentence" + before.rpartition("Sentence")[2]
        assert after.startswith(last)


def test_chunks_of_an_episode_share_source_and_time() -> None:
    """Every chunk names its episode, has a ref of its own, and keeps the time."""
    passages = passages_of(Episode("e", "Some words stand here. " * 300, WHEN))
    assert len(passages) > 3
    assert {p.episode_id for p in passages} == {"e"}
    assert {p.timestamp for p in passages} == {WHEN}
    assert len({p.ref_id for p in passages}) == len(passages)


@settings(deadline=None)
@given(TEXT)
def test_chunks_keep_every_character_but_white_space(text: str) -> None:
    """Chunks are slices in order, within both limits, and what they leave out is white space."""
    chunks = list(chunks_of(text))
    position = covered = 0
    for chunk in chunks:
        assert len(chunk) <= MAX_CHARACTERS
        assert len(chunk.split()) <= MAX_WORDS
        start = text.index(chunk, position)
        assert not text[covered:start].strip()
        position, covered = start + 1, max(covered, start + len(chunk))
    assert not text[covered:].strip()


def test_words_without_end_are_cut() -> None:
    """A single word of any length is cut by characters."""
    chunks = list(chunks_of("x" * 5_000))
    assert "".join(chunks) == "x" * 5_000
    assert max(map(len, chunks)) <= MAX_CHARACTERS
