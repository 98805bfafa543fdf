"""The deterministic renderer: a sheet as a document of plain text, without any model.

How long a document is and how many lines it has is drawn by its seed alone, before its sheet is
looked at: what the sheet does not fill is filled with sentences about paperwork. So neither tells
of what kind the episode is. Every reading is written as it stands in the sheet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random

from memrig.errors import DataError
from memrig.generation.model import Reading, Section, Sheet
from memrig.generation.phrases import (
    CLOSING_TITLES,
    COLUMNS,
    DATE_LINES,
    EVENT_TITLES,
    FILLER,
    READING_SENTENCES,
    one_of,
    worded,
)
from memrig.generation.spec import DocumentStyle
from memrig.model.canonical import derive

#: The lower part of the length band is left to chance: a large sheet must not stand out by length.
_SPARED = 0.4
#: No sentence is longer than so many words; what the last one may take a document over its draw.
_LONGEST = 26
#: Words for every line of a document, blank lines included.
_WORDS_A_LINE = (6, 7)
#: Of the filler, spaces included.
_CHARACTERS_A_WORD = 5.6
#: However large its sheet, a document has so many paragraphs of filler.
_PARAGRAPHS = 3


class SeededRenderer:
    """Implements `Renderer` with templates. It draws on nothing but sheet, style and seed."""

    async def render(self, sheet: Sheet, style: DocumentStyle, seed: int) -> str:
        """See `Renderer`.

        Raises:
            DataError: the sheet alone is longer than the style allows, or the band is too narrow.
        """
        return document(sheet, style, seed)


def document(sheet: Sheet, style: DocumentStyle, seed: int) -> str:
    """A sheet as text: heading, date, readings, events, and filler up to the length drawn."""
    chance = Random(derive(seed, "document"))  # noqa: S311
    least, most = style.words
    drawn = least + int(_SPARED * (most - least))
    words = drawn + chance.randrange(max(1, most - _LONGEST - drawn))
    lines = words // (_WORDS_A_LINE[0] + chance.randrange(_WORDS_A_LINE[1] - _WORDS_A_LINE[0] + 1))
    blocks = _blocks(sheet, style, chance)
    used = sum(len(block.split()) for block in blocks)
    if used > most or most - least < _LONGEST:
        raise _no_room(sheet, style, used)
    lines_used = sum(block.count("\n") + 2 for block in blocks)
    room = range(max(0, least - used), most - _LONGEST - used)
    sentences = _sentences(words - sum(map(_size, blocks)), room, chance)
    paragraphs = max(_PARAGRAPHS, (lines - lines_used) // 2)
    return "\n\n".join(_placed(blocks, _parted(sentences, paragraphs, chance), chance)) + "\n"


def _no_room(sheet: Sheet, style: DocumentStyle, used: int) -> DataError:
    least, most = style.words
    return DataError(
        f"a document of {least} to {most} words is asked for; the data sheet alone takes {used}, "
        f"and the band must be at least {_LONGEST} wide",
        where=f"document.words: {sheet.heading}, {sheet.day}",
        fix="widen document.words, or give a day fewer readings and events",
    )


def _blocks(sheet: Sheet, style: DocumentStyle, chance: Random) -> list[str]:
    """All that the sheet holds. The first block is the head, and stays first."""
    head = [f"# {sheet.heading}", one_of(DATE_LINES, chance).format(day=sheet.day.isoformat())]
    if style.title != sheet.heading:
        head.insert(1, style.title)
    layout = one_of(_LAYOUTS, chance)
    blocks = ["\n".join(head), *(layout(section, chance) for section in sheet.sections)]
    if sheet.events:
        marks = one_of(("- ", "* ", ""), chance)
        listed = (marks + event for event in sheet.events)
        blocks.append("\n".join([f"## {one_of(EVENT_TITLES, chance)}", *listed]))
    return [*blocks, f"## {one_of(CLOSING_TITLES, chance)}"]


# ------------------------------------------------------------------------------------- layouts


def _value(reading: Reading) -> str:
    return f"{reading.value} {reading.unit}".rstrip()


def _lined(section: Section, chance: Random) -> str:
    mark, join = one_of((("- ", ": "), ("", ": "), ("* ", " = "), ("", " | ")), chance)
    rows = (f"{mark}{reading.label}{join}{_value(reading)}" for reading in section.readings)
    return "\n".join([f"## {section.title}", *rows])


def _tabled(section: Section, chance: Random) -> str:
    columns = one_of(COLUMNS, chance)
    rows = [columns, ("---", "---", "---")]
    rows += [(reading.label, reading.value, reading.unit or "-") for reading in section.readings]
    return "\n".join([f"## {section.title}", *(f"| {' | '.join(row)} |" for row in rows)])


def _told(section: Section, chance: Random) -> str:
    """One sentence a reading, each in the same words, on lines of their own."""
    form = one_of(READING_SENTENCES, chance)
    rows = (form.format(label=r.label, value=_value(r)) for r in section.readings)
    return "\n".join([f"## {section.title}", *rows])


_LAYOUTS = (_lined, _tabled, _told)

# -------------------------------------------------------------------------------------- filler


@dataclass(slots=True)
class _Supply:
    """Sentences without end; none twice before every template had its turn."""

    chance: Random
    left: list[str]

    def next(self) -> str:
        if not self.left:
            self.left = list(FILLER)
        return worded(self.left.pop(self.chance.randrange(len(self.left))), self.chance)


def _sentences(size: float, room: range, chance: Random) -> list[str]:
    """As many sentences as it takes to have this size, within the room in words."""
    supply, made = _Supply(chance, list(FILLER)), list[str]()
    words = 0
    while words < room.start or (size > 0 and words < room.stop):
        made.append(supply.next())
        words += len(made[-1].split())
        size -= _size(made[-1])
    return made


def _size(text: str) -> float:
    """A length that is half words and half characters: neither alone is to tell a large sheet."""
    return (len(text.split()) + len(text) / _CHARACTERS_A_WORD) / 2


def _parted(sentences: Sequence[str], parts: int, chance: Random) -> list[str]:
    """The sentences as so many paragraphs, or fewer where there are not as many sentences.

    Cut anywhere: the length of equal parts would tell how much of the document the sheet filled.
    """
    inner = range(1, len(sentences))
    cuts = sorted(chance.sample(inner, max(0, min(parts - 1, len(inner)))))
    return [" ".join(sentences[a:b]) for a, b in pairwise([0, *cuts, len(sentences)]) if a < b]


def _placed(blocks: Sequence[str], paragraphs: Sequence[str], chance: Random) -> list[str]:
    """Head, then filler between the blocks by chance, and the last of it under the last title."""
    after = [[block] for block in blocks]
    for number, paragraph in enumerate(paragraphs):
        last = number == len(paragraphs) - 1
        place = len(after) - 1 if last else chance.randrange(len(after))
        after[place].append(paragraph)
    return [text for part in after for text in part]
