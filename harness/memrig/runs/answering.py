"""How questions are answered and judged, from what a user asks: mode, models, protocol, budget."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from memrig.answering.prompts import prompts_digest
from memrig.errors import UsageError
from memrig.gateway.prices import BUILT_IN
from memrig.grading.base import Grader, load_grader
from memrig.model.manifest import load_manifest, split_variant
from memrig.model.trial import PRESETS, AnswerSpec, Budget, Mode
from memrig.pod.images import MANIFEST_FILE
from memrig.runs.config import RunConfig
from memrig.suites.base import Suite

#: What predecessors' users know.
READER_VARIABLE, JUDGE_VARIABLE = "EVAL_MODEL", "GRADER_MODEL"
DEFAULT_READER = "local/extractive"
_OUTPUT_TOKENS = {"direct": 500, "step-by-step": 800, "cited": 800}
_AGENT_OUTPUT_TOKENS = 1000
#: A reader or a native answer is one step; what bounds it is time.
_ONE_STEP = Budget(wall_time_s=300)


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions are answered and judged. `judge` is empty where the grader needs none."""

    mode: Mode
    grader: Grader
    answer: AnswerSpec | None
    judge: str
    budget: Budget

    @property
    def models(self) -> frozenset[str]:
        """The models that the rig itself will call."""
        reader = self.answer.model if self.answer else ""
        return frozenset(name for name in (reader, self.judge) if name)


def settle_answering(
    config: RunConfig, suite: Suite, environ: Mapping[str, str] = os.environ
) -> Answering:
    """Resolves mode, models, protocol and budget against what the suite offers.

    Raises:
        UsageError: an unknown mode or protocol, ones that do not fit each other, or a judge that is
            none.
    """
    if config.profile:  # a machine's habits are no part of what is compared
        environ = {}
    mode = _mode(config, suite)
    judge = config.judge_model or (environ.get(JUDGE_VARIABLE, "") if mode != "retrieval" else "")
    if judge.startswith(BUILT_IN):
        where = f"--judge-model {judge}" if config.judge_model else f"{JUDGE_VARIABLE}={judge}"
        fix = "give a provider's model, such as claude-haiku-4-5, or a protocol without a judge"
        raise UsageError(f"{judge} is no judge", where=where, fix=fix)
    grader = _grader(config, suite, mode, bool(judge))
    if grader.judge == "none" and config.judge_model:
        message = f"protocol {grader.protocol} has no use for a judge"
        fix = "leave --judge-model out, or give a judged --protocol"
        raise UsageError(message, where=f"--judge-model {config.judge_model}", fix=fix)
    return Answering(
        mode=mode,
        grader=grader,
        answer=_answer_spec(config, suite, mode, environ),
        judge="" if grader.judge == "none" else judge,
        budget=config.budget or _default_budget(mode),
    )


def _mode(config: RunConfig, suite: Suite) -> Mode:
    """The mode asked for, else the first of the adapter's that the suite has, else the suite's."""
    able = _modes_of(config.adapter)
    mode = config.mode or next((m for m in able if m in suite.modes), suite.modes[0])
    if mode not in suite.modes:
        message = f"{suite.name} has no mode {mode!r}"
        raise UsageError(message, where="--mode", fix=f"one of: {', '.join(suite.modes)}")
    if able and mode not in able:
        message = f"{config.adapter} can only be run in mode {' or '.join(able)}"
        raise UsageError(message, where=f"--mode {mode}", fix="leave --mode out, or choose a suite")
    return mode


def _modes_of(adapter: str) -> tuple[Mode, ...]:
    """The modes that a folder's manifest names; what is no folder shows itself when it starts."""
    folder, variant = split_variant(adapter)
    file = Path(folder) / MANIFEST_FILE
    if not file.is_file():
        return ()
    manifest = load_manifest(file)
    return (manifest.as_variant(variant) if variant else manifest).modes


def _grader(config: RunConfig, suite: Suite, mode: Mode, has_judge: bool) -> Grader:
    if config.protocol:
        return _named(config.protocol, suite, mode, has_judge)
    second: Grader | None = None
    fitting = False
    for name in suite.protocols:  # one at a time: some load a library that takes a second
        grader = load_grader(name)
        if mode not in grader.modes:
            continue
        if grader.judge == "optional" or (grader.judge == "required") == has_judge:
            return grader
        fitting = True
        if grader.judge == "none":
            second = second or grader
    if second is None:
        message = f"{suite.name} has no protocol for mode {mode}"
        fix = "give --judge-model" if fitting else f"one of: {', '.join(suite.modes)}"
        raise UsageError(message, where="--mode", fix=fix)
    return second


def _named(name: str, suite: Suite, mode: Mode, has_judge: bool) -> Grader:
    if name not in suite.protocols:
        fix = f"one of: {', '.join(suite.protocols)}"
        raise UsageError(f"{suite.name} has no protocol {name!r}", where="--protocol", fix=fix)
    grader = load_grader(name)
    if mode not in grader.modes:
        message = f"{name} does not grade mode {mode}"
        fix = f"give --mode {grader.modes[0]}, or another --protocol"
        raise UsageError(message, where="--protocol", fix=fix)
    if grader.judge == "required" and not has_judge:
        message = f"{name} needs a judge"
        fix = f"give --judge-model, or set {JUDGE_VARIABLE}"
        raise UsageError(message, where="--protocol", fix=fix)
    return grader


def _answer_spec(
    config: RunConfig, suite: Suite, mode: Mode, environ: Mapping[str, str]
) -> AnswerSpec | None:
    if mode == "retrieval":
        if config.naive:
            message, fix = "mode retrieval has no answers to oppose", "give --mode reader or agent"
            raise UsageError(message, where="--naive-baseline", fix=fix)
        return None
    if mode == "native" and not config.naive:
        return AnswerSpec()
    style = config.prompt or suite.prompt
    usual = _AGENT_OUTPUT_TOKENS if mode == "agent" else _OUTPUT_TOKENS[style]
    return AnswerSpec(
        model=config.reader_model or environ.get(READER_VARIABLE, "") or DEFAULT_READER,
        prompt=style,
        prompts=prompts_digest(style),
        context_tokens=config.context_tokens,
        max_output_tokens=config.max_output_tokens or usual,
    )


def _default_budget(mode: Mode) -> Budget:
    if mode == "retrieval":
        return Budget()
    return PRESETS["standard"] if mode == "agent" else _ONE_STEP
