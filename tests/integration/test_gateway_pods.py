"""Models as a memory system meets them: inside a pod, through the gateway, with unmodified SDKs."""

import asyncio
import json
import secrets
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from docker import APIClient

from memrig.client import MemoryClient, Pseudonyms
from memrig.errors import AdapterRpcError
from memrig.gateway.config import GatewayConfig, Limit, Limits, RetryPolicy
from memrig.gateway.service import Gateway
from memrig.model.chat import PHASES
from memrig.model.manifest import AdapterRef, PodKind
from memrig.model.scenario import Question
from memrig.pod.base import PodProvider
from memrig.pod.docker import socket_path
from memrig.pod.select import provider_for
from support.asker import Asked, asked_in_pod, asker, manifest, provider_environment
from support.llm_standin import Fault, LlmStandIn, Say, Seen, vector
from support.pods import request as pod_request

KINDS = [pytest.param("docker", marks=pytest.mark.docker), "process"]
MODELS = frozenset(manifest().models)
CLIENTS = ("claude", "gpt")
ORDERS = ("claude", "claude stream", "gpt", "gpt stream")
#: Where a pod could keep something; all of it is read.
ROOTS = ("/data", "/dev/shm", "/etc", "/home", "/memrig", "/opt", "/root", "/run", "/tmp", "/var")
QUICK = RetryPolicy(initial_s=0.001, max_s=0.01)

Open = Callable[..., AbstractAsyncContextManager[Asked]]


def echo(seen: Seen) -> str:
    """Says what it was told, so that an answer shows what reached the provider."""
    return f"you said: {seen.text}"


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> PodKind:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def provider(kind: PodKind) -> Iterator[PodProvider]:
    made = provider_for(kind)
    yield made
    made.close()


@pytest.fixture
async def adapter(kind: PodKind) -> AdapterRef:
    return await asker(kind)


@pytest.fixture
async def standin() -> AsyncIterator[LlmStandIn]:
    async with LlmStandIn(echo) as server:
        yield server


@pytest.fixture
def keys() -> dict[str, str]:
    """Keys that exist nowhere else in the world."""
    names = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY")
    return {name: f"sk-planted-{secrets.token_hex(20)}" for name in names}


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "llm.sqlite"


@pytest.fixture
def gateway_at(standin: LlmStandIn, keys: dict[str, str], record: Path) -> Callable[..., Gateway]:
    """A gateway that finds its providers and keys as a user's does: in the environment."""

    def make(**settings: Any) -> Gateway:
        usual = {"mode": "record", "record": record, "models": MODELS, "retry": QUICK}
        config = GatewayConfig.model_validate({**usual, **settings})
        urls = (standin.anthropic_url, standin.openai_url)
        return Gateway(config, environment=provider_environment(*urls, **keys))

    return make


@pytest.fixture
def opened(gateway_at: Callable[..., Gateway], provider: PodProvider, adapter: AdapterRef) -> Open:
    """An asker in a pod, with a gateway of its own."""

    @asynccontextmanager
    async def open_(**settings: Any) -> AsyncIterator[Asked]:
        async with (
            gateway_at(**settings) as gateway,
            asked_in_pod(gateway, provider, adapter) as asked,
        ):
            yield asked

    return open_


async def test_unmodified_sdks_get_answers(
    opened: Open, standin: LlmStandIn, keys: dict[str, str]
) -> None:
    """By base URL alone: text, model, stop reason and usage are the provider's, the key ours."""
    standin.script = lambda seen: Say(echo(seen), input_tokens=11, output_tokens=7)
    async with opened() as asked:
        claude, gpt = [await asked.ask(f"{client}: What is up?") for client in CLIENTS]

    assert claude["text"] == gpt["text"] == "you said: What is up?"
    assert (claude["served"], gpt["served"]) == ("claude-test-served", "gpt-test-served")
    assert (claude["stop"], gpt["stop"]) == ("end_turn", "stop")
    assert claude["usage"] == gpt["usage"] == [11, 7]
    assert standin.seen[0].headers["x-api-key"] == keys["ANTHROPIC_API_KEY"]
    assert standin.seen[1].headers["authorization"] == f"Bearer {keys['OPENAI_API_KEY']}"


