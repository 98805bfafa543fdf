"""Answers that say that they do not know, and those that only seem to."""

import re

from memrig.grading.typed.clauses import Clause
from memrig.grading.typed.reading import Reading, read
from memrig.grading.typed.words import STOP, content, listed, words

_SUBJECT = r"(?:i|we|you|he|she|they|it|the user|one)"
_HELD = (
    r"(?:information|record|mention|evidence|data|details?|memor(?:y|ies)|notes?|answer|indication"
    r"|reference|entry|entries|knowledge|recollection|trace|clue|context|statement|episodes?"
    r"|results?|facts?|anything|conversations?)"
)
_SAID = (
    r"(?:mention\w*|specif\w*|stat\w*|said|say|says|shar\w+|discuss\w*|provid\w*|given|giv\w+|told"
    r"|record\w*|includ\w*|contain\w*|indicat\w*|reveal\w*|known|available|found|find|clear"
    r"|disclos\w*|document\w*|not\w+ down|stor\w+|cover\w*|address\w*|list\w*|talk\w*|describ\w*"
    r"|ma[dk]e (?:it )?clear|exist|have|has|hold\w*)"
)
#: Says plainly that something is not known.
_UNKNOWN = re.compile(
    r"\b(?:do|does|did|can|could|would) not\s+(?:\w+\s+){0,2}?(?:know|recall|remember|tell|say"
    r"|determine|be determined|be answered|be found|be sure|find any|see any|have any"
    r"|have enough)\b"
    r"|\b(?:unknown|unanswerable|unclear|unsure|undetermined|n/a|no idea|unable to|not applicable"
    r"|not answerable|not known|not possible to|not sure|not certain|i abstain)\b"
    r"|\b(?:is|are|was|were|has been|have been|been|it) (?:not|never) (?:\w+ )?"
    r"(?:mentioned|specified|stated|discussed|disclosed|recorded|provided)\b|^\W*not (?:mentioned"
    r"|specified|stated|discussed|disclosed|recorded|provided|available|found)\b"
    rf"|\bno\s+(?:\w+\s+){{0,2}}?{_HELD}\b|\bnot enough {_HELD}\b|\binsufficient {_HELD}\b"
    r"|\bimpossible to (?:say|tell|know|determine|answer)\b|\bnobody knows\b|\bno one knows\b"
    r"|\bcan not be (?:determined|answered|known|told|said|established|inferred|identified)\b"
)
#: Says so in other words; among an answer that has a value these may mean something else.
_SILENT = re.compile(
    rf"\b(?:{_SUBJECT}\s+)?(?:do|does|did|can|could) not\s+(?:\w+\s+){{0,2}}?(?:find|answer|see"
    r"|have|locate|identify|establish|seem to|appear to)\b"
    r"|\b(?:is|are|was|were|has|have|had|been|do|does|did)\s+(?:not|never)\s+(?:\w+\s+)"
    rf"{{0,2}}?(?:been\s+)?{_SAID}\b"
    r"|\b(?:not|never) (?:been )?(?:mentioned|specified|stated|discussed|available|given|recorded"
    r"|found|provided|disclosed|said|enough|sufficient|clear)\b"
    rf"|\b(?:not|never)\s+(?:\w+\s+)?{_SAID}\b"
    rf"|\b(?:lack|lacks|without|lacking)\s+(?:\w+\s+){{0,2}}?{_HELD}\b"
    r"|\bnone (?:of|in) (?:the|my|your|these)\b|\b(?:is|are) missing\b|\bincomplete\b"
    r"|\bnothing (?:about|on|in|is|was|suggests|indicates)\b|\bthere (?:is|are|was) (?:no|not)\b"
    r"|\b(?:only|just|merely|nothing but|no more than|nothing more than)"
    r" (?:an? )?(?:\w+ )?(?:rumou?r\w*|hearsay|gossip)\b"
    r"|\b(?:premise|assumption|question)\W+(?:\w+\W+){0,3}?(?:false|wrong|mistaken|incorrect)\b"
)
#: The mark of a rumour; who passes one on with its mark has not said that nothing is known.
_UNCONFIRMED = re.compile(r"\b(?:unconfirmed|(?:not|never) (?:\w+ )?(?:confirmed|verified))\b")
_VALUE = re.compile(
    r"\b(?:(?:may|might|could|would|should) (?:be|have been)|is|are|was|were|has it that|to be)\b"
)
_OF_RUMOURS = frozenset(
    listed("unconfirm confirm verify verifi rumour rumor rumore gossip hearsay talk true never")
)
_GUESS = re.compile(
    r"\b(?:probably|perhaps|maybe|possibly|likely|presumably|guess|estimate"
    r"|i (?:would )?(?:say|think|believe|assume|suppose)|my best|the answer is|answer:"
    r"|must (?:be|have been)|(?:should|could|might|may) be|(?:it|that|she|he) (?:is|was))\b"
)
_RELATED = re.compile(
    r"\b(?:only|mention\w*|although|though|however|instead|told|said|talk\w*|discuss\w*|spoke|refer"
    r"\w*|if you|please|could you|would you|let me|feel free|happy to|sorry|unfortunately|apolog\w*"
    r"|check|provide|more (?:context|details|information)|did|rumou?r\w*|allegedly)\b"
)
#: Who is merely not sure may answer all the same.
_HEDGE = re.compile(r"\b(?:not (?:entirely |quite |completely |fully )?(?:sure|certain)|unsure)\b")
_POLITE = frozenset(
    listed(
        "sorry unfortunately apologies afraid however answer memory memories conversation context "
        "information based available provided question regret please note"
    )
)

