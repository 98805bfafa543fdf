"""What the Docker SDK raises, in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from docker.errors import DockerException, ImageLoadError
from requests.exceptions import RequestException

from memrig.errors import InfrastructureError


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
