"""An answer as what it asserts: clauses, each with its polarity and whether it is of the past.

Scoring §2: "not", "never", "no longer", "it is false that", denied verbs, "now" against "before".
Rules over words, no model: the same text always reads the same. A value counts as asserted where it
stands in a clause that is neither denied (an odd number of denials), nor marked as former, nor a
mere condition. A question's own denials ("which drug must never be prescribed?") deny nothing
when an answer takes them up.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from memrig.grading.typed.denials import HARMLESS, INNER, OUTER, VERBS
from memrig.grading.typed.succession import BEFORE, former_span
from memrig.grading.typed.words import content, fold, words


class Status(Enum):
    """How a place of an answer is meant."""

    ASSERTED = "asserted"
    FORMER = "former"
    DENIED = "denied"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of the folded answer.

    `outer` counts denials of the clause as a whole ("it is false that"), `inner` those of its
    verb; `sentence` numbers the sentence that it is part of.
    """

    start: int
    end: int
    sentence: int
    outer: int = 0
    inner: int = 0
    former: bool = False
    current: bool = False
    past: bool = False
    open: bool = False

    @property
    def denied(self) -> bool:
        """Whether what it says is denied."""
        return (self.outer + self.inner) % 2 == 1


@dataclass(frozen=True, slots=True)
class Asking:
    """What of a question decides how its answers are to be read.

    `acts`: stems of verbs that deny nothing in the answer, because they are what is asked for.
    """

    text: str
    denies: bool
    past: bool
    of_former: bool
    stems: frozenset[str]
    sentences: tuple[str, ...] = ()
    acts: frozenset[str] = frozenset()


_DENYING_QUESTION = re.compile(
    r"\b(not|never|nobody|no one|nothing|none|avoid\w*|left out|leave out|leave off|left off"
    r"|out of the question|away from|far away|refus\w+|without|forbid\w*|better not|dislik\w+)\b"
)
_PAST_QUESTION = re.compile(r"\b(did|was|were|had)\b")
_OF_NOW = re.compile(
    r"\b(now|nowadays|today|these days|at present|at the moment|presently|currently|current|present"
    r"|still|any ?more|any longer|latest|as of)\b"
)
_FORMER = (
    r"used to|formerly|former|previously|previous|originally|original|initially|at first"
    r"|in the past|back then|before that|earlier|until then|until recently|up to then"
    r"|first (?:planned|scheduled|agreed|said|told|thought|asked|wanted|quoted)|(?:was|were) first"
    r"|before (?:it|that|this|he|she|they) (?:was|were|had|did)"
    r"|was going to|were going to"
    r"|was supposed to|were supposed to|was meant to|had planned|had been|once thought"
)
_OF_FORMER = re.compile(rf"\b(?:{_FORMER}|{BEFORE})\b")


@lru_cache(maxsize=1024)
def ask(question: str) -> Asking:
    """Reads a question."""
    text = fold(question)
    return Asking(
        text=text,
        denies=_DENYING_QUESTION.search(text) is not None,
        past=_PAST_QUESTION.search(text) is not None and _OF_NOW.search(text) is None,
        of_former=_OF_FORMER.search(text) is not None and _OF_NOW.search(text) is None,
        stems=frozenset(content(text)),
        sentences=tuple(text[start:end] for start, end in _sentences(text)),
    )


@dataclass(frozen=True, slots=True)
class Reading:
    """An answer, read. `text` is folded; clauses lie over it in order, without overlap."""

    text: str
    asking: Asking
    clauses: tuple[Clause, ...]
    sentences: tuple[tuple[int, int], ...] = field(default=())

    def clause_at(self, start: int) -> Clause | None:
        """The clause over a place; None in what asserts nothing, such as a question."""
        for clause in self.clauses:
            if clause.start <= start < clause.end:
                return clause
        return None

    def status(self, start: int, end: int) -> Status:
        """How the value at a place is meant."""
        clause = self.clause_at(start)
        if clause is None or clause.open or self._hearsay(clause):
            return Status.OPEN
        denials = clause.outer
        if not self.asking.denies or self._identity(clause, start, end):
            denials += clause.inner
        if denials % 2:
            return Status.DENIED
        if clause.former or (clause.past and not clause.current and self._now_is_said()):
            return Status.FORMER
        if clause.current and self.asking.past and self._then_is_said():
            return Status.OPEN
        return Status.ASSERTED

    def _identity(self, clause: Clause, start: int, end: int) -> bool:
        """Whether a denial is of the value being the answer: "it is not X", "X is not it"."""
        before, after = self.text[clause.start : start], self.text[end : clause.end]
        return bool(_NOT_IT.search(before) or _IT_IS_NOT.match(after))

    def _now_is_said(self) -> bool:
        return not self.asking.past and any(
            clause.current and not clause.denied for clause in self.clauses
        )

    def _hearsay(self, clause: Clause) -> bool:
        """Whether a clause passes on what nobody vouches for, and the question is not for that."""
        hearsay = _HEARSAY.search(self.text, clause.start, clause.end)
        return hearsay is not None and _HEARSAY.search(self.asking.text) is None

    def _then_is_said(self) -> bool:
        """Whether an answer to a question of the past tells what was, beside what is now."""
        return any(
            clause.past and not (clause.current or clause.denied or clause.open)
            for clause in self.clauses
        )


