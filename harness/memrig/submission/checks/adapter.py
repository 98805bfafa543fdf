"""Checks of what ran: one memory system, described so that it can be started again as it was."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from memrig.model.canonical import canonical_json
from memrig.model.manifest import (
    ADAPTER_SERVICE,
    BASELINE_PREFIX,
    BASELINES,
    AdapterManifest,
    AdapterRef,
    PodKind,
)
from memrig.model.transcript import PodRecord, UsageRecord
from memrig.runs.lock import Lock, differences, lock_version
from memrig.submission.checks.base import (
    ArchiveEvidence,
    Check,
    RunEvidence,
    TrialEvidence,
    at,
    of_trial,
)
from memrig.submission.engine import disclosed_limits
from memrig.submission.model import Found

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
#: What the kernel may count beyond a memory limit: its counters are a few pages behind.
_MEMORY_SLACK = 4 * 1024**2


def _adapter(archive: ArchiveEvidence) -> Iterator[Found]:
    wanted = archive.manifest.adapter
    for name, lock in sorted(archive.locks.items()):
        if canonical_json(lock.adapter) != canonical_json(wanted):
            old, new = (ref.model_dump(mode="json") for ref in (wanted, lock.adapter))
            message = f"is not the manifest's: {'; '.join(list(differences(old, new))[:3])}"
            yield Found(where=at(f"run {name}", "lock.adapter"), message=message)


def _images(archive: ArchiveEvidence) -> Iterator[Found]:
    named = {image.service: image.digest for image in archive.manifest.images}
    known = dict(archive.manifest.adapter.images)
    if named != known or len(archive.manifest.images) != len(known):
        message = f"names {named}, the adapter is of {known}"
        yield Found(where="manifest.images", message=message)


def _limits(archive: ArchiveEvidence) -> Iterator[Found]:
    shown, known = archive.manifest.disclosure.limits, disclosed_limits(archive.manifest.adapter)
    for service in sorted(shown.keys() | known.keys()):
        if shown.get(service) != known.get(service):
            message = (
                f"limits of {service!r}: {shown.get(service, 'none')}, "
                f"its manifest has {known.get(service, 'no such container')}"
            )
            yield Found(where="manifest.disclosure", message=message)


def _described(run: RunEvidence) -> Iterator[Found]:
    where = at(f"run {run.name}", "lock.adapter")
    yield from (Found(where=where, message=text) for text in _flaws(run.lock))


def _flaws(lock: Lock) -> Iterator[str]:
    """In what a lock's adapter is not one that its kind of pod can run."""
    adapter = lock.adapter
    yield from _FLAWS[adapter.pod](adapter)
    if adapter.pod == "endpoint" and lock.isolation == "fresh":
        yield "is an endpoint, which cannot be fresh for each scenario"
    if adapter.pod != "docker" and adapter.images:
        yield f"is in a pod of kind {adapter.pod}, and names images"
    if adapter.endpoint and adapter.pod not in {"endpoint", "given"}:
        yield f"is in a pod of kind {adapter.pod}, and names an address: {adapter.endpoint!r}"
    if adapter.manifest and adapter.manifest.modes and lock.mode not in adapter.manifest.modes:
        yield f"cannot be run in mode {lock.mode}, by its own manifest"


def _flaws_of_process(adapter: AdapterRef) -> Iterator[str]:
    if adapter.manifest is None or adapter.manifest.process is None:
        yield "is run as a process, and has no command for that"
    if adapter.manifest is not None:
        yield from _other_name(adapter, adapter.manifest)
    yield from _no_digests(adapter, (ADAPTER_SERVICE, "environment"))


