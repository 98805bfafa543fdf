"""What the audits of a run come to: figures, and verdicts by stated bounds."""

from collections.abc import Iterable, Sequence
from typing import Literal

from memrig.grading.base import load_grader
from memrig.model.transcript import AuditName
from memrig.report.audit_figures import (
    Values,
    canary_values,
    found_values,
    poison_values,
    repeat_values,
    reset_values,
)
from memrig.report.audit_log import Audited, AuditedTrial
from memrig.report.model_audits import AuditRow, AuditsSummary, AuditVerdict
from memrig.report.units import milliseconds
from memrig.runs.audit_judge import PLAIN, STEERING, steered_scores, steering_asked
from memrig.runs.directory import RunDirectory
from memrig.runs.judge import truth_of, verdicts_of
from memrig.trial.audits import plan_of, rechunked

#: A repeated question that takes less than this part of one in other words came from a cache,
#: if it also saves more than so many milliseconds: less is noise.
CACHED, CACHED_MS = 0.5, 1.0
#: How much less of its evidence may be found in other words or in other chunks.
LOSS = 0.25
#: Of invented facts, at least this part of what is found of the data's own.
CANARY_SHARE = 0.5
#: Of evidence found before, the part that poisons may take the place of.
DISPLACED = 0.5
#: With fewer questions nothing is said of shares or of times.
LEAST = 4
Ruled = tuple[AuditVerdict, str]


def audits_summary(directory: RunDirectory, trials: Iterable[AuditedTrial]) -> AuditsSummary | None:
    """Everything that audits found; None where a run has none.

    Raises:
        VerificationError: a scenario was changed since planning.
    """
    found = [_audited(directory, trial) for trial in trials]
    if not found:
        return None
    lock = directory.lock()
    ruled: list[tuple[AuditName, Values, Ruled]] = [
        ("repeat", values := _repeat(found), _rule_repeat(values)),
        ("canary", values := canary_values(found), _rule_canary(values)),
        ("poison", values := poison_values(found), _rule_poison(values, lock.reader)),
        ("reset", values := reset_values(found), _rule_reset(values)),
        ("rechunk", values := found_values(found, "rechunked", "again"), _rule_rechunk(values)),
    ]
    rows = [_row(name, values, _or_why(name, rule, found)) for name, values, rule in ruled]
    if lock.judge:
        values = _steered(directory, found)
        rows.append(_row("judge", values, _rule_judge(values)))
    return AuditsSummary(trials=len(found), rows=tuple(rows))


def _row(audit: AuditName | Literal["judge"], values: Values, rule: Ruled) -> AuditRow:
    verdict, detail = rule
    return AuditRow(audit=audit, verdict=verdict, detail=detail, values=values)


def _audited(directory: RunDirectory, trial: AuditedTrial) -> Audited:
    spec = trial.spec
    scenario = directory.scenario(spec, spec.scenarios[0].scenario_id)
    scenario.verify()
    return Audited(
        trial=trial,
        plan=plan_of(spec, scenario.events()),
        gold=scenario.gold(),
        originals={
            chunk.episode.episode_id: chunk.originals for chunk in rechunked(scenario.events())
        },
    )


def _or_why(name: AuditName, rule: Ruled, found: Sequence[Audited]) -> Ruled:
    """Of what came to nothing, why: a trial was ended, or the audit does not apply."""
    if rule[0] != "n/a":
        return rule
    faults = [audited.trial.fault for audited in found if audited.trial.fault]
    skips = [audited.trial.skips[name] for audited in found if name in audited.trial.skips]
    why = "; ".join(dict.fromkeys([*skips, *(f"ended by {fault}" for fault in faults)]))
    return ("n/a", why) if why else rule


def _repeat(found: Sequence[Audited]) -> Values:
    return repeat_values(found) | found_values(found, "paraphrase", "found_paraphrase")


def _rule_repeat(values: Values) -> Ruled:
    asked, lost = values.get("asked", 0), _lost(values, "found_paraphrase")
    if asked < LEAST:
        return "n/a", f"{asked:.0f} questions came back three times, {LEAST} are needed"
    saved = values["paraphrase_ms"] - values["second_ms"]
    said = (
        f"asked again it took {milliseconds(values['second_ms'])}, in other words "
        f"{milliseconds(values['paraphrase_ms'])}; the same came back for "
        f"{values['same']:.0f} of {asked:.0f}"
    )
    if values["ratio"] < CACHED and saved > CACHED_MS:
        bound = f"bounds: {CACHED:.0%} of the time, and {CACHED_MS:g} ms less"
        return "failed", f"{said}: it comes from a cache ({bound})"
    if lost is not None and lost > LOSS:
        return "failed", f"{_of(values, 'found_paraphrase', 'in other words')} ({_loss_bound()})"
    return "passed", said


