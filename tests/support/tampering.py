"""A forger who knows the rig: changes one meaning of a good archive, and seals all else anew.

A cheat changes what something means. What follows from it for anybody who has the rig's code is
done here: specs and trials are named by the changed lock, requests and calls go by their new keys,
transcripts are chained, outcomes counted, grades and report made again, the manifest hashed and
signed with the forger's own key. So no hash gives a cheat away, only a check of what it means.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from memrig.errors import MemrigError
from memrig.model.canonical import canonical_json, digest_bytes, digest_of
from memrig.model.trial import TrialSpec
from memrig.report.build import build_report
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock
from memrig.runs.plan import trials_of
from memrig.runs.replan import respool
from memrig.submission.archive import write_archive
from memrig.submission.checks.exchanged import Place
from memrig.submission.keys import ephemeral_key
from memrig.submission.model import CONTRACT, MODELS
from memrig.submission.modelrecord import restore_record
from support.submissions import Forgery, Json, read_forgery

Rows = list[Json]


class Tampering(Forgery):
    """The contents of an archive of one run, and what keeps them consistent."""

    # What is there

    @property
    def lock(self) -> Json:
        """The lock, to be given back to `relock`."""
        return self.json(f"{self.run}/lock.json")

    def kind(self, trial: str) -> str:
        """The kind of a trial."""
        return str(self.json(f"{trial}/spec.json")["kind"])

    def of_kind(self, kind: str) -> list[str]:
        """The paths of the trials of a kind, in the order of the plan."""
        planned = [spec.trial_id for spec in trials_of(Lock.model_validate(self.lock))]
        there = {path.rpartition("/")[2]: path for path in self.trials}
        return [there[name] for name in planned if name in there and self.kind(there[name]) == kind]

    @property
    def first(self) -> str:
        """The path of the first scored trial."""
        return self.of_kind("scored")[0]

    # What is changed

    def edit(self, trial: str, change: Callable[[Rows], object]) -> None:
        """Changes a trial's records; its chain and its seal fit."""
        records = self.records(trial)
        change(records)
        self.put_records(trial, records)

    def edit_each(self, kind: str, change: Callable[[Json], object], trial: str = "") -> int:
        """Changes every record of a kind, in one trial or in all; how many there were."""
        count = 0
        for path in [trial] if trial else self.trials:
            records = self.records(path)
            chosen = [record for record in records if record["kind"] == kind]
            for record in chosen:
                change(record)
            count += len(chosen)
            if chosen:
                self.put_records(path, records)
        return count

    def question(self, change: Callable[[Json], object], where: Callable[[Json], bool]) -> Json:
        """Changes the first scored question of which something holds; gives it back."""
        for trial in self.of_kind("scored"):
            records = self.records(trial)
            for record in records:
                if record["kind"] == "question" and where(record):
                    change(record)
                    self.put_records(trial, records)
                    return record
        raise AssertionError("no question of the run is like that: the cheat has nothing to do")

    def relock(self, **changes: object) -> None:
        """Other values in the lock; its trials become those that it stands for.

        A trial is taken over to the one of the same kind, scenario, seed and repeat; one that has
        none any more is gone.
        """
        old = self.lock
        new = json.loads(Lock.model_validate(old | changes).model_dump_json())
        before, after = (_planned(lock) for lock in (old, new))
        for key, spec in before.items():
            if key in after:
                self._rename(spec.trial_id, after[key])
            else:
                self.remove(f"{self.run}/trials/{spec.trial_id}")
        self.put_lock(new)

    def relock_all(self, **changes: object) -> None:
        """As `relock`, where trials have other scenarios or seeds now: they are taken in order.

        Those that are too many are gone.
        """
        old = self.lock
        new = json.loads(Lock.model_validate(old | changes).model_dump_json())
        before = list(_planned(old).values())
        after = list(_planned(new).values())
        for kind in ("isolation-audit", "audits", "scored"):
            ours, theirs = ([s for s in specs if s.kind == kind] for specs in (before, after))
            for spec, to in zip_longest(ours, theirs):
                if spec is not None and to is not None:
                    self._rename(spec.trial_id, to)
                elif spec is not None:
                    self.remove(f"{self.run}/trials/{spec.trial_id}")
        self.put_lock(new)

    def spec(self, trial: str) -> TrialSpec:
        """A trial's spec."""
        return TrialSpec.model_validate(self.json(f"{trial}/spec.json"))

    def copy(self, old: str, new: str) -> None:
        """Has a folder's files under another name, too."""
        self.files |= {
            f"{new}{path.removeprefix(old)}": raw
            for path, raw in self.files.items()
            if path.startswith(f"{old}/")
        }

    def longer(self, seconds: float) -> None:
        """Makes room in time: the last invocation ended so much later."""
        self.executions(lambda line: line.update(wall_s=line["wall_s"] + seconds))
        self.disclose(last=self.manifest.disclosure.last + timedelta(seconds=seconds))

    def remove(self, folder: str) -> None:
        """Takes out all files of a folder, or one file."""
        kept = {
            path: raw
            for path, raw in self.files.items()
            if path != folder and not path.startswith(f"{folder}/")
        }
        assert len(kept) < len(self.files), folder
        self.files = kept

    def reseal_all(self) -> None:
        """Changes nothing, and seals all of it."""
        self.put_lock(self.lock)
        for trial in self.trials:
            self.reseal(trial, self.spec(trial))
        if self.models in self.files:
            self.edit_models(lambda lines: None)

    def move(self, old: str, new: str) -> None:
        """Gives a folder another name."""
        self.files = {
            f"{new}{path.removeprefix(old)}" if path.startswith(f"{old}/") else path: raw
            for path, raw in self.files.items()
        }

    def reseal(self, trial: str, spec: TrialSpec) -> None:
        """Writes a trial's spec, and seals the transcript on it."""
        digest = digest_of(spec)
        self.put(f"{trial}/spec.json", spec.model_dump(mode="json"))
        named = {"trial_id": spec.trial_id, "spec_digest": digest}
        self.put(f"{trial}/outcome.json", self.json(f"{trial}/outcome.json") | named)
        records = self.records(trial)
        for record in records:
            if record["kind"] == "attempt":
                record["spec_digest"] = digest
        self.put_records(trial, records)

    def _rename(self, old: str, spec: TrialSpec) -> None:
        trials, verdicts = f"{self.run}/trials", f"{self.run}/verdicts"
        self.reseal(f"{trials}/{old}", spec)
        self.move(f"{trials}/{old}", f"{trials}/{spec.trial_id}")
        if f"{verdicts}/{old}.jsonl" in self.files:
            given = self.lines(f"{verdicts}/{old}.jsonl")
            self.remove(f"{verdicts}/{old}.jsonl")
            renamed = [one | {"trial_id": spec.trial_id} for one in given]
            self.put_lines(f"{verdicts}/{spec.trial_id}.jsonl", renamed)
        for row in self._model_rows("exchange", "attempt") if old != spec.trial_id else ():
            row["trial_id"] = spec.trial_id if row["trial_id"] == old else row["trial_id"]

    def put_lock(self, value: Json) -> None:
        """As a forgery's, and the manifest names suite and protocol as the lock does."""
        super().put_lock(value)
        first, *rest = self.manifest.runs
        named = {name: value[name] for name in ("suite", "protocol")}
        self.draft(runs=(first.model_copy(update=named), *rest))

    # The record of models

    @property
    def models(self) -> str:
        """The path of the record of models."""
        return f"{self.run}/{MODELS}"

    def _model_rows(self, *kinds: str) -> Iterator[Json]:
        """Rows of the record, to be changed as they come; written back at the end."""
        if self.models not in self.files:
            return
        lines = self.lines(self.models)
        for line in lines:
            for kind in kinds:
                if kind in line:
                    yield line[kind]
        self.put_lines(self.models, lines)

    def edit_models(self, change: Callable[[Rows], object]) -> None:
        """Changes the lines of the record; requests and calls then go by their own keys again.

        Whoever names a call by its old key, in a transcript, a verdict or an attempt, names it by
        the new one.
        """
        lines = self.lines(self.models)
        change(lines)
        keys = _rekeyed(lines)
        kinds = ("wire", "request", "exchange", "attempt")
        lines.sort(key=lambda line: kinds.index(next(iter(line))))
        asked = sorted(
            (line for line in lines if "request" in line),
            key=lambda line: line["request"]["digest"],
        )
        rest = [line for line in lines if "request" not in line]
        wires = sum("wire" in line for line in lines)
        self.put_lines(self.models, [*rest[:wires], *asked, *rest[wires:]])
        if any(old != new for old, new in keys.items()):
            self._name_calls(keys)

    def _name_calls(self, keys: Mapping[str, str]) -> None:
        old = {f'"{name}"'.encode(): f'"{to}"'.encode() for name, to in keys.items() if name != to}
        for path, raw in list(self.files.items()):
            changed = raw
            if "/verdicts/" in path or path.endswith("transcript.jsonl"):
                for name, to in old.items():
                    changed = changed.replace(name, to)
            if changed == raw:
                continue
            self.files[path] = changed
            if path.endswith("transcript.jsonl"):
                trial = path.rpartition("/")[0]
                self.put_records(trial, self.records(trial))

    # The frame

    def draft(self, **changes: object) -> None:
        """Other values in the manifest."""
        self.manifest = self.manifest.model_copy(update=changes)

    def disclose(self, **changes: object) -> None:
        """Other values in the manifest's disclosure."""
        self.draft(disclosure=self.manifest.disclosure.model_copy(update=changes))

    def executions(self, change: Callable[[Json], object]) -> None:
        """Changes every invocation."""
        path = f"{self.run}/executions.jsonl"
        lines = self.lines(path)
        for line in lines:
            change(line)
        self.put_lines(path, lines)

    def contract(self, raw: bytes) -> None:
        """Another contract, which the manifest names."""
        self.files[CONTRACT] = raw
        self.draft(contract=digest_bytes(raw))

    # The end

    def rescore(self) -> None:
        """Grades all runs by the rig's own code; what cannot be graded keeps its old grades."""
        for entry in self.manifest.runs:
            with TemporaryDirectory(prefix="memrig-tampering-") as folder:
                self._rescore(f"runs/{entry.run_id}", Path(folder) / entry.run_id)

    def _rescore(self, run: str, root: Path) -> None:
        for path, raw in self.files.items():
            if path.startswith(f"{run}/"):
                file = root / path.removeprefix(f"{run}/")
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(raw)
        directory = RunDirectory(root)
        try:
            lock = directory.lock()
            respool(lock, directory.scenarios)
            directory.save_specs(trials_of(lock))
            if f"{run}/{MODELS}" in self.files:
                restore_record(root / MODELS, directory.record)
            build_report(directory)
        except (MemrigError, ValueError, KeyError, RuntimeError):
            return  # what cannot be graded keeps its old grades
        for file in (directory.grades, directory.report_json):
            self.files[f"{run}/{file.name}"] = file.read_bytes()


