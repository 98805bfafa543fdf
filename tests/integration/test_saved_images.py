"""Saving images for a submission, on a real daemon."""

import pytest

from memrig.errors import PrerequisiteError
from memrig.pod.images import ensure_doorman, save_image
from memrig.submission.engine import disclosed_engine
from memrig.submission.savedimage import saved_images

pytestmark = pytest.mark.timeout(300)


@pytest.mark.docker
async def test_a_saved_image_is_the_one_that_was_asked_for(tmp_path):
    """Told by its content, as an organiser will."""
    built = await ensure_doorman()
    await save_image(built.digest, tmp_path / "x.tar")
    assert built.digest in saved_images(tmp_path / "x.tar")


@pytest.mark.docker
async def test_an_image_that_is_not_there_is_named(tmp_path):
    """Exit code 3."""
    digest = "sha256:" + "0" * 64
    with pytest.raises(PrerequisiteError, match=digest):
        await save_image(digest, tmp_path / "x.tar")


@pytest.mark.docker
def test_an_engine_that_answers_discloses_itself():
    """Version, API, cgroup, storage driver, kernel, security."""
    facts = disclosed_engine("docker")
    assert facts.keys() == {"docker", "api", "cgroup", "storage", "kernel", "security"}
    assert all(facts.values())