_NOT_IT = re.compile(
    r"(?:^\W*(?:not|neither)|\b(?:is|are|was|were|be|been)\W*(?:not|never|no longer|neither))\W+"
    r"(?!(?:true|the case|correct)\b)"
    r"(?:(?:a|an|the|his|her|their|really|actually|called|in|on|at|by|about|any|"
    r"kind of|it is|it was|\"|')\W*)*"
    r"(?:(?:[\w'-]+\s+){0,3}[\w'-]+\s*(?:,|,?\s\band\b|,?\s\bor\b)\s*)*"
    r"(?:(?![a-z]+ing\b)[a-z'-]+\s+)?$"
)
_IT_IS_NOT = re.compile(
    r"\W*(?:(?:is|are|was|were|has|have)\W+(?:not|never|no longer)\b|(?:no longer|not|never)\W*$"
    r"|(?:need|should|must|may|can|does|do|did|would|will|might) not (?:be |have to be )?(?:left|le"
    r"ave|avoid|kept|keep|away|refus|out of the question|the\b|it\b|what\b))"
)

# ---------------------------------------------------------------------------------- sentences

_SENTENCE_END = re.compile(r"(?<=[.!?])(?=[\"')\]]*(?:\s|$))|\n+|(?<=\s)\|(?=\s)")
_INTERROGATIVE = re.compile(
    r"\W*(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|can|could"
    r"|will|would|should|has|have|had|in what|on what|on which|in which|at what|from wh\w+|by what"
    r"|for how|of what|to wh\w+|until wh\w+|within what)\b"
)
_DENIAL_OF_ALL = re.compile(
    r"\W*(?:(?:but|and|though|however)\W+)?(?:(?:this|that|it|which|the (?:statement|claim))\W+"
    r"(?:is|was|has been)\W+(?:all |simply |just |actually )?"
    r"(?:not (?:true|so|right|correct|the case|accurate)|(?:no longer|never) (?:true|so|the case)"
    r"|false|wrong|untrue|incorrect|a lie|a myth|inaccurate|denied|mistaken)"
    r"|not (?:true|so|any ?more|any longer|now)|no longer|not|never|false|untrue|wrong|incorrect)"
    r"(?:\W+(?:at all|though|now|any ?more|any longer|these days|today))*\W*$"
)


def _sentences(text: str) -> list[tuple[int, int]]:
    cuts = [0, *(found.end() for found in _SENTENCE_END.finditer(text)), len(text)]
    return [(start, end) for start, end in pairwise(cuts) if text[start:end].strip(" \n.;!?")]


def _echoes(text: str, asking: Asking) -> bool:
    """Whether a sentence is one of the question over again, or a question of its own."""
    said = words(text)
    if text.rstrip(" \"')").endswith("?") and _INTERROGATIVE.match(text) is not None:
        return True
    return any(_repeats(said, words(part)) for part in (asking.text, *asking.sentences))


def _repeats(said: list[str], asked: list[str]) -> bool:
    """Whether the one is the other but for a few words about it."""
    if min(len(said), len(asked)) < 3:
        return False
    if _within(said, asked):
        return len(said) >= 0.7 * len(asked)
    return _within(asked, said) and len(said) <= len(asked) + 4 and len(asked) >= 6


def _within(part: list[str], whole: list[str]) -> bool:
    return f" {' '.join(part)} " in f" {' '.join(whole)} "


