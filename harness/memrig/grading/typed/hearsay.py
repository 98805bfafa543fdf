"""What nobody vouches for: rumours, suppositions, and what was told in error."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memrig.grading.typed.asking import Asking
from memrig.grading.typed.clauses import Clause

_TOLD = r"(?:reported|given|stated|told|noted|recorded|said|entered|announced|listed)"
_WRONGLY = r"(?:in error|by mistake|erroneously|wrongly|mistakenly)"
_HEARSAY = re.compile(
    r"\b(?:rumou?r(?:s|ed)?|hearsay|gossip|unconfirmed|allegedly|hypothetical(?:ly)?"
    rf"|heard somewhere|toyed with the idea|(?:we|they) assumed that|{_TOLD} {_WRONGLY}"
    rf"|{_WRONGLY} {_TOLD})\b|(?:^|:)\W*suppose\b"
)
_NOBODY = r"(?:nobody|no one|none)"
#: Says it of what stands before it in the same sentence.
_UNVOUCHED = re.compile(
    rf"\b{_NOBODY} (?:could|can|has|was able to|is able to)\s+(?:\w+ )?"
    r"(?:(?:confirm|verify)(?:ed)?(?: (?:it|this|that|them))?\W*$|decided (?:it|this|that)\b)"
    r"|\bwithout (?:any |a )?(?:proof|confirmation|evidence)\W*$"
    r"|^\W*(?:which|this|that|it|but (?:this|that|it)) (?:was|is|has been|could) (?:never|not)"
    r" (?:be )?(?:confirmed|verified)\W*$"
    r"|\bonly a (?:sketch|thought|guess)\W*$"
)
#: Says it of what stands after it.
_DISTRUST = re.compile(r"\b(?:would|should|can|could) not (?:rely on|trust|count on|vouch for)\b")


def marked(text: str, clauses: Iterable[Clause], asking: Asking) -> Iterator[Clause]:
    """The clauses of an answer, those marked that pass on what nobody vouches for.

    None of them where the question itself is for hearsay.

    Args:
        text: the folded answer.
        clauses: all of it, in order.
        asking: the question.
    """
    found = list(clauses)
    for_it = _HEARSAY.search(asking.text) is not None
    for clause in found:
        yield (
            clause
            if for_it or not _unvouched(text, clause, found)
            else replace(clause, hearsay=True)
        )


def _unvouched(text: str, clause: Clause, clauses: list[Clause]) -> bool:
    if any(said.search(text[clause.start : clause.end]) for said in (_HEARSAY, _UNVOUCHED)):
        return True
    beside = [other for other in clauses if other.sentence == clause.sentence]
    return any(
        (_UNVOUCHED if other.start > clause.start else _DISTRUST).search(
            text[other.start : other.end]
        )
        for other in beside
        if other is not clause
    )
