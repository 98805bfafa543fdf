"""LENS's metrics once more, from the files of a run alone, by the definitions of the composite.

Shares nothing with what grades and summarises but the typed fact matcher. Sums are exact fractions,
so that nothing depends on the order in which floats are added up.
"""

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from memrig.grading.typed import grade_text
from memrig.model.gold import TextGold

SYNTHESIS = {
    "longitudinal",
    "negative",
    "temporal",
    "counterfactual",
    "paraphrase",
    "distractor_resistance",
    "severity_assessment",
    "evidence_sufficiency",
}
WEIGHTS = {
    "lens-v1": {
        "evidence_grounding": "0.10",
        "fact_recall": "0.10",
        "evidence_coverage": "0.10",
        "budget_compliance": "0.10",
        "answer_quality": "0.15",
        "insight_depth": "0.15",
        "reasoning_quality": "0.10",
        "longitudinal_advantage": "0.15",
        "action_quality": "0.05",
    },
    "lens-v3.4": {
        "evidence_grounding": "0.09",
        "evidence_coverage": "0.09",
        "budget_compliance": "0.07",
        "citation_coverage": "0.10",
        "answer_quality": "0.22",
        "insight_depth": "0.18",
        "reasoning_quality": "0.10",
        "longitudinal_advantage": "0.07",
        "action_quality": "0.08",
    },
}
GATES = {
    "lens-v1": ("evidence_grounding", "budget_compliance"),
    "lens-v3.4": ("evidence_grounding",),
}
#: Of one memory's sources so many count (ADR 0012).
MOST_SOURCES = 5
Value = Fraction | None
JsonObject = dict[str, Any]


def questions_of(run: Path) -> list[JsonObject]:
    """Every settled question of a run: its record, its gold, its text, and what came before it."""
    found: list[JsonObject] = []
    for folder in sorted((run / "trials").iterdir()):
        spec = json.loads((folder / "spec.json").read_text("utf-8"))
        streams = {ref["scenario_id"]: _stream(run, ref) for ref in _refs(spec)}
        for line in _lines(folder / "transcript.jsonl"):
            record = line["record"]
            if record["kind"] == "question":
                known = streams[record["scenario_id"]][record["question_id"]]
                found.append(known | _of(spec) | {"record": record})
    return found


def verdicts_of(run: Path) -> dict[str, list[float]]:
    """A judge's scores by question and what was asked: "q1/canonical", "q1/naive", "q1/action"."""
    found: dict[str, list[float]] = {}
    for path in sorted((run / "verdicts").glob("*.jsonl")):
        for line in _lines(path):
            task = line["task"]
            against = "naive" if "naive" in task else "canonical"
            what = "action" if task.startswith("action") else against
            found.setdefault(f"{line['question_id']}/{what}", []).append(line["score"])
    return found


def metrics(asked: list[JsonObject], verdicts: Mapping[str, list[float]]) -> dict[str, Value]:
    """Every metric by name, None where nothing of it can be measured.

    Args:
        asked: of `questions_of`.
        verdicts: of `verdicts_of`; without any, nobody judged.
    """
    agents = [one for one in asked if one["mode"] == "agent"]
    cites = [one for one in asked if one["cites"]]
    some = [one for one in asked if one["evidence"]]
    synthesis = [one for one in asked if one["category"] in SYNTHESIS]
    control = [one for one in asked if one["category"] == "null_hypothesis"]
    coverage = _mean(
        _covered(one, _cited_episodes(one, len(one["evidence"]))) for one in some if one["cites"]
    )
    above, below = _mean(_recalls(synthesis)), _mean(_recalls(control))
    return {
        "evidence_grounding": _grounding(cites) if cites else None,
        "fact_recall": _mean(_recalls(asked)),
        "evidence_coverage": coverage,
        "citation_coverage": coverage,
        "budget_compliance": _mean(Fraction(_within(one)) for one in asked),
        "answer_quality": _judged(asked, verdicts, "canonical"),
        "insight_depth": _mean(
            Fraction(len(_cited_episodes(one)) >= 2) for one in synthesis if one["cites"]
        ),
        "reasoning_quality": _mean(Fraction(_reasoned(one)) for one in agents),
        "longitudinal_advantage": None if above is None or below is None else above - below,
        "action_quality": _judged(asked, verdicts, "action"),
        "naive_baseline_advantage": _judged(asked, verdicts, "naive"),
        "evidence_retrieved": _mean(
            _covered(one, _retrieved(one)) for one in some if one["mode"] != "native"
        ),
        "citation_precision": _mean(
            share for one in some if one["cites"] and (share := _precise(one)) is not None
        ),
    }


def composite(values: Mapping[str, Value], profile: str) -> tuple[Value, Value, Fraction]:
    """The composite, the same without its gates, and the weight that was measured."""
    weights = {name: Fraction(weight) for name, weight in WEIGHTS[profile].items()}
    known = {name: value for name in weights if (value := values[name]) is not None}
    measured = sum((weights[name] for name in known), Fraction())
    if not measured:
        return None, None, measured
    ungated = sum((weights[name] * value for name, value in known.items()), Fraction()) / measured
    closed = any(known[name] < Fraction(1, 2) for name in GATES[profile] if name in known)
    return (Fraction() if closed else ungated), ungated, measured


def _of(spec: JsonObject) -> JsonObject:
    cites = spec["mode"] != "reader" or spec["answer"]["prompt"] == "cited"
    return {"mode": spec["mode"], "cites": cites}


