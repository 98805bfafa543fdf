"""Probes: what they measure of a memory, and what becomes of the trial around them."""

import asyncio

import grpc
import pytest

from memrig.gateway.identity import Injected
from memrig.model.gold import Gold
from memrig.model.manifest import AdapterRef
from memrig.model.scenario import (
    Episode,
    Event,
    FreshnessProbe,
    LeakProbe,
    LoadProbe,
    LookFor,
    OutageProbe,
    Question,
    RestartProbe,
    Scenario,
    UsageProbe,
)
from memrig.model.transcript import FaultRecord, ProbeRecord, QuestionRecord, Record
from memrig.model.trial import TrialSpec
from memrig.pod.base import Fate
from memrig.trial import TrialServices, run_trial
from support.answer_rig import Rig, Service
from support.fake_memory import FakeMemory, FakeProvider, fake_adapter
from support.scenarios import FACTS, small_spec

LOOKS = (
    LookFor(query="where is the blue kettle", episode_ids=("e1",)),
    LookFor(query="which train leaves at nine", episode_ids=("e2",)),
)
ASKED = Question(question_id="q1", text="where is the blue kettle")
NEW = {"n1": "Ada: the parrot is called Solomon", "n2": "Ben: my bus stops at Gull Street"}
NEW_LOOKS = (
    LookFor(query="what is the parrot called", episode_ids=("n1",)),
    LookFor(query="where does my bus stop", episode_ids=("n2",)),
)
LATER = {"l1": "Ada: the ferry is called Undine", "l2": "Ben: my tent is green"}
LATER_LOOKS = (
    LookFor(query="what is the ferry called", episode_ids=("l1",)),
    LookFor(query="which tent is green", episode_ids=("l2",)),
)


def told(texts: dict[str, str]) -> tuple[Episode, ...]:
    return tuple(Episode(episode_id=name, text=text) for name, text in texts.items())


def spec_with(rig: Rig, *events: Event, **changes: object) -> TrialSpec:
    """Four facts, a question, and then what is given."""
    gold = {"q1": Gold(question_id="q1", category="c", evidence=("e1",))}
    scenario = Scenario("probed", [*told(FACTS), ASKED, *events], gold)
    return small_spec(rig.scenarios, scenario, **changes)


def probed(records: list[Record]) -> list[ProbeRecord]:
    return [record for record in records if isinstance(record, ProbeRecord)]


async def measured(rig: Rig, *events: Event, **changes: object) -> list[ProbeRecord]:
    return probed(await rig.run(spec_with(rig, *events, **changes), Service()))


async def test_usage_tells_what_the_pod_and_the_memory_hold(rig: Rig) -> None:
    """After the barrier, with what the pod measures."""
    (record,) = await measured(rig, UsageProbe(probe_id="u"))
    assert (record.episodes, record.items) == (4, 4)
    assert record.values == {"memory_bytes": 900, "file_bytes": 100, "cpu_s": 0.5}


async def test_usage_of_a_memory_with_models_tells_what_they_came_to(rig: Rig) -> None:
    """Calls, tokens and money so far."""
    spec = spec_with(rig, UsageProbe(probe_id="u"), adapter=with_models())
    (record,) = probed(await rig.run(spec, Service()))
    asked = {name: record.values[name] for name in ("model_calls", "model_tokens", "model_usd")}
    assert asked == {"model_calls": 2, "model_tokens": 10, "model_usd": 0.5}


async def test_every_client_of_a_load_asks_every_query(rig: Rig) -> None:
    """Each call is timed, and counted by what it found."""
    lost = LookFor(query="unicorn", episode_ids=("e4",))
    (record,) = await measured(
        rig, LoadProbe(probe_id="l", clients=3, searches=(*LOOKS, lost, lost))
    )
    assert record.values.pop("wall_s") > 0
    assert record.values == {"clients": 3, "calls": 12, "errors": 0, "recall": 0.5}
    assert len(record.samples_ns["search"]) == 12


async def test_a_search_that_fails_under_load_is_counted_and_named(rig: Rig) -> None:
    """It found nothing, and the trial goes on."""
    rig.behave(search_status={2: grpc.StatusCode.INTERNAL})
    (record,) = await measured(rig, LoadProbe(probe_id="l", clients=1, searches=LOOKS))
    assert (record.values["errors"], record.values["recall"]) == (1, 0.5)
    assert record.failure.startswith("1 calls failed: 1 × rpc=Search: ")
    assert len(record.samples_ns["search"]) == 1


