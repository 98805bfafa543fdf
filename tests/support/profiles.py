"""`official-v1` made again from what it chooses: everything else is what the suites' code says."""

from collections.abc import Iterator
from typing import Any

from memrig.gateway.prices import PriceTable
from memrig.model.canonical import digest_of
from memrig.runs.answering import settle_answering
from memrig.runs.config import RunConfig
from memrig.runs.lock import grader_lock, plugins_lock
from memrig.runs.plan import chosen_options, seeds_of, suite_options
from memrig.runs.profiles import Profile, ProfileData, ProfileSuite
from memrig.runs.spooling import source_of
from memrig.suites.base import Suite, SuiteOptions, load_suite
from memrig.suites.datasets import DATASETS

READER, JUDGE = "gpt-4o-mini-2024-07-18", "gpt-4o-2024-08-06"
#: What the profile chooses; a suite's default is no choice.
CHOICES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("no-key", {"suite": "practical", "mode": "retrieval"}),
    ("no-key", {"suite": "longhorizon", "protocol": "longhorizon-retrieval",
                "mode": "retrieval", "turns": 1000}),
    ("no-key", {"suite": "longitudinal", "mode": "reader", "reader_model": "local/extractive"}),
    ("keyed", {"suite": "longmemeval", "protocol": "longmemeval-compatible", "mode": "reader",
               "variant": "s", "prompt": "step-by-step",
               "reader_model": READER, "judge_model": JUDGE}),
    ("keyed", {"suite": "locomo", "protocol": "locomo-judge-strict", "mode": "reader",
               "reader_model": READER, "judge_model": JUDGE}),
    ("keyed", {"suite": "longhorizon", "mode": "reader",
               "reader_model": READER, "judge_model": JUDGE}),
    ("keyed", {"suite": "longitudinal", "mode": "agent", "budget": "standard",
               "reader_model": READER, "judge_model": JUDGE}),
)  # fmt: skip
#: Suites whose data does not ship: by the digest that `memrig data fetch` checks.
FETCHED = {"longmemeval": "longmemeval-s", "locomo": "locomo"}


def official_v1() -> Profile:
    """The whole profile."""
    return Profile(
        name="official-v1",
        title="The first official profile: one pod, one machine, every figure recomputable",
        pod="docker",
        cpus=4,
        memory_bytes=8 * 1024**3,
        prices=PriceTable.load(None).digest,
        suites=tuple(_suites()),
    )


def _suites() -> Iterator[ProfileSuite]:
    for tier, choice in CHOICES:
        config = RunConfig(adapter="baseline:oracle", audits=True, **choice)
        suite = load_suite(config.suite)
        answering = settle_answering(config, suite, {})
        protocol = answering.grader.protocol
        options = suite_options(config, suite, protocol)
        yield ProfileSuite.model_validate(
            {
                "tier": tier,
                "suite": suite.name,
                "protocol": protocol,
                "grader": grader_lock(answering.grader),
                "plugins": plugins_lock(suite.name, protocol),
                "mode": answering.mode,
                "data": _data(suite, options, seeds_of(config, suite)),
                "options": chosen_options(config),
                "answer": answering.answer,
                "judge": answering.judge,
                "seeds": seeds_of(config, suite),
                "top_k": suite.top_k_for(options),
                "deadlines": config.deadlines,
                "budget": answering.budget,
            }
        )


def _data(suite: Suite, options: SuiteOptions, seeds: tuple[int, ...]) -> ProfileData:
    name = FETCHED.get(suite.name)
    if name is None:
        source = source_of(suite, options, seeds)
        return ProfileData(name=source.name, sha256=source.sha256)
    return ProfileData(name=name, sha256=f"sha256:{DATASETS[name].sha256}")


def digest_now() -> str:
    """The hash of the profile as it comes about today."""
    return digest_of(official_v1())