# ------------------------------------------------------------------------------------ clauses

_PRONOUN = "it|he|she|they|we|you|i|this|that|there|these|those"
_NOW = r"now|nowadays|today|these days|currently|at present|at the moment|since then|meanwhile"
_BOUNDARY = re.compile(
    r"(?P<contrast>;|,?\s+(?:but|however|although|though|whereas|while|yet|except)\b)"
    r"|(?P<instead>,?\s*\b(?:rather than|instead of|as opposed to|in place of|replacing|unlike)\b"
    r"|(?:,|\s-|\()\s*(?:up|down) from\b)"
    r"|(?P<not>(?:,|\s-)\s*(?:and\s+)?(?=(?:not|never|no|without)\b)|\s+and\s+(?=(?:not|no)\b)"
    r"|\s+(?=without\b))"
    r"|(?P<reason>,?\s+(?:because|unless|so that|even though|if(?! (?:possible|available"
    r"|need|necess|any|you like|so)))\b)"
    r"|(?P<next>,\s*(?=(?:and\s+|so\s+|then\s+|which\s+|who\s+)?(?:"
    + _PRONOUN
    + "|"
    + _NOW
    + r"|then"
    r"|later|formerly|previously|originally|initially|earlier)\b)|\s+and\s+(?=(?:"
    + _NOW
    + r"|later|then|has been|is now|are now)\b)"
    r"|\s+and\s+(?=(?:" + _PRONOUN + r")\s+(?:is|are|was|were|do|does|did|has|have|had|will"
    r"|would|can|could)\b)"
    r"|,\s*(?=(?:thereby |thus |and )?(?:creat|caus|mak|lead|leav|forc|result|suggest|indicat|impl"
    r"y|allow|mean|show|requir|prompt|trigger|driv|produc)ing\b)"
    r"|(?:,|,?\s+and)\s+(?=(?:[a-z'-]+\s+){1,4}(?:is|are|was|were|do|does|did|has|have|had|will"
    r"|would|can|could)\s+not\b))"
    r"|(?P<aside>[(\[])|(?P<resume>[)\]])|(?P<break>\s-+\s)"
)
_FORMER_CLAUSE = re.compile(rf"\b(?:{_FORMER})\b")
_UNTIL = re.compile(r"\b(?:was|were|had|paid|cost|lived|worked|went|kept)\b.*\buntil\b|^\W*until\b")
_CURRENT = re.compile(rf"\b(?:{_NOW}|from now on)\b")
_PAST = re.compile(r"\b(?:was|were|had|did|paid|cost|lived|kept|went|used)\b")
_OPEN = re.compile(r"^\W*(?:and |but )?(?:if|unless|whether|suppose|assuming)\b")
_HEARSAY = re.compile(r"\b(?:rumou?r(?:s|ed)?|hearsay|unconfirmed|allegedly)\b")


def denies_all(text: str) -> bool:
    """Whether a folded text does nothing but deny what was said before it: "That is not true"."""
    return _DENIAL_OF_ALL.match(text) is not None


@lru_cache(maxsize=4096)
def read(
    answer: str,
    question: str = "",
    names: tuple[str, ...] = (),
    acts: frozenset[str] = frozenset(),
) -> Reading:
    """Reads an answer to a question.

    Args:
        answer: as it was given.
        question: what was asked.
        names: what may stand in it word for word, so that a denial within it denies nothing:
            "The Man Who Never Was".
        acts: stems of verbs that are to deny nothing: who looks for cancelled plans reads
            "cancelled" as an act like any other.
    """
    said, asking = fold(answer), replace(ask(question), acts=acts)
    text = _without_titles(said, names)
    clauses: list[Clause] = []
    kept: list[tuple[int, int]] = []
    sentences = _sentences(text)
    for number, (start, end) in enumerate(sentences):
        sentence = text[start:end]
        if clauses and _takes_back(sentence, last=number == len(sentences) - 1):
            clauses = [_denied(clause) for clause in clauses]
        elif denies_all(sentence) and clauses:
            clauses = _deny_last(clauses)
        elif not _echoes(sentence, asking):
            clauses += _clauses_of(text, start, end, number, asking)
            kept.append((start, end))
    return Reading(said, asking, tuple(_wrapped(text, clauses, asking)), tuple(kept))


