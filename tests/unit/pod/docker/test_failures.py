"""Whose fault an engine's message is. The texts were captured from real daemons."""

import pytest

from memrig.pod.docker.failures import classify

_SHIM = "failed to create shim task: OCI runtime create failed: runc create failed: "
_START = f"{_SHIM}unable to start container process: "

ADAPTER = [
    (400, f'{_START}exec: "no-such-program": executable file not found in $PATH: unknown'),
    (400, f'{_START}exec: "/no/such": stat /no/such: no such file or directory: unknown'),
    (400, f'{_START}exec: "/etc/passwd": permission denied: unknown'),
    (
        400,
        (
            "OCI runtime exec failed: exec failed: unable to start container process: exec: "
            '"nosuch": executable file not found in $PATH: unknown'
        ),
    ),
    (
        400,
        (
            "OCI runtime create failed: container_linux.go:380: starting container process caused: "
            'exec: "x": executable file not found in $PATH: unknown'
        ),
    ),
    (500, "unable to find user nosuchuser: no matching entries in passwd file"),
    (500, "Cannot mkdir: /etc/passwd is not a directory"),
]

PREREQUISITE = [
    (404, "No such image: sha256:" + "0" * 64),
    (
        400,
        'invalid mount config for type "bind": bind source path does not exist: /no/such/dir',
    ),
]

MISSING = [
    (404, "No such container: nosuchc"),
    (404, "get nosuchv: no such volume"),
]

INFRASTRUCTURE = [
    (None, "Connection aborted."),
    (500, "write /var/lib/docker/tmp/x: no space left on device"),
    (500, "OCI runtime exec failed: exec failed: cannot exec in a stopped container: unknown"),
    (500, "cannot exec in a deleted state: unknown"),
    (409, "Container 1e9e26299440 is not running"),
    (400, "Minimum memory limit allowed is 6MB"),
    (500, "Decoding seccomp profile failed: invalid character '/' looking for value"),
    # Look alike, and must not be put on the adapter:
    (500, f"{_SHIM}runc did not terminate successfully: exit status 137: unknown"),
    (500, f"{_SHIM}error creating cgroup: permission denied: unknown"),
    (500, "error while mounting volume: no such file or directory"),
    (500, 'exec: "mount.nfs": executable file not found in $PATH'),
]


@pytest.mark.parametrize(("status", "text"), ADAPTER)
def test_a_command_that_cannot_run_is_the_adapters_fault(status: int, text: str) -> None:
    """Its image or manifest names what is not there."""
    assert classify(status, text) == "adapter"


@pytest.mark.parametrize(("status", "text"), PREREQUISITE)
def test_what_the_user_can_supply_is_a_prerequisite(status: int, text: str) -> None:
    """An image, or a folder that Docker can see."""
    assert classify(status, text) == "prerequisite"


@pytest.mark.parametrize(("status", "text"), MISSING)
def test_what_is_not_there_is_missing(status: int, text: str) -> None:
    """So that removing it twice is no error."""
    assert classify(status, text) == "missing"


@pytest.mark.parametrize(("status", "text"), INFRASTRUCTURE)
def test_all_else_is_never_put_on_the_adapter(status: int | None, text: str) -> None:
    """Disk, memory, the engine's own state, a broken connection: may be retried."""
    assert classify(status, text) == "infrastructure"
