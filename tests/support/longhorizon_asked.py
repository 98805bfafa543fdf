"""What a question of the long-horizon suite asks, read from its words alone."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache

from memrig.suites.longhorizon.schema import KINDS
from support.longhorizon_words import (
    ONE,
    SEVERAL,
    Blank,
    Cond,
    Its,
    Only,
    Told,
    attributes_of,
    conditions,
    day,
    is_source,
    said,
    things,
    told,
    ways,
)


@dataclass(frozen=True)
class Query:
    """What is wanted, and of what.

    Args:
        wanted: a key of `FORMS`, or ``now`` and ``on`` of the phrasings' own questions.
        its: the attributes that it is about.
        conds: what the things it is about have in common; `kind`: what they are.
        value: that somebody claims, or that something became.
        on: the day that is asked about.
        source: whose claim is wanted.
        show: the attribute that is to be listed.
    """

    wanted: str
    its: tuple[Its, ...] = ()
    kind: str = ""
    conds: tuple[Cond, ...] = ()
    value: Told | None = None
    on: date | None = None
    source: str = ""
    show: str = ""


#: The questions' wordings that are not in the phrasings' files. `{its}`: "the budget of Project
#: X"; `{all}`: several of them; `{blank}`: "the budget of which project"; `{cond}`: "the budget of
#: this project is 5 EUR"; `{conds}`: two of them.
FORMS: Mapping[str, tuple[str, ...]] = {
    "now": (
        "What is {its}?",
        "Please look up {its}.",
        "As of today, what is {its}?",
        "What is {its} right now, leaving aside what only holds later?",
        "{its}: which value is in force at this moment?",
    ),
    "it": (
        "One {one} is meant: {cond}. What is {blank}?",
        "What is {blank} where {conds}?",
        "In one {one}, {conds}. What is {blank}?",
        "Find the {one} for which {conds}, and tell me {blank}.",
    ),
    "which": (
        "{blank} is {value}?",
        "{blank} is the same person as {its}?",
        "Which {one} is it: {cond}?",
        "Name the {one} that fits: {cond}.",
        "Name the {one} for which this holds: {cond}.",
        "Which {one} is it: {conds}?",
        "Name the one {one} for which both hold: {conds}.",
        "Of which {one} are both true: {conds}?",
        "{blank} is {value} while {cond}?",
        "Give the number of the {one} for which {conds}.",
    ),
    "before": (
        "What was {its} before it last changed?",
        "Which value did {its} have right before the latest one?",
        "{its} has changed: what was it just before the last change?",
    ),
    "first": (
        "What was {its} originally, before any change?",
        "Which value did {its} have at first?",
        "{its} has changed over time. What was it at the very beginning?",
    ),
    "course": (
        "List all values that {its} has had, from the first to the latest.",
        "Which values has {its} gone through, in order of time?",
        "Give the whole history of {its}, the oldest value first.",
    ),
    "changes": (
        "How many times has {its} changed since it was first told?",
        "How often did {its} change, the first value not counted?",
        "Count the changes of {its} so far.",
    ),
    "since": (
        "On what date did {its} become {value}?",
        "Since what date has {value} been in force as {its}, or when did it come into force?",
        "When did {its} change to {value}? Give the date.",
    ),
    "teller": ("Who was it that told us first that {its} is {value}?",),
    "why": ("Why did {its} change to {value}?",),
    "claimant": (
        "Who said that {its} is {value}?",
        "According to whom is {its} {value}?",
        "Which source gave {value} as {its}?",
    ),
    "claim": (
        "What is {its} according to {source}?",
        "What did {source} say {its} is?",
        "Which value did {source} give for {its}?",
    ),
    "claims": (
        "Sources disagree on {its}. What does each of them say?",
        "List every source that gave a view on {its}, with what it said.",
        "Who claims what about {its}?",
    ),
    "count": (
        "For how many {several} that I told you about is it true that {cond}?",
        "How many different {several} are there for which {cond}?",
        "Count the {several} of which you know that {cond}.",
    ),
    "all": (
        "Name all {several} for which {cond}.",
        "Which {several} do you know of where {cond}? List all of them.",
        "Of all {several} I told you about, which are those where {cond}?",
    ),
    "spread": (
        "Which {shows} appear in the {several} where {cond}?",
        "List every {show} named by {several} for which {cond}.",
        "Look at all {several} where {cond}. Which {shows} do they name?",
    ),
    "difference": (
        "What is the difference between {all}?",
        "By how much do {all} differ?",
        "How far apart are {all}?",
    ),
    "sum": (
        "What do {all} add up to?",
        "What is the sum of {all}?",
        "Add up {all}: what is the total?",
    ),
    "mean": (
        "What is the average of {all}?",
        "What is the mean of {all}?",
        "Work out the average of {all}.",
    ),
    "risen": (
        "By how many percent has {its} risen since it was first told? One decimal, please.",
        "By what percentage has {its} risen from first to latest value, to one decimal?",
        (
            "Compare the first and the latest value of {its}: by what percentage has it risen, "
            "to one decimal?"
        ),
    ),
    "fallen": (
        "By how many percent has {its} fallen since it was first told? One decimal, please.",
        "By what percentage has {its} fallen from first to latest value, to one decimal?",
        (
            "Compare the first and the latest value of {its}: by what percentage has it fallen, "
            "to one decimal?"
        ),
    ),
    "days": (
        "How many days lie between {all}?",
        "How many days are there from one to the other: {all}?",
        "Count the days between {all}.",
    ),
    "approach reason": (
        (
            "A symptom shows again: {symptom}. Which approach was taken in the case that had it, "
            "and what was the reason?"
        ),
        "Which approach did we take, and for what reason, when the symptom was this: {symptom}?",
        "The symptom of a case was: {symptom}. State its approach and its reason.",
    ),
    "constraint rejected": (
        (
            "In the case with this symptom: {symptom}. Which option was rejected, and what was the "
            "constraint?"
        ),
        "The symptom was: {symptom}. Under which constraint did we work, and what did we reject?",
        (
            "When the symptom was this: {symptom}, what was the constraint and which option was "
            "rejected?"
        ),
    ),
    "approach outcome": (
        "The symptom was: {symptom}. Which approach did we follow, and what was the outcome?",
        "What was the approach, and what the outcome, of the case with this symptom: {symptom}?",
        "State approach and outcome of the case in which the symptom was: {symptom}.",
    ),
}  # fmt: skip


def meanings(question: str) -> tuple[Query, ...]:
    """Every way to understand a question; a good one can be understood in one way."""
    found = [query for wanted, way in _forms(question) for query in _queries(wanted, way)]
    return tuple(dict.fromkeys([*found, *_plain(question)]))


def _forms(question: str) -> Iterator[tuple[str, dict[str, str]]]:
    for wanted, templates in FORMS.items():
        for template in templates:
            for way in ways(template, question):
                yield wanted, way


def _queries(wanted: str, way: dict[str, str]) -> Iterator[Query]:
    """What a filled template means; nothing where a place is filled with what is none."""
    if "symptom" in way:
        value = told("case.symptom", way["symptom"])
        if value is not None:
            yield Query(wanted, kind="case", conds=(Cond("case.symptom", value),))
    elif "blank" in way:
        yield from _looked_for(wanted, way)
    elif "several" in way or "one" in way:
        yield from _many(wanted, way)
    elif "all" in way:
        parts = re.split(", | and ", way["all"])
        found = [_whole(part) for part in parts]
        if len(parts) > 1 and all(len(its) == 1 for its in found):
            yield Query(wanted, tuple(its[0] for its in found))
    else:
        yield from _single(wanted, way)


def _whole(text: str) -> list[Its]:
    """Readings as an attribute of a thing that is named."""
    return [its for its in attributes_of(text) if not _is_open(its)]


def _is_open(its: Its) -> bool:
    of = its.of
    while isinstance(of, Its):
        of = of.of
    return isinstance(of, Blank)


def _single(wanted: str, way: dict[str, str]) -> Iterator[Query]:
    for its in _whole(way["its"]):
        if "value" in way:
            value = told(its.predicate, way["value"])
            if value is not None:
                yield Query(wanted, (its,), value=value)
        elif "source" not in way or is_source(way["source"]):
            yield Query(wanted, (its,), source=way.get("source", ""))


def _conds(way: dict[str, str], kind: str) -> list[tuple[Cond, ...]]:
    """Readings of one condition, or of two joined by "and"."""
    if "cond" in way:
        return [(cond,) for cond in conditions(way["cond"], kind)]
    both = (way["conds"].split(joint, 1) for joint in (", and ", " and ") if joint in way["conds"])
    return [
        (one, other)
        for parts in both
        for one in conditions(parts[0], kind)
        for other in conditions(parts[1], kind)
    ]


def _many(wanted: str, way: dict[str, str]) -> Iterator[Query]:
    kind = SEVERAL.get(way["several"], "") if "several" in way else ONE.get(way["one"], "")
    show = way.get("show") or way.get("shows", "")
    for conds in _conds(way, kind) if kind else ():
        if "shows" in way:
            show = {"machines": "machine", "addresses": "address", "accounts": "account"}.get(
                way["shows"], ""
            )
        if wanted != "spread" or show in {"machine", "address", "account"}:
            yield Query(wanted, kind=kind, conds=conds, show=show)


def _looked_for(wanted: str, way: dict[str, str]) -> Iterator[Query]:
    """ "The budget of which project is ...?", "..., and tell me the budget of it"."""
    for its in attributes_of(way["blank"]):
        kind = its.predicate.partition(".")[0]
        if its.of != Blank() or ("one" in way and ONE.get(way["one"]) != kind):
            continue
        if wanted == "it":
            for conds in _conds(way, kind):
                yield Query("now", (Its(its.predicate, Only(kind, conds)),))
        elif "its" in way:
            for same in _whole(way["its"]):
                yield Query(wanted, kind=kind, conds=(Cond(its.predicate, same),))
        elif (value := told(its.predicate, way["value"])) is not None:
            first = Cond(its.predicate, value)
            for rest in _conds(way, kind) if "cond" in way else [()]:
                yield Query(wanted, kind=kind, conds=(first, *rest))


@cache
def _asks() -> tuple[tuple[str, str, str], ...]:
    return tuple(
        (wanted, template, f"{kind}.{attribute}")
        for kind in KINDS
        for attribute, phrases in said(kind).items()
        for wanted, key in (("now", "asks"), ("on", "asks_at"))
        for template in phrases[key]
    )


def _plain(question: str) -> Iterator[Query]:
    """Questions in the words of the phrasings' files."""
    for wanted, template, predicate in _asks():
        for way in ways(template, question):
            on = day(way["day"]) if "day" in way else None
            if "day" in way and on is None:
                continue
            for thing in things(way["entity"], predicate.partition(".")[0]):
                its = Its(predicate, thing)
                if not _is_open(its):
                    yield Query(wanted, (its,), on=on)
