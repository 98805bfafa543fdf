"""What is made of the builder's output when a build fails."""

import pytest

from memrig.errors import DataError, PrerequisiteError
from memrig.pod.images.buildlog import BuildLog


def _log(*texts: str) -> BuildLog:
    log = BuildLog()
    for text in texts:
        log.add(text)
    return log


def test_the_failing_step_is_named() -> None:
    """The error's place is the Dockerfile and the step that was under way."""
    log = _log("Step 1/3 : FROM x\n", " ---> 12\n", "Step 2/3 : RUN make\n", "make: no rule\n")
    error = log.failure("The command '/bin/sh -c make' returned a non-zero code: 2", where="D")
    assert isinstance(error, DataError)
    assert error.where == "D: Step 2/3 : RUN make"
    assert "non-zero code: 2" in error.message
    assert "make: no rule" in error.message


def test_the_last_fifteen_lines_are_kept() -> None:
    """A long build's error holds its last 15 lines, and none of the builder's own arrows."""
    log = _log("Step 1/1 : RUN x\n", *(f"line {n}\n" for n in range(40)), " ---> abc\n")
    assert log.tail.splitlines() == [f"line {n}" for n in range(25, 40)]


def test_control_sequences_are_removed() -> None:
    """A build's output cannot steer the reader's terminal."""
    log = BuildLog()
    assert log.add("\x1b[31mred\x1b[0m\x1b]0;title\x07\r\nnext\n") == ("red", "next")
    error = log.failure("\x1b[2Jgone", where="D")
    assert "\x1b" not in str(error)


# As Docker 20.10 worded them on a machine where no registry answers.
NO_BASE = [
    'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
    "pull access denied for nope, repository does not exist or may require 'docker login'",
    "manifest for python:9 not found: manifest unknown: manifest unknown",
]


@pytest.mark.parametrize("message", NO_BASE)
def test_a_base_that_cannot_be_had_is_the_machines_fault(message: str) -> None:
    """A FROM that fails for want of a registry is a missing prerequisite, with the ways out."""
    error = _log("Step 1/2 : FROM python:9\n").failure(message, where="D")
    assert isinstance(error, PrerequisiteError)
    assert "memrig image load" in error.fix


@pytest.mark.parametrize("message", NO_BASE)
def test_the_same_words_from_another_step_are_the_dockerfiles_fault(message: str) -> None:
    """A RUN that wants a network fails as the Dockerfile's own mistake."""
    log = _log("Step 1/2 : FROM here\n", "Step 2/2 : RUN curl\n")
    assert isinstance(log.failure(message, where="D"), DataError)


def test_a_dockerfile_that_does_not_parse_has_no_step() -> None:
    """An error before the first step says so instead of inventing one."""
    error = BuildLog().failure("dockerfile parse error line 1: unknown instruction", where="D")
    assert isinstance(error, DataError)
    assert error.where == "D: before the first step"
