"""Checks of the memory system: one, by digest, within its own limits."""

from dataclasses import replace

import pytest

from memrig.model.manifest import AdapterRef, load_manifest
from memrig.model.transcript import PodRecord, UsageRecord
from memrig.submission.checks import adapter
from memrig.submission.engine import disclosed_limits
from memrig.submission.model import ImageEntry
from support.evidence import found
from support.source import ROOT

MANIFEST = load_manifest(ROOT / "images" / "bm25" / "adapter.toml")
DIGEST = "sha256:" + "7" * 64
DOCKER = AdapterRef(
    name=MANIFEST.name,
    version=MANIFEST.version,
    pod="docker",
    manifest=MANIFEST,
    images={"adapter": DIGEST},
    inputs={"adapter": DIGEST},
)
PROCESS = DOCKER.model_copy(
    update={"pod": "process", "images": {}, "inputs": {"adapter": DIGEST, "environment": DIGEST}}
)
#: What such a pod tells of itself.
TOLD = {
    "pod": "docker",
    "image.doorman": "sha256:" + "9" * 64,
    "image.adapter": DIGEST,
    "limits.adapter": disclosed_limits(DOCKER)["adapter"],
}
LIMIT = int(MANIFEST.image.resources.memory)


def described(run, ref, **changes):
    """What is objected to in a run of another adapter."""
    lock = run.lock.model_copy(update={"adapter": ref.model_copy(update=changes)})
    return found(adapter.RUN_CHECKS, "config.described", replace(run, lock=lock))


def with_images(archive, ref, *images):
    """An archive whose manifest names an adapter and its images."""
    manifest = archive.manifest.model_copy(update={"adapter": ref, "images": images})
    return replace(archive, manifest=manifest)


def used(trial, ref, **figures):
    """A trial in a pod that used so much."""
    usage = UsageRecord(cpu_s=1.0, **{"peak_memory_bytes": 1, "memory_bytes": 1, **figures})
    spec = trial.spec.model_copy(update={"adapter": ref})
    return replace(trial, spec=spec, records=(*trial.records, usage))


class TestTheSame:
    @pytest.mark.parametrize("check", adapter.ARCHIVE_CHECKS, ids=lambda check: check.id)
    def test_an_honest_archive_passes(self, check, good):
        """Nothing is objected to where nothing is wrong."""
        assert list(check.find(good.archive)) == []

    def test_another_system_in_one_of_the_runs_is_caught(self, good):
        """One name stands for one system, to the byte."""
        tuned = DOCKER.model_copy(update={"version": "1-for-locomo"})
        (lock,) = good.archive.locks.values()
        locks = {name: lock.model_copy(update={"adapter": ref}) for name, ref in
                 (("a", DOCKER), ("b", tuned))}  # fmt: skip
        archive = replace(with_images(good.archive, DOCKER), locks=locks)
        (message,) = found(adapter.ARCHIVE_CHECKS, "config.adapter", archive)
        assert message.startswith("run b: lock.adapter: is not the manifest's: version: ")

    def test_images_that_did_not_run_are_caught(self, good):
        """Another digest, one too few, one twice."""
        same = ImageEntry(service="adapter", digest=DIGEST)
        other = ImageEntry(service="adapter", digest="sha256:" + "8" * 64)
        honest = with_images(good.archive, DOCKER, same)
        assert found(adapter.ARCHIVE_CHECKS, "config.images", honest) == []
        for images in ((other,), (), (same, same)):
            archive = with_images(good.archive, DOCKER, *images)
            assert found(adapter.ARCHIVE_CHECKS, "config.images", archive)

    def test_limits_that_are_not_the_manifests_are_caught(self, good):
        """As disclosed when packing, they pass; smaller ones do not."""

        def disclosed(limits):
            shown = good.archive.manifest.disclosure.model_copy(update={"limits": limits})
            manifest = {"adapter": DOCKER, "disclosure": shown}
            archive = replace(
                good.archive, manifest=good.archive.manifest.model_copy(update=manifest)
            )
            return found(adapter.ARCHIVE_CHECKS, "config.limits", archive)

        honest = disclosed_limits(DOCKER)
        assert disclosed(honest) == []
        small = {"adapter": honest["adapter"].replace("memory=", "memory=1")}
        assert "limits of 'adapter': cpus=" in disclosed(small)[0]
        assert "none, its manifest has cpus=" in disclosed({})[0]


