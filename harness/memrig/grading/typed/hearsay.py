"""What nobody vouches for: rumours, suppositions, and what was told in error."""

import re

from memrig.grading.typed.asking import Asking
from memrig.grading.typed.clauses import Clause

_HEARSAY = re.compile(r"\b(?:rumou?r(?:s|ed)?|hearsay|unconfirmed|allegedly)\b")


def passed_on(text: str, clause: Clause, asking: Asking) -> bool:
    """Whether a clause passes on what nobody vouches for, and the question is not for that."""
    hearsay = _HEARSAY.search(text, clause.start, clause.end)
    return hearsay is not None and _HEARSAY.search(asking.text) is None