async def test_streams_arrive_in_the_providers_pieces(opened: Open, standin: LlmStandIn) -> None:
    """A stream is asked for upstream too, and its pieces are those that the provider sent."""
    async with opened() as asked:
        reports = [await asked.ask(f"{client} stream: What is up?") for client in CLIENTS]

    for report in reports:
        assert report["text"] == "you said: What is up?"
        assert report["pieces"] == ["you s", "aid: ", "What ", "is up", "?"]
    assert [seen.stream for seen in standin.seen] == [True, True]


async def test_embeddings_arrive_as_the_provider_gave_them(
    opened: Open, standin: LlmStandIn
) -> None:
    """Whole batches at once, in the coding that the SDK asks for by itself."""
    async with opened() as asked:
        report = await asked.ask("embed: tea")
        await asked.remember("Ann likes tea", "Bob likes beer")
        found = await asked.search("What does Bob like?")

    assert report["vector"] == vector("tea")
    assert [seen.body["encoding_format"] for seen in standin.seen] == ["base64"] * 3
    assert standin.seen[1].body["input"] == ["Ann likes tea", "Bob likes beer"]
    assert found[0] == "Bob likes beer"


async def test_built_in_models_answer_on_the_same_endpoints(
    opened: Open, standin: LlmStandIn
) -> None:
    """Either SDK gets `local/extractive` by its own name, streamed or not; no provider is met."""
    memory = "Memories:\n- Ann's bicycle is red.\nQuestion: What colour is Ann's bicycle?"
    async with opened() as asked:
        reports = [await asked.ask(f"{o} with local/extractive: {memory}") for o in ORDERS]
        embedded = await asked.ask("embed with local/hash-embed: tea")

    assert {report["served"] for report in reports} == {"local/extractive"}
    assert len({report["text"] for report in reports}) == 1
    assert any(embedded["vector"])
    assert standin.seen == []


async def test_a_model_that_is_not_allowed_is_not_found(opened: Open, standin: LlmStandIn) -> None:
    """Each SDK raises its own NotFoundError at once; nothing is asked of a provider."""
    async with opened() as asked:
        reports = [await asked.ask(f"{order} with opus-x: hi") for order in (*ORDERS, "embed")]

    shapes = [shape(report) for report in reports]
    assert shapes[:2] == [("NotFoundError", 404, "not_found_error", None)] * 2
    not_found = ("NotFoundError", 404, "invalid_request_error", "model_not_found")
    assert shapes[2:] == [not_found] * 3
    for report in reports:
        assert "opus-x" in report["error"]["message"]
        assert report["error"]["retries"] == 0
    assert standin.seen == []


async def test_what_the_rig_may_call_the_pod_may_not(
    gateway_at: Callable[..., Gateway], provider: PodProvider, adapter: AdapterRef
) -> None:
    """The reader's model is the run's, but not one that this adapter's manifest asked for."""
    async with (
        gateway_at(models=MODELS | {"gpt-reader"}) as gateway,
        asked_in_pod(gateway, provider, adapter) as asked,
    ):
        report = await asked.ask("gpt with gpt-reader: hi")

    assert shape(report)[::3] == ("NotFoundError", "model_not_found")


async def test_a_spent_budget_is_the_providers_own_error(opened: Open, standin: LlmStandIn) -> None:
    """Anthropic's billing_error, OpenAI's insufficient_quota; the SDKs do not try again."""
    standin.script = lambda _: Say("that was dear", output_tokens=200)
    async with opened(limits=Limits(trial=Limit(tokens=250))) as asked:
        first = await asked.ask("gpt: hi")
        reports = [
            await asked.ask(f"{order}: {'many words ' * 40}") for order in (*ORDERS, "embed")
        ]

    assert first["text"] == "that was dear"
    shapes = [shape(report) for report in reports]
    assert shapes[:2] == [("APIStatusError", 402, "billing_error", None)] * 2
    no_quota = ("RateLimitError", 429, "insufficient_quota", "insufficient_quota")
    assert shapes[2:] == [no_quota] * 3
    assert [report["error"]["retries"] for report in reports] == [0] * 5
    assert len(standin.seen) == 1


