"""Checks that verdicts are what the judge's recorded replies come to, and that none is missing."""

from collections import Counter
from collections.abc import Iterator

from memrig.gateway.record import Exchange
from memrig.grading.judges.base import OFFICIAL
from memrig.judging.panel import ASKED_AT_MOST, Result, count, quorum_of
from memrig.judging.trial import grader_name
from memrig.model.judgement import Verdict
from memrig.runs.exchange import COMPATIBLE
from memrig.submission.checks.base import Check, TrialEvidence, of_trial
from memrig.submission.checks.exchanged import reply_of, sound
from memrig.submission.checks.votes import (
    Ballot,
    ballots_of,
    grader_of,
    name_of,
    wanted_of,
)
from memrig.submission.model import Found

#: The option by which verdicts of a benchmark's own evaluator are taken over.
_IMPORTED = "verdicts"


def _imported(trial: TrialEvidence) -> bool:
    return _IMPORTED in trial.run.lock.options


def _of(trial: TrialEvidence, verdict: Verdict) -> str:
    where = of_trial(trial, verdict.scenario_id, verdict.question_id)
    return f"{where}: task {verdict.task}"


def _complete(trial: TrialEvidence) -> Iterator[Found]:
    counts = Counter(map(name_of, trial.verdicts))
    for (scenario, question, task), number in counts.items():
        if number > 1:
            where = f"{of_trial(trial, scenario, question)}: task {task}"
            yield Found(where=where, message=f"has {number} verdicts")
    if _imported(trial):
        return
    wanted = [one.key for one in wanted_of(trial)]
    for scenario, question, task in wanted:
        if (scenario, question, task) not in counts:
            where = f"{of_trial(trial, scenario, question)}: task {task}"
            yield Found(where=where, message="had to be judged, and has no verdict")
    known = set(wanted)
    for verdict in trial.verdicts:
        if name_of(verdict) not in known:
            message = "was judged, and there was nothing to judge"
            yield Found(where=_of(trial, verdict), message=message)


def _terms(trial: TrialEvidence) -> Iterator[Found]:
    """Who judged, on whose terms, with how many votes."""
    grader = grader_of(trial)
    ours = grader_name(grader) if grader else ""
    tasks = {} if _imported(trial) else {one.key: one.task for one in wanted_of(trial)}
    for verdict in trial.verdicts:
        wanted: dict[str, object] = {
            "trial_id": trial.spec.trial_id,
            "protocol": trial.spec.protocol,
            "model": trial.run.lock.judge,
            "grader": OFFICIAL if _imported(trial) else ours,
        }
        task = tasks.get(name_of(verdict))
        if task is not None:
            wanted["quorum"] = quorum_of(task.votes)
        for name, value in wanted.items():
            if (has := getattr(verdict, name)) != value:
                message = f"{name} is {has!r}, expected {value!r}"
                yield Found(where=_of(trial, verdict), message=message)
        if _imported(trial) and trial.spec.protocol != COMPATIBLE:
            message = f"{OFFICIAL} gives verdicts by {COMPATIBLE} alone"
            yield Found(where=_of(trial, verdict), message=message)
        if task is not None and len(verdict.votes) != task.votes:
            message = f"{len(verdict.votes)} votes were taken, the protocol wants {task.votes}"
            yield Found(where=_of(trial, verdict), message=message)


def _counted(trial: TrialEvidence) -> Iterator[Found]:
    for verdict in trial.verdicts:
        stated = Result(verdict.score, verdict.agreement, verdict.reason)
        counted = count(verdict.votes, verdict.quorum)
        if stated != counted:
            message = f"states {_shown(stated)}, its votes come to {_shown(counted)}"
            yield Found(where=_of(trial, verdict), message=message)


def _shown(result: Result) -> str:
    return f"score {result.score} at agreement {result.agreement} ({result.reason or 'counted'})"


def _asked(trial: TrialEvidence) -> Iterator[Found]:
    """Each vote was asked for by the grader's own prompt, and no oftener than it may be."""
    for ballot in _ballots(trial):
        for message in _strange(trial, ballot):
            where = f"{_of(trial, ballot.verdict)}: vote {ballot.number + 1}"
            yield Found(where=where, message=message)


def _ballots(trial: TrialEvidence) -> Iterator[Ballot]:
    return iter(()) if _imported(trial) else ballots_of(trial)


def _strange(trial: TrialEvidence, ballot: Ballot) -> Iterator[str]:
    if not 1 <= ballot.vote.asked <= ASKED_AT_MOST:
        yield f"was asked for {ballot.vote.asked} times, expected 1 to {ASKED_AT_MOST}"
    for number, (key, exchange) in enumerate(ballot.calls, 1):
        if exchange is None:
            yield (
                f"call {number} of {len(ballot.calls)} is not in the record: no exchange has the "
                f"grader's prompt, made of this answer and the gold ({key[:12]})"
            )
            continue
        wanted = {
            "model": trial.run.lock.judge,
            "phase": "judge",
            "purpose": "judge",
            "trial_id": trial.spec.trial_id,
        }
        for name, value in wanted.items():
            if (has := getattr(exchange, name)) != value:
                yield f"{name} of call {number} is {has!r}, expected {value!r}"
    answered = [key for key, exchange in ballot.calls if exchange and exchange.state == "ok"]
    if ballot.vote.key != (answered[-1] if answered else ""):
        yield "its reply is not that of the last call that was answered"