def _refs(spec: JsonObject) -> list[JsonObject]:
    return [ref for ref in spec["scenarios"] if spec["kind"] == "scored"]


def _lines(path: Path) -> list[JsonObject]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _stream(run: Path, ref: JsonObject) -> dict[str, JsonObject]:
    """What is known of each question of a scenario, the episodes before it included."""
    files = {path.name.split(".")[0]: path for path in (run / "scenarios").iterdir()}
    entries = _lines(files[ref["digest"].removeprefix("sha256:")])
    gold = {g["question_id"]: g for g in _lines(files[ref["gold_digest"].removeprefix("sha256:")])}
    past: list[str] = []
    known: dict[str, JsonObject] = {}
    for entry in entries:
        if entry.get("type") == "episode":
            past.append(entry["episode_id"])
        elif entry.get("type") == "question":
            name = entry["question_id"]
            known[name] = gold[name] | {"text": entry["text"], "past": frozenset(past)}
    return known


def _mean(values: Iterable[Fraction]) -> Value:
    every = list(values)
    return sum(every, Fraction()) / len(every) if every else None


def _ended_well(one: JsonObject) -> bool:
    return not str(one["record"]["outcome"]["status"]).startswith("adapter_")


def _within(one: JsonObject) -> bool:
    return _ended_well(one) and one["record"]["outcome"]["status"] != "budget_exceeded"


def _answer(one: JsonObject) -> JsonObject | None:
    return one["record"]["answer"] if _ended_well(one) else None


def _memories(one: JsonObject) -> list[list[str | None]]:
    """The claims of every memory that is cited, each memory once."""
    answer = _answer(one)
    if answer is None:
        return []
    by_handle = {m["handle"]: m for m in answer["memories"]}
    found = [by_handle[handle] for handle in answer["cited"] if handle in by_handle]
    return list({m["ref_id"]: m["episodes"] for m in found}.values())


def _resolving(one: JsonObject, claims: list[str | None]) -> Fraction:
    """The share of a memory's claims that name episodes which came before the question."""
    return (
        Fraction(sum(name in one["past"] for name in claims), len(claims)) if claims else Fraction()
    )


def _grounding(asked: list[JsonObject]) -> Fraction:
    refs, good = 0, Fraction()
    for one in asked:
        answer, memories = _answer(one), _memories(one)
        refs += len(memories) + (answer["unknown_citations"] if answer else 0)
        good += sum((_resolving(one, claims) for claims in memories), Fraction())
    return good / refs if refs else Fraction()


def _episodes(one: JsonObject, every: Iterable[list[str | None]]) -> set[str]:
    named = {name for claims in every for name in claims[:MOST_SOURCES]}
    return {name for name in named if name in one["past"]}


def _cited_episodes(one: JsonObject, wanted: int = 0) -> set[str]:
    """What an answer cites that came before: its first ten sources, or as many as are wanted."""
    first: list[str | None] = []
    for claims in _memories(one):
        first += [name for name in claims[:MOST_SOURCES] if name not in first]
    return {name for name in first[: max(10, wanted)] if name in one["past"]}


def _precise(one: JsonObject) -> Fraction | None:
    """The share of what is cited that names anything required; None where nothing is cited."""
    answer = _answer(one)
    if answer is None or not (answer["cited"] or answer["unknown_citations"]):
        return None
    claims = {m["handle"]: set(m["episodes"]) for m in answer["memories"]}
    good = sum(bool(claims.get(name, set()) & set(one["evidence"])) for name in answer["cited"])
    return Fraction(good, len(answer["cited"]) + answer["unknown_citations"])


def _retrieved(one: JsonObject) -> set[str]:
    answer = _answer(one)
    if not _ended_well(one) or (answer is None and not _within(one)):
        return set()
    hits = [hit["episodes"] for search in one["record"]["searches"] for hit in search["hits"]]
    return _episodes(one, [*hits, *(m["episodes"] for m in answer["memories"])] if answer else hits)


def _covered(one: JsonObject, episodes: set[str]) -> Fraction:
    wanted = set(one["evidence"])
    return Fraction(len(wanted & episodes), len(wanted))


def _recalls(asked: Iterable[JsonObject]) -> list[Fraction]:
    return [_recall(one) for one in asked if one["answer"]["key_facts"]]


def _recall(one: JsonObject) -> Fraction:
    answer = _answer(one)
    if answer is None:
        return Fraction()
    gold = TextGold.model_validate(one["answer"])
    return Fraction(grade_text(answer["text"], gold, one["text"], answer["abstained"]))


def _reasoned(one: JsonObject) -> bool:
    answer = _answer(one)
    if answer is None or answer["abstained"]:
        return False
    used = any(not use["is_error"] for use in one["record"]["tool_uses"])
    return len(answer["text"]) > 50 and used


def _judged(asked: list[JsonObject], verdicts: Mapping[str, list[float]], what: str) -> Value:
    """The mean over questions of the mean over a judge's verdicts; who says nothing has 0."""
    if not verdicts:
        return None
    chosen = [one for one in asked if one["answer"]["key_facts"]]
    if what == "action":
        chosen = [one for one in asked if one["category"] == "action_recommendation"]
    if what == "naive":
        chosen = [one for one in chosen if (one["record"]["naive"] or {}).get("answer")]
    scores = [
        _mean(map(Fraction, verdicts.get(f"{one['question_id']}/{what}", ()))) or Fraction()
        for one in chosen
    ]
    return _mean(scores)
