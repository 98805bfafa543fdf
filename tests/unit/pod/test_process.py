"""A process pod's pieces: its environment, its launcher, its log."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError, UsageError
from memrig.model.manifest import AdapterRef, parse_manifest
from memrig.pod import launcher
from memrig.pod.base import PodRequest
from memrig.pod.logfile import CappedLog, tail
from memrig.pod.process import clean_environment, find_program, process_command
from memrig.pod.runtime import PodFolder

FOLDER = PodFolder(Path("/run/pods/abcd"))


def launch(*command: str, parent: int | None = None, data: int = 1 << 32) -> tuple[int, str]:
    """Runs a command through the launcher; its exit code and output."""
    limits = (os.getpid() if parent is None else parent, data, 64, 1 << 20)
    done = subprocess.run(
        [sys.executable, "-I", "-S", launcher.__file__, *map(str, limits), *command],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def python(source: str) -> tuple[str, ...]:
    return sys.executable, "-S", "-c", source


def test_nothing_of_our_environment_goes_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """PATH and LANG are all that is taken from it."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("PYTHONPATH", "/mine")

    made = clean_environment(FOLDER, {"MODE": "fast"}, None)

    assert set(made) == {
        *("PATH", "LANG", "HOME", "TMPDIR", "PYTHONHASHSEED", "VIRTUAL_ENV"),
        *("MODE", "MEMRIG_LISTEN", "MEMRIG_POD"),
    }
    assert "sk-secret" not in str(made)


def test_the_rig_s_variables_win_over_the_manifest_s() -> None:
    """The manifest cannot move the socket or the gateway."""
    made = clean_environment(FOLDER, {"MEMRIG_LISTEN": "x", "MEMRIG_LLM_BASE_URL": "x"}, "http://g")

    assert made["MEMRIG_LISTEN"] == f"unix:{FOLDER.adapter_socket}"
    assert made["MEMRIG_LLM_BASE_URL"] == "http://g"


def test_commands_of_our_own_environment_come_first() -> None:
    """`python` is the rig's own interpreter, whatever PATH says."""
    assert Path(find_program("python")).parent == Path(sys.executable).parent


def test_a_command_that_is_nowhere_names_where_it_was_looked_for() -> None:
    """And the fix."""
    with pytest.raises(PrerequisiteError, match="no-such-program") as failure:
        find_program("no-such-program")
    assert failure.value.fix


def test_an_adapter_without_a_process_section_needs_docker() -> None:
    """The message names the section."""
    manifest = parse_manifest('name="x"\nversion="1"\n[image]\nbuild="."', "test")
    adapter = AdapterRef(name="x", version="1", pod="process", manifest=manifest)
    with pytest.raises(UsageError, match=r"\[process\]"):
        process_command(PodRequest(adapter, "r", "t"))


def test_the_launcher_sets_limits_and_becomes_the_command() -> None:
    """Core, data, open files and file size, as given."""
    names = ("RLIMIT_CORE", "RLIMIT_DATA", "RLIMIT_NOFILE", "RLIMIT_FSIZE")
    source = f"import resource as r; print([r.getrlimit(getattr(r, n))[0] for n in {names!r}])"

    assert launch(*python(source)) == (0, f"[0, {1 << 32}, 64, {1 << 20}]\n")


def test_the_data_limit_holds() -> None:
    """More memory than allowed is a MemoryError; the control: a little is not."""
    assert launch(*python("x = bytearray(1 << 20)"), data=1 << 28)[0] == 0
    code, output = launch(*python("x = bytearray(1 << 29)"), data=1 << 28)
    assert (code, "MemoryError" in output) == (1, True)


def test_the_launcher_does_not_outlive_a_parent_that_is_gone() -> None:
    """If the rig ended before the kernel was asked, the command does not start."""
    assert launch(*python("print('ran')"), parent=1) == (launcher.EXIT_ORPHAN, "")


def test_a_command_that_cannot_run_exits_127() -> None:
    """And says so in the log."""
    code, output = launch("/no/such/program")

    assert code == launcher.EXIT_NO_COMMAND
    assert "/no/such/program: No such file" in output


def test_the_limits_of_this_process_are_untouched() -> None:
    """They are set in the child, not here."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    launch(*python(""))

    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_a_log_keeps_its_end_within_its_cap(tmp_path: Path) -> None:
    """Two files of the cap at most, and the last line is in them."""
    log = CappedLog(tmp_path / "log", max_bytes=100_000)
    with os.fdopen(os.dup(log.write_end), "wb") as pipe:
        for number in range(60_000):
            pipe.write(b"line %d\n" % number)
    log.close()

    assert sum(p.stat().st_size for p in tmp_path.iterdir()) <= 2 * 100_000
    assert tail(tmp_path / "log", 2) == "line 59998\nline 59999"


def test_the_tail_of_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    """Reading a log never hides the error it would explain."""
    assert tail(tmp_path / "log", 10) == ""