def _read(trial: TrialEvidence) -> Iterator[Found]:
    """What each reply says, by the grader's own reading; an earlier one must have said nothing."""
    for ballot in _ballots(trial):
        where = f"{_of(trial, ballot.verdict)}: vote {ballot.number + 1}"
        exchanges = [exchange for _, exchange in ballot.calls if exchange is not None]
        if len(exchanges) == len(ballot.calls):  # else `verdicts.asked` says so
            for message in _misread(ballot, exchanges):
                yield Found(where=where, message=message)


def _misread(ballot: Ballot, exchanges: list[Exchange]) -> Iterator[str]:
    vote, task = ballot.vote, ballot.wanted.task
    replies = [reply for exchange in exchanges if (reply := reply_of(exchange))]
    kept = [exchange for exchange in exchanges if exchange.state == "ok"]
    if len(replies) < len(kept):
        yield "the record does not hold what the judge replied"
        return
    refused = any(one.state not in {"ok", "rejected", "malformed"} for one in exchanges)
    if refused or any(one.state != "ok" for one in exchanges[:-1]):
        yield "a call failed in a way that leaves no verdict"
    scores = [None if one.stop_reason == "refusal" else task.parse(one.text) for one in replies]
    for number, score in enumerate(scores[:-1], 1):
        if score is not None:
            yield f"reply {number} was a verdict of {score}, and the judge was asked again"
    failed = len(replies) < len(exchanges)
    final = scores[-1] if scores and not failed else None
    if vote.score != final:
        yield f"scores {vote.score}, the judge's reply says {final}"
    if failed and scores and scores[-1] is not None:
        yield f"reply {len(scores)} was a verdict of {scores[-1]}, and the judge was asked again"
    if final is None and not failed and vote.asked < ASKED_AT_MOST:
        yield f"is missing after {vote.asked} calls, expected {ASKED_AT_MOST}"
    if final is None and not vote.reason:
        yield "is missing without a reason"
    yield from _miscounted(ballot, kept)


def _miscounted(ballot: Ballot, kept: list[Exchange]) -> Iterator[str]:
    """In what a vote does not state the sums of its calls."""
    vote = ballot.vote
    last = reply_of(kept[-1]) if kept else None
    prices = [exchange.cost_usd for exchange in kept]
    known = [price for price in prices if price is not None]
    for name, has, wanted in (
        ("reply", vote.reply, sound(last.text) if last else ""),
        ("served_model", vote.served_model, last.served_model if last else ""),
        ("input_tokens", vote.input_tokens, sum(one.input_tokens for one in kept)),
        ("output_tokens", vote.output_tokens, sum(one.output_tokens for one in kept)),
        ("cost_usd", vote.cost_usd, sum(known) if known and len(known) == len(prices) else None),
        ("ns", vote.ns, sum(one.ns for one in kept)),
    ):
        if has != wanted:
            yield f"{name} is {has!r:.100}, the record has {wanted!r:.100}"
    most = sum(exchange.attempts for exchange in kept)
    if not 0 <= vote.attempts <= most:  # less: some were found in the record
        yield f"took {vote.attempts} attempts, by the record {most}"


def _own(trial: TrialEvidence) -> Iterator[Found]:
    if _imported(trial) and trial.verdicts:
        message = f"{len(trial.verdicts)} verdicts are taken over from another evaluator's file"
        yield Found(where=of_trial(trial), message=message)


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "verdicts.complete",
        "What had to be judged has one verdict, and nothing else has",
        "bad verdicts left out, or good ones added",
        _complete,
    ),
    Check(
        "verdicts.terms",
        "Verdicts are the run's judge's, on its grader's terms, by enough votes",
        "a kinder judge, or one vote where three are due",
        _terms,
    ),
    Check(
        "verdicts.counted",
        "A verdict is the median of its votes",
        "a score that its own votes do not give",
        _counted,
    ),
    Check(
        "verdicts.asked",
        "The judge was sent the grader's prompt, made of the answer and the gold",
        "another answer or another gold put before the judge",
        _asked,
    ),
    Check(
        "verdicts.read",
        "A vote is what the judge's recorded reply says, and the first that says something",
        "votes that nobody cast; a judge that is asked until it agrees",
        _read,
    ),
    Check(
        "verdicts.own",
        "Verdicts were given through the rig, not taken over from a file",
        "verdicts of which there is no record; honest where it is said, so it is a warning",
        _own,
        severity="warning",
    ),
)
