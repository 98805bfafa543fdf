"""From a judge's reply to a score, or to None: what is no verdict is not guessed at."""

import json
import re
from collections.abc import Callable, Mapping

Parse = Callable[[str], float | None]

_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)


def contains_yes(reply: str) -> float | None:
    """1 where the lower-cased reply contains "yes", else 0: the rule of LongMemEval's evaluator.

    A blank reply is no verdict here; there it counts as no.
    """
    if not reply.strip():
        return None
    return float("yes" in reply.lower())


def json_verdict(field: str, scores: Mapping[str, float]) -> Parse:
    """Makes the parser of a JSON verdict such as ``{"correct": true, "reason": "…"}``.

    The reply must be one JSON object and nothing else, a Markdown fence around it aside. It holds
    `field`, perhaps a text `reason`, and no other field and none twice.

    Args:
        field: the field that holds the verdict.
        scores: what each verdict scores, by its JSON text, such as ``true`` or ``"CORRECT"``.
    """

    def parse(reply: str) -> float | None:
        verdict = _object(reply)
        if verdict is None or not {field} <= set(verdict) <= {field, "reason"}:
            return None
        if not isinstance(verdict.get("reason", ""), str):
            return None
        return scores.get(json.dumps(verdict[field]))

    return parse


def _object(reply: str) -> dict[str, object] | None:
    text = reply.strip()
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1]
    try:
        value = json.loads(text, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _without_repetition(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("a field occurs twice")
    return dict(pairs)
