"""What the image modules hand to each other and to their callers."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from memrig.model.canonical import short
from memrig.pod.text import plain_text

#: Takes one line of text for a human. Always called on the event loop's thread.
Progress = Callable[[str], None]

#: Labels on every image that memrig builds.
INPUTS_LABEL = "io.memrig.inputs"
NAME_LABEL = "io.memrig.name"
#: A builder stage that a Dockerfile marks as its own (its value: the image's name), so that stages
#: of former builds can be removed.
STAGE_LABEL = "io.memrig.stage"

#: Where an image carries its own manifest.
MANIFEST_PATH = "/memrig/adapter.toml"
MANIFEST_LIMIT = 256 * 1024  #: bytes


@dataclass(frozen=True, slots=True)
class BuiltImage:
    """An image that is on the daemon, and what it was made of.

    Args:
        name: the adapter's name, or ``base``, ``doorman``, ``<adapter>-<companion>``.
        tag: a local name for people, such as ``memrig/bm25:0123456789ab``. Runs use the digest.
        digest: the image id, ``sha256:…``.
        inputs: the hash of all that went into the build, ``sha256:…``.
        built: whether this call built it; False: it was there already.
        size_bytes: size on disk, layers shared with the base included.
        seconds: how long this call took.
    """

    name: str
    tag: str
    digest: str
    inputs: str
    built: bool
    size_bytes: int
    seconds: float


def tag_for(name: str, inputs: str) -> str:
    """The local tag of the image `name` made of `inputs`."""
    return f"memrig/{name}:{short(inputs)}"


def on_loop(progress: Progress | None) -> Progress:
    """A `progress` that may be called from any thread and hands plain lines to the event loop's.

    Must be called on the event loop. A caller without `progress` gets one that does nothing.
    """
    if progress is None:
        return lambda _line: None
    loop = asyncio.get_running_loop()

    def say(line: str) -> None:
        for part in plain_text(line).splitlines():
            if part.strip():
                loop.call_soon_threadsafe(progress, part)

    return say
