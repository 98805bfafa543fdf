"""What a submission's archive holds, and what verifying it says.

A `.memrig` file is a ZIP of::

    manifest.json                RFC 8785 JSON: `Manifest`; names every other file by sha256
    signature.json               `Signature`: ed25519 over the bytes of manifest.json
    contract.binpb               the contract's descriptor set
    runs/<run id>/lock.json, executions.jsonl, grades.jsonl, report.json
    runs/<run id>/models.jsonl   the gateway's record, where models were called
    runs/<run id>/trials/<trial id>/spec.json, transcript.jsonl, outcome.json, adapter.log
    runs/<run id>/verdicts/<trial id>.jsonl
    images/<service>.tar         with --with-image alone

No scenario and no gold is in it: who verifies makes them again from the suite and its data.
"""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from memrig.model.manifest import AdapterRef
from memrig.runs.lock import Machine

MANIFEST, SIGNATURE, CONTRACT = "manifest.json", "signature.json", "contract.binpb"
RUNS, IMAGES, MODELS = "runs", "images", "models.jsonl"

Severity = Literal["error", "warning"]
#: closed: the profile to the letter; open: something was chosen otherwise, and is named.
Division = Literal["closed", "open"]
#: What is known of a submission, in rising order (docs/leaderboard.md).
Tier = Literal["self-reported", "recomputed", "organiser-rerun"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FileEntry(_Frozen):
    """One file of the archive. `size` in bytes."""

    path: str
    size: int = Field(ge=0)
    sha256: str = Field(pattern=r"^sha256:[0-9a-f]{64}$")


class RunEntry(_Frozen):
    """One run of the archive."""

    run_id: str
    lock_digest: str
    suite: str
    protocol: str


class ImageEntry(_Frozen):
    """An image of the pod: its digest, and its file in the archive, if it is there."""

    service: str
    digest: str
    file: str = ""


class Statement(_Frozen):
    """What the submitter says. Nothing in it can be verified, and every page says so.

    `changed` is what the submitter changed of the memory system, the rig or the machine.
    """

    title: str = Field(default="", max_length=200)
    submitter: str = Field(default="", max_length=200)
    url: str = Field(default="", max_length=500)
    changed: str = Field(default="", max_length=5000)


class Disclosure(_Frozen):
    """What the runs were made on, and when. `engine` has the container engine's facts by name."""

    machine: Machine
    engine: dict[str, str] = Field(default_factory=dict)
    limits: dict[str, str] = Field(default_factory=dict)
    first: datetime
    last: datetime


class Manifest(_Frozen):
    """`manifest.json`. The same runs and the same statement give the same bytes."""

    format: Literal["memrig.submission/1"] = "memrig.submission/1"
    memrig_version: str
    contract: str
    profile: str = ""
    profile_digest: str = ""
    statement: Statement = Statement()
    adapter: AdapterRef
    runs: tuple[RunEntry, ...] = Field(min_length=1)
    images: tuple[ImageEntry, ...] = ()
    disclosure: Disclosure
    files: tuple[FileEntry, ...]


class Signature(_Frozen):
    """`signature.json`: who stands for the manifest's bytes. Key and signature in hex."""

    format: Literal["memrig.signature/1"] = "memrig.signature/1"
    algorithm: Literal["ed25519"] = "ed25519"
    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    signature: str = Field(pattern=r"^[0-9a-f]{128}$")


class Found(_Frozen):
    """Something that a check objects to, and where."""

    where: str
    message: str


class CheckResult(_Frozen):
    """What became of one check. `found` is cut short; `count` is not.

    `skipped` says why the check could not be made: what it stands on had failed already.
    """

    id: str
    title: str
    reason: str
    severity: Severity
    count: int = 0
    found: tuple[Found, ...] = ()
    skipped: str = ""

    @property
    def passed(self) -> bool:
        """It was made, and objects to nothing."""
        return not self.count and not self.skipped


class Verification(_Frozen):
    """What verifying an archive came to. The same archive and data give the same bytes.

    `differences` are what makes the division open, as ``suite: field: profile → run``.
    """

    format: Literal["memrig.verification/1"] = "memrig.verification/1"
    archive: str
    manifest_digest: str
    key: str
    memrig_version: str
    profile: str = ""
    division: Division
    differences: tuple[str, ...] = ()
    tier: Tier
    checks: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """No check of severity error failed or had to be left out."""
        return all(c.passed or c.severity != "error" for c in self.checks)
