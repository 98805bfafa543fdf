"""Answers that are names: one entity, one of the options, several in any order or in one."""

import re
from collections.abc import Sequence
from itertools import combinations, pairwise

from memrig.grading.typed.names import Mention, by_status, mentions, named, outside
from memrig.grading.typed.numbers import find_numbers
from memrig.grading.typed.reading import Reading, Status
from memrig.grading.typed.single import choose
from memrig.grading.typed.words import STOP, content, fold, stem, tokens, words
from memrig.model.gold import (
    ChoiceGold,
    EntityGold,
    Item,
    MappingGold,
    OrderedListGold,
    SetGold,
)


def _names(item: Item) -> tuple[str, ...]:
    return (item.value, *item.aliases)


def _held(reading: Reading, found: Sequence[Mention]) -> list[Mention]:
    """The mentions that count as said."""
    kinds = by_status(reading, found)
    return choose(reading, kinds[Status.ASSERTED], kinds[Status.FORMER])


def grade_entity(reading: Reading, gold: EntityGold) -> float:
    """1 where the entity is asserted, and none of its siblings beside it."""
    right = named(reading, _names(gold))
    wrong = outside(mentions(reading.text, gold.siblings), right)
    if any(_outdoes(sibling, right) for sibling in mentions(reading.text, gold.siblings)):
        right = outside(right, mentions(reading.text, gold.siblings))
    wrong = [m for m in wrong if not _of_question(reading, m)]
    said = [m for m in _held(reading, right) if _new(reading, m)]
    if not said or _denied_elsewhere(reading, right, said):
        return 0.0
    return float(not _competing(reading, wrong, said))


def _outdoes(sibling: Mention, right: Sequence[Mention]) -> bool:
    """Whether a sibling's longer name swallows the gold: "Octavio" in "Octavio the electrician"."""
    return any(
        sibling.overlaps(mention) and sibling.end - sibling.start > mention.end - mention.start
        for mention in right
    )


def _competing(reading: Reading, wrong: Sequence[Mention], said: Sequence[Mention]) -> bool:
    """Whether any of these is asserted beside the answer, with the same standing as it."""
    kinds = by_status(reading, wrong)
    if not reading.asking.of_former:
        return bool(kinds[Status.ASSERTED])
    former = any(reading.status(m.start, m.end) is Status.FORMER for m in said)
    return bool(kinds[Status.FORMER]) or (not former and bool(kinds[Status.ASSERTED]))


def _denied_elsewhere(reading: Reading, right: Sequence[Mention], said: Sequence[Mention]) -> bool:
    """Whether the same name is asserted and denied: "It is Teo. It is not Teo." """
    denied = by_status(reading, right)[Status.DENIED]
    return len(denied) >= len(said) and bool(denied) and not reading.asking.denies


def _of_question(reading: Reading, mention: Mention) -> bool:
    """Whether the question says the name itself: then its mention is no answer."""
    return bool(mentions(reading.asking.text, [reading.text[mention.start : mention.end]]))


_IS_IT = re.compile(r"\b(?:is|are|was|were|been|by)\W+(?:the |a |an )?$")


def _new(reading: Reading, mention: Mention) -> bool:
    """A name that the question gives away counts only in a clause that adds something to it."""
    if not _of_question(reading, mention):
        return True
    clause = reading.clause_at(mention.start)
    if clause is None:
        return False
    piece = reading.text[clause.start : clause.end]
    if _IS_IT.search(reading.text[clause.start : mention.start]):
        return True
    own = words(reading.text[mention.start : mention.end])
    rest = [word for word in words(piece) if word not in STOP and word not in own]
    return all(stem(word) not in reading.asking.stems for word in rest) or any(
        stem(word) not in reading.asking.stems for word in rest
    )


def grade_choice(reading: Reading, gold: ChoiceGold) -> float:
    """1 where the right option is asserted, and no other."""
    common = set.intersection(*(set(content(fold(option))) for option in gold.options))
    said = {
        option
        for option in gold.options
        if _held(reading, _option(reading, option, frozenset(common)))
    }
    return float(said == {gold.value})


def _option(reading: Reading, option: str, common: frozenset[str]) -> list[Mention]:
    """Where an option is named: word for word, or by most of what tells it from the others."""
    exact = named(reading, [option])
    own = [word for word in dict.fromkeys(content(fold(option))) if word not in common]
    if exact or not own:
        return exact
    found = []
    for clause in reading.clauses:
        piece = reading.text[clause.start : clause.end]
        hits = [(s, e, stem(w)) for w, s, e in tokens(piece) if stem(w) in own]
        if len({word for _, _, word in hits}) >= max(1, 2 * len(own) / 3):
            start = clause.start + hits[0][0]
            found.append(Mention(start, clause.start + hits[-1][1]))
    return found


# ------------------------------------------------------------------------------------ several


def grade_set(reading: Reading, gold: SetGold) -> float:
    """F1 of the items asserted; 0 where a third of them are wrong, or every sibling is there.

    An answer that names everything would otherwise earn the F1 of its size.
    """
    found = [_held(reading, named(reading, _names(item))) for item in gold.items]
    right = [mention for each in found for mention in each]
    wrong = _wrong(reading, gold.siblings, right)
    hits = sum(bool(each) for each in found)
    extras = _extras(reading, [*right, *wrong[1]])
    total = hits + wrong[0] + extras
    if not hits or (gold.siblings and wrong[0] == len(gold.siblings)):
        return 0.0
    precision, recall = hits / total, hits / len(gold.items)
    return 2 * precision * recall / (precision + recall) if precision > 2 / 3 else 0.0


