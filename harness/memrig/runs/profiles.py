"""Profiles: everything that a comparable run must have in common, frozen as data with a hash.

A profile holds some suites in each of two tiers: `no-key` takes built-in models alone, `keyed`
takes providers'. A run is in the closed division if it is its profile's to the letter, and in the
open one otherwise, with the fields that differ named in every table.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from memrig.errors import UsageError
from memrig.model.canonical import digest_of
from memrig.model.manifest import PodKind
from memrig.model.trial import AnswerSpec, Budget, Deadlines, Isolation, Mode
from memrig.pod.images import implied_pod
from memrig.runs.config import RunConfig, Tier
from memrig.runs.directory import Execution, models_elsewhere
from memrig.runs.lock import Lock, shown_value

#: closed: the profile to the letter; open: something was chosen otherwise.
Division = Literal["closed", "open"]
TIERS: tuple[Tier, ...] = get_args(Tier)
_NAMES = ("official-v1",)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProfileData(_Frozen):
    """The data of a suite, by content."""

    name: str
    sha256: str


class ProfileSuite(_Frozen):
    """One suite of a profile: the fields of `Lock` that it freezes, under the same names."""

    tier: Tier
    suite: str
    protocol: str
    grader: str
    mode: Mode
    data: ProfileData
    category_labels: str = "true"
    sample: bool = False
    plugins: dict[str, str] = Field(default_factory=dict)
    options: dict[str, str] = Field(default_factory=dict)
    answer: AnswerSpec | None = None
    naive: bool = False
    judge: str = ""
    isolation: Isolation = "fresh"
    seeds: tuple[int, ...] = Field(min_length=1)
    repeats: int = 1
    limit: int | None = None
    top_k: int
    deadlines: Deadlines
    budget: Budget
    audit: bool = True
    audits: bool = True


class Profile(_Frozen):
    """A profile. `cpus` and `memory_bytes` are the most that a pod's containers may ask for."""

    format: Literal["memrig.profile/1"] = "memrig.profile/1"
    name: str
    title: str
    pod: PodKind
    cpus: float = Field(gt=0)
    memory_bytes: int = Field(gt=0)
    prices: str
    suites: tuple[ProfileSuite, ...]

    def suites_of(self, tier: Tier) -> tuple[ProfileSuite, ...]:
        """The suites of a tier, in the order in which they are run."""
        return tuple(suite for suite in self.suites if suite.tier == tier)

    def suite_of(self, tier: str, suite: str) -> ProfileSuite | None:
        """The one suite of this name in a tier."""
        found = (one for one in self.suites if (one.tier, one.suite) == (tier, suite))
        return next(found, None)


def profile_names() -> tuple[str, ...]:
    """The profiles that this memrig ships."""
    return _NAMES


@cache
def load_profile(name: str) -> Profile:
    """A profile by name.

    Raises:
        UsageError: there is none.
    """
    if name not in _NAMES:
        fix = f"one of: {', '.join(_NAMES)}"
        raise UsageError(f"there is no profile {name!r}", where="--profile", fix=fix)
    return Profile.model_validate_json((files("memrig.runs") / f"{name}.json").read_bytes())


def profile_digest(profile: Profile) -> str:
    """The hash of a profile: two of one hash are one profile, whatever they are called."""
    return digest_of(profile)


def digest_of_profile(name: str) -> str:
    """The hash of a profile by name; empty for no profile.

    Raises:
        UsageError: there is none of this name.
    """
    return profile_digest(load_profile(name)) if name else ""


def differences(
    lock: Lock, profile: Profile, executions: Iterable[Execution] = ()
) -> tuple[str, ...]:
    """In what a run is not its profile's, as ``field: the profile's → the run's``.

    Args:
        lock: the run's.
        profile: what it is held against.
        executions: its invocations until now: who served the models is no input of a run.
    """
    elsewhere = models_elsewhere(executions)
    served = (f"{name}: its provider → an address of the user's own" for name in elsewhere)
    return (*_differences(lock, profile), *served)


def differences_of(lock: Lock, executions: Iterable[Execution] = ()) -> tuple[str, ...]:
    """In what a run is not as the profile that it names; none where it names none."""
    if not lock.profile:
        return ()
    if lock.profile not in _NAMES:
        return (f"profile: {lock.profile} is not known here",)
    return differences(lock, load_profile(lock.profile), executions)


def division_of(lock: Lock, executions: Iterable[Execution] = ()) -> Division:
    """The division of a run. One without a profile, or under one that is not known, is open."""
    return "open" if not lock.profile or differences_of(lock, executions) else "closed"


def division_label(lock: Lock, executions: Iterable[Execution] = ()) -> str:
    """The profile, tier and division of a run in words; empty where it names no profile."""
    if not lock.profile:
        return ""
    found = differences_of(lock, executions)
    where = f"{lock.profile}, {lock.tier}"
    return f"open division of {where}: {'; '.join(found)}" if found else f"closed division: {where}"


def _differences(lock: Lock, profile: Profile) -> Iterator[str]:
    digest = profile_digest(profile)
    if lock.profile != profile.name:
        yield _differs("profile", profile.name, lock.profile)
    elif lock.profile_digest != digest:
        yield _differs("profile", digest, lock.profile_digest)
    if lock.adapter.pod != profile.pod:
        yield _differs("pod", profile.pod, lock.adapter.pod)
    yield from _resources(lock, profile)
    if lock.prices != profile.prices and (lock.prices or lock.answer or lock.judge):
        yield _differs("prices", profile.prices, lock.prices)
    own = [one for one in profile.suites if one.suite == lock.suite]
    found = [tuple(_chosen(lock, one)) for one in own if lock.tier in {"", one.tier}]
    if not found:
        tier = f" in the tier {lock.tier!r}" if own else ""
        yield f"suite: {profile.name} has none called {lock.suite!r}{tier}"
        return
    yield from min(found, key=len)  # a run of no tier is held against the one that it is nearest to


