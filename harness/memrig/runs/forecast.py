"""What a run is expected to call, send and cost, before it starts (`memrig run --dry-run`)."""

from dataclasses import dataclass
from pathlib import Path

from memrig.gateway.prices import PriceTable
from memrig.grading.base import load_grader
from memrig.model.chat import Phase
from memrig.model.trial import AnswerSpec
from memrig.runs.audit_judge import STEERED
from memrig.runs.lock import Lock
from memrig.suites.spool import SpooledScenario
from memrig.trial.audits import work_of

#: Instructions, question and mark-up around the memories, tokens; a judge's, with both answers.
_READER_FRAME, _JUDGE_PROMPT, _VERDICT = 250, 450, 60
_QUERY = 30


@dataclass(frozen=True, slots=True)
class Forecast:
    """One row. `calls` are the adapter's in ingest and search, a model's in answer and judge.

    Tokens are by the rig's estimate, replies counted at their limit; `usd` is None where a model
    has no known price. `basis` says what was assumed.
    """

    phase: Phase
    who: str
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None
    basis: str


def forecast(lock: Lock, prices: PriceTable, scenarios: Path | None = None) -> tuple[Forecast, ...]:
    """The rows of a run, audits included: ingest, search, answer, judge; answer twice with a naive
    opponent.

    Args:
        lock: what is going to run.
        prices: of models.
        scenarios: where the scenarios are spooled: some graders' judges are asked by the gold.
    """
    questions = lock.repeats * sum(ref.questions for ref in lock.asked)
    audited = sum(work_of(ref.questions).answered for ref in lock.audited)
    rows = [*_memory(lock, prices, questions)]
    if lock.answer:
        rows.append(_answers(lock, lock.answer, prices, questions + audited))
        if lock.naive:
            rows.append(_naive(lock, lock.answer, prices))
    if lock.judge:
        calls, basis = _verdicts(lock, questions, scenarios)
        calls += round(calls / questions * 2 * STEERED * len(lock.audited)) if questions else 0
        tokens = calls * _JUDGE_PROMPT, calls * _VERDICT
        usd = prices.cost(lock.judge, *tokens)
        rows.append(Forecast("judge", lock.judge, calls, *tokens, usd, basis))
    return tuple(rows)


def _verdicts(lock: Lock, questions: int, scenarios: Path | None) -> tuple[int, str]:
    """How often the judge is asked, and how that was counted."""
    grader = load_grader(lock.protocol)
    votes_on = getattr(grader, "votes_on", None)
    if votes_on is not None and scenarios is not None:
        golds = (SpooledScenario(scenarios, ref).gold() for ref in lock.asked)
        counted = sum(votes_on(gold) for found in golds for gold in found.values())
        return lock.repeats * counted, f"at most: {getattr(grader, 'votes_basis', 'votes')}"
    if usual := getattr(grader, "usual_tasks", 0):
        tasks = 2 * usual if lock.naive else usual  # the naive opponent is judged likewise
        return questions * tasks, f"about {tasks} verdicts a question"
    votes = getattr(grader, "votes", 1)
    return questions * votes, f"{votes} vote{'s' if votes > 1 else ''} a question"


def _memory(lock: Lock, prices: PriceTable, questions: int) -> list[Forecast]:
    models = lock.adapter.manifest.models if lock.adapter.manifest else ()
    name = ", ".join(models) or "no model"
    basis = "every text once through each model" if models else "it asked for no model"
    works = [(ref, work_of(ref.questions)) for ref in lock.audited]
    episodes = lock.repeats * sum(ref.episodes for ref in lock.asked)
    episodes += sum(work.told * ref.episodes for ref, work in works)
    text = lock.repeats * sum(ref.text_bytes for ref in lock.asked)
    text = (text + sum(work.told * ref.text_bytes for ref, work in works)) // 4
    searches = (questions + sum(work.answered for _, work in works)) * _searches(lock)
    searches += sum(work.searched for _, work in works)

    def usd(tokens: int) -> float | None:
        costs = [prices.cost(model, tokens, 0) for model in models]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if len(known) == len(costs) else None

    asked = searches * _QUERY
    return [
        Forecast("ingest", name, episodes, text if models else 0, 0, usd(text), basis),
        Forecast("search", name, searches, asked if models else 0, 0, usd(asked), basis),
    ]


def _searches(lock: Lock) -> int:
    """Calls of the memory for one question: an agent may use up its budget."""
    return {"agent": lock.budget.tool_calls, "native": 0}.get(lock.mode, 1)


def _answers(lock: Lock, answer: AnswerSpec, prices: PriceTable, questions: int) -> Forecast:
    if lock.mode == "native":
        return Forecast("answer", lock.adapter.name, questions, 0, 0, None, "its own means")
    if lock.mode == "agent":
        turns = lock.budget.turns + 1
        replies = turns * answer.max_output_tokens
        most = lock.budget.tokens or turns * answer.context_tokens + replies
        replies = min(replies, most)  # a budget is of both directions
        calls, sent, received = questions * turns, questions * (most - replies), questions * replies
        basis = f"at most: {turns} turns and {most:,} tokens a question, replies included"
    else:
        shown = min(answer.context_tokens, _shown(lock))
        calls, sent = questions, questions * (shown + _READER_FRAME)
        received = calls * answer.max_output_tokens
        basis = f"about {shown:,} tokens of memories a question"
    usd = prices.cost(answer.model, sent, received)
    return Forecast("answer", answer.model, calls, sent, received, usd, basis)


def _naive(lock: Lock, answer: AnswerSpec, prices: PriceTable) -> Forecast:
    """The opponent's calls: at most all of a scenario, whenever the question comes."""
    calls = lock.repeats * sum(ref.questions for ref in lock.asked)
    sent = lock.repeats * sum(
        ref.questions * (min(answer.context_tokens, ref.text_bytes // 4) + _READER_FRAME)
        for ref in lock.asked
    )
    received = calls * answer.max_output_tokens
    usd = prices.cost(answer.model, sent, received)
    basis = f"naive opponent: all episodes, at most {answer.context_tokens:,} tokens a question"
    return Forecast("answer", answer.model, calls, sent, received, usd, basis)


def _shown(lock: Lock) -> int:
    """Tokens of memories for one question, if a memory is an episode; a baseline shows them all."""
    episodes = sum(ref.episodes for ref in lock.scenarios) or 1
    tokens = sum(ref.text_bytes for ref in lock.scenarios) // 4
    if lock.adapter.pod == "baseline":
        return tokens // max(1, len(lock.scenarios))
    return lock.top_k * tokens // episodes