def _planned(lock: Json) -> dict[tuple[object, ...], TrialSpec]:
    """A lock's trials by what makes them comparable with another lock's."""
    return {
        (spec.kind, tuple(ref.scenario_id for ref in spec.scenarios), spec.seed, spec.repeat): spec
        for spec in trials_of(Lock.model_validate(lock))
    }


def _rekeyed(lines: Rows) -> dict[str, str]:
    """Gives requests and calls the names of their content; the calls' new names by the old."""
    requests: dict[str, str] = {}
    keys: dict[str, str] = {}
    for line in lines:
        if request := line.get("request"):
            digest = hashlib.sha256(request["body"].encode()).hexdigest()
            requests[request["digest"]] = digest
            request["digest"] = digest
    for line in lines:
        if exchange := line.get("exchange"):
            exchange["request"] = requests.get(exchange["request"], exchange["request"])
            names = ("request", "seed", "attempt", "vote", "scope", "occurrence")
            place = Place(*(exchange[name] for name in names))
            keys[exchange["key"]] = place.key
            exchange |= {"key": place.key, "same": place.same}
    for line in lines:
        if attempt := line.get("attempt"):
            attempt["key"] = keys.get(attempt["key"], attempt["key"])
    return keys


@dataclass(frozen=True)
class Cheat:
    """One way to cheat.

    Args:
        name: short, for the test's name.
        kind: of which archive (`support.forged_runs.KINDS`).
        what: what the cheater does.
        gain: what that would be good for.
        caught: the check that must object; empty: nothing can.
        forge: does it.
        rescored: grades and report are made again afterwards, as a clever cheater would.
    """

    name: str
    kind: str
    what: str
    gain: str
    caught: str
    forge: Callable[[Tampering], object]
    rescored: bool = True


def tampered(good: Path, out: Path, cheat: Cheat) -> Path:
    """A good archive with a cheat in it, sealed, hashed and signed by the cheater."""
    opened = read_forgery(good)
    forgery = Tampering(opened.manifest, opened.files)
    cheat.forge(forgery)
    if cheat.rescored:
        forgery.rescore()
    write_archive(out, forgery.manifest, forgery.files, ephemeral_key())
    return out


def canonical(value: object) -> str:
    """Canonical JSON as text, such as a request's body in the record."""
    return canonical_json(value).decode()


def setting(**values: object) -> Callable[[Json], None]:
    """A change that sets members of a record."""
    return partial(_set, values)


def _set(values: Mapping[str, object], record: Json) -> None:
    record.update(values)
