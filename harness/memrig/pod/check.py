"""One thing that a pod needs of the machine, as `memrig doctor` shows it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    """A fact about the machine.

    Args:
        name: what was looked at.
        ok: whether pods can have what they need of it.
        value: what was found.
        fix: the next step where `ok` is False.
        needed: False for what only a part of the rig's use needs.
    """

    name: str
    ok: bool
    value: str
    fix: str = ""
    needed: bool = True
