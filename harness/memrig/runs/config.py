"""What a user asks of a run."""

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from memrig.errors import UsageError
from memrig.gateway.config import GatewayMode, Limits
from memrig.model.chat import PHASES
from memrig.model.trial import PRESETS, Budget, Deadlines, Isolation, Mode, PromptStyle

DEFAULT_SEED = 2026
#: The largest whole number that canonical JSON (RFC 8785) can carry.
MAX_SEED = 2**53 - 1
PodChoice = Literal["auto", "docker", "process"]
#: The parts of a profile: with built-in models alone, and with providers'.
Tier = Literal["no-key", "keyed"]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED)]


def default_jobs() -> int:
    """Half the cores: one for the rig, one for the memory system, so that timings stay clean."""
    return max(1, (os.cpu_count() or 2) // 2)


class RunConfig(BaseModel):
    """Everything that `memrig run` takes, as one value.

    Example::

        report = memrig.run(RunConfig(adapter="images/bm25", suite="practical"))

    Args:
        adapter: a folder with an adapter.toml, an image by digest, ``grpc://host:port``, or
            ``baseline:NAME`` with one of `memrig.model.manifest.BASELINES`.
        suite: a suite's name.
        protocol: a grading protocol of the suite; empty: the first that fits mode and judge.
        mode: how a question becomes an answer; none: the suite's own.
        file: data of your own in the suite's format.
        sample: the suite's built-in sample instead of its data.
        variant: which of the suite's datasets; empty: its default.
        order: the order of sessions, where a suite offers one.
        granularity: what an episode is, where a suite offers a choice.
        labels: whose labels to grade by, where a suite offers a choice.
        audit_file: the label problems that ``labels="audited"`` needs.
        distractors: distractor episodes for each signal episode, where a suite can choose; none: as
            the data has them.
        distractor_file: data whose episodes serve as distractors; none: the data's own.
        category_labels: names for LoCoMo's category numbers.
        reader_model: who answers; empty: ``EVAL_MODEL``, else the built-in ``local/extractive``.
        judge_model: who judges; empty: ``GRADER_MODEL``, else nobody, and typed graders grade.
        prompt: the reader's instruction; none: the suite's own.
        context_tokens: the most tokens of memories that a reader is shown.
        max_output_tokens: of each reply; none: 500, step by step or cited 800, an agent 1,000.
        naive: also ask the same model with all episodes so far in its context: the opponent that
            an answer is measured against.
        verdicts: a file with the official evaluator's verdicts, which stand in for a judge's.
        only_answered: of answers given in a file, leave out the questions that have none.
        llm: whether models are called, recorded, or replayed.
        llm_record: the file that is recorded to or replayed from; none: the run's own.
        prices: a price table of your own, which goes before the one that ships.
        limits: tokens and money at which a run stops; repeat it with higher ones to go on.
        pod: where the adapter runs; "auto" takes Docker where a daemon answers.
        isolation: fresh pod per scenario, Reset between, or all in one memory.
        seeds: each keys opaque ids and every draw, and the scenarios of a suite that makes them;
            empty: the suite's own, else 2026.
        turns: of each world that a suite makes from a seed; none: the suite's own number.
        questions: about each such world; none: the suite's own number.
        question_set: which of the suite's sets of questions; empty: its default.
        repeats: how many times each scenario is run under each seed.
        limit: at most this many questions under each seed, stratified by category.
        top_k: hits per question; none: the suite's.
        jobs: scenarios measured at the same time.
        out: the run's folder; none: one below `runs/`, named by content.
        keep_pod: leave the pods for a look.
        audit: also run the isolation audit.
        audits: also ask twice and in other words, after a reset, for planted facts, among poisoned
            episodes, and from other chunks, in trials of their own.
        profile: the profile that everything not chosen here comes from; see `runs.profiles`.
        tier: of the profile; empty: its tier without a key.
        budget: what a question may use, or a preset's name; none: the mode's own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    adapter: str
    suite: str = "practical"
    protocol: str = ""
    mode: Mode | None = None
    file: Path | None = None
    sample: bool = False
    variant: str = ""
    order: str = ""
    granularity: str = ""
    labels: str = ""
    audit_file: Path | None = None
    distractors: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    distractor_file: Path | None = None
    category_labels: str = "true"
    reader_model: str = ""
    judge_model: str = ""
    prompt: PromptStyle | None = None
    context_tokens: int = Field(default=16_000, ge=100)
    max_output_tokens: int | None = Field(default=None, ge=1)
    naive: bool = False
    verdicts: Path | None = None
    only_answered: bool = False
    llm: GatewayMode = "record"
    llm_record: Path | None = None
    prices: Path | None = None
    limits: Limits = Limits()
    pod: PodChoice = "auto"
    isolation: Isolation = "fresh"
    seeds: tuple[Seed, ...] = ()
    turns: int | None = Field(default=None, ge=1)
    questions: int | None = Field(default=None, ge=1)
    question_set: str = ""
    repeats: int = Field(default=1, ge=1, le=100)
    limit: int | None = Field(default=None, ge=1)
    top_k: int | None = Field(default=None, ge=1, le=1000)
    jobs: int = Field(default_factory=default_jobs, ge=1, le=256)
    out: Path | None = None
    keep_pod: bool = False
    audit: bool = True
    audits: bool = False
    profile: str = ""
    tier: Tier | Literal[""] = ""
    deadlines: Deadlines = Deadlines()
    budget: Budget | None = None

    @field_validator("seeds", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return [part.strip() for part in value.split(",")] if value.strip() else ()

    @field_validator("seeds")
    @classmethod
    def _distinct(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(value)) < len(value):
            msg = "each seed can be given once"
            raise ValueError(msg)
        return value

    @field_validator("budget", mode="before")
    @classmethod
    def _preset(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        if value not in PRESETS:
            msg = f"there is no such budget; one of: {', '.join(PRESETS)}"
            raise ValueError(msg)
        return PRESETS[value]

    @field_validator("budget")
    @classmethod
    def _named(cls, value: Budget) -> Budget:
        if value.preset and value != PRESETS.get(value.preset):
            msg = f"is not the budget {value.preset!r}; give it no preset's name"
            raise ValueError(msg)
        return value


def parse_seeds(text: str) -> tuple[int, ...]:
    """Seeds as a command line gives them: ``42,123``; none of an empty text.

    Raises:
        UsageError: one is no seed, or is given twice.
    """
    return make_config({"adapter": "", "seeds": text}).seeds


def make_config(given: Mapping[str, object]) -> RunConfig:
    """A configuration from named values, such as a command line's.

    Raises:
        UsageError: a value cannot be; names the flag and the value.
    """
    try:
        return RunConfig.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        names = [part for part in first["loc"] if isinstance(part, str)]  # no places in a list
        flag = "--" + ".".join(names).replace("_", "-")
        message = first["msg"].removeprefix("Value error, ")
        raise UsageError(f"{message}, got {first['input']!r}", where=flag) from error


_LIMIT = re.compile(
    r"(?:(?P<where>run|trial|ingest|search|answer|judge)=)?(?P<number>[0-9][0-9_,]*(?:\.[0-9]+)?)"
    r"\s*(?P<unit>usd|tokens)",
    re.IGNORECASE,
)


def parse_limits(texts: Iterable[str]) -> Limits:
    """Reads limits such as ``5usd``, ``2000000tokens``, ``judge=1.50usd``, ``trial=100000tokens``.

    Raises:
        UsageError: one of them is none.
    """
    found: dict[str, dict[str, float]] = {}
    for text in texts:
        match = _LIMIT.fullmatch(text.strip())
        number = float(re.sub("[_,]", "", match["number"])) if match else 0.0
        if match is None or not number:
            fix = "write 5usd, 2000000tokens, judge=1usd or trial=100000tokens"
            raise UsageError(f"is no limit: {text!r}", where="--stop-at", fix=fix)
        where, unit = (match["where"] or "run").lower(), match["unit"].lower()
        found.setdefault(where, {})[unit] = number
    phases = {name: found.pop(name) for name in PHASES if name in found}
    return Limits.model_validate({**found, "phases": phases})


def parse_deadlines(texts: Iterable[str]) -> Deadlines:
    """Reads deadlines such as ``ingest=14400`` or ``answer=300``, in seconds.

    Raises:
        UsageError: there is no such call, or the time is none.
    """
    found: dict[str, str] = {}
    for text in texts:
        name, _, seconds = text.partition("=")
        if name not in Deadlines.model_fields:
            known = ", ".join(Deadlines.model_fields)
            message = f"there is no deadline {name!r}"
            raise UsageError(message, where=f"--deadline {text}", fix=f"one of: {known}")
        found[name] = seconds
        try:
            Deadlines.model_validate(found)
        except ValidationError as error:
            message = f"is no time in seconds: {seconds!r}"
            fix = f"write {name}=120"
            raise UsageError(message, where=f"--deadline {text}", fix=fix) from error
    return Deadlines.model_validate(found)
