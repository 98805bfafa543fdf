"""What a clause says was before: "from A to B", "B took over from A", "A handed it over to B"."""

import re

#: A question with it is for what a change put an end to.
BEFORE = (
    r"before (?:it|that|this|he|she|they) (?:(?:has|had) )?(?:last )?(?:chang|mov|switch)\w*"
    r"|before (?:the|its|that|this) (?:last |latest |most recent )?(?:change|move|update)"
    r"|(?:just|right|immediately|directly) before"
)
#: Says of a clause that it tells of what was before.
FORMER = (
    r"used to|formerly|former|previously|previous|originally|original|initially|at first"
    r"|in the past|back then|before that|earlier|until then|until recently|up to then"
    r"|started (?:out |off )?(?:at|as|with)|began (?:at|as|with)"
    r"|first (?:planned|scheduled|agreed|said|told|thought|asked|wanted|quoted)|(?:was|were) first"
    r"|before (?:it|that|this|he|she|they) (?:was|were|had|did)"
    r"|was going to|were going to"
    r"|was supposed to|were supposed to|was meant to|had planned|had been|once thought"
)
_CHANGED = re.compile(
    r"\b(?:chang|mov|switch|went|gone|rose|risen|increas|rais|drop|fell|fallen|lower|reduc|cut|post"
    r"pon|shift|put off|put back|resched|correct|revis|updat|grew|came down|brought|upgrad|transfer"
    r"|push|delay|swap)\w*\b[^.;]*?\bfrom\s+(?P<old>(?:[^.;]|\.(?=\d)){1,60}?)\s+to\b"
)
_SUCCEEDED = re.compile(
    r"\b(?:replac(?:ed|es)|succeed(?:ed|s)|(?:took|takes|taken) over from)\s+"
    r"(?P<old>(?:[^,.;]|\.(?=\d)){1,60}?)(?=\s+(?:as|on|in|at|for|from|since)\b|[,.;]|\s*$)"
)
_AFTER = re.compile(
    r"\bafter (?:having been|(?:it|he|she|they) (?:had been|was|were)|being)\s+"
    r"(?P<old>(?:[^,.;]|\.(?=\d)){1,60})"
)
_HANDED = re.compile(
    r"\s*(?P<old>[^,.;]{1,60}?)\s+(?:(?:has|had)\s+)?(?:hand|pass|turn)(?:ed|s)\s+[^,.;]{1,80}?"
    r"\s(?:over\s+|on\s+)?to\b"
)


def former_span(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where a clause names what something came after; None where it tells of no succession.

    Args:
        text: the folded text.
        start: where the clause begins.
        end: where it ends.
    """
    found = (
        _CHANGED.search(text, start, end)
        or _SUCCEEDED.search(text, start, end)
        or _AFTER.search(text, start, end)
        or _HANDED.match(text, start, end)
    )
    return found.span("old") if found else None
