"""Small longitudinal datasets, as parsed JSON that a test may spoil."""

from copy import deepcopy
from typing import Any

JsonObject = dict[str, Any]


def episode(scope: str, number: int, kind: str = "signal", **changes: object) -> JsonObject:
    """The n-th episode of a scope, at ten on the n-th of January."""
    marker = {"signal": "ep", "distractor": "dx", "": "x"}[kind]
    made: JsonObject = {
        "episode_id": f"{scope}_{marker}_{number:03}",
        "scope_id": scope,
        "timestamp": f"2024-01-{number:02}T10:00:00",
        "text": f"The {kind or 'plain'} entry {number} of {scope}.",
    }
    if kind:
        made["meta"] = {"episode_type": kind}
    return made | changes


def question(scope: str, number: int, checkpoint: int, **changes: object) -> JsonObject:
    """A question that needs the episode of its checkpoint; the first is a control question."""
    return {
        "question_id": f"{scope}_q{number}",
        "scope_id": scope,
        "checkpoint_after": checkpoint,
        "question_type": "null_hypothesis" if number == 1 else "longitudinal",
        "prompt": f"What happened up to {checkpoint}?",
        "ground_truth": {
            "canonical_answer": f"Entry {checkpoint} was made.",
            "required_evidence_refs": [f"{scope}_ep_{checkpoint:03}"],
            "key_facts": [f"entry {checkpoint}"],
        },
    } | changes


def dataset(*scopes: str, episodes: int = 4) -> JsonObject:
    """Scopes of signal episodes with a question after each second one; by default one, "one"."""
    names = scopes or ("one",)
    places = range(2, episodes + 1, 2)
    return {
        "version": "1",
        "scopes": [
            {"scope_id": name, "episodes": [episode(name, n + 1) for n in range(episodes)]}
            for name in names
        ],
        "questions": [
            question(name, number, place)
            for name in names
            for number, place in enumerate(places, 1)
        ],
    }


def spoilt(change: object, **settings: int) -> JsonObject:
    """A dataset of one scope after a change made in place."""
    made = deepcopy(dataset(**settings))
    change(made)  # type: ignore[operator]
    return made
