"""Docker pods: a doorman that owns a network namespace with no way out, and who shares it."""

from memrig.pod.docker.engine import Engine, socket_path
from memrig.pod.docker.provider import DockerProvider

__all__ = ["DockerProvider", "Engine", "socket_path"]
