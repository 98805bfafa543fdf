"""What audits make up, and the chunks they cut: pure functions of a spec and a scenario."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.model.scenario import Episode, Turn
from memrig.model.trial import TrialSpec
from memrig.trial.audits import can_rechunk, plan_of, rechunked
from memrig.trial.audits.words import holds, make_canaries, make_poisons, paraphrase
from support.audited import told_scenario
from support.fake_memory import fake_adapter
from support.scenarios import small_spec

DAY = datetime(2025, 3, 4, 12, tzinfo=UTC)
NEXT_DAY = datetime(2025, 3, 5, 12, tzinfo=UTC)


@pytest.fixture
def spec(tmp_path: Path) -> TrialSpec:
    return small_spec(tmp_path, told_scenario(), kind="audits")


def test_no_question_gives_its_canary_away(spec: TrialSpec) -> None:
    """Who repeats a question has remembered nothing."""
    for canary in make_canaries(spec, "Ada", 6):
        assert holds(canary.text, canary.token)
        assert not holds(canary.question, canary.token)


def test_no_two_canaries_share_their_word_or_their_thing(spec: TrialSpec) -> None:
    """What is found is found by itself."""
    canaries = make_canaries(spec, "Ada", 6)
    assert len({canary.token for canary in canaries}) == 6
    assert len({canary.question for canary in canaries}) == 6


def test_another_image_has_other_canaries_and_poisons(spec: TrialSpec) -> None:
    """An image cannot hold what hangs on its own digest."""
    adapter = fake_adapter().model_copy(update={"images": {"adapter": "sha256:" + "1" * 64}})
    other = spec.model_copy(update={"adapter": adapter})
    asked = (("q1", "Who?"),)
    assert {c.token for c in make_canaries(spec, "Ada", 6)}.isdisjoint(
        c.token for c in make_canaries(other, "Ada", 6)
    )
    assert make_poisons(spec, "Ada", asked)[0].token != make_poisons(other, "Ada", asked)[0].token


def test_the_same_spec_has_the_same_canaries(spec: TrialSpec) -> None:
    """Whoever verifies a run draws them again."""
    again = TrialSpec.model_validate_json(spec.model_dump_json())
    assert make_canaries(spec, "Ada", 6) == make_canaries(again, "Ada", 6)


@pytest.mark.parametrize(
    ("text", "number", "expected"),
    [
        ("What's the cat called?", 0, "Now, what is the cat called, please?"),
        ("Pepper is whose cat?", 1, "And Pepper is whose cat, please?"),
        ("Tell me where it is.", 3, "So, Tell me where it is."),
    ],
)
def test_a_paraphrase_is_made_by_rule(text: str, number: int, expected: str) -> None:
    """Framed, contractions written out; a name keeps its capital."""
    assert paraphrase(text, number) == expected


@given(text=st.text(min_size=1, max_size=80), number=st.integers(0, 30))
def test_a_paraphrase_is_never_the_question_itself(text: str, number: int) -> None:
    """A table or a cache that goes by the text does not know it."""
    assert paraphrase(text, number) != text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("It was Belcor.", True), ("BELCOR, I think", True), ("Belcorfen", False), ("", False)],
)
def test_a_word_gives_itself_away_as_a_whole(text: str, expected: bool) -> None:
    """In any case, and not as a part of another."""
    assert holds(text, "Belcor") is expected


def plain(name: str, when: datetime | None = DAY) -> Episode:
    return Episode(episode_id=name, text=f"Ada: {name}", timestamp=when)


def talk(name: str, turns: int) -> Episode:
    said = tuple(Turn(turn_id=f"{name}-{n}", speaker="Ada", text=f"word {n}") for n in range(turns))
    text = "\n".join(f"Ada: word {n}" for n in range(turns))
    return Episode(episode_id=name, text=text, turns=said, timestamp=DAY)


def test_episodes_without_turns_are_put_together_in_pairs() -> None:
    """And know what they were made of."""
    chunks = list(rechunked([plain("a"), plain("b"), plain("c")]))
    assert [chunk.originals for chunk in chunks] == [("a", "b"), ("c",)]
    assert chunks[0].episode.text == "Ada: a\nAda: b"


def test_an_episode_of_turns_is_cut_between_two_of_them() -> None:
    """Both halves are of it."""
    first, second = rechunked([talk("a", 3)])
    assert (first.originals, second.originals) == (("a",), ("a",))
    assert (first.episode.text, second.episode.text) == ("Ada: word 0", "Ada: word 1\nAda: word 2")
    assert [turn.text for turn in second.episode.turns] == ["word 1", "word 2"]


def test_what_is_of_two_days_is_not_put_together() -> None:
    """No date is bent."""
    chunks = list(rechunked([plain("a"), plain("b", NEXT_DAY), plain("c", NEXT_DAY)]))
    assert [chunk.originals for chunk in chunks] == [("a",), ("b", "c")]


@pytest.mark.parametrize(
    ("episodes", "expected"),
    [
        ([plain("a"), plain("b", NEXT_DAY)], False),
        ([plain("a"), plain("b")], True),
        ([talk("a", 2)], True),
        ([talk("a", 2), plain("b"), plain("c")], True),  # as many chunks as episodes
        ([], False),
    ],
)
def test_other_chunks_are_there_where_something_is_cut_or_joined(
    episodes: list[Episode], expected: bool
) -> None:
    """Their number alone does not tell."""
    assert can_rechunk(episodes) is expected


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.sampled_from([DAY, NEXT_DAY, None])),
        min_size=0,
        max_size=12,
    )
)
def test_no_word_is_lost_or_moved(shapes: list[tuple[int, datetime | None]]) -> None:
    """Chunks hold the same text in the same order, under names of their own."""
    episodes = [
        talk(f"e{n}", turns) if turns else plain(f"e{n}", when)
        for n, (turns, when) in enumerate(shapes)
    ]
    chunks = list(rechunked(episodes))
    lines = [line for chunk in chunks for line in chunk.episode.text.split("\n")]
    assert lines == [line for episode in episodes for line in episode.text.split("\n")]
    names = [chunk.episode.episode_id for chunk in chunks]
    assert len(set(names)) == len(names)
    assert {o for chunk in chunks for o in chunk.originals} == {e.episode_id for e in episodes}


def test_planted_facts_stand_among_the_data_at_its_times(spec: TrialSpec) -> None:
    """Each after an episode, with that one's date."""
    events = list(told_scenario().timeline)
    plan = plan_of(spec, events)
    told = list(plan.told(events))
    assert len(told) == 6 + 4
    for before, episode in pairwise(told):
        if episode.episode_id.startswith("audit/") and not before.episode_id.startswith("audit/"):
            assert episode.timestamp == before.timestamp
    assert [e for e in told if not e.episode_id.startswith("audit/")] == events[:6]


def test_no_control_is_told(spec: TrialSpec) -> None:
    """Else it would be no control."""
    events = list(told_scenario().timeline)
    plan = plan_of(spec, events)
    everything = [*plan.told(events), *plan.poisoned, *plan.refill]
    for canary in plan.controls:
        assert not any(holds(episode.text, canary.token) for episode in everything)
