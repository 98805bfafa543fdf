"""Whether anything but what a document says tells a story's episodes from distractors.

Each feature ranks the episodes; its area under the ROC curve (Mann and Whitney 1947) is 0.5 where
it tells nothing and 1 where it tells all. Among few episodes chance alone moves it: its standard
error without any difference is sqrt((m + n + 1) / (12 m n)), and a feature may lie 3.3 of them off
(p = 0.001) even where that is beyond the spec's limit.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import sqrt

from memrig.generation.model import Draft, Finding, PlannedEpisode
from memrig.generation.spec import Spec
from memrig.generation.validators.base import View

#: How many standard errors off 0.5 chance may bring a feature.
ERRORS = 3.3
_HEXADECIMAL = "0123456789abcdef"
_HEADING = re.compile(r"^#+ ", re.MULTILINE)
_FIGURE = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
_FRACTION = re.compile(r"\d\.\d")
#: What the shape of a sheet decides, and no seed changes.
_SHAPE = ("headings", "figures", "figures with a fraction", "percent signs")

_SHAPE_FIX = "give themes as many series, sections, limits, decimals and % as the story has"

#: One number an episode of the stream.
Feature = Sequence[float]


class Separability:
    """Implements `Validator`."""

    name = "separability"
    reason = "a memory or an agent could find the story without reading it"

    def limit(self, spec: Spec) -> str:
        """See `Validator`."""
        return (
            f"AUC at most {spec.thresholds.separability:g}, or {ERRORS:g} standard errors from 0.5;"
            " ids of one pattern; unique times in order"
        )

    def check(self, draft: Draft) -> Iterator[Finding]:
        """See `Validator`."""
        yield from self._exact(draft.plan.episodes)
        signal = [episode.kind == "signal" for episode in draft.plan.episodes]
        if all(signal) or not any(signal):
            return
        most = bound(draft.plan.spec.thresholds.separability, sum(signal), signal.count(False))
        for name, feature in features(draft).items():
            if (area := auc(feature, signal)) > most:
                yield Finding(
                    self.name,
                    name,
                    f"it tells the story's episodes from distractors with an AUC of {area:.2f}, "
                    f"expected at most {most:.2f}",
                    _SHAPE_FIX if name in _SHAPE else "take another seed",
                )

    def _exact(self, episodes: Sequence[PlannedEpisode]) -> Iterator[Finding]:
        patterns = Counter(pattern(episode.episode_id) for episode in episodes)
        if len(patterns) > 1:
            message = f"they have {len(patterns)} patterns ({', '.join(sorted(patterns))}), "
            fix = "give every episode an id of the same length and characters"
            yield Finding(self.name, "episode ids", f"{message}expected one", fix)
        if len({episode.episode_id for episode in episodes}) < len(episodes):
            fix = "give each episode an id of its own"
            yield Finding(self.name, "episode ids", "an id stands twice", fix)
        for one, other in pairwise(episodes):
            if one.timestamp >= other.timestamp:
                yield Finding(
                    self.name,
                    f"episode {other.episode_id}",
                    f"its time {other.timestamp.isoformat()} is not after {one.episode_id}'s",
                    "give each episode a time of its own, in the order of the stream",
                )


def bound(limit: float, signals: int, distractors: int) -> float:
    """The limit, or what chance may bring among so few episodes."""
    error = sqrt((signals + distractors + 1) / (12 * signals * distractors))
    return max(limit, 0.5 + ERRORS * error)


def auc(feature: Feature, signal: Sequence[bool]) -> float:
    """The area under the ROC curve, in whichever direction it is larger; ties count half."""
    ranks = _ranks(feature)
    own = sum(rank for rank, is_signal in zip(ranks, signal, strict=True) if is_signal)
    m = sum(signal)
    n = len(signal) - m
    area = (own - m * (m + 1) / 2) / (m * n)
    return max(area, 1 - area)


def _ranks(values: Feature) -> list[float]:
    """Ranks from 1, the mean rank for equal values."""
    order = sorted(range(len(values)), key=lambda place: values[place])
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for place in order[start:end]:
            ranks[place] = (start + 1 + end) / 2
        start = end
    return ranks


def pattern(episode_id: str) -> str:
    """An id's shape: every hexadecimal character after the first `-` as x, all else as it is."""
    head, dash, tail = episode_id.partition("-")
    shape = "".join("x" if character in _HEXADECIMAL else character for character in tail)
    return f"{head}{dash}{shape}"


def features(draft: Draft) -> dict[str, Feature]:
    """All features by name."""
    episodes, view = draft.plan.episodes, View(draft)
    texts = [view.text(episode) for episode in episodes]
    found: dict[str, Feature] = {
        name: [of(episode) for episode in episodes] for name, of in _OF_EPISODES.items()
    }
    found |= {name: [of(text) for text in texts] for name, of in _OF_TEXTS.items()}
    stamps = [episode.timestamp.timestamp() for episode in episodes]
    gaps = [later - earlier for earlier, later in pairwise(stamps)]
    found["time since the episode before"] = [gaps[0], *gaps] if gaps else [0.0]
    found["time to the episode after"] = [*gaps, gaps[-1]] if gaps else [0.0]
    ids = sorted(episode.episode_id for episode in episodes)
    found["order of the ids"] = [float(ids.index(episode.episode_id)) for episode in episodes]
    found["place in the stream"] = [float(place) for place in range(len(episodes))]
    return found | _cycles(episodes)


def _cycles(episodes: Sequence[PlannedEpisode]) -> dict[str, Feature]:
    """What comes round: days of the week, and every second, third, fourth … place."""
    found: dict[str, Feature] = {
        f"weekday {day}": [float(episode.timestamp.weekday() == day) for episode in episodes]
        for day in range(7)
    }
    distractors = sum(episode.kind == "distractor" for episode in episodes)
    usual = round(len(episodes) / max(1, len(episodes) - distractors))
    for cycle in sorted({2, usual}):
        for rest in range(cycle):
            marks = [float(place % cycle == rest) for place in range(len(episodes))]
            found[f"every place that leaves {rest} of {cycle}"] = marks
    return found


_OF_EPISODES: dict[str, Callable[[PlannedEpisode], float]] = {
    "hour": lambda episode: float(episode.timestamp.hour),
    "minute": lambda episode: float(episode.timestamp.minute),
    "second": lambda episode: float(episode.timestamp.second),
    "microsecond": lambda episode: float(episode.timestamp.microsecond),
    "length of the id": lambda episode: float(len(episode.episode_id)),
    "digits in the id": lambda episode: float(sum(map(str.isdigit, episode.episode_id))),
}
_OF_TEXTS: dict[str, Callable[[str], float]] = {
    "words": lambda text: float(len(text.split())),
    "characters": lambda text: float(len(text)),
    "lines": lambda text: float(text.count("\n")),
    "headings": lambda text: float(len(_HEADING.findall(text))),
    "figures": lambda text: float(len(_FIGURE.findall(text))),
    "figures with a fraction": lambda text: float(len(_FRACTION.findall(text))),
    "percent signs": lambda text: float(text.count("%")),
}
