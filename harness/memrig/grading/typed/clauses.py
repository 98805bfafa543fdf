"""The clauses of a sentence, each with its polarity, and whether it is of the past."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memrig.grading.typed.asking import Asking
from memrig.grading.typed.denials import HARMLESS, INNER, OUTER, VERBS
from memrig.grading.typed.succession import FORMER, former_span
from memrig.grading.typed.words import content


@dataclass(frozen=True, slots=True)
class Clause:
    """A stretch of the folded answer.

    `outer` counts denials of the clause as a whole ("it is false that"), `inner` those of its
    verb; `sentence` numbers the sentence that it is part of; `hearsay` is what nobody vouches for.
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
    hearsay: bool = False

    @property
    def denied(self) -> bool:
        """Whether what it says is denied."""
        return (self.outer + self.inner) % 2 == 1


_DENIAL_OF_ALL = re.compile(
    r"\W*(?:(?:but|and|though|however)\W+)?(?:(?:this|that|it|which|the (?:statement|claim))\W+"
    r"(?:is|was|has been)\W+(?:all |simply |just |actually )?"
    r"(?:not (?:true|so|right|correct|the case|accurate)|(?:no longer|never) (?:true|so|the case)"
    r"|false|wrong|untrue|incorrect|a lie|a myth|inaccurate|denied|mistaken)"
    r"|not (?:true|so|any ?more|any longer|now)|no longer|not|never|false|untrue|wrong|incorrect)"
    r"(?:\W+(?:at all|though|now|any ?more|any longer|these days|today))*\W*$"
)


_PRONOUN = "it|he|she|they|we|you|i|this|that|there|these|those"
_NOW = r"now|nowadays|today|these days|currently|at present|at the moment|since then|meanwhile"
_BOUNDARY = re.compile(
    r"(?P<contrast>;|,?\s+(?:but|however|although|though|whereas|while|yet|except)\b"
    r"|,?\s+(?:despite|in spite of)\s+(?=(?:the |some |all |any )?(?:rumou?r|gossip|hearsay)))"
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
    r"|later|formerly|previously|originally|initially|earlier|before (?:that|then|this)"
    r"|until (?:then|that))\b)|\s+and\s+(?=(?:"
    + _NOW
    + r"|later|then|has been|is now|are now|(?:was|were) (?:later|then|since)|subsequently)\b)"
    r"|\s+and\s+(?=(?:" + _PRONOUN + r")\s+(?:is|are|was|were|do|does|did|has|have|had|will"
    r"|would|can|could)\b)"
    r"|,\s*(?=(?:so|and|but)\s+(?:on|as of|by|at)\s+\d)"
    r"|,\s*(?=(?:thereby |thus |and )?(?:creat|caus|mak|lead|leav|forc|result|suggest|indicat|impl"
    r"y|allow|mean|show|requir|prompt|trigger|driv|produc)ing\b)"
    r"|(?:,|,?\s+and)\s+(?=(?:[a-z'-]+\s+){1,4}(?:is|are|was|were|do|does|did|has|have|had|will"
    r"|would|can|could)\s+not\b))"
    r"|(?P<aside>[(\[])|(?P<resume>[)\]])|(?P<break>\s-+\s)"
)
_FORMER_CLAUSE = re.compile(rf"\b(?:{FORMER})\b")
_UNTIL = re.compile(r"\b(?:was|were|had|paid|cost|lived|worked|went|kept)\b.*\buntil\b|^\W*until\b")
_CURRENT = re.compile(rf"\b(?:{_NOW}|from now on)\b")
_PAST = re.compile(
    r"\b(?:was|were|had|did|paid|cost|lived|kept|went|used|at th(?:at|e) time|on that day)\b"
)
_OPEN = re.compile(r"^\W*(?:and |but )?(?:if|unless|whether|suppose|assuming)\b")


def denies_all(text: str) -> bool:
    """Whether a folded text does nothing but deny what was said before it: "That is not true"."""
    return _DENIAL_OF_ALL.match(text) is not None


def clauses_of(text: str, start: int, end: int, number: int, asking: Asking) -> Iterator[Clause]:
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
