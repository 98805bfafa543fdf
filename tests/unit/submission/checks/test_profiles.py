"""Checks of the profile that runs were made under."""

from dataclasses import replace

import pytest

from memrig.runs.profiles import digest_of_profile
from memrig.submission.checks import profiles

NAME = "official-v1"
DIGEST = digest_of_profile(NAME)


def claimed(archive, name, digest, **of_lock):
    """An archive whose manifest and locks say that they were made under a profile."""
    named = {"profile": name, "profile_digest": digest}
    locks = {
        run: lock.model_copy(update={**named, **of_lock}) for run, lock in archive.locks.items()
    }
    return replace(archive, manifest=archive.manifest.model_copy(update=named), locks=locks)


def ids(archive):
    return {check.id for check in profiles.ARCHIVE_CHECKS if list(check.find(archive))}


def test_honest_archives_pass(good):
    """Without a profile, and under the one that ships."""
    assert ids(good.archive) == set()
    assert ids(claimed(good.archive, NAME, DIGEST)) == set()


@pytest.mark.parametrize(
    ("name", "digest"), [("official-v9", DIGEST), (NAME, "sha256:" + "0" * 64), ("", DIGEST)]
)
def test_a_profile_is_known_by_its_hash(good, name, digest):
    """Not by what it is called."""
    assert ids(claimed(good.archive, name, digest)) == {"profile.known"}


def test_every_run_is_of_the_manifests_profile(good):
    """Neither of another nor of none."""
    assert ids(claimed(good.archive, NAME, DIGEST, profile="")) == {"profile.locks"}
    assert ids(claimed(good.archive, NAME, DIGEST, profile_digest="x")) == {"profile.locks"}


def test_runs_of_several_profiles_are_of_none(good):
    """Then the manifest names none: whichever it named, some runs would be shown as of it."""
    (name, lock), *_ = good.archive.locks.items()
    other = lock.model_copy(update={"profile": NAME, "profile_digest": DIGEST})
    both = replace(good.archive, locks={name: lock, "other": other})
    assert ids(both) == set()
    assert ids(claimed(both, NAME, DIGEST, profile="")) == {"profile.locks"}


def test_a_tier_is_one_of_a_profiles(good):
    """A run without a profile has none; without a tier, it is held against the nearer one."""
    assert ids(claimed(good.archive, NAME, DIGEST, tier="no-key")) == set()
    assert ids(claimed(good.archive, NAME, DIGEST, tier="organiser-rerun")) == {"profile.locks"}
    assert ids(claimed(good.archive, "", "", tier="no-key")) == {"profile.locks"}
