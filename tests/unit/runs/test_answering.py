"""How a run's questions are answered and judged, from flags and environment."""

from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.gateway.config import Limit, Limits
from memrig.model.trial import PRESETS, Deadlines
from memrig.runs.answering import Answering, settle_answering
from memrig.runs.config import RunConfig, make_config, parse_deadlines, parse_limits
from memrig.runs.plan import suite_options
from memrig.suites.base import SuiteOptions, load_suite


def settled(config: RunConfig) -> tuple[Answering, SuiteOptions]:
    """How questions are answered, and what the suite is asked, with an empty environment."""
    suite = load_suite(config.suite)
    answering = settle_answering(config, suite, {})
    return answering, suite_options(config, suite, answering.grader.protocol)


@pytest.mark.parametrize(
    ("change", "where", "fix"),
    [
        ({"protocol": "practical"}, "--protocol", "locomo-any"),
        ({"category_labels": "mine"}, "--category-labels", "memorybench"),
        ({"file": Path("x.json"), "sample": True}, "--file x.json", "one of them"),
        ({"mode": "reader", "protocol": "locomo-any"}, "--protocol", "--mode retrieval"),
        ({"mode": "reader", "protocol": "locomo-judge"}, "--protocol", "--judge-model"),
        ({"judge_model": "gpt-x"}, "--judge-model gpt-x", "leave --judge-model out"),
        ({"granularity": "turn"}, "--granularity turn", "leave it out"),
    ],
)
def test_what_the_suite_does_not_offer_is_refused_with_what_it_does(change, where, fix):
    """Flag, and the values that would do."""
    config = RunConfig.model_validate({"adapter": "x", "suite": "locomo"} | change)
    with pytest.raises(UsageError) as caught:
        settled(config)
    assert caught.value.where == where
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("flag", "environment", "where"),
    [
        ("local/extractive", {}, "--judge-model local/extractive"),
        ("", {"GRADER_MODEL": "local/minilm"}, "GRADER_MODEL=local/minilm"),
    ],
)
def test_a_built_in_model_is_no_judge(flag, environment, where):
    """It copies text and has no opinion; every verdict would be missing."""
    config = RunConfig(adapter="x", suite="longmemeval", judge_model=flag)
    with pytest.raises(UsageError, match="is no judge") as caught:
        settle_answering(config, load_suite("longmemeval"), environment)
    assert caught.value.where == where
    assert caught.value.fix


def test_the_first_protocol_is_the_default():
    """Nothing to say where there is one choice."""
    answering, options = settled(RunConfig(adapter="x", suite="locomo"))
    assert options.protocol == "locomo-any"
    assert (answering.mode, answering.answer, answering.judge) == ("retrieval", None, "")


@pytest.mark.parametrize(
    ("change", "protocol"),
    [
        ({"mode": "reader"}, "locomo-f1"),
        ({"mode": "reader", "judge_model": "gpt-x"}, "locomo-judge"),
        ({"mode": "agent", "protocol": "locomo-judge-strict", "judge_model": "x"},
         "locomo-judge-strict"),
        ({"suite": "longmemeval"}, "longmemeval-typed"),
        ({"suite": "longmemeval", "judge_model": "gpt-x"}, "longmemeval-compatible"),
        ({"suite": "longmemeval", "mode": "retrieval"}, "longmemeval-official"),
        ({"suite": "practical", "mode": "native"}, "practical-answers"),
        ({"suite": "practical", "mode": "reader", "judge_model": "gpt-x"}, "answer-judge"),
    ],
)  # fmt: skip
def test_mode_and_judge_choose_the_protocol(change, protocol):
    """The first of the suite's that fits both; without a judge, one that needs none."""
    config = RunConfig.model_validate({"adapter": "x", "suite": "locomo"} | change)
    assert settled(config)[0].grader.protocol == protocol


def test_models_come_from_the_flags_then_from_the_environment():
    """By the names that predecessors' users know; a reader is built in, a judge is not."""
    suite = load_suite("longmemeval")
    environment = {"EVAL_MODEL": "reader-env", "GRADER_MODEL": "judge-env"}
    config = RunConfig(adapter="x", suite="longmemeval")
    by_environment = settle_answering(config, suite, environment)
    assert by_environment.models == {"reader-env", "judge-env"}
    flags = config.model_copy(update={"reader_model": "reader-flag", "judge_model": "judge-flag"})
    assert settle_answering(flags, suite, environment).models == {"reader-flag", "judge-flag"}
    assert settle_answering(config, suite, {}).models == {"local/extractive"}


