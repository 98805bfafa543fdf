"""Checks of sources: what a memory claims, and what it was told by then."""

from dataclasses import replace

import pytest

from memrig.model.transcript import AdapterUsage, IngestRecord, QuestionRecord
from memrig.submission.checks import sources
from support.evidence import found
from support.happened import (
    answered_with,
    asked,
    changed,
    fakes,
    put,
    scored,
    searched_for,
)
from support.scenarios import small_scenario


def caught(check_id, trial):
    return found(sources.TRIAL_CHECKS, check_id, trial)


def claiming(trial, number=0, **changes):
    """The first hit of a question claims something else."""
    first, *rest = asked(trial, number).searches[0].hits
    return searched_for(trial, number, hits=(replace(first, **changes), *rest))


@pytest.fixture(scope="module")
def halves():
    """Two episodes, two questions, and the same again."""
    with fakes() as place:
        yield place.run(place.spec(small_scenario(halves=True)))


class TestClaims:
    @pytest.mark.parametrize("name", ["e3", "e9"], ids=["told later", "never told"])
    def test_an_episode_that_was_not_told_by_then_is_no_source(self, halves, name):
        """Who names it knows it from elsewhere."""
        assert caught("sources.acknowledged", halves) == []
        assert (
            f"episode {name!r}"
            in caught("sources.acknowledged", claiming(halves, episodes=(name,)))[0]
        )

    def test_a_later_question_may_have_it(self, halves):
        """It was told in between."""
        assert caught("sources.acknowledged", claiming(halves, 2, episodes=("e3",))) == []

    def test_a_void_claim_is_none(self, halves):
        """It has no name any more."""
        assert caught("sources.acknowledged", claiming(halves, episodes=(None,))) == []

    def test_a_turn_of_an_episode_that_was_not_told_is_no_source(self, searched):
        """Turns belong to episodes."""
        trial = claiming(scored(searched), turns=("turn of nothing",))
        assert "turn 'turn of nothing'" in caught("sources.acknowledged", trial)[0]

    def test_a_rejected_episode_is_no_source(self, halves):
        """The memory would not have it."""
        place = next(n for n, one in enumerate(halves.records) if isinstance(one, IngestRecord))
        record = halves.records[place]
        acks = tuple(ack.model_copy(update={"status": "rejected"}) for ack in record.acks)
        trial = put(halves, place, record.model_copy(update={"acks": acks}))
        assert "'e1', which it had not acknowledged" in caught("sources.acknowledged", trial)[0]

    def test_a_citation_is_a_claim(self, native):
        """Of a memory that answers by itself."""
        answer = asked(scored(native)).answer
        memories = tuple(one.model_copy(update={"episodes": ("e9",)}) for one in answer.memories)
        trial = answered_with(scored(native), memories=memories)
        assert "'e9'" in caught("sources.acknowledged", trial)[0]


class TestHits:
    def test_more_hits_than_asked_for_are_objected_to(self, searched):
        """They would be more tries at the evidence."""
        assert caught("sources.hits", scored(searched)) == []
        assert (
            "had a limit of 1" in caught("sources.hits", searched_for(scored(searched), limit=1))[0]
        )

    @pytest.mark.parametrize("surplus", [-1, 5])
    def test_surplus_is_what_did_not_fit(self, halves, surplus):
        """It cannot be where there was room."""
        few = asked(halves).searches[0].hits[:1]
        trial = searched_for(halves, hits=few, surplus_hits=surplus)
        assert caught("sources.hits", trial)

    def test_a_reader_is_shown_what_was_found(self, read):
        """And nothing beside it."""
        answer = asked(scored(read)).answer
        other = answer.memories[0].model_copy(update={"ref_id": "slipped in"})
        trial = answered_with(scored(read), memories=(other, *answer.memories[1:]))
        assert caught("sources.shown", scored(read)) == []
        assert "'slipped in', which no search" in caught("sources.shown", trial)[0]


class TestNative:
    def test_citations_are_the_memories(self, native):
        """All of them, in their order."""
        number = next(n for n in range(4) if asked(scored(native), n).answer.cited)
        trial = answered_with(scored(native), number, cited=())
        assert caught("sources.native", scored(native)) == []
        assert "its citations" in caught("sources.native", trial)[0]

    @pytest.mark.parametrize(
        "changes",
        [
            {"unknown_citations": -3},
            {"reserved_turn": True},
            {"raw": "text"},
            {"usage": AdapterUsage(input_tokens=-1)},
        ],
        ids=lambda one: next(iter(one)),
    )
    def test_an_answer_has_what_a_memory_can_give(self, native, changes):
        """The rest is of answers that the rig reads, or of no answer."""
        assert caught("sources.native", answered_with(scored(native), **changes))

    @pytest.mark.parametrize("changes", [{"turns": ("t",)}, {"episodes": (None, None)}], ids=str)
    def test_a_cited_memory_has_one_episode(self, native, changes):
        """The contract knows refs and episodes, no turns."""
        number = next(n for n in range(4) if asked(scored(native), n).answer.memories)
        first, *rest = asked(scored(native), number).answer.memories
        memories = (first.model_copy(update=changes), *rest)
        trial = answered_with(scored(native), number, memories=memories)
        assert "one episode at most" in caught("sources.native", trial)[0]

    def test_the_rig_takes_no_part(self, native, searched):
        """It neither searches nor asks."""
        searches = asked(scored(searched)).searches
        trial = changed(scored(native), QuestionRecord, searches=searches)
        assert "answers by itself" in caught("sources.native", trial)[0]


class TestBaselines:
    def test_a_weaker_opponent_is_objected_to(self, good):
        """It finds what it finds."""
        hits = asked(scored(good)).searches[0].hits
        trial = searched_for(scored(good), hits=hits[1:])
        assert caught("sources.baseline", scored(good)) == []
        assert "the rig's full-context finds" in caught("sources.baseline", trial)[0]

    def test_an_oracle_finds_the_gold(self, judged):
        """Without gold it cannot be checked, and that is an objection."""
        trial = scored(judged)
        assert caught("sources.baseline", trial) == []
        assert caught("sources.baseline", replace(trial, gold={}))