_FALSE = r"(?:false|wrong|untrue|incorrect|not (?:true|so|right|correct|the case|accurate))"
_NONE_OF_IT = re.compile(
    r"\W*(?:none of (?:this|that|it|these|those|the above)\W+(?:\w+\W+)?(?:is|are|was|were)\W+"
    r"(?:true|so|right|correct|the case|accurate)"
    rf"|(?:all (?:of )?(?:this|that|these|it)|(?:this|that|it) (?:is|was) all|everything above"
    rf"|the above|this (?:whole )?answer|these (?:claims|statements))\W+(?:(?:is|are|was|were)\W+)?"
    rf"{_FALSE})\W*$"
)
_RETRACTED = re.compile(rf"\W*(?:this|that|it) (?:is|was) {_FALSE}\W*$")
_WRAPPER = re.compile(
    rf"\W*(?:it is|it was|the following is)\W+(?:simply |just )?{_FALSE}\b\W*(?:that\b|:|$)"
)
_AFRESH = re.compile(
    r"\W*(?:instead|in fact|actually|rather|in reality|but|however|the (?:real|actual|true)|what"
    r"|yes|no|it is|it was)\b"
)


def _takes_back(sentence: str, *, last: bool) -> bool:
    """Whether a sentence takes back all that was said before it.

    So does "That is not true" as the last word of an answer.
    """
    return bool(_NONE_OF_IT.match(sentence) or (last and _RETRACTED.match(sentence)))


def _wrapped(text: str, clauses: list[Clause], asking: Asking) -> Iterator[Clause]:
    """ "It is false that A. B." denies B as well, up to a sentence that starts afresh.

    Unless A is what the question supposes: then that alone is denied, and B is the answer.
    """
    if not clauses or not _WRAPPER.match(text):
        yield from clauses
        return
    first = clauses[0].sentence
    opening = [c for c in clauses if c.sentence == first]
    told = content(text[_end_of_wrapper(text) : opening[-1].end])
    wraps = sum(word in asking.stems for word in told) <= len(told) / 2
    for clause in clauses:
        if clause.sentence != first:
            wraps = wraps and not _AFRESH.match(text[clause.start : clause.end])
        reached = wraps and clause.sentence != first and not clause.denied
        yield _denied(clause) if reached else clause


def _end_of_wrapper(text: str) -> int:
    found = _WRAPPER.match(text)
    return found.end() if found else 0


def _denied(clause: Clause) -> Clause:
    return replace(clause, outer=clause.outer + 1)


def _without_titles(text: str, names: tuple[str, ...]) -> str:
    """The text with the denials inside of names blanked out, every letter in its place."""
    for name in {fold(name) for name in names}:
        if INNER.search(name):
            blank = INNER.sub(lambda found: "x" * len(found.group()), name)
            text = text.replace(name, blank)
    return text


def _deny_last(clauses: list[Clause]) -> list[Clause]:
    last = clauses[-1].sentence
    return [_denied(clause) if clause.sentence == last else clause for clause in clauses]


def _clauses_of(text: str, start: int, end: int, number: int, asking: Asking) -> Iterator[Clause]:
    """The clauses of one sentence, each with its marks."""
    reach = 0  # an outer denial reaches over commas up to a contrast
    held = 0  # what is denied before a parenthesis is so after it
    made: list[Clause] = []
    for begin, stop, kind in _pieces(text, start, end):
        piece = text[begin:stop]
        if kind != "start" and made and denies_all(piece):
            made[-1] = replace(made[-1], outer=made[-1].outer + 1)
            continue
        outer = len(OUTER.findall(piece))
        reach = outer if _breaks_off(kind, piece) else reach + outer
        if kind == "aside":
            held = made[-1].inner if made else 0
        more = (kind == "instead") + (held if kind == "resume" else 0)
        made += [
            replace(clause, outer=reach, inner=clause.inner or more)
            if kind == "resume"
            else replace(clause, outer=reach, inner=clause.inner + more)
            for clause in _marked(text, begin, stop, number, asking)
        ]
    yield from made


def _breaks_off(kind: str, piece: str) -> bool:
    """Whether a denial of all before a piece ends there: ", but …" does it, a mere "but" not."""
    return kind == "start" or (kind == "contrast" and not re.match(r"\s+(?:but|yet)\b", piece))


#: Boundaries that belong to neither side.
_SEPARATORS = ("break", "aside", "resume", "not", "next")


