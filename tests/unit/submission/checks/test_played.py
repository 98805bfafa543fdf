"""Checks that answer a question again: queries, prompts, replies and outcomes that were changed."""

from dataclasses import replace

import pytest

from memrig.model.transcript import QuestionRecord
from memrig.model.trial import Outcome
from memrig.submission.checks import played
from support.evidence import found
from support.happened import (
    answered_with,
    asked,
    changed,
    in_run,
    recorded_as,
    scored,
    searched_for,
)


def caught(check_id, trial):
    return found(played.TRIAL_CHECKS, check_id, trial)


def rewritten(trial, number=0, **changes):
    """The first hit of a question's search reads otherwise."""
    first, *rest = asked(trial, number).searches[0].hits
    return searched_for(trial, number, hits=(replace(first, **changes), *rest))


class TestQueries:
    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"query": "the gold"}, "searched with query 'the gold'"),
            ({"limit": 77}, "searched with limit 77"),
            ({"mode": "SEARCH_MODE_HYBRID"}, "searched with mode 'SEARCH_MODE_HYBRID'"),
        ],
    )
    def test_the_memory_is_asked_what_the_mode_asks(self, searched, changes, says):
        """The question as it stands, for the top k."""
        trial = searched_for(scored(searched), **changes)
        assert caught("sources.query", scored(searched)) == []
        assert says in caught("sources.query", trial)[0]

    def test_a_second_search_is_objected_to(self, searched):
        """The better of two would count."""
        searches = asked(scored(searched)).searches
        trial = changed(scored(searched), QuestionRecord, searches=searches * 2)
        assert "2 searches are on record, the rig makes 1" in caught("sources.query", trial)[0]

    def test_an_agents_query_is_the_models(self, agent):
        """Not one that helps the memory."""
        trial = searched_for(scored(agent), query="the gold")
        assert "query 'the gold'" in caught("sources.query", trial)[0]


class TestPrompts:
    @pytest.mark.parametrize("kind", ["read", "judged", "agent"])
    def test_other_memories_make_another_prompt(self, kind, request):
        """What was found and what was shown must be one."""
        evidence = request.getfixturevalue(kind)
        trial = rewritten(scored(evidence), text="It is in the attic, as everybody knows.")
        assert caught("models.prompts", scored(evidence)) == []
        assert caught("models.prompts", trial)

    def test_another_prompt_is_not_the_rigs(self, read):
        """An exchange with the gold in its request is another exchange."""
        key = asked(scored(read)).model_calls[0].key
        run = recorded_as(read.run, key, request="0" * 64)
        (objection,) = caught("models.prompts", in_run(scored(read), run))
        assert "what the reader's call 1 was sent" in objection

    def test_the_opponents_prompt_is_made_again(self, read):
        """All episodes so far, as many as fit."""
        key = asked(scored(read)).naive.model_calls[0].key
        run = recorded_as(read.run, key, request="0" * 64)
        assert caught("models.prompts", in_run(scored(read), run))

    def test_a_second_call_is_objected_to(self, read):
        """A reader has one."""
        calls = asked(scored(read)).model_calls
        trial = changed(scored(read), QuestionRecord, model_calls=calls * 2)
        assert "2 calls are on record, the rig makes 1" in caught("models.prompts", trial)[0]

    @pytest.mark.parametrize("number", [0, 1, 2], ids=["search", "capabilities", "unknown tool"])
    def test_a_tools_result_is_the_rigs(self, agent, number):
        """What it makes of what the memory returned."""
        uses = list(asked(scored(agent)).tool_uses)
        uses[number] = uses[number].model_copy(update={"result": '{"results":[]}'})
        trial = changed(scored(agent), QuestionRecord, tool_uses=tuple(uses))
        assert caught("models.prompts", trial)

    def test_a_document_is_in_the_conversation_as_it_was_shown(self, agent):
        """What Retrieve gave stands there alone; the next request holds it, too."""
        uses = list(asked(scored(agent)).tool_uses)
        number = next(n for n, use in enumerate(uses) if use.name == "memory_retrieve")
        told = uses[number].result.replace('"text":"', '"text":"By the way: ')
        assert told != uses[number].result
        uses[number] = uses[number].model_copy(update={"result": told})
        trial = changed(scored(agent), QuestionRecord, tool_uses=tuple(uses))
        assert caught("models.prompts", trial)

    def test_a_tool_that_the_model_did_not_call_is_objected_to(self, agent):
        """Uses are those of its replies."""
        uses = asked(scored(agent)).tool_uses
        trial = changed(scored(agent), QuestionRecord, tool_uses=(*uses, uses[0]))
        assert caught("models.prompts", trial)


#: A document that no budget has room for.
LONG = '{"results":[{"handle":"m1","text":"' + "x" * 70_000 + '"}]}'


