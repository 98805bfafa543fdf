"""`references.lock`: which image a manifest's reference meant when it was first used.

A tag may mean another image tomorrow. So what it meant is written down beside the manifest, and
holds until someone says otherwise (`memrig image pin --update`).
"""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, RootModel, StringConstraints, ValidationError

from memrig.errors import DataError
from memrig.model.canonical import Digest, digest_of, short
from memrig.pod.images.engine import ImageFacts
from memrig.pod.images.lock import cache_dir

PIN_FILE = "references.lock"

_Sha256 = Annotated[Digest, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]


class Pin(BaseModel):
    """The image that a reference means.

    Args:
        digest: what its registry calls it, the same for every architecture; None where it came
            from a file and no registry was ever asked.
        ids: architecture (``amd64``) to the id of the image on a daemon of that architecture.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: _Sha256 | None = None
    ids: dict[str, _Sha256] = Field(default_factory=dict)

    def means(self, image: ImageFacts, reference: str, arch: str) -> bool:
        """Tells whether an image on a daemon is this one, as far as can be known.

        An image from a file has no registry's digest. On an architecture that was never pinned
        there is then nothing to compare, and it is taken.
        """
        if image.digest == self.ids.get(arch):
            return True
        known = digests_of(image, reference)
        if self.digest is not None and known:
            return self.digest in known
        return arch not in self.ids


class _Pins(RootModel[dict[str, Pin]]):
    """The whole of the file."""


class PinBook:
    """The pins of one manifest, in its folder or, where that cannot be written, in the cache.

    Args:
        folder: where the manifest lies; None for an image, which carries it.
        key: names the manifest in the cache.

    Raises:
        DataError: a file is there, and is no such file.
    """

    def __init__(self, folder: Path | None, key: str) -> None:
        aside = cache_dir() / "references" / f"{short(digest_of(key), 32)}.lock"
        self.paths = (folder / PIN_FILE, aside) if folder else (aside,)
        self._pins: dict[str, Pin] = {}
        for path in reversed(self.paths):  # what lies beside the manifest goes first
            self._pins |= _read(path)

    def get(self, reference: str) -> Pin | None:
        """What a reference is pinned to."""
        return self._pins.get(reference)

    def update(self, pins: Mapping[str, Pin]) -> Path | None:
        """Writes pins down; returns the file, or None where nothing is new."""
        merged = {**self._pins, **pins}
        if merged == self._pins:
            return None
        self._pins = merged
        text = json.dumps(_Pins(merged).model_dump(exclude_none=True), indent=2, sort_keys=True)
        for path in self.paths[:-1]:
            try:
                _write(path, text)
            except OSError:  # a folder that is read-only: the cache takes it
                continue
            return path
        self.paths[-1].parent.mkdir(parents=True, exist_ok=True)
        _write(self.paths[-1], text)
        return self.paths[-1]


def book_of_folder(folder: Path) -> PinBook:
    """The pins of a manifest in a folder."""
    return PinBook(folder, str(folder.resolve()))


def book_of_image(digest: str) -> PinBook:
    """The pins of the manifest that an image carries."""
    return PinBook(None, digest)


def repository_of(reference: str) -> str:
    """A reference's name without tag and digest, as a daemon writes it: no docker.io/library/."""
    name = reference.partition("@")[0]
    head, slash, last = name.rpartition("/")
    name = f"{head}{slash}{last.partition(':')[0]}"  # a colon before the slash is a port
    return name.removeprefix("docker.io/").removeprefix("library/")


def digests_of(image: ImageFacts, reference: str) -> tuple[str, ...]:
    """The digests under which the reference's registry has an image; none for one from a file."""
    wanted = repository_of(reference) + "@"
    return tuple(sorted(n.removeprefix(wanted) for n in image.names if n.startswith(wanted)))


def pin_for(image: ImageFacts, reference: str, arch: str, old: Pin | None) -> Pin:
    """The pin of an image that was found under a reference.

    An old one of the same image stays as it is: locks of runs name what it says. It gets the id of
    an architecture that is new. Of several digests the one that was asked for counts.
    """
    if old is not None and image.digest == old.ids.get(arch):
        return old
    asked = reference.partition("@")[2]
    known = digests_of(image, reference)
    digest = asked or (known[0] if known else None)
    if old is not None and old.means(image, reference, arch):
        return Pin(digest=old.digest or digest, ids={**old.ids, arch: image.digest})
    return Pin(digest=digest, ids={arch: image.digest})


def _read(path: Path) -> dict[str, Pin]:
    try:
        return _Pins.model_validate_json(path.read_bytes()).root
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        raise DataError(
            f"is no list of pinned images: {error}",
            where=str(path),
            fix="restore it, or remove it to pin anew what the references mean now",
        ) from error


def _write(path: Path, text: str) -> None:
    handle, aside = tempfile.mkstemp(dir=path.parent, prefix=f".{PIN_FILE}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        Path(aside).chmod(0o644)
        Path(aside).replace(path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
