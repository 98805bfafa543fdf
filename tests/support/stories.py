"""A data sheet by itself, and a small story of a pump, whole."""

import json
from datetime import date
from html import unescape

from memrig.generation.model import Reading, Section, Sheet
from memrig.generation.spec import DocumentStyle, Spec

STYLE = DocumentStyle(title="Site log", voice="dry", words=(200, 450))


def sheet_of(readings: int = 6, events: int = 2, day: date = date(2024, 3, 4)) -> Sheet:
    """A sheet of two sections."""
    made = [Reading(label=f"gauge {'abcdefghij'[n]}", value=f"{n}7.{n}5", unit="kPa")
            for n in range(readings)]  # fmt: skip
    return Sheet(
        heading="Site log, Northgate",
        day=day,
        sections=(
            Section(title="Hall", readings=tuple(made[::2])),
            Section(title="Yard", readings=tuple(made[1::2])),
        ),
        events=tuple(f"The gate was painted in colour {'xyzuvw'[n]}." for n in range(events)),
    )


def sheet_in(prompt: str) -> Sheet:
    """The data sheet of a prompt, as a model reads it."""
    start, end = prompt.index("{"), prompt.rindex("}") + 1
    return Sheet.model_validate(json.loads(unescape(prompt[start:end])))


#: What a planning model says, by member.
Reply = dict[str, object]
EVENTS = ["The hedge was cut.", "A kettle was bought."]


def brief_in(text: str) -> dict[str, object]:
    """The phase to plan, as a model reads it from a prompt."""
    last = text[text.rindex("<phase ") :]
    return json.loads(unescape(last[last.index("{") : last.rindex("}") + 1]))


def figures(brief: dict[str, object]) -> Reply:
    """A plan of a phase by somebody who follows the ranges: from end to end, or in the middle."""
    count = brief["episodes"]
    values = {}
    for name, series in brief["series"].items():
        least, most = float(series["least"]), float(series["most"])
        path = [least + (most - least) * n / max(1, count - 1) for n in range(count)]
        if series["moves"] == "down":
            path.reverse()
        if name == "valve":
            path = [least, *[most] * (count - 2), least]
        values[name] = [round(value, 1) for value in path]
    return {"values": values, "events": [EVENTS] * count}


_TYPES = (
    "longitudinal",
    "action_recommendation",
    "negative",
    "temporal",
    "paraphrase",
    "counterfactual",
    "distractor_resistance",
    "severity_assessment",
    "evidence_sufficiency",
)


def _signal(name: str, label: str, section: str, **formulas: str) -> dict[str, object]:
    found = formulas or {"all": "50 + 5*sin(n)"}
    return {"name": name, "label": label, "unit": "kPa", "section": section, "decimals": 1,
            "noise": 0.6, "formulas": found}  # fmt: skip


def _theme() -> dict[str, object]:
    labels = ("Bread baked", "Flour used", "Oven warmth", "Plates washed")
    rooms = ("Kitchen", "Kitchen", "Scullery", "Scullery")
    signals = [_signal(f"s{n}", label, room)
               for n, (label, room) in enumerate(zip(labels, rooms, strict=True))]  # fmt: skip
    things = ("spoon", "apron", "tray", "ladle")
    return {"name": "kitchen", "signals": signals,
            "events": [f"A {thing} was bought." for thing in things]}  # fmt: skip


def pump_spec(**changes: object) -> Spec:
    """The story's spec; its planned and rendered draft passes every validator."""
    ends = {"first": {"signal": "inlet", "above": 30}, "then": {"signal": "outlet", "below": 60}}
    fields: dict[str, object] = {
        "format": "memrig.longitudinal-spec/1",
        "name": "pump",
        "domain": "water works",
        "storyline": "SECRETSTORY The bearing wears out, and nobody sees it.",
        "document": {"title": "Pump house sheet", "voice": "terse", "words": [200, 450]},
        "timeline": {"start": "2024-03-04", "interval_days": 1, "episodes": 20},
        "phases": [{"name": "calm", "share": 0.4}, {"name": "wear", "share": 0.6}],
        "signals": [
            _signal("inlet", "Inlet pressure", "Pumps", calm="20", wear="last + 15 + 30*t"),
            _signal("outlet", "Outlet pressure", "Pumps", calm="80", wear="last - 8*t - 25*t*t"),
            _signal("tank", "Tank head", "Tanks"),
            _signal("valve", "Valve backlash", "Tanks", calm="10", wear="10 + 9*sin(3.14*t)"),
        ],
        "routine": [f"The {part} was painted." for part in ("gate", "wall", "door", "rail")],
        "distractors": {"ratio": 1, "themes": [_theme()]},
        "forbidden": ["bearing", "root cause", "correlat"],
        "facts": [
            {"id": "rise", "kind": "change", "signal": "inlet"},
            {"id": "fall", "kind": "change", "signal": "outlet"},
            {"id": "steady", "kind": "steady", "signal": "tank"},
            {"id": "back", "kind": "recovery", "signal": "valve"},
            {"id": "order", "kind": "order"} | ends,
            {"id": "at", "kind": "value", "signal": "inlet", "at": "calm:3"},
            {"id": "tank_at", "kind": "value", "signal": "tank", "at": "calm:3"},
        ],
        "questions": [
            *({"id": f"q{n}", "type": kind, "after": "wear:last",
               "prompt": f"What do the sheets of the pump house show, view {kind}? Moved is an "
                         "inlet above 30 and an outlet below 60.",
               "facts": ["rise", "fall", "steady", "back", "order"][n % 3:][:3]}
              for n, kind in enumerate(_TYPES)),
            {"id": "control", "type": "null_hypothesis", "after": "wear:first",
             "prompt": "What did the sheet of {calm:3} give for the inlet pressure and the tank "
                       "head?", "facts": ["at", "tank_at"]},
        ],
    }  # fmt: skip
    return Spec.model_validate(fields | changes)
