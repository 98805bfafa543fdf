"""What a run is expected to call, send and cost, before it starts."""

import pytest

from memrig.gateway.prices import PriceTable
from memrig.model.gold import TextGold
from memrig.model.scenario import Scenario
from memrig.model.trial import PRESETS, AnswerSpec, Budget
from memrig.runs.forecast import Forecast, forecast
from memrig.runs.lock import Lock
from memrig.runs.plan import trials_of
from memrig.trial.audits import plan_of
from support.fake_memory import fake_adapter
from support.plans import small_lock
from support.scenarios import small_scenario

PRICES = PriceTable.load()
READER = AnswerSpec(model="gpt-4o-mini", max_output_tokens=100)


def rows(lock: Lock) -> dict[str, Forecast]:
    return {row.phase: row for row in forecast(lock, PRICES)}


def answering(tmp_path, **changes: object) -> Lock:
    """Three scenarios of four episodes and four questions each."""
    fields: dict[str, object] = {"mode": "reader", "answer": READER, "budget": Budget()}
    return small_lock(tmp_path, **fields | changes)


def test_retrieval_calls_no_model(tmp_path):
    """Ingest and search are the adapter's calls, and cost nothing."""
    found = rows(small_lock(tmp_path, repeats=2))
    assert {name: row.calls for name, row in found.items()} == {"ingest": 24, "search": 24}
    assert {row.usd for row in found.values()} == {0}
    assert {row.input_tokens for row in found.values()} == {0}


def test_audits_are_forecast_with_the_rest(tmp_path):
    """Two scenarios are told twice more; what is asked is what a whole audits trial asks."""
    found = rows(answering(tmp_path, audits=True))
    lock = answering(tmp_path, audits=True)
    spec = next(spec for spec in trials_of(lock) if spec.kind == "audits")
    asks = plan_of(spec, small_scenario().timeline).asks
    answered = sum(ask.answered for ask in asks)
    assert found["ingest"].calls == 12 + 2 * 2 * 4
    assert found["search"].calls == 12 + 2 * len(asks)
    assert found["answer"].calls == 12 + 2 * answered


def test_a_judge_is_audited_by_six_wrong_answers_a_scenario(tmp_path):
    """Three questions, each with an instruction and without."""
    plain, audited = (
        rows(answering(tmp_path, judge="gpt-4o-mini", protocol="answer-judge", audits=audits))
        for audits in (False, True)
    )
    assert audited["judge"].calls * 12 == plain["judge"].calls * (12 + 2 * 6)


def test_a_reader_is_asked_once_a_question_and_shown_the_top_k(tmp_path):
    """Replies count at their limit; money is tokens by price."""
    answer = rows(answering(tmp_path, repeats=2))["answer"]
    assert (answer.who, answer.calls, answer.output_tokens) == ("gpt-4o-mini", 24, 2400)
    assert answer.usd == PRICES.cost("gpt-4o-mini", answer.input_tokens, answer.output_tokens)
    wider = rows(answering(tmp_path, repeats=2, top_k=4))["answer"]
    assert wider.input_tokens > answer.input_tokens


def test_the_context_limit_bounds_what_a_reader_is_shown(tmp_path):
    """However much there is."""
    short = AnswerSpec(model="gpt-4o-mini", context_tokens=100)
    lock = answering(tmp_path, answer=short, top_k=1000)
    huge = tuple(ref.model_copy(update={"text_bytes": 10**9}) for ref in lock.scenarios)
    lock = lock.model_copy(update={"scenarios": huge})
    assert rows(lock)["answer"].input_tokens == 12 * (100 + 250)


def test_a_baseline_shows_all_of_a_scenario(tmp_path):
    """The top k does not bound it."""
    lock = answering(tmp_path, top_k=1)
    whole = lock.adapter.model_copy(update={"pod": "baseline", "manifest": None})
    baseline = rows(lock.model_copy(update={"adapter": whole}))["answer"]
    assert baseline.input_tokens > rows(lock)["answer"].input_tokens


def test_an_agent_may_use_up_its_budget_and_one_turn_more(tmp_path):
    """Calls, searches and tokens are the most that they can be."""
    budget = PRESETS["fast"]
    found = rows(answering(tmp_path, mode="agent", budget=budget))
    assert found["search"].calls == 12 * budget.tool_calls
    assert found["answer"].calls == 12 * (budget.turns + 1)
    assert budget.tokens
    answer = found["answer"]
    assert answer.output_tokens == 12 * (budget.turns + 1) * READER.max_output_tokens
    assert answer.input_tokens + answer.output_tokens == 12 * budget.tokens
    assert "at most" in answer.basis


