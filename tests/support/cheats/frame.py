"""Cheats with what frames the runs: versions, images, limits, machine, dates, invocations."""

import json
from datetime import timedelta

from memrig.model.manifest import AdapterRef
from memrig.runs.profiles import digest_of_profile
from memrig.submission.engine import disclosed_limits
from memrig.submission.model import ImageEntry
from support.submissions import Json
from support.tampering import Cheat, Tampering

_OTHER = f"sha256:{'e1' * 32}"
_PROFILE = "official-v1"


def _version(forgery: Tampering) -> None:
    forgery.relock(memrig_version="9.9.9")
    forgery.edit_each("attempt", lambda record: record.update(memrig_version="9.9.9"))
    forgery.draft(memrig_version="9.9.9")


def _contract(forgery: Tampering) -> None:
    forgery.contract(b"a contract of my own")
    forgery.relock(contract=forgery.manifest.contract)


def _attempt_version(forgery: Tampering) -> None:
    trial = forgery.first
    forgery.edit_each("attempt", lambda record: record.update(memrig_version="0.0.9"), trial)


def _manifests_adapter(forgery: Tampering) -> None:
    """A better known system's name on the cover."""
    forgery.draft(adapter=forgery.manifest.adapter.model_copy(update={"name": "mem0"}))


def _renamed(forgery: Tampering) -> None:
    """In lock, specs and manifest, but for the adapter's own manifest."""
    adapter: Json = forgery.lock["adapter"] | {"name": "mem0"}
    forgery.relock(adapter=adapter)
    forgery.draft(adapter=AdapterRef.model_validate(adapter))


def _image_shown(forgery: Tampering) -> None:
    forgery.draft(images=(ImageEntry(service="adapter", digest=_OTHER),))


def _image_swapped(forgery: Tampering) -> None:
    """Everywhere but in what the pods said of themselves."""
    adapter: Json = forgery.lock["adapter"] | {"images": {"adapter": _OTHER}}
    forgery.relock(adapter=adapter)
    forgery.draft(adapter=AdapterRef.model_validate(adapter))
    _image_shown(forgery)


def _image_by_tag(forgery: Tampering) -> None:
    adapter: Json = forgery.lock["adapter"] | {"images": {"adapter": "bm25:latest"}}
    forgery.edit_each(
        "pod", lambda one: one["description"].update({"image.adapter": "bm25:latest"})
    )
    forgery.relock(adapter=adapter)
    forgery.draft(
        adapter=AdapterRef.model_validate(adapter),
        images=(ImageEntry(service="adapter", digest="bm25:latest"),),
    )


def _limits_shown(forgery: Tampering) -> None:
    shown = {"adapter": "cpus=0.1 memory=1048576 pids=8 shm=0 tmp=0"}
    forgery.disclose(limits=shown)


def _limits_lowered(forgery: Tampering) -> None:
    """In manifest, lock and specs: it ran with a gibibyte, and claims 64 MiB."""
    adapter: Json = forgery.lock["adapter"]
    adapter["manifest"]["image"]["resources"]["memory"] = 64 * 1024**2
    ref = AdapterRef.model_validate(adapter)
    shown = disclosed_limits(ref)
    forgery.edit_each(
        "pod", lambda one: one["description"].update({"limits.adapter": shown["adapter"]})
    )
    forgery.relock(adapter=adapter)
    forgery.draft(adapter=ref)
    forgery.disclose(limits=shown)


def _machine(forgery: Tampering) -> None:
    machine = forgery.manifest.disclosure.machine
    forgery.disclose(machine=machine.model_copy(update={"cores": 1, "cpu": "a small one"}))


def _pods_dressed(forgery: Tampering) -> None:
    """In the invocations alone."""
    forgery.executions(lambda line: line.update(pod="docker"))


def _pods_bare(forgery: Tampering) -> None:
    """One pod ran as a process, where the lock names containers."""

    def change(record: Json) -> None:
        record["description"] = {"pod": "process", "command": "serve", "pid": "7"}

    forgery.edit_each("pod", change, forgery.first)


