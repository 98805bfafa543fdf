"""What the checks let a memory remember: plain facts, each with a number that nothing else has.

The sentences read like data on purpose: a system that extracts facts with a model has to keep them
too. Names and numbers differ from check to check, so that leftovers of one cannot pass for
another's.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from google.protobuf.timestamp_pb2 import Timestamp

from memrig_proto.v1 import memory_adapter_pb2 as pb

_NAMES = """
Adela accordion, Bruno binoculars, Carmen compass, Dario drum, Edith easel, Fabian fishing-rod,
Greta gramophone, Hakim hammock, Ilona icebox, Jorge jigsaw, Katrin kettle, Leopold lantern,
Mirela microscope, Nikolai necklace, Odette oboe, Pascal parasol, Quentin quilt, Renata racket,
Soren saddle, Tamara telescope, Ulrich umbrella, Viola violin, Wendell wheelbarrow,
Ximena xylophone, Yannick yoke, Zelda zither
"""
_PEOPLE, _THINGS = zip(*(pair.split() for pair in _NAMES.split(",")), strict=True)


@dataclass(frozen=True, slots=True)
class Fact:
    """An episode's text, a question that it answers, and the number by which to know it again."""

    episode_id: str
    text: str
    query: str
    marker: str

    def episode(
        self, timestamp: datetime | None = None, metadata: Mapping[str, str] | None = None
    ) -> pb.Episode:
        """The fact as an episode."""
        return pb.Episode(
            episode_id=self.episode_id,
            timestamp=None if timestamp is None else stamp(timestamp),
            text=self.text,
            media_type="text/plain",
            metadata=metadata,
        )

    def told_by(self, hit: pb.Hit) -> bool:
        """Tells whether a hit is this fact: it names the episode, or its text holds the number."""
        return self.episode_id in hit.source_episode_ids or self.marker in re.findall(
            r"\d+", hit.text
        )


def facts(purpose: str, count: int, start: int = 0) -> list[Fact]:
    """The facts number `start` to `start + count` of a purpose, the same at every call."""
    return [_fact(purpose, n) for n in range(start, start + count)]


def _fact(purpose: str, number: int) -> Fact:
    digest = int(sha256(purpose.encode()).hexdigest(), 16)
    lap, place = divmod(number + digest % 97, len(_PEOPLE))
    person = _PEOPLE[place]
    thing = _THINGS[(place + lap * 7 + digest % 23) % len(_THINGS)]
    marker = str(10_000_000 + digest % 80_000 * 1000 + number)
    return Fact(
        episode_id=opaque_id("e", f"{purpose}/{number}"),
        text=f"{person} keeps the {thing} in locker {marker}.",
        query=f"In which locker does {person} keep the {thing}?",
        marker=marker,
    )


def opaque_id(kind: str, name: str) -> str:
    """An id of the shape that the rig sends."""
    return f"{kind}_{sha256(name.encode()).hexdigest()[:24]}"


def stamp(moment: datetime) -> Timestamp:
    """A wire timestamp."""
    result = Timestamp()
    result.FromDatetime(moment)
    return result


def find(fact: Fact, hits: Sequence[pb.Hit]) -> pb.Hit | None:
    """The first hit that tells the fact."""
    return next((hit for hit in hits if fact.told_by(hit)), None)
