"""A row's figures: what counts as cost, and what was asked."""

from memrig.leaderboard.summary import asked_digest, board_run
from memrig.report.model import ModelCost
from support.plans import small_lock
from support.reports import sample_report
from support.scenarios import small_scenario


def model_cost(purpose: str, usd: float | None) -> ModelCost:
    return ModelCost(
        phase="answer", purpose=purpose, model="m", calls=1, attempts=1,
        input_tokens=1, output_tokens=1, usd=usd,
    )  # fmt: skip


def test_cost_is_the_memorys_and_the_readers(tmp_path) -> None:
    """Not the judge's, nor that of the opponent that answers are measured against."""
    report = sample_report(
        costs=(
            model_cost("memory", 1.0), model_cost("reader", 2.0),
            model_cost("judge", 40.0), model_cost("naive", 80.0),
        )
    )  # fmt: skip
    found = board_run(1, small_lock(tmp_path), report, "p").cost
    assert found.usd == 3.0
    assert found.usd_per_1000 == round(3000 / report.questions.settled, 6)


def test_one_unknown_price_makes_the_cost_unknown(tmp_path) -> None:
    """Half a sum would pass for a whole one."""
    report = sample_report(costs=(model_cost("memory", None), model_cost("reader", 2.0)))
    assert board_run(1, small_lock(tmp_path), report, "p").cost.usd is None


def test_what_was_asked_is_scenarios_gold_and_seeds(tmp_path) -> None:
    """The same scenarios under another seed are other questions: ids on the wire differ."""
    one = small_lock(tmp_path)
    assert asked_digest(one) == asked_digest(one.model_copy(update={"top_k": 5}))
    assert asked_digest(one) != asked_digest(one.model_copy(update={"seeds": (8,)}))
    assert asked_digest(one) != asked_digest(small_lock(tmp_path, small_scenario("one")))