def _newer(forgery: Tampering) -> None:
    shown, month = forgery.manifest.disclosure, timedelta(days=30)
    forgery.disclose(first=shown.first + month, last=shown.last + month)


def _at_once(forgery: Tampering) -> None:
    """A second invocation that went on while the first did."""
    path = f"{forgery.run}/executions.jsonl"
    forgery.longer(60)
    lines = forgery.lines(path)
    forgery.put_lines(path, [*lines, lines[0] | {"trials_run": 0}])


def _short(forgery: Tampering) -> None:
    before = forgery.lines(f"{forgery.run}/executions.jsonl")[-1]["wall_s"]
    forgery.edit_each("pod", lambda record: record.update(ready_ns=record["ready_ns"] + 60 * 10**9))
    forgery.executions(lambda line: line.update(wall_s=0.5))
    last = forgery.manifest.disclosure.last - timedelta(seconds=before - 0.5)
    forgery.disclose(last=last)


def _many_jobs(forgery: Tampering) -> None:
    """Measured with many at a time on few cores, told as one after the other."""

    def slow(record: Json) -> None:
        extra = 9 * 10**9
        record["ns"] += extra
        record["memory_ns"] += extra
        record["searches"][0]["ns"] += extra

    for trial in forgery.of_kind("scored"):
        one = forgery.records(trial)
        chosen = next(record for record in one if record["kind"] == "question")
        slow(chosen)
        forgery.put_records(trial, one)


def _peak(forgery: Tampering) -> None:
    forgery.executions(lambda line: line.update(rig_peak_memory_bytes=-1))


def _run_twice(forgery: Tampering) -> None:
    """Under another name, so that the better of two counts."""
    (entry,) = forgery.manifest.runs
    forgery.copy(forgery.run, f"{forgery.run}-again")
    forgery.draft(runs=(entry, entry.model_copy(update={"run_id": f"{entry.run_id}-again"})))


def _named_otherwise(forgery: Tampering) -> None:
    (entry,) = forgery.manifest.runs
    forgery.draft(runs=(entry.model_copy(update={"suite": "longmemeval"}),))


def _stray(forgery: Tampering) -> None:
    forgery.files[f"{forgery.run}/notes.txt"] = b"see how good it is\n"


def _hidden(forgery: Tampering) -> None:
    """Verdicts of a trial that nobody judged."""
    name = forgery.first.rpartition("/")[2]
    forgery.files[f"{forgery.run}/verdicts/{name}.jsonl"] = b""


def _profile_on_cover(forgery: Tampering) -> None:
    forgery.draft(profile=_PROFILE, profile_digest=digest_of_profile(_PROFILE))


def _profile_own(forgery: Tampering) -> None:
    """An easier profile under the official one's name, in lock and manifest."""
    named = {"profile": _PROFILE, "profile_digest": _OTHER}
    forgery.relock(**named, tier="no-key")
    forgery.draft(**named)


def _two_ways(forgery: Tampering) -> None:
    """Whoever reads the first of two members by one name reads another limit."""
    path = f"{forgery.run}/lock.json"
    forgery.files[path] = forgery.files[path].replace(b'"top_k"', b'"top_k": 5,\n "top_k"', 1)


def _plugins(forgery: Tampering) -> None:
    forgery.relock(plugins={"grader": "kinder==1.0"})


def _other_build(forgery: Tampering) -> None:
    """Only the spec of one trial is of another adapter."""
    adapter = json.loads(forgery.spec(forgery.first).adapter.model_dump_json())
    path = forgery.first
    inputs = adapter["inputs"] | {"adapter": _OTHER}
    spec = forgery.spec(path).model_copy(
        update={"adapter": AdapterRef.model_validate(adapter | {"inputs": inputs})}
    )
    forgery.reseal(path, spec)
    forgery.move(path, f"{forgery.run}/trials/{spec.trial_id}")