async def test_what_is_searchable_at_once_is_found_fresh(rig: Rig) -> None:
    """From the acknowledgement on, without a barrier."""
    (record,) = await measured(
        rig, FreshnessProbe(probe_id="f", episodes=told(NEW), searches=NEW_LOOKS)
    )
    assert record.values == {"asked": 2, "found": 2, "found_after_flush": 0}
    assert len(record.samples_ns["visible"]) == 2
    assert record.episodes == 6


async def test_what_needs_the_barrier_is_found_after_it(rig: Rig) -> None:
    """And has no time of becoming visible."""
    rig.behave(found_after_flush=True)
    probe = FreshnessProbe(probe_id="f", episodes=told(NEW), searches=NEW_LOOKS, patience_s=0.05)
    (record,) = await measured(rig, probe)
    assert record.values == {"asked": 2, "found": 0, "found_after_flush": 2}
    assert record.samples_ns["visible"] == ()


async def test_a_killed_adapter_that_keeps_its_memory_loses_nothing(rig: Rig) -> None:
    """Its new process is accepted, and asked what the old one knew."""
    records = await rig.run(
        spec_with(rig, RestartProbe(probe_id="r", searches=LOOKS), UsageProbe(probe_id="u")),
        Service(),
    )
    restart, usage = probed(records)
    assert (restart.subject, restart.failure) == ("adapter", "")
    assert restart.values == {"recall_before": 1, "recall_after": 1, "acks_after": 1}
    assert len(restart.samples_ns["down"]) == 1
    assert usage.items == 5  # and the trial goes on with the new process


async def test_a_killed_adapter_that_forgets_is_seen_to(rig: Rig) -> None:
    """That is a result, not a crash."""
    rig.behave(forgets_on_restart=True)
    records = await rig.run(spec_with(rig, RestartProbe(probe_id="r", searches=LOOKS)), Service())
    (record,) = probed(records)
    assert record.values == {"recall_before": 1, "recall_after": 0, "acks_after": 1}
    assert not [record for record in records if isinstance(record, FaultRecord)]


async def test_every_container_is_killed_in_turn(rig: Rig) -> None:
    """With a record for each."""
    provider = FakeProvider(rig.root)
    provider.services = ("store", "adapter")
    rig.provider = provider
    records = await measured(rig, RestartProbe(probe_id="r", searches=LOOKS))
    assert [record.subject for record in records] == ["store", "adapter"]
    assert provider.pods[0].kills == ["store", "adapter"]


async def test_what_cannot_be_restarted_is_skipped(rig: Rig) -> None:
    """With the reason."""
    provider = FakeProvider(rig.root)
    provider.services = ()
    rig.provider = provider
    (record,) = await measured(rig, RestartProbe(probe_id="r", searches=LOOKS))
    assert "nothing can be restarted" in record.skipped


def leak_probe() -> LeakProbe:
    return LeakProbe(probe_id="s", episodes=told(NEW), searches=LOOKS, secrets=("kettle", "nine"))


async def test_a_memory_that_resets_leaks_nothing(rig: Rig) -> None:
    """What was found before is not found after."""
    (record,) = await measured(rig, leak_probe())
    assert record.values == {"recall_before": 1, "asked": 2, "leaks": 0}


async def test_a_memory_that_keeps_a_scope_leaks_it(rig: Rig) -> None:
    """By a secret in a text, or by a source of the first scope."""
    rig.behave(keep_on_reset=True)
    (record,) = await measured(rig, leak_probe())
    assert record.values["leaks"] >= 2


def with_models() -> AdapterRef:
    adapter = fake_adapter()
    assert adapter.manifest is not None
    manifest = adapter.manifest.model_copy(update={"models": ("gpt-x",)})
    return adapter.model_copy(update={"manifest": manifest})


def outage_probe() -> OutageProbe:
    return OutageProbe(
        probe_id="o",
        fault="down",
        delay_s=0.5,
        episodes=told(NEW),
        searches=LOOKS,
        after=told(LATER),
        searches_after=(*NEW_LOOKS, *LATER_LOOKS),
    )


