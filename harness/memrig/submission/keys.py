"""Who stands for a submission: an ed25519 key of the submitter's own, in a file."""

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey
from platformdirs import user_config_path
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig.errors import DataError, PrerequisiteError, UsageError
from memrig.model.canonical import canonical_json
from memrig.submission.model import Signature
from memrig.trial.directory import disk_errors

_NEW = "`memrig key new` makes one"


class _KeyFile(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["memrig.key/1"] = "memrig.key/1"
    seed: str = Field(pattern=r"^[0-9a-f]{64}$")


@dataclass(frozen=True, slots=True)
class Key:
    """A key that can sign. The secret shows in no representation of it."""

    public: str
    _secret: SigningKey = field(repr=False, compare=False)

    @property
    def fingerprint(self) -> str:
        """A short name of the public key, for people to compare."""
        return fingerprint(self.public)

    def sign(self, manifest: bytes) -> Signature:
        """Signs the bytes of a manifest; the same bytes always get the same signature."""
        return Signature(key=self.public, signature=self._secret.sign(manifest).signature.hex())


def default_path() -> Path:
    """Where the submitter's key is, unless another is named."""
    return user_config_path("memrig") / "key"


def new_key(path: Path | None = None) -> Key:
    """Makes a key and writes it where nobody else can read it.

    Raises:
        UsageError: there is a key already: overwriting it would lose the submitter's name.
        InfrastructureError: the file cannot be written.
    """
    path = path or default_path()
    secret = SigningKey.generate()
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as error:
            raise UsageError(
                "there is a file already, and a key that is overwritten is lost",
                where=str(path),
                fix="use it, move it away, or give another --out",
            ) from error
        with os.fdopen(descriptor, "wb") as file:
            file.write(canonical_json(_KeyFile(seed=bytes(secret).hex())) + b"\n")
    return _key(secret)


def load_key(path: Path | None = None) -> Key:
    """Reads a key.

    Raises:
        PrerequisiteError: there is none.
        DataError: the file is not a key.
    """
    path = path or default_path()
    try:
        parsed = _KeyFile.model_validate_json(path.read_bytes())
    except OSError as error:
        message = f"no key can be read ({error.strerror})"
        raise PrerequisiteError(message, where=str(path), fix=_NEW) from error
    except ValidationError:
        # Not chained: pydantic's message would quote what the file holds.
        raise DataError("is not a key of memrig", where=str(path), fix=_NEW) from None
    return _key(SigningKey(bytes.fromhex(parsed.seed)))


def ephemeral_key() -> Key:
    """A key that is on no disk."""
    return _key(SigningKey.generate())


def verify_signature(signature: Signature, manifest: bytes) -> bool:
    """Whether the key that a signature names did sign these bytes."""
    try:
        key = VerifyKey(bytes.fromhex(signature.key))
        key.verify(manifest, bytes.fromhex(signature.signature))
    except (CryptoError, ValueError):
        return False
    return True


def fingerprint(public: str) -> str:
    """A short name of a public key: 16 hex digits of its sha256, in fours."""
    digits = hashlib.sha256(bytes.fromhex(public)).hexdigest()[:16]
    return "-".join(digits[start : start + 4] for start in range(0, 16, 4))


def _key(secret: SigningKey) -> Key:
    return Key(bytes(secret.verify_key).hex(), secret)