_EMPTY = _POLITE | _OF_RUMOURS


def abstains(answer: str, question: str = "", *, plainly: bool = False) -> bool:
    """Whether an answer is an abstention: it says so, and gives no value after all.

    Args:
        answer: what was said.
        question: what was asked.
        plainly: only plain words count, as where there is an answer to be had: "she was never
            given penicillin" may be it.
    """
    reading = read(answer, question)
    if not reading.text.strip(" .!?-"):
        return False
    silent, others = _parted(reading, plainly)
    return bool(silent) and not any(_gives(reading, clause) for clause in others)


def only_abstains(answer: str, question: str = "") -> bool:
    """Whether an answer says plainly that something is not known, and states nothing beside.

    Args:
        answer: what was said.
        question: what was asked.
    """
    reading = read(answer, question)
    silent, others = _parted(reading, plainly=True)
    told = (set(content(reading.text[clause.start : clause.end])) for clause in others)
    return bool(silent) and not any(said - _POLITE for said in told)


def _parted(reading: Reading, plainly: bool) -> tuple[list[Clause], list[Clause]]:
    """The clauses that say that something is not known, and the others."""
    silent = [clause for clause in reading.clauses if _silent(reading, clause, plainly)]
    return silent, [clause for clause in reading.clauses if clause not in silent]


def _silent(reading: Reading, clause: Clause, plainly: bool) -> bool:
    text = reading.text[clause.start : clause.end]
    if _UNKNOWN.search(text):
        return True
    if plainly:
        return False
    if _denies_premise(reading, clause):
        return True
    unconfirmed = _UNCONFIRMED.search(text) is not None and not _passes_on(reading)
    return unconfirmed or _SILENT.search(text) is not None


def _denies_premise(reading: Reading, clause: Clause) -> bool:
    """Whether a clause denies what the question supposes, in its own words, and says no more."""
    said = set(content(reading.text[clause.start : clause.end]))
    return clause.denied and bool(said) and said <= reading.asking.stems


def _passes_on(reading: Reading) -> bool:
    """Whether an answer tells what a rumour says: some value, with or without its marks."""
    for clause in reading.clauses:
        text = reading.text[clause.start : clause.end]
        told = _VALUE.search(text)
        said = text if clause.hearsay else text[told.end() :] if told else ""
        if {word for word in content(said) if word not in reading.asking.stems} - _EMPTY:
            return True
    return False


def _gives(reading: Reading, clause: Clause) -> bool:
    """Whether a clause beside an abstention gives an answer anyway."""
    text = reading.text[clause.start : clause.end]
    new = [word for word in content(text) if word not in reading.asking.stems]
    new = [word for word in new if word not in _POLITE]
    if clause.denied or clause.open or clause.hearsay or not new:
        return False
    if _GUESS.search(text):
        return True
    if _RELATED.search(text):
        return False
    bare = [word for word in words(text) if word not in _POLITE]
    if len(bare) <= 4 and not STOP.intersection(bare):
        return True
    if _HEDGE.search(reading.text):
        return True
    asked = reading.asking.stems
    shared = asked.intersection(content(text))
    return len(asked) > 0 and len(shared) / len(asked) >= 0.6
