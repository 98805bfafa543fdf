"""What a check is: a name, a reason, a rule, and a coroutine that finds out."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from memrig.conformance.context import Context
from memrig_proto.v1 import memory_adapter_pb2 as pb

Capabilities = pb.CapabilitiesResponse


@dataclass(frozen=True, slots=True)
class Condition:
    """When a check applies, and what to say when it does not."""

    holds: Callable[[Capabilities], bool]
    otherwise: str


ALWAYS = Condition(lambda _: True, "")


@dataclass(frozen=True, slots=True)
class Check:
    """One black-box check.

    Args:
        id: its name, `group.what-must-be`; stable, so that vendors can point at it.
        title: the rule, one sentence.
        reason: why it matters, one line.
        spec: the section of docs/protocol.md that states the rule.
        condition: which capabilities make it apply.
        slow: left out unless asked for.
        run: finds out; raises `Violation` or `NotApplicable`.
    """

    id: str
    title: str
    reason: str
    spec: str
    condition: Condition
    slow: bool
    run: Callable[[Context], Awaitable[None]]

    def applies(self, capabilities: Capabilities) -> bool:
        """Tells whether an adapter with these capabilities is asked."""
        return self.condition.holds(capabilities)


def check(
    check_id: str, *, reason: str, spec: str, condition: Condition = ALWAYS, slow: bool = False
) -> Callable[[Callable[[Context], Awaitable[None]]], Check]:
    """Makes a coroutine function a `Check`; its docstring is the title."""

    def make(run: Callable[[Context], Awaitable[None]]) -> Check:
        title = " ".join((run.__doc__ or "").split())
        return Check(check_id, title, reason, spec, condition, slow, run)

    return make


def of_search(check: Check) -> Check:
    """The same check, asked only of what can be searched (protocol §4.3)."""
    before = check.condition

    def holds(declared: Capabilities) -> bool:
        return bool(declared.search_modes) and before.holds(declared)

    reasons = ("no search mode is declared", before.otherwise)
    return replace(check, condition=Condition(holds, " or ".join(filter(None, reasons))))
