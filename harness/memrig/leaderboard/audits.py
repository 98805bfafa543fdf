"""Organisers' reruns that lie beside submissions: who signed them, and what they say."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from memrig.errors import UsageError
from memrig.leaderboard.entries import Audits
from memrig.leaderboard.model import AuditMark
from memrig.model.canonical import canonical_json, digest_file
from memrig.submission.keys import fingerprint, verify_signature
from memrig.submission.model import Signature

SUFFIX = ".audit.json"
_LARGEST = 64 * 1024**2


class _Signed(BaseModel):
    """The file: any audit, and a signature over its RFC 8785 bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["memrig.audit/1"]
    audit: dict[str, JsonValue]
    signature: Signature


class _Head(BaseModel):
    """What a board needs of an audit, which holds more."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    manifest_digest: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")
    passed: bool
    fresh_seeds: bool
    summary: str


class _UnusableError(Exception):
    """Why a record says nothing."""


def read_audits(folder: Path, organisers: Sequence[str], say: Callable[[str], None]) -> Audits:
    """The audit records below a folder that an organiser signed, by the manifest's digest.

    Anybody can put a record there. One that is not signed by a key of `organisers` counts for
    nothing, and is told of.

    Args:
        folder: of the submissions.
        organisers: public keys, 64 hex digits each.
        say: told of each record that does not count.

    Raises:
        UsageError: a key is none.
    """
    trusted = frozenset(_key(key) for key in organisers)
    found: dict[str, tuple[AuditMark, ...]] = {}
    seen: dict[str, str] = {}
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        name = path.relative_to(folder).as_posix()
        try:
            digest, mark = _read(path, name, trusted)
        except _UnusableError as error:
            say(f"audit record {name} does not count: {error}")
            continue
        first = seen.setdefault(digest_file(path), name)
        if first == name:
            found[digest] = (*found.get(digest, ()), mark)
        else:
            say(f"audit record {name} does not count: it is a copy of {first}")
    return found


def _key(text: str) -> str:
    if len(text) != 64 or not set(text) <= set("0123456789abcdef"):
        fix = "give the 64 hex digits that `memrig key show` prints"
        raise UsageError(f"{text!r} is not a public key", where="--organiser", fix=fix)
    return text


def _read(path: Path, name: str, trusted: frozenset[str]) -> tuple[str, AuditMark]:
    if not path.is_file() or path.stat().st_size > _LARGEST:
        raise _UnusableError("it is no file, or too large")
    try:
        signed = _Signed.model_validate_json(path.read_bytes())
        head = _Head.model_validate(signed.audit)
        body = canonical_json(signed.audit)
    except (ValidationError, TypeError, RecursionError) as error:
        raise _UnusableError("; ".join(_first(error))) from error
    if not verify_signature(signed.signature, body):
        raise _UnusableError("its signature is not of what it says")
    key = signed.signature.key
    if key not in trusted:
        raise _UnusableError(
            f"the key {fingerprint(key)} that signed it is no organiser's: --organiser names them"
        )
    if head.passed and not head.fresh_seeds:
        raise _UnusableError("it is without fresh seeds, and a table of answers passes that")
    mark = AuditMark(file=name, key=key, passed=head.passed, said=head.summary)
    return head.manifest_digest, mark


def _first(error: Exception) -> Iterator[str]:
    if isinstance(error, ValidationError):
        item = error.errors()[0]
        where = ".".join(map(str, item["loc"]))
        yield f"{where}: {item['msg']}" if where else item["msg"]
    else:
        yield str(error) or type(error).__name__
