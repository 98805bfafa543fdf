"""Checks of what the runs were made to be. Whether they are it is the division, not a check."""

from collections.abc import Iterator

from memrig.runs.profiles import digest_of_profile, profile_names
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
    wanted = archive.manifest.profile, archive.manifest.profile_digest
    for name, lock in sorted(archive.locks.items()):
        found = lock.profile, lock.profile_digest
        if found != wanted:
            message = f"was made under {found[0] or 'no profile'} ({found[1]}), not the manifest's"
            yield Found(where=at(f"run {name}", "lock.profile"), message=message)


ARCHIVE_CHECKS: tuple[Check[ArchiveEvidence], ...] = (
    Check(
        id="profile.known",
        title="The profile is one of this memrig's, by its hash",
        reason="an easier profile under the official one's name",
        find=_known,
    ),
    Check(
        id="profile.locks",
        title="Every run was made under the manifest's profile",
        reason="runs of one profile shown as runs of another",
        find=_locks,
    ),
)