class TestDescribed:
    def test_every_kind_of_pod_can_be_described(self, good):
        """Nothing is objected to where nothing is wrong."""
        given = AdapterRef(name="a.jsonl", version="", pod="given", inputs={"answers": DIGEST})
        for ref in (good.run.lock.adapter, DOCKER, PROCESS, given):
            assert described(good.run, ref) == []

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"images": {"adapter": "mem0:latest"}}, "is named by no digest: 'mem0:latest'"),
            ({"images": {}}, "has images of [], its containers are ['adapter']"),
            ({"manifest": None}, "has no manifest"),
            ({"name": "mem0"}, "name is 'mem0', its manifest has 'bm25'"),
            ({"version": "99"}, "version is '99', its manifest has"),
            ({"inputs": {"adapter": "certified"}}, "inputs.adapter is no digest: 'certified'"),
            ({"inputs": {"award": DIGEST}}, "has inputs of ['award']"),
            ({"endpoint": "grpc://mem0.example:1"}, "names an address: 'grpc://mem0.example:1'"),
        ],
    )
    def test_a_docker_pod_that_cannot_be_started_again_is_caught(self, good, change, text):
        """All its images by digest, and its own manifest."""
        assert text in " ".join(described(good.run, DOCKER, **change))

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            ({"inputs": {"adapter": DIGEST}}, "inputs.environment is no digest: 'missing'"),
            ({"manifest": None}, "has no command for that"),
            ({"images": {"adapter": DIGEST}}, "is in a pod of kind process, and names images"),
        ],
    )
    def test_a_process_pod_that_nobody_knows_is_caught(self, good, change, text):
        """Its folder and its environment by their hashes; no image makes it isolated."""
        assert text in " ".join(described(good.run, PROCESS, **change))

    def test_what_is_no_baseline_is_caught(self, good):
        """Nor is one of another memrig."""
        ref = good.run.lock.adapter
        assert "there is no baseline" in described(good.run, ref, name="baseline:best")[0]
        assert "there is no baseline" in described(good.run, ref, name="oracle")[0]
        assert "is of memrig 0" in described(good.run, ref, version="0")[0]

    def test_answers_from_nowhere_are_caught(self, good):
        """The file is named by its digest."""
        ref = AdapterRef(name="a.jsonl", version="", pod="given")
        assert described(good.run, ref) == [
            "run run: lock.adapter: inputs.answers is no digest: 'missing'"
        ]

    def test_an_endpoint_is_never_fresh(self, good):
        """And it has an address."""
        ref = AdapterRef(name="endpoint", version="", pod="endpoint")
        texts = " ".join(described(good.run, ref))
        assert "without an address" in texts
        assert "cannot be fresh" in texts

    def test_a_mode_that_its_manifest_excludes_is_caught(self, good):
        """It says itself what it can be run in."""
        only = MANIFEST.model_copy(update={"modes": ("native",)})
        assert "cannot be run in mode retrieval" in described(good.run, PROCESS, manifest=only)[0]


class TestStarted:
    def caught(self, trial, ref, description=None):
        """What is objected to in a trial whose pod described itself so."""
        records = tuple(
            one.model_copy(update={"description": description})
            if description and isinstance(one, PodRecord)
            else one
            for one in trial.records
        )
        spec = trial.spec.model_copy(update={"adapter": ref})
        tampered = replace(trial, spec=spec, records=records)
        return found(adapter.TRIAL_CHECKS, "pods.started", tampered)

    def test_what_was_named_is_what_ran(self, good):
        """In Docker by image and limits, elsewhere by the kind of pod."""
        trial = good.trials[0]
        assert self.caught(trial, trial.spec.adapter) == []
        assert self.caught(trial, DOCKER, TOLD) == []

    @pytest.mark.parametrize(
        "change", [{"pod": "process"}, {"image.adapter": "sha256:0"}, {"limits.adapter": "cpus=64"}]
    )
    def test_another_pod_than_the_one_named_is_caught(self, good, change):
        """Its kind, its image, what it was given."""
        ((name, value),) = change.items()
        (message,) = self.caught(good.trials[0], DOCKER, TOLD | change)
        assert f"{name} was {value}, the spec has" in message

    def test_a_process_passed_off_as_a_container_is_caught(self, good):
        """It tells of no image."""
        texts = self.caught(good.trials[0], DOCKER, {"pod": "docker"})
        assert [text.rpartition(" was ")[2].split(",")[0] for text in texts] == ["nothing"] * 2


class TestMemory:
    def test_what_is_within_the_limit_passes(self, good):
        """Also where the pod cannot tell, and where there is no limit."""
        trial = good.trials[0]
        lawful = used(trial, DOCKER, peak_memory_bytes=LIMIT, memory_bytes=None)
        unlimited = used(trial, PROCESS, peak_memory_bytes=100 * LIMIT)
        for one in (trial, lawful, unlimited):
            assert found(adapter.TRIAL_CHECKS, "limits.memory", one) == []

    @pytest.mark.parametrize("field", ["peak_memory_bytes", "memory_bytes"])
    def test_more_than_the_containers_may_use_is_caught(self, good, field):
        """No kernel gives it."""
        trial = used(good.trials[0], DOCKER, **{field: 2 * LIMIT})
        (message,) = found(adapter.TRIAL_CHECKS, "limits.memory", trial)
        assert f"{field} is {2 * LIMIT}" in message
