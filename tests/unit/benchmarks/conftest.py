"""The benchmarks are no package that is installed: the checkout goes on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3]))
