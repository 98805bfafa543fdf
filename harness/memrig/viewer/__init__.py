"""`memrig view`: a local page over a folder of runs. Loopback only, read only (docs/viewer.md)."""

from memrig.viewer.app import make_app
from memrig.viewer.server import serve
from memrig.viewer.shelf import Shelf

__all__ = ["Shelf", "make_app", "serve"]
