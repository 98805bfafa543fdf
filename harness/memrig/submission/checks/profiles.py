"""Checks of what the runs were made to be. Whether they are it is the division, not a check."""

from collections.abc import Iterator

from memrig.runs.profiles import TIERS, digest_of_profile, profile_names
from memrig.submission.checks.base import ArchiveEvidence, Check, at
from memrig.submission.model import Found


def _known(archive: ArchiveEvidence) -> Iterator[Found]:
    name, digest = archive.manifest.profile, archive.manifest.profile_digest
    if name and name not in profile_names():
        message = f"names the profile {name!r}; this memrig has {', '.join(profile_names())}"
        yield Found(where="manifest.profile", message=message)
        return
    wanted = digest_of_profile(name)
    if digest != wanted:
        message = f"is {digest!r}, the profile {name!r} has {wanted!r}"
        yield Found(where="manifest.profile_digest", message=message)


def _locks(archive: ArchiveEvidence) -> Iterator[Found]:
    """An archive names its runs' profile; where they were made under several, it names none."""
    wanted = archive.manifest.profile, archive.manifest.profile_digest
    several = len({(lock.profile, lock.profile_digest) for lock in archive.locks.values()}) > 1
    for name, lock in sorted(archive.locks.items()):
        found = lock.profile, lock.profile_digest
        if found != wanted and not (several and wanted == ("", "")):
            message = f"was made under {found[0] or 'no profile'} ({found[1]}), not the manifest's"
            yield Found(where=at(f"run {name}", "lock.profile"), message=message)
        if lock.tier and not (lock.profile and lock.tier in TIERS):
            message = f"{lock.tier!r} is no tier of {lock.profile or 'no profile'}"
            yield Found(where=at(f"run {name}", "lock.tier"), message=message)


ARCHIVE_CHECKS: tuple[Check[ArchiveEvidence], ...] = (
    Check(
        id="profile.known",
        title="The profile is one of this memrig's, by its hash",
        reason="an easier profile under the official one's name",
        find=_known,
    ),
    Check(
        id="profile.locks",
        title="Every run was made under the manifest's profile, which names none for several",
        reason="runs of one profile shown as runs of another",
        find=_locks,
    ),
)