async def test_an_outage_says_nothing_of_a_memory_without_models(rig: Rig) -> None:
    """And nothing is ingested for it."""
    (record,) = await measured(rig, outage_probe())
    assert (record.subject, record.skipped) == ("down", "this memory system asked for no model")
    assert record.episodes == 4


async def test_an_outage_befalls_what_is_told_and_asked_within_it_alone(rig: Rig) -> None:
    """Its fault is injected for that long, and what became of the episodes is counted."""
    service = Service()
    seen: list[tuple[str, Injected | None]] = []

    def note(memory: FakeMemory, text: str) -> None:
        injected = service.identities[0].injected
        seen.append((text, injected))
        if injected:
            injected.met += 1

    rig.behave(on_ingest=note, reject="Gull Street")
    spec = spec_with(rig, outage_probe(), adapter=with_models())
    (record,) = probed(await rig.run(spec, service))
    met = {text: injected is not None for text, injected in seen}
    assert met == dict.fromkeys((*FACTS.values(), *LATER.values()), False) | dict.fromkeys(
        NEW.values(), True
    )
    injected = next(injected for _, injected in seen if injected)
    assert (injected.fault, injected.delay_s) == ("down", 0.5)
    assert service.identities[0].fault is None
    assert record.subject == "down"
    assert record.values == {
        "met": 2, "episodes": 2, "acked": 1, "rejected": 1, "ingest_errors": 0, "flush_errors": 0,
        "search_ok": 2, "search_errors": 0, "recall_during": 1, "episodes_after": 2,
        "acked_after": 2, "recall_outage": 0.5, "recall_after": 1, "errors_after": 0,
    }  # fmt: skip


async def test_an_adapter_that_dies_in_a_probe_ends_the_trial(rig: Rig) -> None:
    """The probe's record stays, and what was asked before keeps its answer."""

    async def die(memory: FakeMemory, number: int) -> None:
        if number == 3:
            assert isinstance(rig.provider, FakeProvider)
            pod = rig.provider.pods[0]
            asyncio.get_running_loop().create_task(pod.die(Fate("exited", 1, oom=False)))
            await asyncio.sleep(1)

    rig.behave(on_search=die)
    load = LoadProbe(probe_id="l", clients=1, searches=LOOKS)
    spec = spec_with(rig, load, UsageProbe(probe_id="u"), deadlines={"search": 5})
    records = await rig.run(spec, Service())
    (record,) = probed(records)
    assert (record.values["errors"], record.failure != "") == (1, True)
    (fault,) = [record for record in records if isinstance(record, FaultRecord)]
    assert fault.outcome.label == "adapter_crashed(exit)"
    (answer,) = [record for record in records if isinstance(record, QuestionRecord)]
    assert answer.outcome.status == "answered"


async def test_a_process_that_changes_outside_of_a_restart_is_a_crash(rig: Rig) -> None:
    """No other probe accepts another process."""
    rig.behave(restart_before_search={3})
    records = await rig.run(
        spec_with(rig, LoadProbe(probe_id="l", clients=1, searches=LOOKS)), Service()
    )
    (fault,) = [record for record in records if isinstance(record, FaultRecord)]
    assert "restarted by itself" in fault.message


async def test_a_trial_that_was_interrupted_among_probes_begins_anew(rig: Rig) -> None:
    """They measure one memory as it goes: no half of it is kept."""
    spec = spec_with(
        rig, UsageProbe(probe_id="u"), LoadProbe(probe_id="l", clients=1, searches=LOOKS)
    )
    reached = asyncio.Event()

    async def linger(memory: FakeMemory, number: int) -> None:
        if number == 2:
            reached.set()
            await asyncio.sleep(10)

    rig.behave(on_search=linger)
    services = TrialServices(provider=rig.provider, run_id="test")
    first = asyncio.create_task(run_trial(spec, rig.scenarios, rig.out, services))
    await reached.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    rig.behave()
    records = await rig.run(spec, Service())
    assert [record.probe_id for record in probed(records)] == ["u", "l"]
    assert (rig.out / spec.trial_id / "abandoned-1.jsonl").is_file()


async def test_a_baseline_has_nothing_to_measure(rig: Rig) -> None:
    """Its probes are skipped, its questions asked."""
    adapter = AdapterRef(name="baseline:oracle", version="1", pod="baseline")
    records = await rig.run(spec_with(rig, UsageProbe(probe_id="u"), adapter=adapter), Service())
    (record,) = probed(records)
    assert record.skipped