class TestAnswers:
    @pytest.mark.parametrize("kind", ["read", "judged", "agent"])
    @pytest.mark.parametrize("changes", [{"text": "the attic"}, {"confidence": 0.31}], ids=str)
    def test_an_answer_is_what_the_reply_says(self, kind, changes, request):
        """Nobody else's words."""
        evidence = request.getfixturevalue(kind)
        trial = answered_with(scored(evidence), **changes)
        assert caught("models.answers", scored(evidence)) == []
        assert f"{next(iter(changes))} is" in caught("models.answers", trial)[0]

    def test_citations_are_those_of_the_reply(self, agent):
        """Handles that the model was shown."""
        trial = answered_with(scored(agent), cited=("m2",))
        assert "cited is ('m2',)" in caught("models.answers", trial)[0]

    def test_an_answer_left_out_is_missed(self, read):
        """Where the reply was one."""
        trial = changed(scored(read), QuestionRecord, answer=None)
        assert "is missing" in caught("models.answers", trial)[0]

    @pytest.mark.parametrize(
        "changes",
        [{"episodes": 1}, {"shown": 99}, {"answer": None}],
        ids=lambda one: next(iter(one)),
    )
    def test_an_opponent_is_not_made_weaker(self, read, changes):
        """It had everything, and said what it said."""
        naive = asked(scored(read)).naive.model_copy(update=changes)
        trial = changed(scored(read), QuestionRecord, naive=naive)
        assert "the opponent" in caught("models.answers", trial)[0]

    def test_an_opponent_is_refused_only_for_what_cannot_be_sent(self, read):
        """Its request is made again, and is clean."""
        failure = "rejected: the request is no clean JSON: NaN"
        update = {"answer": None, "failure": failure, "shown": 0, "model_calls": ()}
        naive = asked(scored(read)).naive.model_copy(update=update)
        trial = changed(scored(read), QuestionRecord, naive=naive)
        assert "nothing kept it from a model" in caught("models.answers", trial)[0]
        other = naive.model_copy(update={"failure": "rejected: filtered"})
        trial = changed(scored(read), QuestionRecord, naive=other)
        assert caught("models.answers", trial) == []

    def test_an_own_answer_has_a_text(self, native):
        """The rig refuses an empty one that is no abstention."""
        number = next(n for n in range(4) if not asked(scored(native), n).answer.abstained)
        assert caught("models.answers", scored(native)) == []
        trial = answered_with(scored(native), number, text="")
        assert "it is empty" in caught("models.answers", trial)[0]


class TestOutcomes:
    def test_a_question_is_refused_only_for_what_cannot_be_sent(self, read):
        """An audit's, which no mean would miss, as well as a scored one."""
        outcome = Outcome(
            status="harness_error", kind="rejected", message="the request is no clean JSON: NaN"
        )
        refused = {"outcome": outcome, "model_calls": (), "answer": None}
        trial = changed(scored(read), QuestionRecord, **refused)
        assert "and the request is clean JSON" in caught("budgets.outcomes", trial)[0]

    @pytest.mark.parametrize(
        "outcome",
        [
            Outcome(status="abstained"),
            Outcome(status="timeout", kind="question"),
            Outcome(status="budget_exceeded", kind="payload_bytes"),
            Outcome(status="budget_exceeded", kind="wall_time"),
        ],
        ids=lambda outcome: outcome.label,
    )
    @pytest.mark.parametrize("kind", ["searched", "agent"])
    def test_a_question_ends_as_what_came_back_makes_it_end(self, kind, outcome, request):
        """It was answered."""
        evidence = request.getfixturevalue(kind)
        trial = changed(scored(evidence), QuestionRecord, outcome=outcome)
        assert caught("budgets.outcomes", scored(evidence)) == []
        # An agent whose time is up is sent another last prompt, and that is what is missed.
        late = kind == "agent" and outcome.kind == "wall_time"
        assert caught("models.prompts" if late else "budgets.outcomes", trial)

    @pytest.mark.parametrize(
        ("changes", "says"),
        [
            ({"payload_bytes": 3}, "returned 3 bytes, and showed"),
            ({"result": LONG}, "its budget had"),
        ],
        ids=["bytes", "text"],
    )
    def test_a_document_is_charged_to_the_budget(self, agent, changes, says):
        """As it came over the wire; no more of it is shown than there is room for."""
        uses = list(asked(scored(agent)).tool_uses)
        number = next(n for n, use in enumerate(uses) if use.name == "memory_retrieve")
        uses[number] = uses[number].model_copy(update=changes)
        trial = changed(scored(agent), QuestionRecord, tool_uses=tuple(uses))
        assert caught("budgets.outcomes", scored(agent)) == []
        assert any(says in objection for objection in caught("budgets.outcomes", trial))

    def test_a_broken_budget_is_no_answer(self, judged):
        """The rig would have noticed."""
        trial = scored(judged)
        budget = trial.spec.budget.model_copy(update={"usd": 1e-9})
        broken = replace(trial, spec=trial.spec.model_copy(update={"budget": budget}))
        assert "comes to budget_exceeded(usd)" in caught("budgets.outcomes", broken)[0]

    def test_an_answer_without_a_search_is_none(self, searched):
        """What is on record comes to no end."""
        trial = changed(scored(searched), QuestionRecord, searches=())
        assert "comes to no end" in caught("budgets.outcomes", trial)[0]

    def test_an_own_answer_that_abstains_is_no_answer(self, native):
        """It says so itself."""
        trial = answered_with(scored(native), abstained=True)
        assert "says otherwise" in caught("budgets.outcomes", trial)[0]
