"""What the Docker SDK raises, in our words."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from docker.errors import DockerException, ImageLoadError
from requests.exceptions import RequestException

from memrig.errors import InfrastructureError, PrerequisiteError


@contextmanager
def faults(where: str) -> Iterator[None]:
    """Turns an error of the SDK or of its transport into `InfrastructureError`.

    What a caller can tell apart, it catches inside. A file that is no image (`ImageLoadError`)
    passes through: that one is the user's.
    """
    try:
        yield
    except ImageLoadError:
        raise
    except (DockerException, RequestException) as error:
        raise InfrastructureError(
            f"the Docker daemon failed: {error}", where=where, fix="`memrig doctor` checks it"
        ) from error


class MissingImageError(PrerequisiteError):
    """An image is neither on this machine nor to be had; `reason` is why."""

    def __init__(self, reference: str, reason: str) -> None:
        self.reference = reference
        self.reason = reason
        super().__init__(f"{reference}: {reason}")


def missing_images(
    absent: Sequence[MissingImageError], arch: str, where: str = ""
) -> PrerequisiteError:
    """One error for all images that are missing: each with its reason, and both ways to supply it.

    Args:
        absent: one for each image.
        arch: the daemon's architecture, which the images must be of.
        where: what names them.
    """
    names = [error.reference for error in absent]
    one = len(names) == 1
    reasons = "; ".join(f"{error.reference} ({error.reason})" for error in absent)
    pulls = " && ".join(f"docker pull --platform linux/{arch} {name}" for name in names)
    return PrerequisiteError(
        f"{'an image is' if one else f'{len(names)} images are'} not on this machine, "
        f"and no registry gives {'it' if one else 'them'}: {reasons}",
        where=where,
        fix=f"either make a registry that has {'it' if one else 'them'} reachable, and repeat; or, "
        f"on a machine that reaches one, `{pulls} && docker save --output images.tar "
        f"{' '.join(names)}`, and then here `memrig image load images.tar` (`docker load --input "
        "images.tar` does as well)",
    )
