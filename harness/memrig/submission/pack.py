"""From runs to one signed archive."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from importlib.resources import files as resources
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from memrig.errors import InfrastructureError, PrerequisiteError, UsageError
from memrig.model.canonical import canonical_json, digest_bytes
from memrig.model.manifest import AdapterRef
from memrig.pod.images import missing_images_of, save_image
from memrig.report.units import plural
from memrig.runs.directory import RunDirectory
from memrig.runs.lock import Lock
from memrig.runs.plan import trials_of
from memrig.submission.archive import write_archive
from memrig.submission.engine import disclosed_engine, disclosed_limits
from memrig.submission.keys import fingerprint, load_key
from memrig.submission.layout import RUN_FILES, is_name, most_bytes, trial_files
from memrig.submission.model import (
    CONTRACT,
    IMAGES,
    MODELS,
    RUNS,
    Disclosure,
    ImageEntry,
    Manifest,
    RunEntry,
    Statement,
)
from memrig.submission.modelrecord import export_record
from memrig.submission.outputs import check_out
from memrig.submission.packable import Packable, check_together, packable
from memrig.submission.savedimage import saved_images
from memrig.trial.directory import disk_errors

SUFFIX = ".memrig"

Files = dict[str, Path | bytes]


@dataclass(frozen=True, slots=True)
class Packed:
    """An archive that was written. `notes` are what its readers will be told of it."""

    file: Path
    manifest: Manifest
    digest: str
    key: str
    notes: tuple[str, ...]

    @property
    def fingerprint(self) -> str:
        """Of the key that signed it."""
        return fingerprint(self.key)


def make_statement(
    title: str = "", submitter: str = "", url: str = "", changed: str = ""
) -> Statement:
    """What the submitter says.

    Raises:
        UsageError: something is too long, or no text.
    """
    try:
        return Statement(title=title, submitter=submitter, url=url, changed=changed)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)[0]
        message = f"{found['msg'][:1].lower()}{found['msg'][1:]}"
        fix = "say it shorter" if found["type"] == "string_too_long" else "give it as UTF-8"
        raise UsageError(message, where=f"--{found['loc'][0]}", fix=fix) from error


def pack(
    runs: Sequence[Path],
    out: Path,
    statement: Statement | None = None,
    *,
    key: Path | None = None,
    images: bool = False,
    say: Callable[[str], None] = lambda _line: None,
) -> Packed:
    """Grades runs again and writes them as one signed archive.

    The same runs, statement and key give the same bytes, as long as the container engine says the
    same of itself and packs with the same zlib.

    Args:
        runs: their folders; all of one adapter, on one machine.
        out: the archive to write, ``NAME.memrig``.
        statement: what the submitter says.
        key: who signs; none: the key in the user's configuration.
        images: put the adapter's images in, so that an organiser need not build them.
        say: told what is being done, a line at a time.

    Raises:
        UsageError: a run is not whole, was made by another version, or does not go with the
            others; or there is a file already, or cannot be one.
        PrerequisiteError: there is no key, or an image is not on this machine.
        VerificationError: a run was changed since it was sealed.
        InfrastructureError: the disk or the container engine failed.
    """
    _check_names(runs, out)
    signer = load_key(key)
    if images:
        _check_images(RunDirectory(runs[0]).lock().adapter)
    with ExitStack() as stack:
        taken = [stack.enter_context(packable(folder, say)) for folder in sorted(runs, key=_name)]
        check_together(taken)
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="memrig-pack-")))
        files = _files(taken, scratch)
        entries = _images(taken[0].lock, scratch if images else None, files, say)
        _check_sizes(files)
        say(f"writing {len(files) + 2} files to {out}")
        manifest = write_archive(out, _draft(taken, statement, entries), files, signer)
    digest = digest_bytes(canonical_json(manifest))
    return Packed(out, manifest, digest, signer.public, tuple(_notes(taken, manifest)))


def _name(folder: Path) -> str:
    return folder.resolve().name


def _check_names(runs: Sequence[Path], out: Path) -> None:
    """Refuses what can be told from names alone, before anything is graded."""
    if not runs:
        raise UsageError("there is nothing to pack", where="RUN", fix="name the runs' folders")
    taken = "there is a file already, and an archive is not overwritten"
    check_out(out, SUFFIX, "a submission", taken)
    for folder in runs:
        _check_run(folder)
    names = sorted(map(_name, runs))
    for name, after in pairwise([*names, ""]):
        if not is_name(name):
            fix = "rename its folder: letters, digits, '.', '_', '+' and '-', at most 121"
            raise UsageError("a run cannot go by this name in an archive", where=name, fix=fix)
        if name.casefold() == after.casefold():
            fix = "give each run once, and rename the folder of one if two have one name"
            raise UsageError("two runs go by this name", where=name, fix=fix)


def _check_run(folder: Path) -> None:
    """Whoever names the folder of several runs hears their names."""
    if RunDirectory(folder).lock_path.exists():
        return
    if held := sorted(path.parent for path in folder.glob("*/lock.json")):
        message = f"holds {plural(len(held), 'run')}, and is none itself"
        fix = f"name them: {' '.join(map(str, held))}"
        raise UsageError(message, where=str(folder), fix=fix)


def _check_images(adapter: AdapterRef) -> None:
    """Refuses --with-image where there is none to put in, before anything is graded."""
    if not adapter.images:
        message = f"{adapter.name} ran in no container, so that it has no image"
        raise UsageError(message, where="--with-image", fix="leave it out")
    missing = asyncio.run(missing_images_of(adapter.images.values()))
    for service, digest in sorted(adapter.images.items()):
        if digest in missing:
            raise PrerequisiteError(
                f"the image of its container {service!r} is not on this machine: {digest}",
                where=f"{adapter.name} {adapter.version}",
                fix="load it or build it again (`memrig image load`, `memrig image build`), "
                "or leave --with-image out",
            )


def _files(runs: Sequence[Packable], scratch: Path) -> Files:
    """What goes into the archive, by its path there."""
    contract = resources("memrig_proto.v1") / "memory_adapter.binpb"
    files: Files = {CONTRACT: contract.read_bytes()}
    for run in runs:
        base = f"{RUNS}/{run.name}"
        files |= {f"{base}/{name}": run.directory.root / name for name in RUN_FILES}
        for spec in trials_of(run.lock):
            folder = run.directory.trials / spec.trial_id
            held = {name: folder / name for name in trial_files()}
            files |= {
                f"{base}/trials/{spec.trial_id}/{name}": path
                for name, path in held.items()
                if path.is_file()
            }
            verdicts = run.directory.verdicts_of(spec.trial_id)
            if verdicts.is_file():
                files[f"{base}/verdicts/{verdicts.name}"] = verdicts
        if run.directory.record.is_file():
            models = scratch / f"{run.name}.{MODELS}"
            with disk_errors(models), models.open("wb") as file:
                file.writelines(export_record(run.directory.record))
            files[f"{base}/{MODELS}"] = models
    return files


def _images(
    lock: Lock, scratch: Path | None, files: Files, say: Callable[[str], None]
) -> tuple[ImageEntry, ...]:
    """The adapter's images; with a folder for them, their files are added."""
    entries = []
    for service, digest in sorted(lock.adapter.images.items()):
        name = ""
        if scratch is not None:
            name = f"{IMAGES}/{service}.tar"
            say(f"saving the image of container {service}: {digest}")
            files[name] = _saved(digest, scratch / f"{service}.tar")
        entries.append(ImageEntry(service=service, digest=digest, file=name))
    return tuple(entries)


