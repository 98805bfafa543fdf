"""`--distractors`: a stream of other episodes between those of the story, at a chosen ratio.

Everything is drawn from the content of both streams, so that the same input gives the same result
everywhere. Each stream keeps its own order, and each signal episode has as many distractors with
its own timestamp as every other, before and behind it: no time of day, date, gap or company tells
the two apart. (Times of their own would: LENS's signals all come at ten sharp. At a ratio that is
no whole number some signal episodes have one distractor more: ADR 0013.)
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor

from memrig.errors import UsageError
from memrig.model.canonical import derive, digest_of
from memrig.suites.longitudinal_model import Dataset, Scope, StreamEpisode

_FILE_FLAG = "--distractor-file"
#: From here on a number of distractors is told in powers of ten.
_MANY = 1e9


@dataclass(frozen=True, slots=True)
class Mixed:
    """A scope after interleaving, and what a report says of it."""

    scope: Scope
    note: str


def is_signal(scope: Scope) -> list[bool]:
    """Which episodes are signal: all but the marked distractors that no question requires."""
    needed = {name for question in scope.questions for name in question.evidence}
    return [e.kind != "distractor" or e.episode_id in needed for e in scope.episodes]


def distractors_for(scope: Scope, other: Dataset) -> tuple[StreamEpisode, ...]:
    """What another file has to distract from this scope, in time order within each of its scopes.

    Its scope of the same name if there is one, else all of them one behind the other; of these the
    episodes marked as distractors where any are, else all.
    """
    same = [found for found in other.scopes if found.scope_id == scope.scope_id]
    episodes = [episode for found in same or other.scopes for episode in found.episodes]
    marked = [episode for episode in episodes if episode.kind == "distractor"]
    return tuple(marked or episodes)


def interleave(
    scope: Scope, ratio: float | None, stream: Sequence[StreamEpisode] | None = None
) -> Mixed:
    """Puts distractors between the signal episodes, and every question where it belongs.

    A question that came after signal k comes after signal k; of the distractors up to signal k + 1
    a drawn number comes before it, the same for all questions of one checkpoint. So the newest
    episode at a checkpoint is not always one of the story.

    Args:
        scope: as it was read.
        ratio: distractors for each signal episode; none: all that there are.
        stream: where they come from; none: the scope's own.

    Raises:
        UsageError: there are not so many, or one of them is an episode of the story as well.
    """
    marks = is_signal(scope)
    signals = [e for e, mark in zip(scope.episodes, marks, strict=True) if mark]
    own = [e for e, mark in zip(scope.episodes, marks, strict=True) if not mark]
    offered = own if stream is None else list(stream)
    wanted = len(offered) if ratio is None else ratio * len(signals)
    _check(scope, signals, offered, ratio, wanted)
    count = floor(wanted + 0.5)
    names = [[episode.episode_id, episode.text] for episode in (*signals, *offered)]
    chance = random.Random(derive(0, "distractors", scope.scope_id, digest_of(names)))  # noqa: S311
    drawn = sorted(chance.sample(range(len(offered)), len(offered))[:count])
    mixed = _Mix(signals, [offered[n] for n in drawn], chance)
    moved = []
    for question in scope.questions:
        before = sum(marks[: question.checkpoint])
        moved.append(replace(question, checkpoint=mixed.checkpoints[before]))
    of = f" of {len(offered)}" if count < len(offered) else ""
    note = f"{len(signals)} signal episodes, interleaved with {count}{of} distractors"
    return Mixed(
        replace(scope, episodes=mixed.episodes, questions=tuple(moved), as_filed=True), note
    )


def _check(
    scope: Scope,
    signals: Sequence[StreamEpisode],
    offered: Sequence[StreamEpisode],
    ratio: float | None,
    wanted: float,
) -> None:
    where = f"--distractors {ratio:g}" if ratio is not None else _FILE_FLAG
    what = f"scope {scope.scope_id!r} has {len(signals)} signal episodes"
    if not signals:
        fix = "mark the story's episodes as signal (meta.episode_type)"
        raise UsageError(f"{what}: all are marked as distractors", where=where, fix=fix)
    if wanted >= len(offered) + 0.5:  # it may be too large for a whole number
        asked = f"{floor(wanted + 0.5)}" if wanted < _MANY else f"{wanted:g}"
        message = f"{what} and {len(offered) or 'no'} distractors, {asked} were asked for"
        most = floor(len(offered) / len(signals) * 100) / 100
        less = f"give at most {most:g}, or " if most else "leave it out, or "
        raise UsageError(message, where=where, fix=f"{less}give more with {_FILE_FLAG}")
    twice = {e.episode_id for e in signals} & {e.episode_id for e in offered}
    if twice:
        message = f"{min(twice)!r} of scope {scope.scope_id!r} would be its own distractor"
        fix = "give a file whose distractors are marked (meta.episode_type), or other episodes"
        raise UsageError(message, where=_FILE_FLAG, fix=fix)


class _Mix:
    """Both streams in one, evenly spread.

    Every signal episode has its share of the distractors around it, all of one time, and stands
    anywhere among them. At a whole ratio the shares are equal: neither how many have a time nor
    the place among them tells which of them is the story's.

    `checkpoints[k]` is the place of a question that comes after k signal episodes.
    """

    def __init__(
        self,
        signals: Sequence[StreamEpisode],
        distractors: Sequence[StreamEpisode],
        chance: random.Random,
    ) -> None:
        gaps: list[list[StreamEpisode]] = [[] for _ in range(len(signals) + 1)]
        for number, share in enumerate(_shares(distractors, len(signals))):
            stamped = [replace(e, timestamp=signals[number].timestamp) for e in share]
            first = chance.randint(0, len(stamped))
            gaps[number] += stamped[:first]
            gaps[number + 1] += stamped[first:]
        merged: list[StreamEpisode] = []
        self.checkpoints: list[int] = []
        for number, gap in enumerate(gaps):
            merged += signals[number - 1 : number] if number else []
            self.checkpoints.append(len(merged) + chance.randint(0, len(gap)))
            merged += gap
        self.episodes = tuple(merged)


def _shares(
    distractors: Sequence[StreamEpisode], signals: int
) -> Iterator[Sequence[StreamEpisode]]:
    """The distractors of each signal episode: as many of each, give or take one."""
    ends = [len(distractors) * (number + 1) // signals for number in range(signals)]
    for start, end in zip([0, *ends], ends, strict=False):
        yield distractors[start:end]
