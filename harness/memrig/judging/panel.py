"""A judge's panel: several votes on one task, and what they come to (scoring §3).

A vote that cannot be parsed is asked for again, and then missing. A missing vote is no vote: it
never becomes 0. Too few votes leave the question ungraded.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from memrig.errors import GatewayError
from memrig.model.chat import CallContext, Chat, ChatReply, ChatRequest, Message
from memrig.model.judgement import JudgeTask, Verdict, Vote

#: How often one vote is asked for before it is missing.
ASKED_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """What a verdict is on.

    Args:
        trial_id: whose limits the calls count against.
        scenario_id: the question's scenario.
        question_id: the question.
        protocol: the protocol that asks.
        grader: protocol, version and prompts, as grades name them.
        seed: the trial's.
        scope: what identical requests are counted within: scenario, question and repeat.
    """

    trial_id: str
    scenario_id: str
    question_id: str
    protocol: str
    grader: str
    seed: int
    scope: str


@dataclass(frozen=True, slots=True)
class Result:
    """What votes come to."""

    score: float | None
    agreement: float | None
    reason: str


def quorum_of(votes: int) -> int:
    """How many votes must be valid: more than half."""
    return votes // 2 + 1


def count(votes: Sequence[Vote], quorum: int) -> Result:
    """The median of the valid votes and how far they agree; no score below the quorum."""
    valid = [vote.score for vote in votes if vote.score is not None]
    common = Counter(valid).most_common(1)
    agreement = common[0][1] / len(valid) if len(valid) > 1 else None
    if len(valid) >= quorum:
        return Result(median(valid), agreement, "")
    # Without what follows the colon, a reply's text: equal reasons are counted together.
    why = next((vote.reason.partition(": ")[0] for vote in votes if vote.score is None), "")
    noun = "vote was" if len(votes) == 1 else "votes were"
    reason = f"{len(valid)} of {len(votes)} {noun} valid, expected {quorum}: {why}"
    return Result(None, agreement, reason)


@dataclass(frozen=True, slots=True)
class Panel:
    """A judge model, and where it is reached."""

    chat: Chat
    model: str

    async def judge(self, task: JudgeTask, where: JudgedQuestion) -> Verdict:
        """Takes the votes on one task, all at once.

        Raises:
            GatewayError: the model could not be had, and may be later: the task stays open.
        """
        ballots = (self._vote(task, where, number) for number in range(task.votes))
        votes = _whole(await asyncio.gather(*ballots, return_exceptions=True))
        quorum = quorum_of(task.votes)
        result = count(votes, quorum)
        return Verdict(
            trial_id=where.trial_id,
            scenario_id=where.scenario_id,
            question_id=where.question_id,
            protocol=where.protocol,
            model=self.model,
            task=task.name,
            votes=votes,
            quorum=quorum,
            score=result.score,
            agreement=result.agreement,
            reason=result.reason,
            grader=where.grader,
        )

    async def _vote(self, task: JudgeTask, where: JudgedQuestion, number: int) -> Vote:
        replies: list[ChatReply] = []
        request = ChatRequest(
            model=self.model,
            messages=(Message("user", task.prompt),),
            max_tokens=task.max_tokens,
            system=task.system,
        )
        for attempt in range(ASKED_AT_MOST):
            context = CallContext(
                phase="judge",
                purpose="judge",
                trial_id=where.trial_id,
                scope=f"{where.scope}/{task.name}",
                seed=where.seed,
                attempt=attempt,
                vote=number,
            )
            try:
                reply = await self.chat.chat(request, context)
            except GatewayError as error:
                if not error.settles:
                    raise
                return _cast(replies, None, f"{error.kind}: {error.message}", asked=attempt + 1)
            replies.append(reply)
            score = None if reply.stop_reason == "refusal" else task.parse(reply.text)
            if score is not None:
                return _cast(replies, score, "", asked=attempt + 1)
        return _cast(replies, None, _unread(replies[-1]), asked=ASKED_AT_MOST)


def _whole(results: Sequence[Vote | BaseException]) -> tuple[Vote, ...]:
    """All votes, once all have come to their end, or the first error."""
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return tuple(result for result in results if isinstance(result, Vote))


def _unread(reply: ChatReply) -> str:
    if reply.stop_reason == "refusal":
        return f"the judge refused, asked {ASKED_AT_MOST} times"
    kind = "is cut off by its token limit" if reply.stop_reason == "length" else "is no verdict"
    return f"the reply {kind}, asked {ASKED_AT_MOST} times: {_utf8(reply.text)[:80]!r}"


def _cast(replies: Sequence[ChatReply], score: float | None, reason: str, *, asked: int) -> Vote:
    """A vote with the last reply, at the cost of all."""
    prices = [reply.cost_usd for reply in replies]
    known = [price for price in prices if price is not None]
    last = replies[-1] if replies else ChatReply("")
    return Vote(
        score=score,
        reason=reason,
        reply=_utf8(last.text),
        served_model=last.served_model,
        key=last.key,
        asked=asked,
        attempts=sum(reply.attempts for reply in replies),
        input_tokens=sum(reply.input_tokens for reply in replies),
        output_tokens=sum(reply.output_tokens for reply in replies),
        cost_usd=sum(known) if known and len(known) == len(prices) else None,
        ns=sum(reply.ns for reply in replies),
    )


def _utf8(text: str) -> str:
    """A reply can name half a surrogate pair, which no file can hold."""
    return text.encode("utf-8", "replace").decode()
