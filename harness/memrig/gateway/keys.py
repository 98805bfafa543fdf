"""What names an exchange: the request and the place it was made from, never who asked."""

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from memrig.gateway.identity import MEMORY
from memrig.gateway.jsons import Json
from memrig.gateway.wire.base import Format, without_stream_flags
from memrig.model.canonical import canonical_json
from memrig.model.chat import CallContext


@dataclass(frozen=True, slots=True)
class Key:
    """One exchange's names.

    Args:
        exact: of this very call.
        same: of all calls with the same request, seed, attempt and vote, wherever they were made.
        request: of the request alone.
        canonical: the request's canonical JSON, without what asks for a stream.
        occurrence: which of the identical calls within a scope, counted from 0.
    """

    exact: str
    same: str
    request: str
    canonical: bytes
    occurrence: int


class Keys:
    """Names exchanges, and counts identical ones: a memory's own by its trial."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, str]] = Counter()
        self._memories: dict[str, Counter[tuple[str, str]]] = {}

    def begin(self, trial_id: str) -> None:
        """Another attempt at a trial: its memory system asks from the beginning again."""
        self._memories.pop(trial_id, None)

    def _counter(self, context: CallContext) -> Counter[tuple[str, str]]:
        if context.purpose != MEMORY:
            return self._seen
        return self._memories.setdefault(context.trial_id, Counter())

    def name(
        self, wire: Format, body: Json, headers: Mapping[str, str], context: CallContext
    ) -> Key:
        """The names of the next call like this one. `headers` are those a reply depends on.

        Raises:
            TypeError: the body holds what canonical JSON does not have.
        """
        asked: dict[str, object] = {"format": wire, "request": without_stream_flags(body)}
        if headers:
            asked["headers"] = dict(headers)
        canonical = canonical_json(asked)
        # The request goes in by its hash: it can be long, and is hashed once.
        request = hashlib.sha256(canonical).hexdigest()
        place: dict[str, object] = {
            "request": request,
            "seed": context.seed,
            "attempt": context.attempt,
            "vote": context.vote,
        }
        same = _digest(place)
        seen = self._counter(context)
        occurrence = seen[same, context.scope]
        seen[same, context.scope] += 1
        exact = _digest(place | {"scope": context.scope, "occurrence": occurrence})
        return Key(exact, same, request, canonical, occurrence)


def _digest(value: object) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()
