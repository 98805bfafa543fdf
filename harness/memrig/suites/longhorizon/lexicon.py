"""The words of the world: names, pools of values, and phrasings, read from `phrasings/`.

A template's places are ``{entity}``, ``{value}`` and the like; ``{noun}`` is a noun phrase such as
"the budget of Project Amber Beltaron", and ``{Noun}`` the same with a capital, where it begins a
sentence. Nothing here knows of truth or time: which words are chosen is the renderer's.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from itertools import product
from math import gcd, prod

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from memrig.model.canonical import Digest, digest_of
from memrig.suites.longhorizon.schema import KINDS

Templates = tuple[str, ...]

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
#: Consecutive numbers give names that lie far apart: a share of the capacity near the golden ratio.
_STRIDE = 618, 1000


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Phrases(_Frozen):
    """How one predicate is said and asked.

    Args:
        nouns: "the budget of {entity}".
        stated: sentences with {entity} and {value}.
        asks: questions for what holds now, with {entity}.
        asks_at: questions for what held on a {day}.
    """

    nouns: Templates = Field(min_length=1)
    stated: Templates = Field(min_length=5)
    asks: Templates = Field(min_length=3)
    asks_at: Templates = Field(min_length=2)


class EventPhrases(_Frozen):
    """How events of every predicate are told, by what they do to the truth.

    Places are {noun}, {value}, {old} (the value before), {day} and {source}. An update that holds
    only from a later day is told by `updated_later`, a claim told again by `recalled_claim`.
    """

    updated: Templates = Field(min_length=5)
    updated_later: Templates = Field(min_length=5)
    corrected: Templates = Field(min_length=5)
    retracted: Templates = Field(min_length=5)
    claimed: Templates = Field(min_length=5)
    recalled: Templates = Field(min_length=5)
    recalled_claim: Templates = Field(min_length=5)
    supposed: Templates = Field(min_length=5)
    rumoured: Templates = Field(min_length=5)


class Names(_Frozen):
    """How a kind's names are made: one of each part in a row, or a code and a number.

    A sibling's name has the twin of the last part in its place; twins are no parts.
    """

    parts: tuple[Templates, ...] = ()
    twins: Templates = ()
    code: str = ""
    count: int = 0

    @cached_property
    def capacity(self) -> int:
        """How many names there are."""
        return prod(len(part) for part in self.parts) if self.parts else self.count

    @cached_property
    def stride(self) -> int:
        """A step through all names that meets each once."""
        step = self.capacity * _STRIDE[0] // _STRIDE[1]
        while gcd(step, self.capacity) != 1:
            step += 1
        return step

    def made(self, number: int, *, twin: bool) -> str:
        """A name, or its sibling's."""
        if not 0 <= number < self.capacity:
            raise ValueError(f"there are {self.capacity} names of this kind, no number {number}")
        if self.code:
            return f"{self.code}-{2 * number + twin:06d}"
        rest, words = number * self.stride % self.capacity, []
        last = self.twins if twin else self.parts[-1]
        for part in (last, *self.parts[-2::-1]):
            rest, place = divmod(rest, len(part))
            words.append(part[place])
        return "".join(reversed(words))


class SmallTalk(_Frozen):
    """Sentences about nothing: templates, and what fills them."""

    templates: Templates
    parts: Mapping[str, Templates]


def _read(name: str) -> object:
    folder = files("memrig.suites.longhorizon") / "phrasings"
    return json.loads((folder / f"{name}.json").read_bytes())