async def test_what_a_provider_refuses_is_said_in_its_own_words(
    opened: Open, standin: LlmStandIn
) -> None:
    """A bad request stays one, with the provider's message, and is not tried again."""
    async with opened() as asked:
        for client in CLIENTS:
            standin.fail_next(Fault(status=400, message="prompt is too long"))
            error = (await asked.ask(f"{client}: hi"))["error"]

            assert (error["class"], error["status"]) == ("BadRequestError", 400)
            assert (error["type"], error["message"]) == (
                "invalid_request_error",
                "prompt is too long",
            )
    assert len(standin.seen) == 2


async def test_a_pod_does_not_notice_what_was_retried(
    opened: Open, standin: LlmStandIn, record: Path
) -> None:
    """429, 500 and a reply that breaks off end in one whole answer; every attempt is on record."""
    faults = (Fault(status=429, retry_after="0.01"), Fault(status=500), Fault(cut="hard"))
    async with opened() as asked:
        for order in ORDERS:
            standin.fail_next(*faults)
            report = await asked.ask(f"{order}: What is up?")
            assert report["text"] == "you said: What is up?"

    tried = rows(record, "SELECT number, status FROM attempts ORDER BY id")
    assert tried == [(1, 429), (2, 500), (3, None), (4, 200)] * len(ORDERS)
    assert len(standin.seen) == len(tried)


async def test_calls_are_charged_to_the_phase_that_they_are_made_in(
    gateway_at: Callable[..., Gateway], provider: PodProvider, adapter: AdapterRef, record: Path
) -> None:
    """Ingest and Flush, Search, Answer: what each made the system call, by model, in the ledger."""
    async with (
        gateway_at() as gateway,
        asked_in_pod(gateway, provider, adapter) as asked,
    ):
        await asked.remember(*(f"note {number}" for number in range(10)))
        await asked.search("note 3")
        await asked.ask("claude: hi")
        await asked.ask("gpt: hi")
        spent = {phase: gateway.spent(phase=phase).by_model for phase in PHASES}

    assert spent == {
        "ingest": {"embed-test": 2},
        "search": {"embed-test": 1},
        "answer": {"claude-test": 1, "gpt-test": 1},
        "judge": {},
        "generate": {},
    }
    told = rows(record, "SELECT DISTINCT phase, purpose, trial_id, scope FROM exchanges")
    assert set(told) == {
        ("ingest", "memory", "test-trial", "case"),
        ("search", "memory", "test-trial", "case/note 3"),
        ("answer", "memory", "test-trial", "case/claude: hi"),
        ("answer", "memory", "test-trial", "case/gpt: hi"),
    }


async def test_a_phases_limit_is_that_phases_alone(opened: Open) -> None:
    """With no money for searching, ingesting and answering go on."""
    async with opened(limits=Limits(phases={"search": Limit(tokens=1)})) as asked:
        await asked.remember("Ann likes tea")
        with pytest.raises(AdapterRpcError, match="limit of phase search"):
            await asked.search("What does Ann like?")
        assert (await asked.ask("gpt: hi"))["text"] == "you said: hi"


async def test_two_trials_at_once_keep_their_accounts_apart(
    gateway_at: Callable[..., Gateway], provider: PodProvider, adapter: AdapterRef, record: Path
) -> None:
    """Each pod is its trial by the socket it has; one that has spent its own leaves the other's."""
    calls = 4

    async def many(asked: Asked, name: str) -> list[dict[str, Any]]:
        return [await asked.ask(f"gpt: {name} {number}") for number in range(calls)]

    async with (
        gateway_at(limits=Limits(trial=Limit(tokens=250))) as gateway,
        asked_in_pod(gateway, provider, adapter, "trial-a") as first,
        asked_in_pod(gateway, provider, adapter, "trial-b") as second,
    ):
        reports = await asyncio.gather(many(first, "a"), many(second, "b"))
        assert all(report["text"] for report in (*reports[0], *reports[1]))
        long = "many words " * 55
        assert (await first.ask(f"gpt: {long}"))["error"]["code"] == "insufficient_quota"
        assert (await second.ask("gpt: b again"))["error"] is None
        spent = [gateway.spent(trial_id=name).calls for name in ("trial-a", "trial-b")]

    assert spent == [calls, calls + 1]
    scopes = rows(record, "SELECT trial_id, scope FROM exchanges WHERE state = 'ok'")
    assert {(trial, scope.split(": ")[1][0]) for trial, scope in scopes} == {
        ("trial-a", "a"),
        ("trial-b", "b"),
    }


