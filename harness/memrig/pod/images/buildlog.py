"""What the classic builder says while it builds, and what to make of a failure. No I/O."""

import re
from collections import deque

from memrig.errors import DataError, MemrigError, PrerequisiteError
from memrig.pod.text import plain_text

_STEP = re.compile(r"^Step \d+/\d+ : .*")
_TAIL_LINES = 15

#: What the daemon says when the image of a FROM step is neither here nor to be had.
_NO_IMAGE = (
    "pull access denied",
    "manifest for",
    "manifest unknown",
    "no such host",
    "no such image",
    "dial tcp",
    "request canceled",
    "tls handshake timeout",
)


class BuildLog:
    """Follows a build's output: which step it is in, and its last lines."""

    def __init__(self) -> None:
        self.step = "before the first step"
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def add(self, text: str) -> tuple[str, ...]:
        """Takes a piece of output; returns its lines, plain and without empty ones."""
        lines = tuple(line for line in plain_text(text).splitlines() if line.strip())
        for line in lines:
            if _STEP.match(line):
                self.step = line
            if not line.lstrip().startswith(("--->", "Removing intermediate container")):
                self._tail.append(line)
        return lines

    @property
    def tail(self) -> str:
        """The last 15 lines that say something, oldest first."""
        return "\n".join(self._tail)

    def failure(self, message: str, *, where: str) -> MemrigError:
        """The error for a build that ended with `message`.

        A base image that cannot be had is the machine's fault (`PrerequisiteError`); all else is
        the Dockerfile's (`DataError`).
        """
        reason = plain_text(message).strip()
        lowered = reason.lower()
        if " : FROM " in self.step and any(sign in lowered for sign in _NO_IMAGE):
            return PrerequisiteError(
                f"the base image is not here and could not be pulled: {reason}",
                where=f"{where}: {self.step}",
                fix="load it (`memrig image load FILE.tar`, `docker load`), make a registry "
                "reachable, or build on memrig's own base: `ARG BASE`, `FROM ${BASE}`",
            )
        tail = f"\nthe last lines of the build:\n{self.tail}" if self._tail else ""
        return DataError(
            f"the build failed: {reason}{tail}",
            where=f"{where}: {self.step}",
            fix="correct this step; it runs without a network: what it installs must come from "
            "requirements.lock (see docs/images.md) or from the folder",
        )
