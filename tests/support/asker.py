"""Pods of the test image `tests/images/asker`, and the gateway that they ask."""

import json
import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memrig.client import MemoryClient, Pseudonyms
from memrig.gateway.identity import TrialIdentity
from memrig.gateway.service import Gateway
from memrig.model.manifest import AdapterManifest, AdapterRef, PodKind, load_manifest
from memrig.model.scenario import Episode, Question
from memrig.pod.base import Pod, PodProvider
from memrig.pod.images import resolve
from support.pods import request

ASKER = Path(__file__).parents[1] / "images" / "asker"
SEED = 7

#: The image, built once a session.
_BUILT: dict[str, str] = {}


@cache
def manifest() -> AdapterManifest:
    """The asker's own manifest."""
    return load_manifest(ASKER / "adapter.toml")


async def asker(kind: PodKind, **environment: str) -> AdapterRef:
    """The asker, to be run in a pod of this kind; with some environment of its own."""
    if kind == "docker" and not _BUILT:
        _BUILT.update((await resolve(str(ASKER), "docker")).images)
    base = manifest()
    assert base.process is not None
    here = {"PYTHONPATH": str(ASKER), "PYTHONDONTWRITEBYTECODE": "1"}
    changes = {
        "image": base.image.model_copy(update={"environment": environment}),
        "process": base.process.model_copy(update={"environment": {**environment, **here}}),
    }
    return AdapterRef(
        name=base.name,
        version=base.version,
        pod=kind,
        manifest=base.model_copy(update=changes),
        images=_BUILT if kind == "docker" else {},
    )


def folder_for_processes(parent: Path) -> Path:
    """A copy of the asker's folder that `--pod process` can serve: it says where its module is."""
    folder = parent / "asker"
    shutil.copytree(ASKER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (folder / "adapter.toml").read_text("utf-8")
    variables = f'environment = {{ PYTHONPATH = "{folder}", PYTHONDONTWRITEBYTECODE = "1" }}\n'
    (folder / "adapter.toml").write_text(text + variables, "utf-8")
    return folder


@dataclass(frozen=True)
class Asked:
    """An asker that serves, whoever its calls are charged to, and the pod around it."""

    client: MemoryClient
    identity: TrialIdentity
    pod: Pod
    ids: Pseudonyms

    async def ask(self, text: str) -> dict[str, Any]:
        """The report of a question that is an order."""
        self.identity.enter("answer", f"case/{text}")
        question = Question(question_id="q", text=text)
        native = await self.client.answer(question, 5, self.ids)
        report: dict[str, Any] = json.loads(native.answer)
        return report

    async def remember(self, *texts: str) -> None:
        """Ingests and flushes episodes."""
        self.identity.enter("ingest", "case")
        episodes = [Episode(episode_id=f"e{n}", text=text) for n, text in enumerate(texts)]
        async for _ in self.client.ingest(episodes, self.ids):
            pass
        await self.client.flush("case")

    async def search(self, text: str) -> list[str]:
        """The texts of a search's hits."""
        self.identity.enter("search", f"case/{text}")
        record = await self.client.search(text, 5, self.ids)
        return [hit.text for hit in record.hits]

    async def look_around(self, needle: str, *roots: str, others: bool) -> dict[str, Any]:
        """Where in the pod a text is. It is sent in halves, so as not to bring it there."""
        middle = len(needle) // 2
        asked = {"head": needle[:middle], "tail": needle[middle:], "roots": roots, "others": others}
        result = await self.client.call_tool("look_around", json.dumps(asked), self.ids)
        seen: dict[str, Any] = json.loads(result.result_json)
        return seen


@asynccontextmanager
async def asked_in_pod(
    gateway: Gateway, provider: PodProvider, adapter: AdapterRef, trial_id: str = "test-trial"
) -> AsyncIterator[Asked]:
    """A pod whose memory system reaches this gateway, the way a trial makes one."""
    models = adapter.manifest.models if adapter.manifest else ()
    identity = TrialIdentity(trial_id=trial_id, seed=SEED, models=frozenset(models))

    async def still_alive() -> None:
        fate = await pod.fate()
        assert fate.state == "running", await pod.logs()

    async with gateway.serve(identity) as socket:
        wanted = request(adapter, trial_id=trial_id, gateway_socket=socket)
        async with provider.start(wanted) as pod, MemoryClient(pod.target) as client:
            await client.wait_ready(30, still_alive)
            await client.capabilities()
            yield Asked(client, identity, pod, Pseudonyms(SEED, "asker"))


def provider_environment(anthropic_url: str, openai_url: str, **keys: str) -> dict[str, str]:
    """What a user sets to reach these servers, and nothing else that names a provider."""
    names = ("ANTHROPIC", "OPENAI", "OPENROUTER", "MEMRIG", "GRADER_MODEL", "EVAL_MODEL")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(names)}
    servers = {"ANTHROPIC_BASE_URL": anthropic_url, "OPENAI_BASE_URL": openai_url}
    return {**kept, **servers, **keys}
