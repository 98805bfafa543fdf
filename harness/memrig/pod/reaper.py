"""Removes what pods left behind: at a run's end, at the next start, and in `memrig clean`.

Everything that a pod makes carries its owner (a process of a host) and a lease. An orphan is what
has an owner on this host that is gone, or a lease that has run out. Nothing else is touched.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from memrig.errors import MemrigError
from memrig.pod.docker.engine import Engine, socket_path
from memrig.pod.docker.facts import Listed
from memrig.pod.owner import PREFIX, Owner, process_token
from memrig.pod.proctable import kill, marked, session_members
from memrig.pod.runtime import PROCESS_FILE, PodFolder, list_folders

OrphanKind = Literal["container", "volume", "process", "folder"]
Judge = Callable[[Owner], str | None]

#: A folder without a readable owner is either just being made or broken.
_NAMELESS_AGE_S = 3600.0


@dataclass(frozen=True, slots=True)
class Orphan:
    """Something that a pod left behind.

    Args:
        kind: what it is. Removed in the order container, volume, process, folder.
        name: its name; of a process, its pid.
        run: the run that it belongs to; empty: unknown.
        trial: likewise.
        reason: why it may go.
    """

    kind: OrphanKind
    name: str
    run: str
    trial: str
    reason: str


@dataclass(frozen=True, slots=True)
class CleanReport:
    """What was found, and what became of it.

    Args:
        removed: what is gone now.
        problems: what could not be removed, one sentence each.
        docker: why containers and volumes were not looked for; empty: they were.
    """

    removed: tuple[Orphan, ...] = ()
    problems: tuple[str, ...] = ()
    docker: str = ""


@dataclass(slots=True)
class _Found:
    orphans: list[Orphan] = field(default_factory=list)
    docker: str = ""


async def reap() -> CleanReport:
    """At start-up: removes orphans, but leaves kept pods until their lease ends."""
    return await _remove_all(_orphaned)


async def sweep(run_id: str) -> CleanReport:
    """At a run's end: removes what is left of this process's own pods of the run."""
    mine = (os.getpid(), process_token(os.getpid()))

    def judge(owner: Owner) -> str | None:
        ours = owner.on_this_host and (owner.pid, owner.started) == mine and owner.run == run_id
        return "the run has ended" if ours and not owner.keep else None

    return await _remove_all(judge)


async def clean(all: bool = False) -> CleanReport:  # noqa: A002 - as on the command line
    """For `memrig clean`: removes orphans and kept pods; `all`: pods in use too, of any owner."""
    return await _remove_all((lambda _owner: "all was asked for") if all else _orphaned_or_kept)


def _orphaned(owner: Owner) -> str | None:
    if owner.on_this_host and owner.lives() and not owner.keep:
        return None  # a trial may take longer than any lease; here its owner can be seen
    if owner.expired(time.time()):
        return "its lease has run out"
    return None if owner.keep or owner.lives() else "its owner is gone"


def _orphaned_or_kept(owner: Owner) -> str | None:
    if reason := _orphaned(owner):
        return reason
    return "it was kept for a look" if owner.keep and not owner.lives() else None


async def _remove_all(judge: Judge) -> CleanReport:
    engine, why = _engine()
    try:
        found = await _find(engine, why, judge)
        removed: list[Orphan] = []
        problems: list[str] = []
        # In this order: a volume goes after its containers, a folder after all that it names.
        for kind in ("container", "volume", "process", "folder"):
            orphans = [o for o in found.orphans if o.kind == kind]
            results = await asyncio.gather(
                *(_remove(engine, orphan) for orphan in orphans), return_exceptions=True
            )
            for orphan, result in zip(orphans, results, strict=True):
                if isinstance(result, Exception):
                    problems.append(f"{orphan.kind} {orphan.name}: {result}")
                elif isinstance(result, BaseException):
                    raise result
                else:
                    removed.append(orphan)
        return CleanReport(tuple(removed), tuple(problems), found.docker)
    finally:
        _close(engine)


async def _find(engine: Engine | None, why: str, judge: Judge) -> _Found:
    found = _Found(docker=why)
    if engine is not None:
        try:
            found.orphans += await _find_in(engine, judge)
        except MemrigError as error:
            found.docker = error.message
    found.orphans += await asyncio.to_thread(_find_local, judge)
    return found


async def _find_in(engine: Engine, judge: Judge) -> list[Orphan]:
    label = (PREFIX + "pid",)
    orphans = []
    found: tuple[tuple[OrphanKind, tuple[Listed, ...]], ...] = (
        ("container", await engine.containers(label)),
        ("volume", await engine.volumes(label)),
    )
    for kind, listed in found:
        for item in listed:
            owner = Owner.from_labels(item.labels)
            if owner is not None and (reason := judge(owner)):
                orphans.append(_orphan(kind, item.name, owner, reason))
    return orphans


def _find_local(judge: Judge) -> list[Orphan]:
    orphans = []
    for folder in list_folders():
        owner = folder.owner()
        if owner is None:
            if folder.age_s() > _NAMELESS_AGE_S:
                orphans.append(Orphan("folder", str(folder.path), "", "", "nobody owns it"))
            continue
        if reason := judge(owner):
            orphans += [_orphan("process", str(p), owner, reason) for p in _processes(folder)]
            orphans.append(_orphan("folder", str(folder.path), owner, reason))
    return orphans


def _processes(folder: PodFolder) -> Iterable[int]:
    """What still runs of a process pod: its session, and whatever carries its mark."""
    pids = set(marked(folder.id))
    try:
        note = json.loads((folder.path / PROCESS_FILE).read_text("utf-8"))
        leader, token = int(note["pid"]), str(note["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return sorted(pids)
    if process_token(leader) == token:
        pids |= {leader, *session_members(leader)}
    return sorted(pids)


def _orphan(kind: OrphanKind, name: str, owner: Owner, reason: str) -> Orphan:
    return Orphan(kind, name, owner.run, owner.trial, reason)


async def _remove(engine: Engine | None, orphan: Orphan) -> None:
    match orphan.kind:
        case "container" if engine is not None:
            await engine.remove(orphan.name)
        case "volume" if engine is not None:
            await engine.remove_volume(orphan.name)
        case "process":
            kill([int(orphan.name)])
        case _:
            folder = next((f for f in list_folders() if str(f.path) == orphan.name), None)
            if folder is not None:
                await asyncio.to_thread(folder.remove)


def _engine() -> tuple[Engine | None, str]:
    try:
        return Engine(socket_path()), ""
    except MemrigError as error:
        return None, error.message


def _close(engine: Engine | None) -> None:
    if engine is not None:
        engine.close()
