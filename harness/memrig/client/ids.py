"""Opaque ids outward, real ids inward (architecture §2).

An opaque id is an HMAC of the real one, keyed by seed and scenario digest: it carries no label, and
is the same for every memory system and at every rebuild.
"""

import hmac
from hashlib import sha256

_HEX_DIGITS = 24  # 96 bits: no collision among millions of ids


class Pseudonyms:
    """The two-way map of one scenario's ids.

    Only what was sent can be revealed: an adapter cannot name an id it has not been given.
    """

    def __init__(self, seed: int, scenario_digest: str) -> None:
        self._key = f"memrig/{seed}/{scenario_digest}".encode()
        self._real: dict[str, str] = {}
        self._acknowledged: set[str] = set()
        self._turns_of: dict[str, tuple[str, ...]] = {}

    def _hide(self, kind: str, real: str) -> str:
        mac = hmac.new(self._key, f"{kind}\x1f{real}".encode(), sha256)
        opaque = f"{kind}_{mac.hexdigest()[:_HEX_DIGITS]}"
        self._real[opaque] = real
        return opaque

    def episode(self, real: str, turns: tuple[str, ...] = ()) -> str:
        """The opaque id of an episode that is about to be sent, with its turns' opaque ids."""
        opaque = self._hide("e", real)
        self._turns_of[opaque] = turns
        return opaque

    def turn(self, real: str) -> str:
        """The opaque id of a turn that is about to be sent."""
        return self._hide("t", real)

    def acknowledge(self, opaque: str) -> str | None:
        """Marks an episode as acknowledged; returns its real id, or None for an unknown one."""
        real = self._real.get(opaque)
        if real is not None and opaque.startswith("e_"):
            self._acknowledged.add(opaque)
            self._acknowledged.update(self._turns_of.pop(opaque, ()))
            return real
        return None

    def source_episode(self, opaque: str) -> str | None:
        """The real id behind an episode that is claimed as a source.

        None if the claim is void: not the id of an episode that was acknowledged.
        """
        return self._source("e_", opaque)

    def source_turn(self, opaque: str) -> str | None:
        """The real id behind a turn that is claimed as a source.

        None if the claim is void: not the id of a turn of an episode that was acknowledged.
        """
        return self._source("t_", opaque)

    def _source(self, kind: str, opaque: str) -> str | None:
        known = opaque.startswith(kind) and opaque in self._acknowledged
        return self._real[opaque] if known else None

    def real(self, opaque: str) -> str:
        """The real id of something that was sent, acknowledged or not."""
        return self._real[opaque]