def _pieces(text: str, start: int, end: int) -> list[tuple[int, int, str]]:
    pieces = []
    begin, kind = start, "start"
    for found in _BOUNDARY.finditer(text, start, end):
        if found.start() > begin:
            pieces.append((begin, found.start(), kind))
        begin, kind = found.start(), found.lastgroup or "next"
        if kind in _SEPARATORS:
            begin = found.end()
    pieces.append((begin, end, kind))
    return [
        part
        for begin, stop, kind in pieces
        if text[begin:stop].strip(" ,.;:!?\"'")
        for half in _bare_not(text, begin, stop, kind)
        for part in _relative(text, *half)
    ]


_BARE_NOT = re.compile(
    r",?\W*(?:not|never|no|without|rather than|instead of)\s+(?P<denied>[^,]{1,60}),\s*(?=\S)"
)


def _bare_not(text: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int, str]]:
    """ "Not Monday, Tuesday" denies Monday alone; "not Monday, Tuesday or Friday" all three."""
    found = _BARE_NOT.match(text, start, end)
    if found and not re.search(r"\b(?:or|nor)\b", text[found.end() : end]):
        yield start, found.end(), kind
        yield found.end(), end, "next"
    else:
        yield start, end, kind


_RELATIVE = re.compile(
    r"\b(?:that|which|who)\s+(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would)\s+"
    r"(?:not|never|no longer)\s+(?:be\s+|been\s+)?(?:[a-z]+ly\s+)?[a-z-]+"
    r"(?:\s+(?:by|in|to|for|on|from|at|with|as)\s+(?:(?:the|a|an|any)\s+)?[a-z-]+)*"
    r"(?:,|(?=\s+[a-z]))"
)


def _relative(text: str, start: int, end: int, kind: str) -> Iterator[tuple[int, int, str]]:
    """ "An endpoint that is not documented gets traffic" denies the documents, not the traffic."""
    found = _RELATIVE.search(text, start + 1, end)
    if found and re.search(r"\w\W*$", text[start : found.start()]):
        yield start, found.start(), kind
        yield found.start(), found.end(), "next"
        if text[found.end() : end].strip(" ,.;:!?\"'"):
            yield found.end(), end, "next"
    else:
        yield start, end, kind


def _marked(text: str, start: int, end: int, number: int, asking: Asking) -> Iterator[Clause]:
    """A clause with its marks, cut in two where a verb of denial or a change stands in it."""
    old = former_span(text, start, end)
    if old:
        if old[0] > start:
            yield _clause(text, start, old[0], number)
        yield replace(_clause(text, *old, number), former=True)
        yield _clause(text, old[1], end, number)
        return
    verb = _denying_verb(text, start, end, asking)
    if verb is None:
        yield _clause(text, start, end, number)
        return
    if _PASSIVE.search(text, start, verb) and _RULED_OUT.match(text, verb):
        whole = _clause(text, start, end, number)
        yield replace(whole, inner=whole.inner + 1)
        return
    if verb > start:
        yield _clause(text, start, verb, number)
    before = len(INNER.findall(HARMLESS.sub(" ", OUTER.sub(" ", text[start:verb]))))
    after = _clause(text, verb, end, number)
    yield replace(after, inner=after.inner + 1 + before)


#: "DNS was ruled out" denies what stands before the verb.
_PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s+(?:not\s+)?(?:[a-z]+ly\s+)?$")
_RULED_OUT = re.compile(r"(?:ruled out|excluded|dismissed|rejected|disproved)\b")


def _denying_verb(text: str, start: int, end: int, asking: Asking) -> int | None:
    """Where a verb begins that denies what follows it, unless the question uses it too."""
    for found in VERBS.finditer(text, start, end):
        verb = content(found.group())
        if asking.stems.isdisjoint(verb) and asking.acts.isdisjoint(verb):
            return found.start()
    return None


def _clause(text: str, start: int, end: int, number: int) -> Clause:
    piece = text[start:end]
    plain = HARMLESS.sub(" ", OUTER.sub(" ", piece))
    inner = min(1, len(INNER.findall(plain)))
    return Clause(
        start=start,
        end=end,
        sentence=number,
        inner=inner,
        former=bool(_FORMER_CLAUSE.search(piece) or _UNTIL.search(piece)),
        current=_CURRENT.search(piece) is not None,
        past=_PAST.search(piece) is not None,
        open=_OPEN.match(piece) is not None,
    )
