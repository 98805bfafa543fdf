"""What holds over all that was told: counts and lists, of people and of log entries."""

from memrig.suites.longhorizon.model import WorldEvent
from memrig.suites.longhorizon.programs.base import (
    WORDS,
    Draft,
    Form,
    Scene,
    attribute_of,
    capital,
    condition,
    kind_of,
    predicate_of,
    predicates,
)
from memrig.suites.longhorizon.query import Count, Having, Identity, Value, Which

#: A list of more is a matter of patience, not of memory.
_MOST = 8
#: In a small world hardly anything is shared: there a list of one has to do.
_FEWEST, _SMALL_WORLD = 2, 500
#: Most groups are pairs: if all of them were counted, "2" would be a good guess.
_PAIRS_COUNTED = 0.2


def _members(scene: Scene, event: WorldEvent) -> int:
    """How many have the same now; 0: too many, or too few."""
    if not scene.stands(event):
        return 0
    members = len(scene.now.holders(kind_of(event), [condition(event)], most=_MOST)[0])
    fewest = 1 if scene.log.turns <= _SMALL_WORLD else _FEWEST
    return members if fewest <= members <= _MOST else 0


def _having(scene: Scene, event: WorldEvent) -> tuple[str, str]:
    """What several of the kind are called, and what is to be true of each."""
    word, several = WORDS[kind_of(event)]
    noun = scene.lexicon.noun(predicate_of(event), f"the {word}")
    return several, f"{noun} is {scene.shown(event)}"


def count(scene: Scene, event: WorldEvent) -> Draft | None:
    """How many have a value."""
    members = _members(scene, event)
    if not members or (members == _FEWEST and scene.chance.random() >= _PAIRS_COUNTED):
        return None
    several, this = _having(scene, event)
    texts = (
        f"For how many {several} that I told you about is it true that {this}?",
        f"How many different {several} are there for which {this}?",
        f"Count the {several} of which you know that {this}.",
    )
    program = Count(kind=kind_of(event), conditions=(condition(event),))
    return Draft(program, texts, "count")


def which(scene: Scene, event: WorldEvent) -> Draft | None:
    """Which ones have a value."""
    if not _members(scene, event):
        return None
    several, this = _having(scene, event)
    texts = (
        f"Name all {several} for which {this}.",
        f"Which {several} do you know of where {this}? List all of them.",
        f"Of all {several} I told you about, which are those where {this}?",
    )
    program = Which(kind=kind_of(event), conditions=(condition(event),))
    return Draft(program, texts, "list")


def spread(scene: Scene, event: WorldEvent) -> Draft | None:
    """All machines, addresses or accounts that entries with a value name."""
    if not _members(scene, event):
        return None
    wanted = [name for name in ("machine", "address", "account") if name != event.attribute]
    show = wanted[int(scene.chance.random() * len(wanted))]
    said = scene.lexicon.noun(predicate_of(event), "the log entry")
    texts = (
        f"Which {_plural(show)} appear in the log entries where {said} is {scene.shown(event)}?",
        f"List every {show} named by log entries for which {said} is {scene.shown(event)}.",
        (
            f"Look at all log entries where {said} is {scene.shown(event)}. "
            f"Which {_plural(show)} do they name?"
        ),
    )
    program = Which(kind="log", conditions=(condition(event),), show=show)
    return Draft(program, texts, "list")


def _plural(word: str) -> str:
    return f"{word}es" if word.endswith("s") else f"{word}s"


def pair(scene: Scene, event: WorldEvent) -> Draft | None:
    """What the only entry with an address and a machine says."""
    others = {name: scene.standing(event, name) for name in ("address", "machine", "action")}
    keys = [held for name, held in others.items() if held and name != event.attribute][:2]
    if len(keys) != 2:
        return None
    said = " and ".join(
        f"{scene.lexicon.noun(predicate_of(e), 'the entry')} is {scene.shown(e)}" for e in keys
    )
    noun = scene.lexicon.noun(predicate_of(event), "the log entry")
    texts = (
        f"What is {noun} where {said}?",
        f"In one log entry, {said}. What is {scene.lexicon.noun(predicate_of(event), 'it')}?",
        f"Find the log entry for which {said}, and tell me {noun}.",
    )
    conditions = tuple(condition(e) for e in keys)
    program = Value(of=Having(kind="log", conditions=conditions), attribute=event.attribute)
    return Draft(program, texts, "lookup")


def entry(scene: Scene, event: WorldEvent) -> Draft | None:
    """Which entry has an account and an address."""
    other = scene.standing(event, "address")
    if other is None:
        return None
    said = [
        f"{scene.lexicon.noun(predicate_of(e), 'which log entry' if not n else 'it')} is "
        f"{scene.shown(e)}"
        for n, e in enumerate((event, other))
    ]
    this = [
        f"{scene.lexicon.noun(predicate_of(e), 'the entry')} is {scene.shown(e)}"
        for e in (event, other)
    ]
    texts = (
        f"{capital(said[0])} while {said[1]}?",
        f"Give the number of the log entry for which {this[0]} and {this[1]}.",
        f"Which log entry is it: {this[0]}, and {this[1]}?",
    )
    conditions = tuple(condition(e) for e in (event, other))
    program = Identity(of=Having(kind="log", conditions=conditions))
    return Draft(program, texts, "lookup")


_COUNTED = tuple(
    name
    for name in predicates("person", "project", "component", "rollout", "host", "incident")
    if attribute_of(name).value in {"name", "choice", "reference"}
)
_LOGGED = ("log.account", "log.address", "log.machine")
_META, _SECURITY = "meta_memory", "security_log_analysis"
FORMS: tuple[Form, ...] = (
    Form(_META, "count", _COUNTED, count, anchored=False),
    Form(_META, "which", _COUNTED, which, anchored=False),
    Form(_META, "references", predicates("project", "component", "metric", "person",
                                         values=("reference",)), which, anchored=False),
    Form(_SECURITY, "count", _LOGGED, count, anchored=False),
    Form(_SECURITY, "spread", _LOGGED, spread, anchored=False),
    Form(_SECURITY, "pair", (*_LOGGED, "log.action"), pair, anchored=False),
    Form(_SECURITY, "entry", ("log.account",), entry, anchored=False),
)  # fmt: skip