def test_an_opponent_needs_answers_to_oppose():
    """Mode retrieval has none."""
    config = RunConfig(adapter="x", suite="locomo", naive=True)
    with pytest.raises(UsageError, match="no answers to oppose") as caught:
        settled(config)
    assert caught.value.where == "--naive-baseline"


def test_a_memory_that_answers_by_itself_is_opposed_by_the_reader():
    """Mode native names a model for nothing else."""
    config = RunConfig(adapter="x", suite="practical", mode="native", reader_model="reader-flag")
    assert settled(config)[0].models == frozenset()
    opposed = settled(config.model_copy(update={"naive": True}))[0]
    assert opposed.models == {"reader-flag"}
    assert opposed.answer
    assert opposed.answer.prompts


@pytest.mark.parametrize(
    ("suite", "given", "style"),
    [
        ("practical", None, "direct"),
        ("longitudinal", None, "cited"),
        ("longitudinal", "step-by-step", "step-by-step"),
    ],
)
def test_the_prompt_is_the_suites_unless_it_is_chosen(suite, given, style):
    """A longitudinal answer must be able to cite, or its composite is gated."""
    config = RunConfig(adapter="x", suite=suite, mode="reader", prompt=given)
    answer = settled(config)[0].answer
    assert answer
    assert answer.prompt == style


def test_every_mode_has_a_budget_of_its_own():
    """An agent's is the standard preset; a preset's name is as good as its numbers."""
    agent = settled(RunConfig(adapter="x", suite="longmemeval", mode="agent"))[0]
    assert agent.budget == PRESETS["standard"]
    named = make_config({"adapter": "x", "suite": "longmemeval", "budget": "fast"})
    assert settled(named)[0].budget == PRESETS["fast"]
    with pytest.raises(UsageError, match="one of: fast, standard, extended, constrained"):
        make_config({"adapter": "x", "budget": "huge"})


def test_a_presets_name_stands_for_its_numbers():
    """Reports show the name alone."""
    for name, budget in PRESETS.items():
        assert make_config({"adapter": "x", "budget": name}).budget == budget
        larger = budget.model_copy(update={"turns": budget.turns + 1})
        with pytest.raises(UsageError, match="is not the budget"):
            make_config({"adapter": "x", "budget": larger})


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["5usd"], Limits(run=Limit(usd=5))),
        (["2_000_000tokens", "run=1.5usd"], Limits(run=Limit(usd=1.5, tokens=2_000_000))),
        (["trial=0.1usd", "judge=1usd"],
         Limits(trial=Limit(usd=0.1), phases={"judge": Limit(usd=1)})),
        ([], Limits()),
    ],
)  # fmt: skip
def test_limits_are_read_as_they_are_written(texts, expected):
    """A number, a unit, and where it holds."""
    assert parse_limits(texts) == expected


@pytest.mark.parametrize("text", ["5", "usd", "week=5usd", "-1usd", "0usd"])
def test_what_is_no_limit_is_refused(text):
    """With its flag, and what would do."""
    with pytest.raises(UsageError) as caught:
        parse_limits([text])
    assert caught.value.where == "--stop-at"


def only_native(folder: Path) -> str:
    """An adapter that can be run in mode native alone."""
    text = 'name = "a"\nversion = "1"\nmodes = ["native"]\n[image]\nbuild = "."\n'
    (folder / "adapter.toml").write_text(text, "utf-8")
    return str(folder)


def test_an_adapters_own_mode_is_the_usual_one(tmp_path):
    """What cannot be searched is asked without a flag."""
    answering, options = settled(RunConfig(adapter=only_native(tmp_path), suite="practical"))
    assert answering.mode == "native"
    assert options.protocol == "practical-answers"


def test_a_mode_that_the_adapter_cannot_be_run_in_is_refused(tmp_path):
    """Before anything is built or started."""
    adapter = only_native(tmp_path)
    with pytest.raises(UsageError, match="can only be run in mode native") as caught:
        settled(RunConfig(adapter=adapter, suite="practical", mode="reader"))
    assert caught.value.where == "--mode reader"


def test_deadlines_are_read_by_call():
    """Those that are not named keep the contract's."""
    assert parse_deadlines(["ingest=14400", "answer=0.5"]) == Deadlines(ingest=14400, answer=0.5)
    assert parse_deadlines([]) == Deadlines()


@pytest.mark.parametrize(
    "text", ["learn=3", "ingest", "ingest=", "answer=0", "answer=-1", "answer=inf"]
)
def test_what_is_no_deadline_is_refused(text):
    """With the flag as it was given."""
    with pytest.raises(UsageError) as caught:
        parse_deadlines([text])
    assert caught.value.where == f"--deadline {text}"
