"""Finds the memory system of a submission on the organiser's machine: the very one, by content."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memrig.errors import DataError, PrerequisiteError, UsageError
from memrig.model.manifest import ADAPTER_SERVICE, AdapterRef
from memrig.pod.images import implied_pod, load_images, missing_images_of, resolve
from memrig.runs.lock import differences
from memrig.submission.auditrecord import AuditSystem
from memrig.submission.model import ImageEntry
from memrig.submission.savedimage import saved_images

Say = Callable[[str], None]
#: The part of a process pod's inputs that says what is installed beside the rig.
_ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True)
class System:
    """A memory system that can be started here. `how` says where it is from."""

    adapter: AdapterRef
    how: str
    notes: tuple[str, ...] = ()

    @property
    def told(self) -> AuditSystem:
        """As an audit record has it."""
        return AuditSystem(
            name=self.adapter.name,
            version=self.adapter.version,
            pod=self.adapter.pod,
            images=self.adapter.images,
            inputs=self.adapter.inputs,
            how=self.how,
        )


def find_system(
    claimed: AdapterRef, given: str, folder: Path, images: Sequence[ImageEntry], say: Say
) -> System:
    """The memory system that was claimed.

    Args:
        claimed: what the submission names.
        given: the organiser's own ``--adapter``; empty: images by digest, on the daemon or in the
            archive. What an archive says is to be started in a process pod is never started.
        folder: where the archive was unpacked.
        images: what it says of its images.
        say: told what is being done.

    Raises:
        UsageError: it is of a kind that nobody else can start, or what was given is another one.
        PrerequisiteError: it is not on this machine; names its digest, and how to supply it.
    """
    if claimed.pod in {"endpoint", "given"}:
        raise UsageError(
            f"was made with pod {claimed.pod}: the rig never started it, and cannot start it again",
            where=claimed.name,
            fix="ask the submitter for a submission with a Docker pod",
        )
    if given:
        return asyncio.run(_given(claimed, given, say))
    if claimed.pod == "baseline":
        return System(claimed, "a baseline of the rig")
    if claimed.pod == "process":
        raise PrerequisiteError(
            "ran in a process pod, and what an archive says is not started outside of a container",
            where=claimed.name,
            fix="give your own copy of it with --adapter FOLDER; it must have the same content: "
            f"{claimed.inputs.get(ADAPTER_SERVICE, 'unknown')}",
        )
    return asyncio.run(_by_digest(claimed, folder, images, say))


def _check_kind(claimed: AdapterRef, given: str) -> None:
    """What is given runs in the kind of pod that is claimed."""
    needed = implied_pod(given)
    if needed == claimed.pod or (needed is None and claimed.pod in {"docker", "process"}):
        return
    fixes = {
        "docker": "give its folder or its image by digest, or leave --adapter out",
        "process": "give its folder",
    }
    raise UsageError(
        f"cannot run in a pod of kind {claimed.pod}, in which the submission was made",
        where=f"--adapter {given}",
        fix=fixes.get(claimed.pod, "leave --adapter out"),
    )


async def _given(claimed: AdapterRef, given: str, say: Say) -> System:
    """What the organiser gave, if it is the system that was claimed."""
    _check_kind(claimed, given)
    found = await resolve(given, claimed.pod, progress=say)
    odd = list(_other(claimed, found))
    if odd:
        raise UsageError(
            f"is not what the submission was made with: {_told(claimed, found, odd)}",
            where=f"--adapter {given}",
            fix="give the same version of the same adapter, from the same sources",
        )
    notes = []
    if found.images != claimed.images:
        notes.append("built from the same inputs; the image's digest is another one")
    if found.pod == "process":
        notes.append("process pod: not isolated, not leaderboard-eligible")
        if found.inputs.get(_ENVIRONMENT) != claimed.inputs.get(_ENVIRONMENT):
            notes.append("what is installed beside the rig is not what it was at the submitter's")
    return System(found, f"--adapter {given}", tuple(notes))


def _told(claimed: AdapterRef, found: AdapterRef, odd: Sequence[str]) -> str:
    if (claimed.name, claimed.version) != (found.name, found.version):
        return f"{claimed.name} {claimed.version}; this is {found.name} {found.version}"
    return "; ".join(odd[:3])


def _other(claimed: AdapterRef, found: AdapterRef) -> Iterable[str]:
    """In what two systems differ that must not."""
    loose = {"images", "inputs"}
    old, new = (ref.model_dump(mode="json", exclude=loose) for ref in (claimed, found))
    yield from differences(old, new)
    if claimed.images and found.images == claimed.images:
        return  # one image is one system, whoever built it
    old, new = (
        {name: digest for name, digest in ref.inputs.items() if name != _ENVIRONMENT}
        for ref in (claimed, found)
    )
    yield from differences(old, new, "inputs")
    if claimed.images and not (claimed.inputs and found.inputs):
        yield from differences(claimed.images, found.images, "images")


async def _by_digest(
    claimed: AdapterRef, folder: Path, images: Sequence[ImageEntry], say: Say
) -> System:
    """The images as they are claimed: on the daemon, or in the archive."""
    missing = await missing_images_of(claimed.images.values())
    if not missing:
        return System(claimed, "the images by digest, on the local daemon")
    files = {entry.digest: folder / entry.file for entry in images if entry.file}
    if lost := [digest for digest in missing if digest not in files]:
        raise PrerequisiteError(
            f"{', '.join(lost)} is neither on the local daemon nor in the archive",
            where=f"image of {claimed.name}",
            fix="load it (`memrig image load FILE.tar`), ask for an archive packed --with-image, "
            "or build it from the sources that were claimed with --adapter FOLDER",
        )
    for digest in missing:
        say(f"loading {digest} from the archive")
        if digest not in saved_images(files[digest]):
            raise DataError("holds another image", where=f"archive: {files[digest].name}")
        await load_images(files[digest])
    if left := await missing_images_of(missing):
        message = f"the engine does not have {', '.join(left)} after loading it"
        raise PrerequisiteError(message, where="archive: images", fix="`memrig doctor` checks it")
    return System(claimed, "the images by digest, from the archive")
