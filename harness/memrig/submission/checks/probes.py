"""Checks of what probes measured: nothing left out, and figures that a measurement can come to."""

import math
from collections.abc import Iterator, Mapping

from memrig.model.scenario import (
    FreshnessProbe,
    LeakProbe,
    LoadProbe,
    OutageProbe,
    Probe,
    RestartProbe,
)
from memrig.model.transcript import ProbeRecord
from memrig.submission.checks.base import Check, TrialEvidence, of_trial
from memrig.submission.checks.walk import HOSTED, Story, episodes_told, stories_of
from memrig.submission.model import Found

#: What a probe measures whenever none of its calls failed; values first, then samples.
_DUE: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "usage": (frozenset(), frozenset()),
    "load": (frozenset({"clients", "calls", "errors", "wall_s", "recall"}), frozenset({"search"})),
    "freshness": (frozenset({"asked", "found", "found_after_flush"}), frozenset({"visible"})),
    "restart": (frozenset({"recall_before", "recall_after", "acks_after"}), frozenset({"down"})),
    "leak": (frozenset({"recall_before", "asked", "leaks"}), frozenset()),
    "outage": (frozenset({"met", "acked", "search_ok", "recall_during", "acked_after"}),
               frozenset()),
}  # fmt: skip


def _measured(trial: TrialEvidence) -> Iterator[tuple[Story, Probe, ProbeRecord]]:
    stories = stories_of(trial)
    for record in trial.records:
        story = stories.get(record.scenario_id) if isinstance(record, ProbeRecord) else None
        if story is None or not isinstance(record, ProbeRecord):
            continue
        probe = story.probes.get(record.probe_id)
        if probe is not None and probe.kind == record.probe:  # else `timeline.probes` says so
            yield story, probe, record


def _skipped(trial: TrialEvidence) -> Iterator[Found]:
    for _, probe, record in _measured(trial):
        if record.skipped and not _idle(trial, probe):
            message = f"{probe.probe_id!r} was left out ({record.skipped:.60}), and could be made"
            yield Found(where=of_trial(trial, record.scenario_id), message=message)


def _idle(trial: TrialEvidence, probe: Probe) -> bool:
    """Whether a probe has nothing to act on: memories in the rig, pods of others, no models."""
    adapter = trial.spec.adapter
    if adapter.pod in HOSTED:
        return True
    elsewhere = adapter.pod == "endpoint"
    if isinstance(probe, OutageProbe):
        return elsewhere or adapter.manifest is None or not adapter.manifest.models
    return isinstance(probe, RestartProbe) and elsewhere


def _figures(trial: TrialEvidence) -> Iterator[Found]:
    for story, probe, record in _measured(trial):
        found = [*_sized(trial, story, probe, record)]
        if not record.skipped:
            found += [*_missing(record), *_outside(probe, record), *_unlike(probe, record)]
        for message in found:
            where = of_trial(trial, record.scenario_id)
            yield Found(where=where, message=f"{probe.probe_id!r}: {message}")


def _sized(trial: TrialEvidence, story: Story, probe: Probe, record: ProbeRecord) -> Iterator[str]:
    """How large the memory was: what the timeline told, and probes at most as much as they have."""
    manifest = trial.spec.adapter.manifest
    containers = 1 + (len(manifest.services) if manifest else 0)  # each killed, and told something
    place = story.needs["probe", probe.probe_id]
    least = most = sum(len(group) for group in story.groups[:place])
    for other in story.probes.values():
        most += containers if isinstance(other, RestartProbe) else episodes_told(other)
        if other.probe_id == probe.probe_id:
            break
    if not least <= record.episodes <= most:
        yield f"was made of {record.episodes} episodes, the timeline has {least} to {most}"
    if record.items is not None and record.items < 0:
        yield f"of {record.items} items"


def _missing(record: ProbeRecord) -> Iterator[str]:
    if record.failure:
        return
    values, samples = _DUE[record.probe]
    gone = [*sorted(values - record.values.keys()), *sorted(samples - record.samples_ns.keys())]
    if gone:
        yield f"{', '.join(gone)} is missing, and nothing failed"


def _outside(probe: Probe, record: ProbeRecord) -> Iterator[str]:
    bounds = _bounds(probe)
    for name, value in record.values.items():
        share = (0.0, 1.0) if name.startswith("recall") else (0.0, math.inf)
        low, high = bounds.get(name, share)
        if not (math.isfinite(value) and low <= value <= high):
            yield f"{name} is {value:g}, expected {low:g} to {high:g}"


def _bounds(probe: Probe) -> Mapping[str, tuple[float, float]]:
    """From what to what a count can be, by name."""
    match probe:
        case LoadProbe():
            calls = probe.clients * len(probe.searches)
            most = {"errors": calls}
            same = {"clients": probe.clients, "calls": calls}
        case FreshnessProbe():
            most = dict.fromkeys(("asked", "found", "found_after_flush"), len(probe.episodes))
            same = {}
        case LeakProbe():
            most, same = {"asked": len(probe.searches)}, {}
        case RestartProbe():
            most, same = {"acks_after": 1}, {}
        case OutageProbe():
            most = dict.fromkeys(("acked", "rejected"), len(probe.episodes))
            most |= dict.fromkeys(("search_ok", "search_errors"), len(probe.searches))
            most["acked_after"] = len(probe.after)
            same = {"episodes": len(probe.episodes), "episodes_after": len(probe.after)}
        case _:
            most, same = {}, {}
    return {name: (0.0, most[name]) for name in most} | {name: (same[name],) * 2 for name in same}


def _unlike(probe: Probe, record: ProbeRecord) -> Iterator[str]:
    """In what a probe's figures do not fit each other."""
    values = record.values
    if isinstance(probe, LoadProbe):
        samples = record.samples_ns.get("search", ())
        good = values.get("calls", 0) - values.get("errors", 0)
        if len(samples) != good:
            yield f"{len(samples)} searches were timed, {good:g} came back"
        if values.get("recall", 0) * values.get("calls", 0) > good + 0.5:
            yield f"recall is {values['recall']:g}, and {good:g} of {values['calls']:g} came back"
        wall_ns = values.get("wall_s", 0) * 1e9
        if sum(samples) > probe.clients * wall_ns * 1.001:
            yield f"its searches took {sum(samples)} ns, {probe.clients} clients had {wall_ns:.0f}"
    elif isinstance(probe, RestartProbe):
        down = len(record.samples_ns.get("down", ()))
        if down != ("recall_after" in values):
            yield f"it was down {down} times by its samples"
    elif isinstance(probe, FreshnessProbe):
        found, late = values.get("found", 0), values.get("found_after_flush", 0)
        timed = len(record.samples_ns.get("visible", ()))
        if timed != found or found + late > values.get("asked", 0):
            asked = values.get("asked", 0)
            yield f"{found:g} and {late:g} of {asked:g} were found, {timed} of them timed"


TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "probes.skipped",
        "No probe was skipped that had something to measure",
        "the measurement that would look bad, left out",
        _skipped,
    ),
    Check(
        "probes.figures",
        "A probe's figures are ones that it can come to, and fit each other",
        "growth, load and leaks that nobody measured",
        _figures,
    ),
)
