"""Black-box checks of an adapter over the contract: `memrig conformance`."""

from memrig.conformance.catalogue import CHECKS, choose
from memrig.conformance.check import Check
from memrig.conformance.model import CheckResult, ConformanceReport
from memrig.conformance.progress import Progress
from memrig.conformance.runner import run_conformance

__all__ = [
    "CHECKS",
    "Check",
    "CheckResult",
    "ConformanceReport",
    "Progress",
    "choose",
    "run_conformance",
]
