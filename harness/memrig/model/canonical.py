"""Canonical JSON, digests and derived seeds: one way to hash, one way to draw."""

import hashlib
import hmac
from pathlib import Path
from typing import NewType

import rfc8785
from pydantic import BaseModel

Digest = NewType("Digest", str)  #: ``sha256:`` and 64 hex digits

_CHUNK = 1 << 20


def canonical_json(value: object) -> bytes:
    """The RFC 8785 form of a JSON value or a pydantic model, as UTF-8.

    Raises:
        TypeError: the value holds something that JSON does not have.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except rfc8785.CanonicalizationError as error:
        raise TypeError(str(error)) from error


def digest_bytes(data: bytes) -> Digest:
    """The sha256 of bytes."""
    return Digest("sha256:" + hashlib.sha256(data).hexdigest())


def digest_of(value: object) -> Digest:
    """The sha256 of a value's canonical JSON."""
    return digest_bytes(canonical_json(value))


def digest_file(path: Path) -> Digest:
    """The sha256 of a file's bytes, read in chunks."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_CHUNK):
            total.update(block)
    return Digest("sha256:" + total.hexdigest())


def short(digest: str, length: int = 12) -> str:
    """The first hex digits of a digest, for names and tables."""
    return digest.removeprefix("sha256:")[:length]


def derive(seed: int, *purpose: str) -> int:
    """A 64-bit seed for one purpose, independent of every other purpose of the same seed."""
    key = str(seed).encode()
    mac = hmac.new(key, "\x1f".join(purpose).encode(), hashlib.sha256)
    return int.from_bytes(mac.digest()[:8], "big")