def _saved(digest: str, tar: Path) -> Path:
    with disk_errors(tar):
        asyncio.run(save_image(digest, tar))
    if digest not in (found := saved_images(tar)):
        message = f"the engine saved {', '.join(sorted(found)) or 'no image'}, not {digest}"
        raise InfrastructureError(message, where="--with-image", fix="`memrig doctor` checks it")
    return tar


def _check_sizes(files: Mapping[str, Path | bytes]) -> None:
    """What a verifier would refuse is refused here already."""
    for path, source in files.items():
        size = len(source) if isinstance(source, bytes) else source.stat().st_size
        most = most_bytes(path)
        if most is None or size > most:
            message = f"has {size} bytes, at most {most or 0} are taken by who verifies"
            raise UsageError(message, where=path, fix="pack a smaller run")


def _draft(
    runs: Sequence[Packable], statement: Statement | None, images: tuple[ImageEntry, ...]
) -> Manifest:
    lock = runs[0].lock
    profile, profile_digest = _profile(runs)
    executions = [execution for run in runs for execution in run.executions]
    ends = (one.started_at + timedelta(seconds=one.wall_s) for one in executions)
    return Manifest(
        memrig_version=lock.memrig_version,
        contract=lock.contract,
        profile=profile,
        profile_digest=profile_digest,
        statement=statement or Statement(),
        adapter=lock.adapter,
        runs=tuple(
            RunEntry(
                run_id=run.name,
                lock_digest=run.lock.digest,
                suite=run.lock.suite,
                protocol=run.lock.protocol,
            )
            for run in runs
        ),
        images=images,
        disclosure=Disclosure(
            machine=lock.machine,
            engine=disclosed_engine(lock.adapter.pod),
            limits=disclosed_limits(lock.adapter),
            first=min(one.started_at for one in executions),
            last=max(ends),
        ),
        files=(),
    )


def _profile(runs: Sequence[Packable]) -> tuple[str, str]:
    """The profile that all runs name, and its digest; empty where they differ."""
    named = {(run.lock.profile, run.lock.profile_digest) for run in runs}
    return named.pop() if len(named) == 1 else ("", "")


def _notes(runs: Sequence[Packable], manifest: Manifest) -> Iterator[str]:
    """What a submitter should hear before others do."""
    pod = manifest.adapter.pod
    if pod != "docker":
        yield f"made with pod {pod}, not docker: open division, whatever the profile"
        if pod == "process":
            yield "transcripts and logs of process pods name folders of this machine"
    elif not manifest.disclosure.engine:
        yield "no container engine answers now: its facts are not disclosed"
    if not manifest.profile and (some := sorted({run.lock.profile for run in runs} - {""})):
        message = "not every run names it: open division; pack the others apart"
        yield f"profile {', '.join(some)}: {message}"
    if not manifest.statement.submitter:
        yield "no --submitter is named"
    for run in runs:
        if run.never:
            yield f"the memory system never served in {run.name}: {run.never}"
        if run.lock.sample:
            yield f"{run.name} is of a suite's sample, which compares with nothing"
