"""memrig: a test rig for AI memory systems.

The whole public API is here; `docs/api.md` shows it in use. Names are loaded at first use, so that
a small part of the package (the launcher of a process pod) does not pay for all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from memrig._version import __version__

if TYPE_CHECKING:
    from memrig.api import Watch, arun, compare, plan, run, runs_of, score
    from memrig.errors import MemrigError
    from memrig.report.compare_model import Comparison
    from memrig.report.model import Report
    from memrig.runs.config import RunConfig

_HOMES = {
    "Comparison": "memrig.report.compare_model",
    "MemrigError": "memrig.errors",
    "Report": "memrig.report.model",
    "RunConfig": "memrig.runs.config",
    "Watch": "memrig.api",
    "arun": "memrig.api",
    "compare": "memrig.api",
    "plan": "memrig.api",
    "run": "memrig.api",
    "runs_of": "memrig.api",
    "score": "memrig.api",
}

__all__ = [
    "Comparison",
    "MemrigError",
    "Report",
    "RunConfig",
    "Watch",
    "__version__",
    "arun",
    "compare",
    "plan",
    "run",
    "runs_of",
    "score",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        message = f"module 'memrig' has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(_HOMES[name]), name)
