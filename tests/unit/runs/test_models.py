"""Which models a run may call: keys, prices and records are looked at before anything starts."""

from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError, UsageError
from memrig.gateway.config import Limit, Limits
from memrig.model.manifest import AdapterRef
from memrig.model.trial import AnswerSpec, Budget
from memrig.runs.answering import Answering, settle_answering
from memrig.runs.config import RunConfig
from memrig.runs.directory import RunDirectory
from memrig.runs.models import bare_gateway, check_models, elsewhere_of, models_of, open_gateway
from memrig.suites.base import load_suite
from support.fake_memory import fake_adapter
from support.model_fixtures import nobody
from support.plans import small_lock

__all__ = ["nobody"]

EXTRACTIVE = frozenset({"local/extractive"})
GPT, EXTRACTIVE_READER = "gpt-4o-mini", AnswerSpec(model="local/extractive")
LIMITED = Limits(run=Limit(usd=5))


def asking(*models: str) -> AdapterRef:
    adapter = fake_adapter()
    assert adapter.manifest
    manifest = adapter.manifest.model_copy(update={"models": models})
    return adapter.model_copy(update={"manifest": manifest})


def settled(**changes: object) -> tuple[RunConfig, Answering]:
    fields = {"adapter": "x", "suite": "longmemeval", "mode": "reader"} | changes
    config = RunConfig.model_validate(fields)
    return config, settle_answering(config, load_suite("longmemeval"), {})


def test_built_in_models_need_no_key():
    """Nor a price: they cost nothing."""
    config, answering = settled(limits=LIMITED)
    check_models(config, answering, asking("local/hash-embed"))


@pytest.mark.parametrize(
    ("changes", "adapter", "names"),
    [
        ({"reader_model": "gpt-4o-mini"}, fake_adapter(), "OPENAI_API_KEY"),
        ({"judge_model": "claude-haiku-4-5"}, fake_adapter(), "ANTHROPIC_API_KEY"),
        ({}, asking("claude-haiku-4-5"), "ANTHROPIC_API_KEY"),
        ({"reader_model": "meta/llama"}, fake_adapter(), "OPENROUTER_API_KEY"),
    ],
)
def test_a_missing_key_is_named_before_anything_starts(changes, adapter, names):
    """Whoever would call the model: reader, judge, or the memory itself."""
    with pytest.raises(PrerequisiteError) as caught:
        check_models(*settled(**changes), adapter)
    assert names in caught.value.message
    assert caught.value.exit_code == 3


@pytest.mark.parametrize(
    ("changes", "adapter"),
    [
        ({"reader_model": "of-my-own"}, fake_adapter()),
        ({"judge_model": "of-my-own"}, fake_adapter()),
        ({}, asking("of-my-own")),
    ],
)
def test_a_limit_in_dollars_needs_every_price(changes, adapter, monkeypatch):
    """A limit in tokens does not."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="no price is known of of-my-own"):
        check_models(*settled(limits=LIMITED, **changes), adapter)
    tokens = Limits(run=Limit(tokens=5))
    check_models(*settled(limits=tokens, **changes), adapter)


@pytest.mark.parametrize(
    ("address", "elsewhere"),
    [
        ("http://127.0.0.1:9/v1", (GPT, "judge-of-mine")),
        ("https://api.openai.com/v1", ()),
        ("", ()),
    ],
)
def test_what_no_provider_serves_is_known(tmp_path, monkeypatch, address, elsewhere):
    """Of reader and judge: a memory system's own models are its own business."""
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    config = RunConfig(adapter="x", suite="practical")
    asks = {"answer": AnswerSpec(model=GPT), "judge": "judge-of-mine", "adapter": asking("other")}
    lock = small_lock(tmp_path, **asks)
    assert elsewhere_of(lock, config) == elsewhere
    assert elsewhere_of(small_lock(tmp_path, answer=EXTRACTIVE_READER), config) == ()
    assert elsewhere_of(lock, config.model_copy(update={"llm": "replay"})) == ()


def test_a_questions_budget_in_dollars_needs_prices_as_well(monkeypatch):
    """It could not be kept otherwise."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(UsageError, match="no price is known"):
        check_models(*settled(reader_model="of-my-own", budget=Budget(usd=0.1)), fake_adapter())


@pytest.mark.parametrize("mode", ["replay", "replay-strict"])
def test_a_replay_needs_a_record_and_nothing_else(tmp_path, mode):
    """No key, no price; but a file that is there."""
    chosen = {"reader_model": "gpt-4o-mini", "judge_model": "claude-haiku-4-5", "llm": mode}
    for record in (None, tmp_path / "nothing.sqlite"):
        with pytest.raises(UsageError, match="needs the record of an earlier run") as caught:
            check_models(*settled(llm_record=record, **chosen), fake_adapter())
        assert caught.value.fix == "give --llm-record RUN/llm.sqlite"
    there = tmp_path / "llm.sqlite"
    there.touch()
    check_models(*settled(llm_record=there, limits=LIMITED, **chosen), fake_adapter())


def test_taken_verdicts_need_no_judges_key(tmp_path):
    """The judge is named, and never called."""
    config, answering = settled(judge_model="gpt-4o-2024-08-06", verdicts=tmp_path / "official")
    assert answering.judge == "gpt-4o-2024-08-06"
    check_models(config, answering, fake_adapter())


def test_an_endpoint_has_its_own_ways():
    """What has no manifest asked for no model."""
    assert models_of(AdapterRef(name="x", version="1", pod="endpoint")) == frozenset()
    assert models_of(asking("a", "b")) == {"a", "b"}


async def test_a_run_without_models_has_no_gateway(tmp_path):
    """And so no record."""
    lock = small_lock(tmp_path)
    async with open_gateway(lock, RunDirectory(tmp_path), RunConfig(adapter="x")) as gateway:
        assert gateway is None
    assert not (tmp_path / "llm.sqlite").exists()


async def test_a_runs_gateway_allows_the_models_that_the_lock_names_and_no_other(tmp_path):
    """Reader, judge, and what the memory asked for; recorded in the run's folder."""
    lock = small_lock(
        tmp_path,
        mode="reader",
        adapter=asking("local/hash-embed"),
        answer=AnswerSpec(model="local/extractive"),
        judge="gpt-4o",
    )
    config = RunConfig(adapter="x", limits=LIMITED)
    async with open_gateway(lock, RunDirectory(tmp_path), config) as gateway:
        assert gateway
        assert gateway.config.models == {"local/hash-embed", "local/extractive", "gpt-4o"}
        assert gateway.config.limits == LIMITED
        assert gateway.config.record == tmp_path / "llm.sqlite"
    async with open_gateway(
        lock, RunDirectory(tmp_path), config.model_copy(update={"verdicts": Path("v")})
    ) as gateway:
        assert gateway
        assert "gpt-4o" not in gateway.config.models


async def test_a_judge_alone_keeps_nothing_without_a_file(tmp_path, monkeypatch):
    """Mode record needs a place to record to."""
    monkeypatch.chdir(tmp_path)
    async with bare_gateway(EXTRACTIVE, "record", None, Limits()) as gateway:
        assert gateway.config.mode == "live"
    file = tmp_path / "judge.sqlite"
    async with bare_gateway(EXTRACTIVE, "record", file, Limits()) as gateway:
        assert gateway.config.mode == "record"
    assert [path.name for path in tmp_path.iterdir()] == ["judge.sqlite"]
    with pytest.raises(UsageError, match="needs the record"):
        async with bare_gateway(frozenset({"gpt-4o"}), "replay", None, Limits()):
            pytest.fail("a replay of nothing")
