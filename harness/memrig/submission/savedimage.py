"""A file that `docker save` wrote: which image is in it, told by hashing, not by its names.

An image's id is the hash of its configuration, which names the layers by hash in turn; with a
containerd image store it is that of its manifest. Both are files inside of the tar.
"""

import hashlib
import tarfile
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

#: Configurations and manifests are far smaller than this.
_MOST_BYTES = 16 * 1024**2


class _Saved(BaseModel):
    model_config = ConfigDict(extra="ignore")

    config: str = Field(alias="Config")


class _Descriptor(BaseModel):
    model_config = ConfigDict(extra="ignore")

    digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class _Index(BaseModel):
    model_config = ConfigDict(extra="ignore")

    manifests: tuple[_Descriptor, ...] = ()


_SAVED = TypeAdapter(tuple[_Saved, ...])


def saved_images(tar: Path) -> frozenset[str]:
    """The ids of the images in a file, ``sha256:…``; none where it is no such file."""
    try:
        with tarfile.open(tar, "r:") as file:
            return frozenset(_ids(file))
    except (tarfile.TarError, ValidationError, ValueError, OSError, KeyError):
        return frozenset()


def _ids(tar: tarfile.TarFile) -> Iterator[str]:
    names = [saved.config for saved in _SAVED.validate_json(_read(tar, "manifest.json"))]
    if "index.json" in tar.getnames():
        index = _Index.model_validate_json(_read(tar, "index.json"))
        digests = (entry.digest.removeprefix("sha256:") for entry in index.manifests)
        names += [f"blobs/sha256/{digest}" for digest in digests]
    for name in names:
        yield f"sha256:{hashlib.sha256(_read(tar, name)).hexdigest()}"


def _read(tar: tarfile.TarFile, name: str) -> bytes:
    member = tar.getmember(name)
    file = tar.extractfile(member) if member.isreg() and member.size <= _MOST_BYTES else None
    if file is None:
        raise KeyError(name)
    return file.read()
