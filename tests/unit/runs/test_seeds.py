"""Many seeds: whose they are, what each makes or draws, and the trials that come of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.gateway.prices import PriceTable
from memrig.model.scenario import Scenario
from memrig.runs.config import RunConfig, make_config
from memrig.runs.forecast import forecast
from memrig.runs.plan import Plan, plan, seeds_of, trials_of
from memrig.suites.base import DataSource, SuiteOptions, load_suite
from support.plans import small_lock
from support.scenarios import small_scenario

ADAPTER = str(Path(__file__).parents[3] / "images" / "none")
LOCOMO = load_suite("locomo")


class Worlds(type(LOCOMO)):  # type: ignore[misc] # a suite of ours is as good as any
    """A suite that makes one world of each seed."""

    name = "worlds"
    seeds = (42, 123)
    made_of_seeds = True
    question_sets = ("standard", "holdout")

    def source(self, options: SuiteOptions) -> DataSource:
        return DataSource("worlds", "made", f"sha256:{options.seed}-{options.turns}", ("made",))

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        yield small_scenario(f"world-{options.seed}", halves=options.seed == 123)


@pytest.fixture
def worlds(monkeypatch) -> None:
    """The suite is installed."""
    monkeypatch.setattr("memrig.runs.plan.load_suite", lambda _: Worlds())


async def planned(out: Path, **changes: object) -> Plan:
    config = {"adapter": ADAPTER, "pod": "process", "suite": "locomo", "sample": True, "out": out}
    return await plan(RunConfig.model_validate(config | changes), lambda _: None)


@pytest.mark.parametrize(
    ("given", "seeds"), [("42,123", (42, 123)), ("7", (7,)), ("", ()), (" 1 , 2 ", (1, 2))]
)
def test_seeds_are_numbers_between_commas(given, seeds):
    """As the command line has them."""
    assert make_config({"adapter": "x", "seeds": given}).seeds == seeds


@pytest.mark.parametrize("given", ["42,,1", "-1", "1.5", "one", "4,4", str(2**53)])
def test_what_is_no_list_of_seeds_is_refused_by_its_flag(given):
    """Negative, too large, twice the same, or no number."""
    with pytest.raises(UsageError) as caught:
        make_config({"adapter": "x", "seeds": given})
    assert caught.value.where == "--seeds"


@pytest.mark.parametrize(
    ("suite", "given", "seeds"),
    [(LOCOMO, (), (2026,)), (Worlds(), (), (42, 123)), (Worlds(), (7, 8), (7, 8))],
)
def test_the_users_seeds_go_before_the_suites_and_these_before_the_rigs(suite, given, seeds):
    """Whoever names none gets what the suite says."""
    assert seeds_of(RunConfig(adapter="x", seeds=given), suite) == seeds


def test_a_file_of_answers_is_to_one_seed():
    """Its question ids mean other questions under another."""
    assert seeds_of(RunConfig(adapter="answers:x.jsonl"), Worlds()) == (42,)
    with pytest.raises(UsageError, match="questions of one seed"):
        seeds_of(RunConfig(adapter="answers:x.jsonl", seeds=(1, 2)), Worlds())


def test_trials_go_by_repeat_then_seed_then_scenario(tmp_path):
    """Every scenario that is the same for all seeds runs under each of them."""
    lock = small_lock(tmp_path, small_scenario("one"), small_scenario("two"), seeds=(5, 6),
                      repeats=2)  # fmt: skip
    trials = trials_of(lock)
    assert [(t.repeat, t.seed, t.scenarios[0].scenario_id) for t in trials] == [
        (0, 5, "one"), (0, 5, "two"), (0, 6, "one"), (0, 6, "two"),
        (1, 5, "one"), (1, 5, "two"), (1, 6, "one"), (1, 6, "two"),
    ]  # fmt: skip
    assert len({t.trial_id for t in trials}) == 8


async def test_each_seed_makes_its_own_scenarios(worlds, tmp_path):
    """And these run under no other."""
    made = await planned(tmp_path / "run")
    assert [(r.scenario_id, r.seed) for r in made.lock.scenarios] == [
        ("world-42", 42), ("world-123", 123),
    ]  # fmt: skip
    scored = [spec for spec in made.specs if spec.kind == "scored"]
    assert [(s.seed, s.scenarios[0].scenario_id) for s in scored] == [
        (42, "world-42"), (123, "world-123"),
    ]  # fmt: skip
    (audit,) = [spec for spec in made.specs if spec.kind != "scored"]
    assert (audit.seed, audit.scenarios[0].scenario_id) == (42, "world-42")


async def test_a_pod_that_is_reset_serves_one_seed(worlds, tmp_path):
    """Other seeds' worlds contradict this one."""
    made = await planned(tmp_path / "run", isolation="reset", audit=False)
    assert [[r.scenario_id for r in s.scenarios] for s in made.specs] == [
        ["world-42"], ["world-123"],
    ]  # fmt: skip


async def test_the_data_of_many_seeds_has_one_digest(worlds, tmp_path):
    """It changes with any of them; what all of them say is said once."""
    both = (await planned(tmp_path / "a")).lock.data
    other = (await planned(tmp_path / "b", seeds=(42, 124))).lock.data
    alone = (await planned(tmp_path / "c", seeds=(42,), turns=9)).lock.data
    assert both.sha256 != other.sha256
    assert both.notes == ("made",)
    assert alone.sha256 == "sha256:42-9"


async def test_turns_questions_and_their_set_are_inputs_of_the_run(worlds, tmp_path):
    """As every option of a suite that was chosen."""
    made = await planned(tmp_path / "run", turns=300, questions=30, question_set="holdout")
    assert made.lock.options == {"turns": "300", "questions": "30", "question_set": "holdout"}


async def test_a_suite_with_data_takes_no_turns(tmp_path):
    """There is nothing to make."""
    with pytest.raises(UsageError, match="takes no --turns"):
        await planned(tmp_path / "run", turns=300)


async def test_a_limit_draws_for_each_seed(tmp_path):
    """As many under each, and not the same."""
    made = await planned(tmp_path / "run", limit=5, seeds=(1, 2))
    assert [(ref.seed, ref.questions) for ref in made.lock.scenarios] == [(1, 5), (2, 5)]
    assert made.questions == 10
    one, two = (set(made.directory.scenario(s, s.scenarios[0].scenario_id).gold())
                for s in made.specs if s.kind == "scored")  # fmt: skip
    assert one != two


async def test_without_a_limit_the_same_scenario_is_written_once(tmp_path):
    """It is the same under every seed."""
    made = await planned(tmp_path / "run", seeds=(1, 2, 3))
    assert [ref.seed for ref in made.lock.scenarios] == [None]
    assert made.questions == 3 * made.lock.scenarios[0].questions


async def test_a_forecast_counts_every_seed(tmp_path):
    """Three seeds, three times the calls."""
    one = (await planned(tmp_path / "a", seeds=(1,))).lock
    three = (await planned(tmp_path / "b", seeds=(1, 2, 3))).lock
    prices = PriceTable.load()
    assert [row.calls * 3 for row in forecast(one, prices)] == [
        row.calls for row in forecast(three, prices)
    ]