def _chosen(lock: Lock, suite: ProfileSuite) -> Iterator[str]:
    """Where a run was set otherwise than a suite of the profile."""
    wanted = suite.model_dump(mode="json", exclude={"tier", "suite"})
    made = lock.model_dump(mode="json", include=set(wanted))
    made["data"] = {name: made["data"][name] for name in wanted["data"]}
    for name, value in wanted.items():
        yield from _fields(name, value, made[name])


def _fields(name: str, wanted: object, made: object) -> Iterator[str]:
    """A field that differs; of a nested one, only what differs in it."""
    if isinstance(wanted, dict) and isinstance(made, dict):
        for key in sorted(wanted.keys() | made.keys()):
            yield from _fields(f"{name}.{key}", wanted.get(key), made.get(key))
    elif wanted != made:
        yield _differs(name, wanted, made)


def _differs(name: str, wanted: object, made: object) -> str:
    return f"{name}: {shown_value(wanted)} → {shown_value(made)}"


def _resources(lock: Lock, profile: Profile) -> Iterator[str]:
    """Where a pod asks for more than the profile gives."""
    manifest = lock.adapter.manifest
    if manifest is None:
        return
    containers = (manifest.image, *manifest.services.values())
    cpus = sum(container.resources.cpus for container in containers)
    memory = sum(int(container.resources.memory) for container in containers)
    if cpus > profile.cpus:
        yield f"cpus: at most {profile.cpus:g} → {cpus:g}"
    if memory > profile.memory_bytes:
        yield f"memory: at most {profile.memory_bytes} bytes → {memory}"


def profiled(config: RunConfig) -> tuple[RunConfig, ...]:
    """The runs that a configuration with a profile stands for, one a suite.

    What the configuration sets itself goes before the profile, also where it sets a default, and
    makes the run's division open where the profile says otherwise. Without a profile it stands for
    itself. A run that came of this stands for itself, too.

    Raises:
        UsageError: there is no such profile, or it has no such suite in the tier.
    """
    if not config.profile:
        if config.tier:
            message = "a tier is a profile's"
            raise UsageError(message, where=f"--tier {config.tier}", fix="give --profile too")
        return (config,)
    profile = load_profile(config.profile)
    tier = config.tier or TIERS[0]
    chosen = profile.suites_of(tier)
    if "suite" in config.model_fields_set:
        chosen = tuple(one for one in chosen if one.suite == config.suite)
    if not chosen:
        raise _no_such_suite(profile, config.suite, tier)
    return tuple(_configured(config, profile, one, several=len(chosen) > 1) for one in chosen)


def only_one(config: RunConfig) -> RunConfig:
    """The one run that a configuration stands for.

    Raises:
        UsageError: it stands for several, or as `profiled`.
    """
    runs = profiled(config)
    if len(runs) == 1:
        return runs[0]
    raise UsageError(
        f"{config.profile} stands for {len(runs)} runs: {', '.join(run.suite for run in runs)}",
        where="suite",
        fix="name one of them, or run each of `memrig.runs_of(config)`",
    )


def _no_such_suite(profile: Profile, suite: str, tier: Tier) -> UsageError:
    others = [one.tier for one in profile.suites if one.suite == suite]
    known = ", ".join(one.suite for one in profile.suites_of(tier))
    fix = f"give --tier {others[0]}" if others else f"one of: {known}; or leave --profile out"
    message = f"{profile.name} has no suite {suite!r} in its tier {tier}"
    return UsageError(message, where=f"--suite {suite}", fix=fix)


def _configured(
    config: RunConfig, profile: Profile, suite: ProfileSuite, *, several: bool
) -> RunConfig:
    settings = _settings(profile, suite)
    if implied_pod(config.adapter):  # a baseline, an endpoint: there is no choice
        del settings["pod"]
    chosen = {name: getattr(config, name) for name in config.model_fields_set}
    if "deadlines" in chosen:  # those that were named; the others stay the profile's
        given = config.deadlines.model_dump(exclude_unset=True)
        chosen["deadlines"] = suite.deadlines.model_copy(update=given)
    own: dict[str, Any] = {"suite": suite.suite, "tier": suite.tier}
    if several and config.out is not None:
        own["out"] = config.out / suite.suite
    return RunConfig.model_validate({**settings, **chosen, **own})


#: Options of a lock that are settings of their own in a configuration: whole numbers.
_COUNTS = ("turns", "questions")
_SAME = (
    "protocol", "mode", "category_labels", "sample", "naive", "isolation", "seeds", "repeats",
    "limit", "top_k", "deadlines", "budget", "audit", "audits",
)  # fmt: skip


def _settings(profile: Profile, suite: ProfileSuite) -> dict[str, Any]:
    """What a profile asks for, as a configuration names it."""
    found: dict[str, Any] = {name: getattr(suite, name) for name in _SAME}
    found |= {n: int(v) if n in _COUNTS else v for n, v in suite.options.items()}
    found |= {"pod": profile.pod, "judge_model": suite.judge}
    if suite.answer is not None:
        found["reader_model"] = suite.answer.model
        found["prompt"] = suite.answer.prompt
        found["context_tokens"] = suite.answer.context_tokens
        found["max_output_tokens"] = suite.answer.max_output_tokens
    return found
