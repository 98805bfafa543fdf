"""Votes: taken at once, asked again when unreadable, missing when nothing helps, never 0."""

import asyncio

import pytest

from memrig.errors import GatewayError
from memrig.judging.panel import JudgedQuestion, Panel, count, quorum_of
from memrig.model.chat import CallContext, ChatReply
from memrig.model.judgement import JudgeTask, Verdict, Vote
from support.judges import ScriptedJudge

WHERE = JudgedQuestion(
    trial_id="t1",
    scenario_id="s1",
    question_id="q1",
    protocol="p",
    grader="p/1",
    seed=7,
    scope="s1/q1/r0",
)
SCORES = {"yes": 1.0, "no": 0.0, "half": 0.5}


def task(votes: int = 3) -> JudgeTask:
    return JudgeTask(name="answer", prompt="?", max_tokens=10, votes=votes, parse=SCORES.get)


def by_vote(*replies: str | ChatReply | Exception) -> ScriptedJudge:
    """Each vote always gets the same reply."""
    return ScriptedJudge(lambda _, context: replies[context.vote])


async def judged(judge: ScriptedJudge, votes: int = 3) -> Verdict:
    return await Panel(judge, "judge").judge(task(votes), WHERE)


@pytest.mark.parametrize(
    ("replies", "score", "agreement"),
    [
        (("yes", "yes", "yes"), 1.0, 1.0),
        (("yes", "no", "yes"), 1.0, 2 / 3),
        (("no", "no", "yes"), 0.0, 2 / 3),
        (("half", "no", "yes"), 0.5, 1 / 3),
    ],
)
async def test_the_score_is_the_median_vote(replies, score, agreement):
    """And agreement is the share of the most common one."""
    verdict = await judged(by_vote(*replies))
    assert (verdict.score, verdict.agreement, verdict.reason) == (score, agreement, "")
    assert [vote.reply for vote in verdict.votes] == list(replies)


async def test_a_verdict_says_what_it_is_of_and_who_gave_it():
    """Trial, scenario, question, protocol, task, model, grader, and each vote's record key."""
    verdict = await judged(by_vote("yes", "yes", "no"))
    assert (verdict.trial_id, verdict.scenario_id, verdict.question_id) == ("t1", "s1", "q1")
    assert (verdict.protocol, verdict.task, verdict.grader) == ("p", "answer", "p/1")
    assert (verdict.model, verdict.quorum) == ("judge", 2)
    assert [vote.key for vote in verdict.votes] == ["k0.0", "k1.0", "k2.0"]
    assert {vote.served_model for vote in verdict.votes} == {"judge-1"}


async def test_the_calls_are_charged_to_the_judge_and_told_apart():
    """Phase, purpose, trial, scope, seed, vote; temperature 0."""
    judge = by_vote("yes", "yes", "yes")
    await judged(judge)
    assert sorted(context.vote for _, context in judge.calls) == [0, 1, 2]
    request, context = judge.calls[0]
    assert context == CallContext("judge", "judge", "t1", "s1/q1/r0/answer", 7, 0, 0)
    assert (request.model, request.max_tokens, request.temperature) == ("judge", 10, 0.0)
    assert [message.text for message in request.messages] == ["?"]


async def test_votes_are_taken_at_once():
    """Three calls under way together."""
    judge = by_vote("yes", "yes", "yes")
    await judged(judge)
    assert judge.busiest == 3


async def test_an_unreadable_reply_is_asked_for_again():
    """As another attempt of the same vote; every attempt is paid for."""
    judge = ScriptedJudge(lambda _, context: "hm" if context.attempt < 2 else "yes")
    verdict = await judged(judge, votes=1)
    assert verdict.score == 1.0
    assert [context.attempt for _, context in judge.calls] == [0, 1, 2]
    (vote,) = verdict.votes
    assert (vote.asked, vote.input_tokens, vote.output_tokens, vote.ns) == (3, 300, 15, 21)
    assert vote.cost_usd == pytest.approx(0.03)
    assert (vote.reply, vote.key) == ("yes", "k0.2")


