"""Reads `spec.yaml`, and refuses what does not fit together, by file, field and value."""

from collections.abc import Hashable, Iterator
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import ValidationError

from memrig.errors import DataError
from memrig.generation.factspec import Level
from memrig.generation.spec import WHOLE, Spec
from memrig.generation.story import STORY
from memrig.grading.typed.words import fold, words
from memrig.suites.fields import unreadable

#: The specs that the shipped dataset is made from, in its order.
BUILT_IN = (
    "checkout-latency",
    "supplier-payments",
    "ward-readings",
    "river-gauges",
    "coating-line",
    "parcel-depot",
)

#: Names that no phase may have.
RESERVED = {WHOLE, STORY, "now"}
#: Words of the longest document that anybody may ask for.
LONGEST = 10_000


class _Loader(yaml.SafeLoader):
    """A safe loader that refuses a key that stands twice."""

    def construct_mapping(
        self, node: yaml.MappingNode, deep: bool = False
    ) -> dict[Hashable, object]:
        """The mapping, if no key is in it twice."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is no plain text", key.start_mark
                )
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value!r} stands twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_spec(path: Path) -> Spec:
    """The spec of a file.

    Raises:
        DataError: it cannot be read, is no YAML, or is not a whole spec; names file and field.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error, f"--spec {path}") from error
    return parse_spec(data, path.name)


def built_in(name: str) -> Spec:
    """One of memrig's own specs."""
    data = files("memrig.generation").joinpath("specs", f"{name}.yaml").read_bytes()
    return parse_spec(data, f"{name}.yaml")


def parse_spec(data: bytes, where: str) -> Spec:
    """The spec that a YAML text holds.

    Args:
        data: the text.
        where: what errors call the file.

    Raises:
        DataError: it is no YAML, or not a whole spec; names file and field.
    """
    try:
        # The loader is a SafeLoader: it builds plain values only.
        raw = yaml.load(data, _Loader)  # noqa: S506
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a 30th of February included
        raise DataError(f"is no YAML: {error}", where=where, fix="repair it") from error
    try:
        spec = Spec.model_validate(raw)
    except ValidationError as error:
        raise _refused(error, where) from error
    for field, problem, fix in _misfits(spec):
        raise DataError(problem, where=f"{where}: {field}", fix=fix)
    return spec


def _refused(error: ValidationError, where: str) -> DataError:
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"]) or "the whole file"
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    got = "" if first["type"] == "missing" else f", got {first['input']!r:.80}"
    fix = "remove it" if first["type"] == "extra_forbidden" else "see docs/generation.md"
    return DataError(f"{first['msg']}{got}{more}", where=f"{where}: {field}", fix=fix)


def _misfits(spec: Spec) -> Iterator[tuple[str, str, str]]:
    """What its parts say of each other that cannot be: field, problem, fix."""
    yield from _twice(spec)
    yield from _unknown(spec)
    yield from _unsaid(spec)
    for phase in sorted({phase.name for phase in spec.phases} & RESERVED):
        yield "phases", f"{phase!r} means something else in formulas or references", "rename it"
    low, high = spec.document.words
    if not 0 < low <= high <= LONGEST:
        fix = f"give the smaller number first, and at most {LONGEST}"
        yield "document.words", f"{low} to {high} is no band", fix
    if spec.distractors.ratio and not spec.distractors.themes:
        yield "distractors.themes", "there is none", "give a theme, or ratio: 0"
    for kind, (least, most) in spec.thresholds.stuffed.items():
        if least > most:
            fix = "give the smaller number first"
            yield f"thresholds.stuffed.{kind}", f"{least:g} to {most:g} is no band", fix


def _unsaid(spec: Spec) -> Iterator[tuple[str, str, str]]:
    """Sentences with figures, which belong to readings and facts; and words that forbid nothing."""
    themes = spec.distractors.themes
    said = {
        "routine": spec.routine,
        **{f"distractors.themes.{theme.name}.events": theme.events for theme in themes},
        **{f"questions.{question.id}.lead": (question.lead,) for question in spec.questions},
    }
    for field, sentences in said.items():
        for sentence in sentences:
            if any(character.isdigit() for character in sentence):
                yield field, f"{sentence!r:.80} holds a figure", "write it without"
    for word in spec.forbidden:
        if not words(fold(word)):
            yield "forbidden", f"{word!r} is no word", "give a word, or take it out"


def _twice(spec: Spec) -> Iterator[tuple[str, str, str]]:
    themes = spec.distractors.themes
    groups = {
        "phases": [phase.name for phase in spec.phases],
        "signals": [signal.name for signal in spec.signals],
        "facts": [fact.id for fact in spec.facts],
        "questions": [question.id for question in spec.questions],
        "routine": list(spec.routine),
        "distractors.themes": [theme.name for theme in themes],
        **{f"distractors.themes.{theme.name}.events": list(theme.events) for theme in themes},
        **{f"questions.{q.id}.facts": list(q.facts) for q in spec.questions},
        **{f"facts.{f.id}.signals": list(f.signals) for f in spec.facts if f.kind == "most"},
        "signals' labels": [
            signal.label.casefold()
            for signals in (spec.signals, *(theme.signals for theme in themes))
            for signal in signals
        ],
    }
    for field, names in groups.items():
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield field, f"{name!r} stands twice", "give each a name of its own"


def _unknown(spec: Spec) -> Iterator[tuple[str, str, str]]:
    signals = {signal.name for signal in spec.signals}
    phases = {phase.name for phase in spec.phases} | {"all"}
    for signal in spec.signals:
        for phase in sorted(set(signal.formulas) - phases):
            yield f"signals.{signal.name}.formulas", f"no phase {phase!r}", _one_of(phases)
    for fact in spec.facts:
        named = {value for _, value in fact if isinstance(value, Level)}
        names = {level.signal for level in named} | set(getattr(fact, "signals", ()))
        names |= {fact.signal} if hasattr(fact, "signal") else set()
        for name in sorted(names - signals):
            yield f"facts.{fact.id}", f"no signal {name!r}", _one_of(signals)
    facts = {fact.id for fact in spec.facts}
    for question in spec.questions:
        for name in question.facts:
            if name not in facts:
                yield f"questions.{question.id}.facts", f"no fact {name!r}", _one_of(facts)


def _one_of(names: set[str]) -> str:
    return f"give one of {', '.join(sorted(names))}"
