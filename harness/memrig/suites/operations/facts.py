"""Invented facts that are planted among other lines, and the queries that look for them.

People and things come again in other facts, so that the lines that resemble the wanted one grow in
number with the memory. Half of the queries name the thing in other words.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from memrig.model.canonical import derive
from memrig.model.scenario import Episode, LookFor

_FIRST = (
    "Ansel", "Bettina", "Corwin", "Delphine", "Florian", "Hartmut", "Jorunn", "Lambert", "Mireille",
    "Odile",
)  # fmt: skip
_LAST = ("Brackwater", "Fennimore", "Quillfeather", "Stavely")
_LOOKS = ("copper", "lacquered", "striped", "folding", "engraved", "wicker", "enamel", "velvet")
#: A thing, and other words for it.
_NOUNS = (
    ("kettle", "vessel for boiling water"),
    ("lantern", "lamp to carry about at night"),
    ("umbrella", "protection against rain"),
    ("barometer", "instrument for air pressure"),
    ("music box", "little machine that plays a tune"),
    ("sewing kit", "needles and thread"),
    ("chess set", "board with kings and bishops"),
    ("globe", "model of the earth"),
    ("picnic hamper", "basket for meals outdoors"),
    ("telescope", "tube for looking at the stars"),
    ("doorbell", "thing that rings for visitors"),
    ("weather vane", "arrow that shows the wind"),
    ("bread bin", "container for loaves"),
    ("tea caddy", "tin for loose leaves"),
    ("wheelbarrow", "cart for garden earth"),
    ("harmonica", "mouth organ"),
    ("hourglass", "sand timer"),
    ("typewriter", "machine for letters before computers"),
    ("saddle", "seat for riding a horse"),
    ("hammock", "bed that hangs between trees"),
    ("binoculars", "field glasses for birdwatching"),
    ("accordion", "squeezebox"),
    ("sledge", "vehicle for sliding on snow"),
    ("corkscrew", "tool for opening wine"),
    ("abacus", "beads for reckoning"),
    ("trophy", "prize from the championship"),
    ("rucksack", "bag for hiking"),
    ("spectacles", "glasses for reading"),
    ("candlestick", "holder for wax lights"),
    ("mailbox", "place where letters arrive"),
)
_SPOTS = ("boathouse", "cellar", "tool shed", "cloakroom", "attic", "pantry", "workshop", "porch")
_PLACES = ("Tindle Quay", "Marrow Lane", "Ashby Green", "Cobble Row", "Wexley Mews", "Larkhill")
#: A line, and how it is asked for.
_FORMS = (
    ("{who} keeps the {what} in the {spot} at {place}.", "Where does {who} store the {asked}?"),
    ("The {what} of {who} was mended in the {spot} at {place}.", "Where was {who}'s {asked} fixed?"),  # noqa: E501
    ("{who} found the {what} in the {spot} at {place}.", "Where did {who}'s {asked} turn up?"),
    ("In winter {who} puts the {what} in the {spot} at {place}.", "Where is {who}'s {asked} in winter?"),  # noqa: E501
)  # fmt: skip
_SYLLABLES = ("bel", "cor", "dran", "fen", "gal", "holm", "kem", "lor", "mar", "nev", "ros", "tarn")
#: How many different facts there are: one for each person and thing.
MOST_FACTS = len(_FIRST) * len(_LAST) * len(_NOUNS)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fact:
    """A line to plant, and the query for it.

    No other fact is about the same thing of the same person, whatever the thing looks like.
    """

    text: str
    query: str

    def look(self, *episode_ids: str) -> LookFor:
        """A search that should find the episodes that hold this fact."""
        return LookFor(query=self.query, episode_ids=episode_ids)


def facts(seed: int, purpose: str) -> Iterator[Fact]:
    """Different facts in an order that the seed draws, until there are no more.

    Every other query names the thing as the fact does, the rest in other words.
    """
    chance = random.Random(derive(seed, "operations", "facts", purpose))  # noqa: S311
    for place, number in enumerate(chance.sample(range(MOST_FACTS), MOST_FACTS)):
        rest, first = divmod(number, len(_FIRST))
        noun, last = divmod(rest, len(_LAST))
        text, query = chance.choice(_FORMS)
        name, other = _NOUNS[noun]
        what = f"{chance.choice(_LOOKS)} {name}"
        words = {
            "who": f"{_FIRST[first]} {_LAST[last]}",
            "what": what,
            "asked": other if place % 2 else what,
            "spot": chance.choice(_SPOTS),
            "place": chance.choice(_PLACES),
        }
        yield Fact(text.format(**words), query.format(**words))


def secret_facts(seed: int) -> Iterator[tuple[Fact, str]]:
    """Facts that each hold an invented word which no other line holds, and that word."""
    chance = random.Random(derive(seed, "operations", "secrets"))  # noqa: S311
    pairs = [(first, last) for first in _FIRST for last in _LAST]
    words = ["".join(parts) for parts in product(_SYLLABLES, repeat=3)]
    for (first, last), word in zip(
        chance.sample(pairs, len(pairs)), chance.sample(words, len(pairs)), strict=True
    ):
        word = word.capitalize()  # noqa: PLW2901
        text = f"{first} {last} leaves the spare key with old Mr {word} next door."
        yield Fact(text, f"Who has the spare key of {first} {last}, is it Mr {word}?"), word


def planted(episode: Episode, fact: Fact) -> Episode:
    """The episode with another text: who says it, and when, stay."""
    turns = tuple(turn.model_copy(update={"text": fact.text}) for turn in episode.turns)
    return episode.model_copy(update={"text": fact.text, "turns": turns})


def spread(items: Sequence[T], number: int) -> tuple[T, ...]:
    """So many of them, at equal distances from the first to the last; all if there are no more."""
    if len(items) <= number:
        return tuple(items)
    return tuple(items[(2 * place + 1) * len(items) // (2 * number)] for place in range(number))
