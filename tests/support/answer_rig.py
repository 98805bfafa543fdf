"""Trials whose questions are answered by a scripted model: in a folder, over a fake memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from memrig.gateway.identity import TrialIdentity
from memrig.model.chat import CallContext, ChatReply, ChatRequest
from memrig.model.transcript import ModelUsageRecord, QuestionRecord, Record
from memrig.model.trial import AnswerSpec, TrialSpec
from memrig.pod.base import PodProvider
from memrig.trial import TrialServices, run_trial
from memrig.trial.directory import load_trial
from support.fake_chat import Script, ScriptedChat
from support.fake_memory import Behaviour, FakeProvider
from support.scenarios import small_scenario, small_spec

USAGE = ModelUsageRecord(
    phase="ingest", model="gpt-x", calls=2, attempts=3, input_tokens=9, output_tokens=1,
    cost_usd=0.5,
)  # fmt: skip


class Service(ScriptedChat):
    """Implements `ModelService`: a scripted chat, and a socket that nobody calls."""

    def __init__(self, *replies: Script, delays: Sequence[float] = ()) -> None:
        super().__init__(replies)
        self.identities: list[TrialIdentity] = []
        self._delays = list(delays)

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        await asyncio.sleep(self._delays.pop(0) if self._delays else 0)
        return await super().chat(request, context)

    @asynccontextmanager
    async def serve(self, identity: TrialIdentity) -> AsyncIterator[Path]:
        self.identities.append(identity)
        yield Path("/nowhere/llm.sock")

    def usage_of(self, trial_id: str) -> tuple[ModelUsageRecord, ...]:
        return (USAGE,) if self.identities else ()


class Rig:
    """A folder for scenarios and trials, a provider, and the models of the day."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.scenarios = root / "scenarios"
        self.out = root / "trials"
        self.out.mkdir()
        self.provider: PodProvider = FakeProvider(root)
        self.slot = asyncio.Semaphore()

    def behave(self, **behaviour: object) -> None:
        self.provider = FakeProvider(self.root, Behaviour(**behaviour))  # type: ignore[arg-type]

    def spec(self, mode: str = "reader", **changes: object) -> TrialSpec:
        answer = AnswerSpec(model="" if mode == "native" else "scripted")
        fields: dict[str, object] = {"mode": mode, "answer": answer}
        return small_spec(self.scenarios, small_scenario(halves=True), **fields | changes)

    async def run(self, spec: TrialSpec, service: Service) -> list[Record]:
        @asynccontextmanager
        async def measured() -> AsyncIterator[None]:
            async with self.slot:
                yield

        services = TrialServices(
            provider=self.provider, run_id="test", models=service, measured=measured
        )
        await run_trial(spec, self.scenarios, self.out, services)
        return load_trial(self.out / spec.trial_id)[2]


def questions(records: list[Record]) -> list[QuestionRecord]:
    return [record for record in records if isinstance(record, QuestionRecord)]


def outcomes(records: list[Record]) -> list[str]:
    return [record.outcome.label for record in questions(records)]
