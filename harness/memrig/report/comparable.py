"""Which runs can be set side by side: refused, or allowed with what is unlike named."""

from collections.abc import Iterator, Mapping, Sequence

from memrig.errors import UsageError
from memrig.model.canonical import short
from memrig.report.compare_model import Unlike
from memrig.report.compare_runs import LoadedRun
from memrig.runs.lock import Lock

#: Fields whose differing makes two runs answer other questions, so that a regression is none.
CONDITIONS = ("mode", "top_k", "reader", "judge", "budget", "isolation", "naive opponent")


def check_alike(runs: Sequence[LoadedRun]) -> None:
    """Refuses runs that no pairing makes comparable.

    Raises:
        UsageError: another suite, protocol, grader, or another content of the same scenario; names
            field, values and runs.
    """
    base = runs[0]
    for run in runs[1:]:
        for field in ("suite", "protocol"):
            if (left := getattr(base.lock, field)) != (right := getattr(run.lock, field)):
                fix = f"compare runs of one {field}"
                raise _refused(
                    base, run, f"{field} is {left!r} in one, {right!r} in the other", fix
                )
        left, right = base.graders, run.graders
        if left and right and left != right:
            said = f"graded by {', '.join(left)} in one, by {', '.join(right)} in the other"
            fix = f"memrig score {base.folder}, then memrig score {run.folder}"
            raise _refused(base, run, said, fix)
        _check_scenarios(base, run)


def _check_scenarios(base: LoadedRun, run: LoadedRun) -> None:
    """What has one name must be one thing: questions are paired by name."""
    left, right = _digests(base.lock), _digests(run.lock)
    both = left.keys() & right.keys()
    if changed := sorted(name for name in both if left[name] != right[name]):
        named = ", ".join(changed[:3]) + (f" and {len(changed) - 3} more" if changed[3:] else "")
        said = (
            f"scenarios of one name hold other episodes, questions or gold: {named}; "
            f"data sha256 {short(base.lock.data.sha256)} and {short(run.lock.data.sha256)}"
        )
        fix = "run both on the same data, options (variant, order, distractors …) and limits"
        raise _refused(base, run, said, fix)


def _digests(lock: Lock) -> Mapping[str, tuple[str, str]]:
    return {
        ref.scenario_id if ref.seed is None else f"{ref.scenario_id} (seed {ref.seed})": (
            ref.digest,
            ref.gold_digest,
        )
        for ref in lock.scenarios
    }


def _refused(base: LoadedRun, run: LoadedRun, said: str, fix: str) -> UsageError:
    return UsageError(f"cannot be compared: {said}", where=f"{base.folder}, {run.folder}", fix=fix)


def unlike_fields(runs: Sequence[LoadedRun]) -> Iterator[Unlike]:
    """The inputs but the memory system in which the runs differ, each with every run's value."""
    told = [_told(run.lock) for run in runs]
    for field in told[0]:
        values = tuple(row[field] for row in told)
        if len(set(values)) > 1:
            yield Unlike(field=field, values=values)


def _told(lock: Lock) -> dict[str, str]:
    answer, budget = lock.answer, lock.budget
    asked = lock.mode in {"reader", "agent"} and answer is not None
    spec = (
        f"{answer.model}, {answer.prompt} ({short(answer.prompts, 6)}), "
        f"{answer.context_tokens} tokens of context, {answer.max_output_tokens} out"
        if asked and answer
        else "none"
    )
    limits = budget.model_dump(exclude={"preset"}, exclude_none=True)
    return {
        "mode": lock.mode,
        "top_k": str(lock.top_k),
        "reader": spec,
        "judge": lock.judge or "none",
        "budget": ", ".join(f"{name} {value:g}" for name, value in limits.items()),
        "isolation": lock.isolation,
        "naive opponent": "yes" if lock.naive else "no",
        "data": f"{lock.data.name} ({short(lock.data.sha256)})",
        "options": ", ".join(f"{k} {v}" for k, v in sorted(lock.options.items())) or "none",
        "limit": "none" if lock.limit is None else str(lock.limit),
        "seeds": ", ".join(map(str, lock.seeds)),
        "repeats": str(lock.repeats),
        "category labels": lock.category_labels,
        "pod": lock.adapter.pod,
        "deadlines": ", ".join(f"{k} {v:g}" for k, v in lock.deadlines.model_dump().items()),
        "memrig": lock.memrig_version,
    }
