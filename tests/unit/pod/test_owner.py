"""Who owns a pod, and whether it still lives."""

import os
import subprocess
import sys
from dataclasses import replace

from memrig.pod.owner import Owner, process_token, this_process


def test_labels_can_be_read_back() -> None:
    """What is written on a container names the same owner again."""
    owner = this_process("run", "trial", 60, keep=True)

    assert Owner.from_labels(owner.labels()) == owner


def test_labels_of_something_else_name_no_owner() -> None:
    """A container of another program, or of an image build, is not a pod's."""
    assert Owner.from_labels({"io.memrig.inputs": "sha256:0"}) is None
    assert Owner.from_labels(this_process("r", "t", 60).labels() | {"io.memrig.pid": "x"}) is None


def test_this_process_lives() -> None:
    """The control for the next two."""
    assert this_process("r", "t", 60).lives()


def test_a_later_process_with_the_same_pid_is_another_owner() -> None:
    """The start time tells them apart."""
    assert not replace(this_process("r", "t", 60), started="00000000-1").lives()


def test_an_ended_process_does_not_live() -> None:
    """Its pid is free, or belongs to somebody else."""
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE)
    owner = replace(
        this_process("r", "t", 60), pid=child.pid, started=str(process_token(child.pid))
    )
    before = owner.lives()
    child.communicate(b"\n")

    assert before
    assert not owner.lives()


def test_an_owner_on_another_host_is_taken_to_live() -> None:
    """Only its lease can end its pods."""
    owner = replace(this_process("r", "t", 60), host="elsewhere", pid=1, started="x")

    assert owner.lives()
    assert not owner.on_this_host
    assert owner.expired(owner.lease + 1)
    assert not owner.expired(owner.lease - 1)


def test_a_zombie_does_not_live() -> None:
    """It runs nothing more."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    token = process_token(child)
    os.waitpid(child, 0)

    assert token is None
