"""What a user asks of a run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memrig.errors import UsageError
from memrig.model.trial import Budget, Deadlines, Isolation, Mode

DEFAULT_SEED = 2026
#: The largest whole number that canonical JSON (RFC 8785) can carry.
MAX_SEED = 2**53 - 1
PodChoice = Literal["auto", "docker", "process"]


def default_jobs() -> int:
    """Half the cores: one for the rig, one for the memory system, so that timings stay clean."""
    return max(1, (os.cpu_count() or 2) // 2)


class RunConfig(BaseModel):
    """Everything that `memrig run` takes, as one value.

    Example::

        report = memrig.run(RunConfig(adapter="images/bm25", suite="practical"))

    Args:
        adapter: a folder with an adapter.toml, an image by digest, or ``grpc://host:port``.
        suite: a suite's name.
        protocol: a grading protocol of the suite; empty: its first.
        mode: how a question becomes an answer.
        file: data of your own in the suite's format.
        sample: the suite's built-in sample instead of its data.
        category_labels: names for LoCoMo's category numbers.
        pod: where the adapter runs; "auto" takes Docker where a daemon answers.
        isolation: fresh pod per scenario, Reset between, or all in one memory.
        seed: keys opaque ids and every draw.
        repeats: how many times each scenario is run.
        limit: at most this many questions, stratified by category.
        top_k: hits per question; none: the suite's.
        jobs: scenarios measured at the same time.
        out: the run's folder; none: one below `runs/`, named by content.
        keep_pod: leave the pods for a look.
        audit: also run the isolation audit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    adapter: str
    suite: str = "practical"
    protocol: str = ""
    mode: Mode = "retrieval"
    file: Path | None = None
    sample: bool = False
    category_labels: str = "true"
    pod: PodChoice = "auto"
    isolation: Isolation = "fresh"
    seed: int = Field(default=DEFAULT_SEED, ge=0, le=MAX_SEED)
    repeats: int = Field(default=1, ge=1, le=100)
    limit: int | None = Field(default=None, ge=1)
    top_k: int | None = Field(default=None, ge=1, le=1000)
    jobs: int = Field(default_factory=default_jobs, ge=1, le=256)
    out: Path | None = None
    keep_pod: bool = False
    audit: bool = True
    deadlines: Deadlines = Deadlines()
    budget: Budget = Budget()


def make_config(given: Mapping[str, object]) -> RunConfig:
    """A configuration from named values, such as a command line's.

    Raises:
        UsageError: a value cannot be; names the flag and the value.
    """
    try:
        return RunConfig.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        flag = "--" + ".".join(map(str, first["loc"])).replace("_", "-")
        raise UsageError(f"{first['msg']}, got {first['input']!r}", where=flag) from error
