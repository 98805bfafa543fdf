"""What apt installs in a new root: what it is lent, what it is told, and how it fails.

A program in the place of `unshare` stands for the root, which takes root and a mirror to enter.
"""

import asyncio
import os
from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError
from memrig.pod.images.apt import install_by_apt
from memrig.pod.images.rootsteps import run_step

CONFIG = """
Acquire "";
Acquire::http::Proxy "http://proxy.example:3142";
Acquire::https::proxy.example::Proxy "DIRECT";
Acquire::http::Proxy-Auto-Detect "/usr/bin/find-proxy";
Acquire::Retries "3";
APT::Architecture "riscv64";
"""


def program(folder: Path, name: str, script: str) -> None:
    """Puts a shell script where commands are looked for."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def commands(tmp_path, monkeypatch) -> Path:
    """A folder of programs found before any other."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    program(folder, "apt-config", f"cat <<'END'\n{CONFIG}\nEND")
    return folder


@pytest.fixture
def root(tmp_path) -> Path:
    """What debootstrap leaves, as far as it counts here. Its resolver is a link to nowhere."""
    root = tmp_path / "root"
    for name in ("run", "etc", "usr/sbin"):
        (root / name).mkdir(parents=True)
    (root / "etc" / "resolv.conf").symlink_to("../run/gone/resolv.conf")
    return root


def install(root: Path, *packages: str) -> list[str]:
    """Installs packages in the root; returns what was said."""
    said: list[str] = []
    asyncio.run(install_by_apt(root, packages, root.parent / "archives", said.append))
    return said


def test_lists_are_fetched_then_packages_installed(root, commands):
    """In a namespace of their own, without what is merely recommended."""
    program(commands, "unshare", 'echo "$@" | tail -n 1')
    update, installed = install(root, "golang-go", "g++")
    assert update.endswith(f"{root} {root.parent}/archives apt-get --quiet update --error-on=any")
    assert installed.endswith("apt-get --quiet install --yes --no-install-recommends golang-go g++")


def test_apt_goes_through_the_machines_proxies(root, commands):
    """Its proxies and no other setting: a program that finds one is not in the root."""
    program(commands, "unshare", f'test "$APT_CONFIG" = /run/memrig-apt.conf && cat {root}/run/*')
    said = install(root, "golang-go")
    assert [line for line in said if "Proxy" in line][:2] == [
        'Acquire::http::Proxy "http://proxy.example:3142";',
        'Acquire::https::proxy.example::Proxy "DIRECT";',
    ]
    assert not any(word in line for line in said for word in ("Detect", "Retries", "riscv64"))


def test_names_are_found_as_on_the_machine(root, commands):
    """A link of the root's own is replaced."""
    program(commands, "unshare", f"test ! -L {root}/etc/resolv.conf; cat {root}/etc/resolv.conf")
    said = install(root, "golang-go")
    own = Path("/etc/resolv.conf").read_text("utf-8").splitlines()
    assert said == [*own, *own]


def test_no_service_starts_while_it_is_installed(root, commands):
    """A policy forbids it, and is gone afterwards."""
    program(commands, "unshare", f'{root}/usr/sbin/policy-rc.d; echo "policy $?"')
    assert install(root, "postgresql") == ["policy 101", "policy 101"]
    assert list((root / "usr" / "sbin").iterdir()) == []


def test_a_failure_names_the_command_its_last_lines_and_the_key(root, commands):
    """What was printed long before is left out."""
    script = (
        'case "$*" in *install*) seq 40; echo "E: Unable to locate package nope"; exit 100; esac'
    )
    program(commands, "unshare", script)
    with pytest.raises(PrerequisiteError) as failed:
        install(root, "nope")
    assert failed.value.message.startswith("apt-get install ended with 100; its last lines:\n27\n")
    assert failed.value.message.endswith("E: Unable to locate package nope")
    assert "[debian] apt in base.toml" in failed.value.fix


def test_a_machine_without_apt_has_no_proxies_of_it(root, commands, monkeypatch):
    """debootstrap runs on other distributions too."""
    program(commands, "unshare", f"/bin/cat {root}/run/*")
    monkeypatch.setenv("PATH", str(commands))
    (commands / "apt-config").unlink()
    assert not any("Proxy" in line for line in install(root, "golang-go"))


def test_a_command_that_is_given_up_is_ended():
    """So that nothing writes into a root that is being removed."""

    async def scenario() -> int:
        said: asyncio.Queue[str] = asyncio.Queue()
        command = ("sh", "-c", "echo $$; exec sleep 60")
        step = asyncio.create_task(run_step("sh", command, said.put_nowait, fix=""))
        pid = int(await said.get())
        step.cancel()
        with pytest.raises(asyncio.CancelledError):
            await step
        return pid

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(scenario()), 0)