def test_an_agents_token_budget_is_of_both_directions(tmp_path):
    """Replies are not added on top of it, however long they may be; without one, they are."""
    small = Budget(turns=4, tokens=1000)
    wordy = READER.model_copy(update={"max_output_tokens": 900})
    answer = rows(answering(tmp_path, mode="agent", budget=small, answer=wordy))["answer"]
    assert (answer.input_tokens, answer.output_tokens) == (0, 12 * 1000)
    free = rows(answering(tmp_path, mode="agent", budget=Budget(turns=4)))["answer"]
    assert free.input_tokens == 12 * 5 * READER.context_tokens
    assert free.output_tokens == 12 * 5 * READER.max_output_tokens


def test_a_native_answer_has_no_price(tmp_path):
    """What it costs by its own means is not known; n/a, not 0."""
    found = rows(answering(tmp_path, mode="native", answer=AnswerSpec()))
    assert found["search"].calls == 0
    assert (found["answer"].who, found["answer"].calls) == ("fake", 12)
    assert found["answer"].usd is None


@pytest.mark.parametrize(
    ("protocol", "votes"), [("longmemeval-compatible", 1), ("answer-judge", 3)]
)
def test_a_judge_votes_as_often_as_its_protocol_says(tmp_path, protocol, votes):
    """Three votes are three calls."""
    judge = rows(answering(tmp_path, protocol=protocol, judge="claude-haiku-4-5"))["judge"]
    assert judge.calls == 12 * votes
    assert judge.basis.startswith(str(votes))
    assert judge.usd
    assert judge.usd > 0


@pytest.mark.parametrize(("naive", "tasks"), [(False, 8), (True, 16)])
def test_a_judge_of_pairs_is_asked_fact_by_fact(tmp_path, naive, tasks):
    """About four facts in two orders; an opponent of its own doubles that."""
    fields = {"protocol": "lens-v1", "judge": "claude-haiku-4-5", "naive": naive}
    judge = rows(answering(tmp_path, **fields))["judge"]
    assert (judge.calls, judge.basis) == (12 * tasks, f"about {tasks} verdicts a question")


def test_a_judge_of_prose_votes_on_each_of_its_key_facts(tmp_path):
    """Three times; what has another gold, or an answer in figures, needs no judge."""
    scenario = small_scenario("s")
    gold = dict(scenario.gold)
    for key, facts in zip(gold, (("it rained", "it froze"), ()), strict=False):
        answer = TextGold(type="text", value="it rained; it froze", key_facts=facts)
        gold[key] = gold[key].model_copy(update={"answer": answer})
    lock = small_lock(
        tmp_path,
        Scenario("s", scenario.timeline, gold),
        protocol="longhorizon",
        mode="reader",
        answer=READER,
        repeats=2,
        judge="claude-haiku-4-5",
    )
    (judge,) = [row for row in forecast(lock, PRICES, tmp_path) if row.phase == "judge"]
    assert (judge.calls, judge.output_tokens) == (2 * 3 * (2 + 1), 2 * 3 * (2 + 1) * 60)
    assert "3 votes on each key fact" in judge.basis


def test_a_memorys_own_models_read_every_text_once(tmp_path):
    """Each of them; a sum with an unknown price is unknown."""
    adapter = fake_adapter()
    assert adapter.manifest
    for models, known in ((("gpt-4o-mini",), True), (("gpt-4o-mini", "of-my-own"), False)):
        manifest = adapter.manifest.model_copy(update={"models": models})
        asking = adapter.model_copy(update={"manifest": manifest})
        ingest = rows(small_lock(tmp_path, adapter=asking))["ingest"]
        assert ingest.who == ", ".join(models)
        assert ingest.input_tokens > 0
        assert (ingest.usd is not None) is known


def test_an_unknown_price_is_not_zero(tmp_path):
    """None: half a sum would pass for a whole one."""
    unknown = AnswerSpec(model="model-of-my-own")
    assert rows(answering(tmp_path, answer=unknown))["answer"].usd is None


def test_an_opponent_doubles_the_calls_and_sees_all_that_fits(tmp_path):
    """A row of its own: at most all of each question's scenario."""
    lock = answering(tmp_path, naive=True, repeats=2, top_k=1)
    *_, reader, naive = forecast(lock, PRICES)
    assert (naive.phase, naive.who, naive.calls) == ("answer", "gpt-4o-mini", reader.calls)
    assert naive.input_tokens > reader.input_tokens
    assert naive.usd == PRICES.cost("gpt-4o-mini", naive.input_tokens, naive.output_tokens)
    assert "naive opponent" in naive.basis
    huge = tuple(ref.model_copy(update={"text_bytes": 10**9}) for ref in lock.scenarios)
    cut = forecast(lock.model_copy(update={"scenarios": huge}), PRICES)[-1]
    assert cut.input_tokens == cut.calls * (READER.context_tokens + 250)


def test_a_memory_that_answers_by_itself_costs_what_its_opponent_does(tmp_path):
    """The rig calls no other model."""
    *_, own, naive = forecast(answering(tmp_path, mode="native", naive=True), PRICES)
    assert (own.usd, naive.calls) == (None, 12)
    assert naive.usd
