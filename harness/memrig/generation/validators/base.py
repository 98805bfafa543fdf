"""What every validator is: a name, why it is there, and a check of a rendered draft."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from memrig.generation.model import Draft, Finding, PlannedEpisode, PlannedQuestion
from memrig.generation.spec import Spec


class Validator(Protocol):
    """One demand on a draft. A draft with a finding is not written.

    Args:
        name: as findings and provenance name it.
        reason: why a dataset that fails it would measure something else.
    """

    name: str
    reason: str

    def limit(self, spec: Spec) -> str:
        """The limit that holds for a scope, as provenance names it."""

    def check(self, draft: Draft) -> Iterator[Finding]:
        """Every way in which the draft falls short."""


@dataclass(frozen=True, slots=True)
class View:
    """A draft with what several validators look up in it."""

    draft: Draft

    def signals(self) -> dict[int, PlannedEpisode]:
        """The story's episodes by number."""
        episodes = self.draft.plan.episodes
        return {episode.number: episode for episode in episodes if episode.kind == "signal"}

    def positions(self) -> dict[str, int]:
        """Places in the stream from 1, by episode id."""
        return {e.episode_id: place for place, e in enumerate(self.draft.plan.episodes, start=1)}

    def until(self, question: PlannedQuestion) -> tuple[PlannedEpisode, ...]:
        """The stream up to a question's checkpoint."""
        return self.draft.plan.episodes[: question.checkpoint_after]

    def text(self, episode: PlannedEpisode) -> str:
        """An episode's document."""
        return self.draft.texts[episode.episode_id]


def episode_place(episode: PlannedEpisode) -> str:
    """How findings name an episode, by what its spec's author knows of it."""
    day = episode.timestamp.date().isoformat()
    return f"{episode.kind} episode {episode.number} ({episode.phase}, {day})"
