"""Images: how they are built without a network, named by content, found again and loaded.

The public surface is this module; `docs/images.md` is its user guide.
"""

from memrig.pod.images.base import ensure_base
from memrig.pod.images.build import ensure_built, ensure_doorman
from memrig.pod.images.engine import ImageFacts
from memrig.pod.images.prune import prune_images
from memrig.pod.images.recipe import MANIFEST_FILE
from memrig.pod.images.references import PinnedImage, pin_images
from memrig.pod.images.resolve import (
    ANSWERS,
    implied_pod,
    load_images,
    missing_images_of,
    resolve,
    save_image,
)
from memrig.pod.images.types import BuiltImage, Progress

__all__ = [
    "ANSWERS",
    "MANIFEST_FILE",
    "BuiltImage",
    "ImageFacts",
    "PinnedImage",
    "Progress",
    "ensure_base",
    "ensure_built",
    "ensure_doorman",
    "implied_pod",
    "load_images",
    "missing_images_of",
    "pin_images",
    "prune_images",
    "resolve",
    "save_image",
]