def _no_digests(adapter: AdapterRef, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if not _DIGEST.fullmatch(adapter.inputs.get(name, "")):
            yield f"inputs.{name} is no digest: {adapter.inputs.get(name, 'missing')!r}"


def _flaws_of_baseline(adapter: AdapterRef) -> Iterator[str]:
    if adapter.name not in {f"{BASELINE_PREFIX}{kind}" for kind in BASELINES}:
        yield f"there is no baseline {adapter.name!r}"
    if adapter.version != lock_version():
        yield f"is of memrig {adapter.version}, this one is {lock_version()}"


def _flaws_of_given(adapter: AdapterRef) -> Iterator[str]:
    yield from _no_digests(adapter, ("answers",))


def _flaws_of_endpoint(adapter: AdapterRef) -> Iterator[str]:
    if not adapter.endpoint:
        yield "is an endpoint without an address"


def _flaws_of_images(adapter: AdapterRef) -> Iterator[str]:
    manifest = adapter.manifest
    if manifest is None:
        yield "is run in Docker, and has no manifest"
        return
    wanted = {ADAPTER_SERVICE, *manifest.services}
    yield from _no_digests(adapter, sorted(adapter.inputs))
    if odd := sorted(adapter.inputs.keys() - wanted):
        yield f"has inputs of {odd}, its containers are {sorted(wanted)}"
    if adapter.images.keys() != wanted:
        yield f"has images of {sorted(adapter.images)}, its containers are {sorted(wanted)}"
    for service, digest in sorted(adapter.images.items()):
        if not _DIGEST.fullmatch(digest):
            yield f"image of {service!r} is named by no digest: {digest!r}"
    yield from _other_name(adapter, manifest)


def _other_name(adapter: AdapterRef, manifest: AdapterManifest) -> Iterator[str]:
    for name, has, wanted in (
        ("name", adapter.name, manifest.name),
        ("version", adapter.version, manifest.version),
    ):
        if has != wanted:
            yield f"{name} is {has!r}, its manifest has {wanted!r}"


def _started(trial: TrialEvidence) -> Iterator[Found]:
    adapter = trial.spec.adapter
    for number, record in enumerate(trial.records):
        if not isinstance(record, PodRecord):
            continue
        for name, wanted in _to_be_told(adapter).items():
            told = record.description.get(name, "nothing")
            if told != wanted:
                message = f"record {number}: {name} was {told}, the spec has {wanted}"
                yield Found(where=of_trial(trial), message=message)


def _to_be_told(adapter: AdapterRef) -> dict[str, str]:
    """What a pod's own record says of what it runs."""
    if adapter.pod != "docker":
        return {"pod": adapter.pod}
    images = {f"image.{service}": digest for service, digest in adapter.images.items()}
    limits = {f"limits.{service}": text for service, text in disclosed_limits(adapter).items()}
    return {"pod": adapter.pod, **images, **limits}


def _memory(trial: TrialEvidence) -> Iterator[Found]:
    adapter = trial.spec.adapter
    if adapter.pod != "docker" or adapter.manifest is None:
        return
    most = _memory_limit(adapter.manifest) + _MEMORY_SLACK
    for record in trial.records:
        if not isinstance(record, UsageRecord):
            continue
        for name in ("peak_memory_bytes", "memory_bytes"):
            value = getattr(record, name)
            if value is not None and not 0 <= value <= most:
                message = f"{name} is {value}, its containers may use {most} together"
                yield Found(where=of_trial(trial), message=message)


def _memory_limit(manifest: AdapterManifest) -> int:
    containers = (manifest.image, *manifest.services.values())
    return sum(int(container.resources.memory) for container in containers)


_FLAWS: Mapping[PodKind, Callable[[AdapterRef], Iterator[str]]] = {
    "docker": _flaws_of_images,
    "process": _flaws_of_process,
    "baseline": _flaws_of_baseline,
    "given": _flaws_of_given,
    "endpoint": _flaws_of_endpoint,
}

ARCHIVE_CHECKS: tuple[Check[ArchiveEvidence], ...] = (
    Check(
        "config.adapter",
        "All runs are of the manifest's memory system, to the byte",
        "one system for each suite, tuned to it, under one name",
        _adapter,
    ),
    Check(
        "config.images",
        "The manifest's images are the adapter's, each by digest",
        "another image shown than the one that ran",
        _images,
    ),
    Check(
        "config.limits",
        "The limits disclosed are those of the adapter's containers",
        "a system that needs much more than is shown",
        _limits,
    ),
)

RUN_CHECKS: tuple[Check[RunEvidence], ...] = (
    Check(
        "config.described",
        "The adapter is described as its kind of pod needs it",
        "an image by a name that can mean another one tomorrow",
        _described,
    ),
)

TRIAL_CHECKS: tuple[Check[TrialEvidence], ...] = (
    Check(
        "pods.started",
        "Every pod was of the spec's kind, images and limits",
        "another image than the one named, or one that was given more",
        _started,
    ),
    Check(
        "limits.memory",
        "The pod used no more memory than its containers may",
        "another pod than the one described, or limits that were lifted",
        _memory,
    ),
)