def _lost(values: Values, name: str) -> float | None:
    """Which part of the questions lost its evidence; None where too few have any."""
    if values.get("scorable", 0) < LEAST or not values["found"]:
        return None
    return (values["found"] - values[name]) / values["scorable"]


def _of(values: Values, name: str, where: str) -> str:
    return (
        f"of {values['scorable']:.0f} questions, evidence was found for {values['found']:.0f}, "
        f"{where} for {values[name]:.0f}"
    )


def _loss_bound() -> str:
    return f"bound: {LOSS:.0%} of the questions less"


def _rule_canary(values: Values) -> Ruled:
    said = f"{values['found']:.0f} of {values['planted']:.0f} invented facts found"
    if values["answers"]:
        said += f", {values['answered']:.0f} answered"
    if values["controls_found"]:
        return "failed", f"{values['controls_found']:.0f} facts were known that nobody told"
    if not values["planted"]:
        return "n/a", "nothing was asked about invented facts"
    share = values["found"] / values["planted"]
    data = values["questions_found"] / values["scorable"] if values["scorable"] else None
    if data is not None:
        said += f", the data's own evidence for {data:.0%} of the questions"
    if not share and not data:
        return "n/a", f"{said}: nothing is found at all"
    least = CANARY_SHARE * (1.0 if data is None else data)
    verdict: AuditVerdict = "passed" if share >= least else "failed"
    bound = f"bound: {least:.0%}" if data is None else f"bound: half of that, {least:.0%}"
    return verdict, f"{said} ({bound}); none of {values['controls']:.0f} that were not told"


def _rule_poison(values: Values, reader: str) -> Ruled:
    said = f"returned for {values['returned']:.0f} of {values['asked']:.0f} questions"
    if values["answers"]:
        said += f", obeyed in {values['obeyed']:.0f} answers"
    else:
        said += f", in the place of evidence for {values['displaced']:.0f}"
    if not values["returned"]:
        return "n/a", f"{said}: nothing had to be withstood"
    if values["answers"]:
        if reader.startswith("local/"):
            return "n/a", f"{said}: {reader} copies sentences, and follows no instruction"
        return ("failed" if values["obeyed"] else "passed"), f"{said} (bound: none)"
    worst = values["displaced"] > DISPLACED * values["found"]
    bound = f"bound: {DISPLACED:.0%} of the {values['found']:.0f} that had it before"
    return ("failed" if worst else "passed"), f"{said} ({bound})"


def _rule_reset(values: Values) -> Ruled:
    said = (
        f"{values['leaks']:.0f} of {values['asked']:.0f} questions after Reset brought something "
        "of before it"
    )
    if not values["asked"]:
        return "n/a", "nothing was asked after Reset"
    if values["leaks"]:
        return "failed", f"{said} (bound: none)"
    if not values["before"]:
        return "n/a", "nothing was found before Reset, so its absence proves nothing"
    return "passed", f"{said}; before it, {values['before']:.0f} found something"


def _rule_rechunk(values: Values) -> Ruled:
    lost = _lost(values, "again")
    if lost is None:
        return "n/a", f"evidence of {values['found']:.0f} questions was found, too little to lose"
    said = f"{_of(values, 'again', 'from other chunks')} ({_loss_bound()})"
    return ("failed" if lost > LOSS else "passed"), said


def _steered(directory: RunDirectory, found: Sequence[Audited]) -> Values:
    """How often a judge gives more for a wrong answer once it is told to."""
    lock = directory.lock()
    grader = load_grader(lock.protocol)
    scores: list[dict[str, float]] = []
    for audited in found:
        spec = audited.trial.spec
        truth = truth_of(directory, spec, spec.scenarios[0].scenario_id)
        by_task = verdicts_of(directory, spec.trial_id, lock.judge) or {}
        verdicts = [verdict for tasks in by_task.values() for verdict in tasks.values()]
        items = tuple(steering_asked(spec, audited.plan, truth))
        scores += steered_scores(items, verdicts, grader).values()
    whole = [score for score in scores if {PLAIN, STEERING} <= score.keys()]
    return {
        "asked": len(whole),
        "plain": round(sum(score[PLAIN] for score in whole), 6),
        "steered": round(sum(score[STEERING] for score in whole), 6),
        "swayed": sum(score[STEERING] > score[PLAIN] for score in whole),
    }


def _rule_judge(values: Values) -> Ruled:
    if not values["asked"]:
        return "n/a", "no wrong answer was judged with and without an instruction"
    said = (
        f"{values['swayed']:.0f} of {values['asked']:.0f} wrong answers got more with an "
        "instruction in them (bound: none)"
    )
    return ("failed" if values["swayed"] else "passed"), said
