"""Shared fixtures. `tests/` itself is on the path, so that tests can say `from support.x import y`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