class Lexicon:
    """All words, read once.

    Raises:
        pydantic.ValidationError: a file of the package is not what it should be.
    """

    def __init__(self) -> None:
        names, lines, pools, talk, events = (
            _read(name) for name in ("names", "lines", "pools", "small_talk", "events")
        )
        kinds = {kind: _read(kind) for kind in KINDS}
        self._digest = digest_of([names, lines, pools, talk, events, kinds])
        self._names = TypeAdapter(dict[str, Names]).validate_python(names)
        self._lines = TypeAdapter(Templates).validate_python(lines)
        self._talk = SmallTalk.model_validate(talk)
        phrases = EventPhrases.model_validate(events)
        self._told: dict[str, Templates] = {
            kind: getattr(phrases, kind) for kind in EventPhrases.model_fields
        }
        self._alone = {
            kind: tuple(text for text in templates if "{old}" not in text)
            for kind, templates in self._told.items()
        }
        pooled = TypeAdapter(dict[str, tuple[Templates, ...]]).validate_python(pools)
        self._pools = {
            name: tuple("".join(parts) for parts in product(*lists))
            for name, lists in pooled.items()
        }
        read = TypeAdapter(dict[str, Phrases])
        self._phrases = {
            f"{kind}.{attribute}": said
            for kind, raw in kinds.items()
            for attribute, said in read.validate_python(raw).items()
        }

    @property
    def digest(self) -> Digest:
        """Of all words and phrasings."""
        return self._digest

    # --------------------------------------------------------------------------- names, values

    def pool(self, name: str) -> tuple[str, ...]:
        """The values of a pool; "speakers", "sources" and "gossips" are pools too.

        Raises:
            KeyError: there is no such pool.
        """
        return self._pools[name]

    def capacity(self, kind: str) -> int:
        """How many different names a kind has."""
        return self._names[kind].capacity

    def name(self, kind: str, number: int) -> str:
        """A kind's name, another for each number from 0 to under its capacity.

        Raises:
            ValueError: the number is out of range.
        """
        return self._names[kind].made(number, twin=False)

    def sibling(self, kind: str, number: int) -> str:
        """What is nearly the name of the same number, and no name of the kind.

        Raises:
            ValueError: the number is out of range.
        """
        return self._names[kind].made(number, twin=True)

    def value(self, kind: str, attribute: str, value: str, unit: str, entity_name: str = "") -> str:
        """An event's value as it is said: "41,500 EUR", "14 March 2031", "Elvin Brandow".

        Args:
            kind: of the event's entity.
            attribute: of the event.
            value: as it stands in the log.
            unit: of a number.
            entity_name: of the entity that a reference points to.
        """
        match KINDS[kind].attribute(attribute).value:
            case "number":
                return amount(value, unit)
            case "date":
                return self.day(value)
            case "reference":
                return entity_name
            case _:
                return value

    def day(self, iso: str) -> str:
        """An ISO day, or the day of an ISO time, as it is said: "14 March 2031"."""
        return f"{int(iso[8:10])} {_MONTHS[int(iso[5:7]) - 1]} {iso[:4]}"

    # ------------------------------------------------------------------------------- phrasings

    def stated(self, predicate: str) -> Templates:
        """Sentences that state a value, with {entity} and {value}."""
        return self._phrases[predicate].stated

    def nouns(self, predicate: str) -> Templates:
        """Noun phrases with {entity}, all "the … of …"."""
        return self._phrases[predicate].nouns

    def noun(self, predicate: str, owner: str, number: int = 0) -> str:
        """A noun phrase for an attribute of something, such as "the budget of Project X".

        Args:
            predicate: kind and attribute.
            owner: a name, or a noun phrase.
            number: which phrasing; any number will do.
        """
        nouns = self._phrases[predicate].nouns
        return nouns[number % len(nouns)].replace("{entity}", owner)

    def asks(self, predicate: str) -> Templates:
        """Questions for what holds now, with {entity}: a name or a noun phrase."""
        return self._phrases[predicate].asks

    def asks_at(self, predicate: str) -> Templates:
        """Questions for what held on a {day}, with {entity}."""
        return self._phrases[predicate].asks_at

    def told(self, kind: str) -> Templates:
        """How events of a kind are told: one of the fields of `EventPhrases`.

        Raises:
            KeyError: no such way of telling.
        """
        return self._told[kind]

    def told_alone(self, kind: str) -> Templates:
        """Those of `told` that do not name the value before."""
        return self._alone[kind]

    def lines(self) -> Templates:
        """Log lines with {entity} and all attributes of a log."""
        return self._lines

    def small_talk(self, draw: int) -> str:
        """A sentence about nothing; the same draw gives the same."""
        template, draw = _of(self._talk.templates, draw)
        for name, choices in self._talk.parts.items():
            if (place := f"{{{name}}}") in template:
                word, draw = _of(choices, draw)
                template = template.replace(place, word)
        return template


def amount(value: str, unit: str) -> str:
    """A number with its unit: thousands grouped by commas, but for numbers without a unit."""
    if not unit:
        return value
    whole, dot, part = value.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    grouped = f"{sign}{int(digits):,}{dot}{part}"
    return f"{grouped}%" if unit == "%" else f"{grouped} {unit}"


def _of(choices: Sequence[str], draw: int) -> tuple[str, int]:
    draw, place = divmod(draw, len(choices))
    return choices[place], draw


#: The words, read once.
LEXICON = Lexicon()