async def test_a_vote_that_stays_unreadable_is_missing_and_the_others_decide():
    """After three times of asking."""
    judge = by_vote("yes", "maybe", "yes")
    verdict = await judged(judge)
    assert (verdict.score, verdict.agreement) == (1.0, 1.0)
    assert len(judge.calls) == 5
    missing = verdict.votes[1]
    assert (missing.score, missing.asked, missing.reply) == (None, 3, "maybe")
    assert missing.reason == "the reply is no verdict, asked 3 times: 'maybe'"


async def test_below_the_quorum_there_is_no_score():
    """One valid vote of three, and it said no: that is not 0."""
    verdict = await judged(by_vote("no", "maybe", "?"))
    assert verdict.score is None
    assert verdict.agreement is None
    why = "the reply is no verdict, asked 3 times"
    assert verdict.reason == f"1 of 3 votes were valid, expected 2: {why}"


async def test_two_valid_votes_that_differ_are_no_majority():
    """Their median is neither verdict, which a grader of right and wrong leaves ungraded."""
    verdict = await judged(by_vote("no", "maybe", "yes"))
    assert (verdict.score, verdict.agreement) == (0.5, 0.5)


@pytest.mark.parametrize("kind", ["rejected", "malformed"])
async def test_a_request_that_would_fail_again_makes_its_vote_missing(kind):
    """It is not repeated; the others decide."""
    judge = by_vote("yes", GatewayError("too long", kind=kind), "yes")
    verdict = await judged(judge)
    assert verdict.score == 1.0
    assert len(judge.calls) == 3
    assert verdict.votes[1].reason == f"{kind}: too long"
    assert verdict.votes[1].score is None


async def test_a_judge_that_rejects_every_vote_leaves_the_question_ungraded():
    """With the reason."""
    error = GatewayError("filtered", kind="rejected")
    verdict = await judged(by_vote(error, error, error))
    assert verdict.score is None
    assert verdict.reason == "0 of 3 votes were valid, expected 2: rejected"


@pytest.mark.parametrize(
    "kind", ["provider", "auth", "missing_key", "not_allowed", "budget", "not_recorded"]
)
async def test_a_judge_that_cannot_be_had_leaves_the_question_open(kind):
    """Repeating the command goes on there; the votes under way come to their end first."""
    judge = by_vote(GatewayError("down", kind=kind), "yes", "hm")
    with pytest.raises(GatewayError) as caught:
        await judged(judge)
    assert caught.value.kind == kind
    assert len(judge.calls) == 1 + 1 + 3


async def test_a_refusal_is_no_verdict():
    """Even where its words would parse."""
    refusal = ChatReply("yes", stop_reason="refusal")
    verdict = await judged(by_vote(refusal), votes=1)
    assert verdict.score is None
    assert "the judge refused, asked 3 times" in verdict.reason


async def test_a_reply_cut_off_is_named_as_such():
    """So that somebody raises the limit."""
    verdict = await judged(by_vote(ChatReply("so I thi", stop_reason="length")), votes=1)
    assert "is cut off by its token limit" in verdict.reason


async def test_a_reply_that_no_file_can_hold_is_kept_readable():
    """Half a surrogate pair."""
    verdict = await judged(by_vote("\ud83d no"), votes=1)
    assert verdict.votes[0].reply == "? no"


async def test_an_unknown_price_stays_unknown():
    """Part of a cost is not the cost."""

    def says(_: str, context: CallContext) -> ChatReply:
        return ChatReply("hm", cost_usd=0.1) if context.attempt == 0 else ChatReply("yes")

    verdict = await judged(ScriptedJudge(says), votes=1)
    assert verdict.votes[0].cost_usd is None


async def test_a_stopped_command_stops_its_votes():
    """Ctrl-C is not kept waiting."""

    class Stuck(ScriptedJudge):
        async def chat(self, request, context):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await judged(Stuck(lambda *_: ""))


@pytest.mark.parametrize(("votes", "quorum"), [(1, 1), (3, 2), (5, 3), (4, 3)])
def test_a_quorum_is_more_than_half(votes, quorum):
    """Of the votes that were wanted."""
    assert quorum_of(votes) == quorum


def test_one_vote_agrees_with_nobody():
    """Agreement of one is not measurable."""
    assert count((Vote(score=1.0),), 1).agreement is None
