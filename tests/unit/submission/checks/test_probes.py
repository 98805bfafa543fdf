"""Checks of probes: none skipped without need, and figures that a measurement can come to."""

from dataclasses import replace

import pytest

from memrig.model.scenario import (
    Episode,
    FreshnessProbe,
    LeakProbe,
    LoadProbe,
    LookFor,
    OutageProbe,
    RestartProbe,
    Scenario,
    UsageProbe,
)
from memrig.model.transcript import ProbeRecord
from memrig.submission.checks import probes
from support.evidence import found
from support.fake_memory import fake_adapter
from support.happened import changed, fakes, places
from support.scenarios import FACTS

LOOKS = (LookFor(query="blue kettle", episode_ids=("e1",)),)
NEW = (Episode(episode_id="n1", text="Ada: the parrot is called Solomon"),)
OTHER = (Episode(episode_id="o1", text="Ben: my bus stops at Gull Street"),)
LAST = (Episode(episode_id="l1", text="Ben: the bakery closes at noon"),)
PARROT = (LookFor(query="parrot called", episode_ids=("n1",)),)
EVENTS = (
    UsageProbe(probe_id="before"),
    *(Episode(episode_id=name, text=text) for name, text in FACTS.items()),
    LoadProbe(probe_id="load", clients=2, searches=LOOKS),
    FreshnessProbe(probe_id="fresh", episodes=NEW, searches=PARROT),
    RestartProbe(probe_id="restart", searches=LOOKS),
    OutageProbe(probe_id="outage", fault="slow", episodes=OTHER, searches=LOOKS, after=LAST,
                searches_after=LOOKS),
    LeakProbe(probe_id="leak", episodes=OTHER, searches=LOOKS, secrets=("kettle",)),
)  # fmt: skip
NAMES = [event.probe_id for event in EVENTS if not isinstance(event, Episode)]


def played(**behaviour):
    """A trial of all probes but those that a fake cannot have."""
    with fakes() as place:
        place.behave(**behaviour)
        scenario = Scenario("probed", list(EVENTS), {})
        adapter = fake_adapter().model_copy(update={"pod": "process"})
        return place.run(place.spec(scenario, adapter=adapter))


@pytest.fixture(scope="module")
def trial():
    """Every kind of probe, of an honest memory without models."""
    return played()


def with_probe(trial, name, *, values=None, **changes):
    """A probe's record says something else."""
    number = next(
        n for n, at in enumerate(places(trial, ProbeRecord)) if trial.records[at].probe_id == name
    )
    record = trial.records[places(trial, ProbeRecord)[number]]
    changes |= {"values": {**record.values, **values}} if values else {}
    return changed(trial, ProbeRecord, number, **changes)


def caught(check_id, trial):
    return found(probes.TRIAL_CHECKS, check_id, trial)


def test_an_honest_memory_passes(trial):
    """Each probe is on record, and only the outage of models that it has not is skipped."""
    records = [one for one in trial.records if isinstance(one, ProbeRecord)]
    assert [one.probe_id for one in records] == NAMES
    assert [one.probe_id for one in records if one.skipped] == ["outage"]
    assert caught("probes.skipped", trial) == caught("probes.figures", trial) == []


@pytest.mark.parametrize(
    "behaviour",
    [{"reject": "parrot"}, {"lose_acks_after": 7}, {"claim_everything": True}, {"surplus": 3}],
    ids=lambda one: next(iter(one)),
)
def test_a_memory_that_does_wrong_passes_too(behaviour):
    """What fails within a probe is its result."""
    trial = played(**behaviour)
    assert caught("probes.skipped", trial) == caught("probes.figures", trial) == []


@pytest.mark.parametrize("name", [name for name in NAMES if name != "outage"])
def test_a_probe_that_could_be_made_cannot_be_skipped(trial, name):
    """The one that looks bad would be."""
    skipped = with_probe(trial, name, skipped="no time")
    assert "(no time), and could be made" in caught("probes.skipped", skipped)[0]


@pytest.mark.parametrize("pod", ["endpoint", "baseline"])
def test_a_pod_of_others_restarts_nothing(trial, pod):
    """Nor does what lives in the rig."""
    adapter = trial.spec.adapter.model_copy(update={"pod": pod})
    skipped = with_probe(trial, "restart", skipped="nothing can be restarted")
    spec = skipped.spec.model_copy(update={"adapter": adapter})
    elsewhere = replace(skipped, spec=spec)
    assert caught("probes.skipped", elsewhere) == []


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("load", {"recall": 1.5}, "recall is 1.5, expected 0 to 1"),
        ("load", {"calls": 9.0}, "calls is 9, expected 2 to 2"),
        ("load", {"clients": 8.0}, "clients is 8, expected 2 to 2"),
        ("load", {"errors": 1.0}, "2 searches were timed, 1 came back"),
        ("load", {"wall_s": 1e-9}, "2 clients had 1"),
        ("fresh", {"asked": 4.0}, "asked is 4, expected 0 to 1"),
        ("fresh", {"found": 0.0}, "1 of them timed"),
        ("leak", {"leaks": -1.0}, "leaks is -1"),
        ("leak", {"asked": 7.0}, "asked is 7"),
        ("restart", {"acks_after": 3.0}, "acks_after is 3"),
        ("before", {"memory_bytes": -5.0}, "memory_bytes is -5"),
    ],
)
def test_a_figure_that_cannot_be_is_objected_to(trial, name, values, says):
    """By what the probe is."""
    odd = with_probe(trial, name, values=values)
    assert any(says in objection for objection in caught("probes.figures", odd))


@pytest.mark.parametrize("down", [(), (5, 7)])
def test_a_container_is_down_once(trial, down):
    """And how long is what the probe is for."""
    odd = with_probe(trial, "restart", samples_ns={"down": down})
    assert f"down {len(down)} times" in caught("probes.figures", odd)[0]


@pytest.mark.parametrize("name", ["load", "fresh", "restart", "leak"])
def test_figures_left_out_are_missed(trial, name):
    """Unless something failed, which is then said."""
    bare = with_probe(trial, name)
    bare = changed(bare, ProbeRecord, NAMES.index(name), values={}, samples_ns={})
    assert "is missing, and nothing failed" in caught("probes.figures", bare)[0]
    failed = changed(bare, ProbeRecord, NAMES.index(name), failure="1 calls failed: 1 × no")
    assert not any("is missing" in one for one in caught("probes.figures", failed))


@pytest.mark.parametrize(("name", "size"), [("before", 3), ("load", 60), ("leak", 99)])
def test_the_size_is_the_timelines(trial, name, size):
    """Growth is told by it."""
    odd = with_probe(trial, name, episodes=size)
    assert f"was made of {size} episodes" in caught("probes.figures", odd)[0]
