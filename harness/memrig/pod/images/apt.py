"""Packages that apt installs in a new Debian root, where debootstrap's choice would not do."""

import asyncio
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from memrig.pod.images.rootsteps import IN_NAMESPACE, run_step
from memrig.pod.images.types import Progress

#: Below /run and /etc of the root; neither gets into an image (`debian`).
_SETTINGS = Path("run", "memrig-apt.conf")
_RESOLVER = Path("etc", "resolv.conf")
#: Keeps packages from starting their services while they are installed.
_POLICY = Path("usr", "sbin", "policy-rc.d")
_ARCHIVES = "var/cache/apt/archives"

_ENTER = f"""
root=$1 archives=$2
shift 2
mount -t proc proc "$root/proc"
mount --bind "$archives" "$root/{_ARCHIVES}"
exec chroot "$root" "$@"
"""
_PROXY = re.compile(r'^Acquire::(?:http|https)::(?:[^\s"]+::)?Proxy "[^"]+";$')


async def install_by_apt(
    root: Path, packages: Sequence[str], archives: Path, say: Progress
) -> None:
    """Installs packages with what they depend on, and nothing that they merely recommend.

    The machine's resolver and apt's proxies hold inside the root meanwhile.

    Args:
        root: what debootstrap made; its `sources.list` says where packages come from.
        archives: where package files are kept for the next time.

    Raises:
        PrerequisiteError: apt-get failed (its last lines are in the message).
    """
    await _lend(root)
    install = ("install", "--yes", "--no-install-recommends", *packages)
    fix = (
        "see that the mirror can be reached, and that [debian] apt in base.toml names packages of "
        "the suite that can be installed together"
    )
    for arguments in (("update", "--error-on=any"), install):
        await run_step(
            f"apt-get {arguments[0]}",
            _entered(root, archives, ("apt-get", "--quiet", *arguments)),
            say,
            fix=fix,
            environment={"APT_CONFIG": f"/{_SETTINGS}"},
        )
    (root / _POLICY).unlink()


def _entered(root: Path, archives: Path, command: Sequence[str]) -> tuple[str, ...]:
    return (*IN_NAMESPACE, "sh", "-euc", _ENTER, "sh", str(root), str(archives), *command)


async def _lend(root: Path) -> None:
    """Puts what apt needs of this machine into the root."""
    # The files are the user's cache, which apt's own user may not write.
    settings = [
        'APT::Sandbox::User "root";',
        'Acquire::Languages "none";',
        'Dpkg::Use-Pty "0";',
        *await _proxies(),
    ]
    (root / _SETTINGS).write_text("\n".join(settings) + "\n")
    (root / _RESOLVER).unlink(missing_ok=True)  # a link in some suites
    own = Path("/") / _RESOLVER
    if own.is_file():
        shutil.copyfile(own, root / _RESOLVER)
    (root / _POLICY).write_text("#!/bin/sh\nexit 101\n")
    (root / _POLICY).chmod(0o755)


async def _proxies() -> list[str]:
    """The proxies in this machine's own configuration of apt, if it has apt."""
    if shutil.which("apt-config") is None:
        return []
    process = await asyncio.create_subprocess_exec(
        "apt-config", "dump",
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    printed, _ = await process.communicate()
    return [line for line in printed.decode("utf-8").splitlines() if _PROXY.match(line)]