async def test_without_a_gateway_there_is_no_model(
    provider: PodProvider, adapter: AdapterRef
) -> None:
    """The variable is absent then, and the adapter can see that."""

    async def alive() -> None:
        assert (await pod.fate()).state == "running", await pod.logs()

    async with provider.start(pod_request(adapter)) as pod, MemoryClient(pod.target) as client:
        await client.wait_ready(30, alive)
        await client.capabilities()
        with pytest.raises(AdapterRpcError, match="MEMRIG_LLM_BASE_URL is not set"):
            await client.answer(Question(question_id="q", text="gpt: hi"), 5, Pseudonyms(1, "x"))


async def provoke(asked: Asked, standin: LlmStandIn, keys: dict[str, str]) -> str:
    """Makes the gateway use its keys, and the provider say them; returns what the pod was told."""
    told = [await asked.ask(f"{client}: hi") for client in CLIENTS]
    for client, name in zip(CLIENTS, ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"), strict=True):
        for status in (400, 401):
            standin.fail_next(Fault(status=status, message=f"Incorrect key: {keys[name]}"))
            told.append(await asked.ask(f"{client}: {status}"))
    standin.script = lambda _: f"{keys['ANTHROPIC_API_KEY']} and {keys['OPENAI_API_KEY']}"
    told += [await asked.ask(f"{order}: which key?") for order in ORDERS]
    used = {seen.headers.get("x-api-key") or seen.headers["authorization"] for seen in standin.seen}
    assert used == {keys["ANTHROPIC_API_KEY"], f"Bearer {keys['OPENAI_API_KEY']}"}
    assert sum("Incorrect key: " in str(report) for report in told) >= 2
    return json.dumps(told)


async def test_keys_are_nowhere_in_a_pod(
    provider: PodProvider, kind: PodKind, gateway_at: Callable[..., Gateway], standin: LlmStandIn,
    keys: dict[str, str], record: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Not in its processes' environments, files or memory, its log or configuration, the record.

    Not even where the provider says them. The control is a mark that the pod is given on purpose.
    """
    for name, key in keys.items():
        monkeypatch.setenv(name, key)
    mark = f"sk-control-{secrets.token_hex(20)}"
    marked = await asker(kind, ASKER_MARK=mark)
    # A process pod sees the host's files and processes; what is promised is what it is given.
    inside = kind == "docker"
    async with gateway_at() as gateway, asked_in_pod(gateway, provider, marked) as asked:
        told = await provoke(asked, standin, keys)
        home = (await asked.look_around(mark, others=False))["environment"]
        roots = ROOTS if inside else (home["HOME"], home["TMPDIR"])
        control = await asked.look_around(mark, *roots, others=inside)
        seen = [await asked.look_around(key, *roots, others=inside) for key in keys.values()]
        log = await asked.pod.logs()
        configured = inspected(asked.pod.target) if inside else str(asked.pod.description)

    places = {"environment", "memory", str(Path(home.get("TMPDIR", "/tmp"), "mark"))}
    assert places <= set(control["found"])
    assert mark in configured or not inside
    assert [look["found"] for look in seen] == [[]] * len(keys)
    assert control["read"]["files"] >= (1000 if inside else 1)
    written = await asyncio.to_thread(record.read_bytes)
    assert b"which key?" in written
    for key in keys.values():
        assert key.encode() not in written
        for text in (told, log, configured):
            assert key not in text


def shape(report: dict[str, Any]) -> tuple[Any, ...]:
    """What an SDK made of a refusal: its class, and the envelope's status, type and code."""
    error = report["error"]
    return error["class"], error["status"], error["type"], error["code"]


def inspected(target: str) -> str:
    """All that the engine tells of the pod's containers and of the images that they run."""
    label = f"io.memrig.pod={Path(target).parents[1].name}"
    with closing(APIClient(base_url=f"unix://{socket_path()}", version="1.41")) as client:
        found = client.containers(all=True, filters={"label": label})
        assert len(found) == 2
        details = [client.inspect_container(container["Id"]) for container in found]
        images = [client.inspect_image(container["Image"]) for container in details]
        layers = [client.history(container["Image"]) for container in details]
    return json.dumps([details, images, layers])


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    """What a record holds."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()