def _wrong(
    reading: Reading, siblings: Sequence[str], right: Sequence[Mention]
) -> tuple[int, list[Mention]]:
    """How many siblings are asserted, and where."""
    held = [_held(reading, outside(mentions(reading.text, [s]), right)) for s in siblings]
    return sum(bool(each) for each in held), [mention for each in held for mention in each]


#: The comma of a thousand parts nothing.
_COMMA = re.compile(r"(?<!\d),|,(?!\d{3}(?!\d))|;|\n|/|\s+\band\b\s+|\s+\bor\b\s+")


def _extras(reading: Reading, known: Sequence[Mention]) -> int:
    """How many more things a bare list names; in a sentence that cannot be told."""
    extras = 0
    for clause in reading.clauses:
        piece = reading.text[clause.start : clause.end]
        cuts = [0, *(m.end() for m in _COMMA.finditer(piece)), len(piece)]
        spans = [
            (clause.start + a, clause.start + b)
            for a, b in pairwise(cuts)
            if 0 < len(words(_COMMA.sub(" ", piece[a:b]))) <= 4
        ]
        inside = [s for s in spans if any(s[0] <= m.start < s[1] for m in known)]
        other = [s for s in spans if s not in inside and _thing(reading, s)]
        if len(spans) >= 3 or len(reading.clauses) > 6:
            extras += len(other)
    return max(0, extras - 1)


def _thing(reading: Reading, span: tuple[int, int]) -> bool:
    new = set(content(reading.text[span[0] : span[1]])) - reading.asking.stems
    return bool(new)


def grade_ordered_list(reading: Reading, gold: OrderedListGold) -> float:
    """The share of pairs that are said in the right order; 0 once any two are the wrong way round.

    Siblings among them lower it by precision.
    """
    found = _places(reading, gold.items)
    places = [place for place in found if place is not None]
    if places != sorted(places) or len(places) < 2:
        return 0.0
    right = [Mention(place, place + 1) for place in places]
    wrong, _ = _wrong(reading, gold.siblings, right)
    pairs = len(list(combinations(places, 2))) / len(list(combinations(gold.items, 2)))
    return pairs * len(places) / (len(places) + wrong)


def _places(reading: Reading, items: Sequence[Item]) -> list[int | None]:
    """Where each item is first said, as a place of the answer's last full telling."""
    found = {item: _held(reading, named(reading, _names(item))) for item in items}
    every = [mention for each in found.values() for mention in each]
    places: list[int | None] = []
    for item in items:
        own = outside(found[item], every)
        places.append(own[0].start if own else None)
    return _sequence(reading, places)


_AFTER = re.compile(r"\bafter\b|\bpreceded by\b|\bfollowing\b")


def _sequence(reading: Reading, places: list[int | None]) -> list[int | None]:
    """ "B after A" tells the pair the other way round; only where it is all there is."""
    known = [place for place in places if place is not None]
    if len(known) == 2 and len(places) == 2:
        between = reading.text[min(known) : max(known)]
        if _AFTER.search(between):
            return [None if place is None else -place for place in places]
    return places


# ------------------------------------------------------------------------------------ mapping


def grade_mapping(reading: Reading, gold: MappingGold) -> float:
    """The share of keys that are given their value and no other.

    Keys and values are paired in the order of telling; where the answer names no key, the values
    must be exactly the gold's in the order of the question.
    """
    keys = [_held(reading, named(reading, [entry.key])) for entry in gold.entries]
    values = [_held(reading, _value(reading, entry.value)) for entry in gold.entries]
    told = sorted({m.start for each in keys for m in each})
    given = sorted((m.start, n) for n, each in enumerate(values) for m in each)
    if not given:
        return 0.0
    if not told:
        return float([n for _, n in given] == list(range(len(values))))
    pairs = _paired(reading, keys, given, gold)
    right = sum(pairs[n] == {gold.entries[n].value} for n in range(len(keys)))
    return right / len(gold.entries)


def _value(reading: Reading, value: str) -> list[Mention]:
    """Where a value stands; amounts by number."""
    numbers = find_numbers(fold(value))
    if len(numbers) == 1 and not content(re.sub(r"[\d.,]+", " ", fold(value))):
        return [
            Mention(q.start, q.end)
            for q in find_numbers(reading.text)
            if q.value == numbers[0].value
        ]
    return named(reading, [value])


def _paired(
    reading: Reading,
    keys: Sequence[Sequence[Mention]],
    given: Sequence[tuple[int, int]],
    gold: MappingGold,
) -> list[set[str]]:
    """The values that each key is given."""
    pairs: list[set[str]] = [set() for _ in keys]
    for group in _groups(reading):
        here = sorted(
            (m.start, n)
            for n, each in enumerate(keys)
            for m in each
            if group[0] <= m.start < group[1]
        )
        there = [(place, n) for place, n in given if group[0] <= place < group[1]]
        if len(here) == len(there):
            for (_, key), (_, value) in zip(here, there, strict=True):
                pairs[key].add(gold.entries[value].value)
            continue
        for place, value in there:
            if here:
                key = min(here, key=lambda pair: abs(pair[0] - place))[1]
                pairs[key].add(gold.entries[value].value)
    return pairs


def _groups(reading: Reading) -> list[tuple[int, int]]:
    return list(reading.sentences)
