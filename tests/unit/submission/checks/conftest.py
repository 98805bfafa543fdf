"""The evidence of small real runs, for all of these tests."""

from support.evidence import answered, good
from support.happened import agent, judged, native, read, searched

__all__ = ["agent", "answered", "good", "judged", "native", "read", "searched"]