CHEATS = (
    Cheat("version-other", "plain", "names a version of memrig that is not there",
          "grades that nobody can make again", "config.version", _version),
    Cheat("version-of-attempt", "plain", "has a trial of an older memrig among the others",
          "an older rig's results", "chain.attempts", _attempt_version),
    Cheat("contract-own", "plain", "packs a contract of its own, and names it everywhere",
          "calls that others do not have", "config.contract", _contract),
    Cheat("adapter-on-cover", "plain", "puts another system's name into the manifest",
          "a better known name", "config.adapter", _manifests_adapter),
    Cheat("adapter-renamed", "plain", "puts it into lock and specs as well",
          "a better known name", "config.described", _renamed),
    Cheat("adapter-of-trial", "plain", "runs one trial with another build of the adapter",
          "a system tuned to each scenario", "cells.only-planned", _other_build),
    Cheat("image-on-cover", "docker", "shows another image than the one that ran",
          "an image that does not cheat, to be looked at", "config.images", _image_shown),
    Cheat("image-swapped", "docker", "swaps the image in manifest, lock and specs",
          "an image that does not cheat, to be looked at", "pods.started", _image_swapped),
    Cheat("image-by-tag", "docker", "names the image by a tag, everywhere",
          "an image that can be another one tomorrow", "config.described", _image_by_tag),
    Cheat("limits-on-cover", "docker", "shows smaller limits than the containers had",
          "a system that looks thrifty", "config.limits", _limits_shown),
    Cheat("limits-lowered", "docker", "lowers them in manifest, lock, specs and pods' records",
          "a system that looks thrifty", "limits.memory", _limits_lowered),
    Cheat("machine-smaller", "plain", "discloses a smaller machine",
          "latencies that look good for it", "config.machine", _machine),
    Cheat("pods-dressed", "plain", "says of process pods that they were containers",
          "a place on the board", "executions.pod", _pods_dressed),
    Cheat("pod-bare", "docker", "has one of the pods run as a process",
          "a trial outside of the container's limits", "pods.started", _pods_bare),
    Cheat("dates-newer", "plain", "discloses dates of a month later",
          "old results, passed off as new", "config.dates", _newer),
    Cheat("executions-at-once", "plain", "notes two invocations that went on at once",
          "a run put together from several", "executions.order", _at_once),
    Cheat("execution-short", "plain", "says that the run was over before its trials were",
          "a run that looks cheap", "times.fit", _short),
    Cheat("jobs-hidden", "several", "notes more measured time than one job at a time has",
          "many at once, told as measured alone", "times.slots", _many_jobs),
    Cheat("rig-memory", "plain", "says that the rig needed less memory than none",
          "figures of cost that nobody measured", "executions.possible", _peak),
    Cheat("run-twice", "plain", "packs one run twice, under two names",
          "the better of two", "config.distinct", _run_twice),
    Cheat("run-named-otherwise", "plain", "names the run of a harder suite in the manifest",
          "a harder benchmark's place on the board", "config.runs", _named_otherwise),
    Cheat("profile-on-cover", "plain", "names the official profile in the manifest alone",
          "the closed division", "profile.locks", _profile_on_cover),
    Cheat("profile-own", "plain", "names an easier profile by the official one's name",
          "the closed division", "profile.known", _profile_own),
    Cheat("lock-two-ways", "plain", "writes a lock that two programs read in two ways",
          "one lock for the verifier, another for everybody else", "parse.files", _two_ways),
    Cheat("plugin-own", "plain", "names a grader of its own as plug-in",
          "kinder grading", "config.suite", _plugins),
    Cheat("file-stray", "plain", "packs a file that has no place",
          "whatever is to be looked at beside the run", "archive.paths", _stray),
    Cheat("verdicts-stray", "plain", "has verdicts on a trial that was not judged",
          "scores of no judge's", "cells.verdicts", _hidden),
)  # fmt: skip
