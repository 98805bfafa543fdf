"""What is said while the checks run: they take minutes on a slow memory."""

import time
from collections.abc import Callable

from memrig.conformance.model import CheckResult
from memrig.conformance.verdict import show

#: How often at the most it is said how far the checks are, seconds.
EVERY_S = 15.0
_WORDS = {"failed": "failed", "error": "broke"}


class Progress:
    """Says which checks did not pass, as they come, and now and then how many are done.

    Args:
        checks: how many will run.
        say: takes one line.
        clock: seconds, from any origin.
    """

    def __init__(
        self, checks: int, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._checks = checks
        self._say = say
        self._clock = clock
        self._done = 0
        self._counted_at = clock()

    def __call__(self, result: CheckResult) -> None:
        """Takes a result."""
        self._done += 1
        if word := _WORDS.get(result.status):
            self._say(f"{word}: {result.id}: {show(result.message)}")
        now = self._clock()
        if self._done < self._checks and now - self._counted_at >= EVERY_S:
            self._counted_at = now
            self._say(f"{self._done} of {self._checks} checks")
