"""LoCoMo's official answer metric: token F1 over Porter stems, by category.

Maharana et al. 2024, `task_eval/evaluation.py`. The categories are those of the file: 1 multi-hop,
2 temporal, 3 open-domain, 4 single-hop, 5 adversarial.
"""

import re
import string
from collections import Counter
from functools import lru_cache

from memrig.grading.stemmer import porter

MULTI_HOP, OPEN_DOMAIN, ADVERSARIAL = 1, 3, 5

#: What an answer to an adversarial question must say, word for word.
DECLINES = ("no information available", "not mentioned")

_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def tokens(text: str) -> list[str]:
    """Stems of a text without punctuation, "a", "an", "the" and "and", in lower case."""
    plain = text.lower().translate(_PUNCTUATION)
    return [_stem(word) for word in _ARTICLES.sub(" ", plain).split()]


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    return porter().stem(word)


def token_f1(answer: str, gold: str) -> float:
    """F1 of the two bags of tokens; 0 where they share none."""
    said, right = tokens(answer), tokens(gold)
    same = sum((Counter(said) & Counter(right)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(said), same / len(right)
    return 2 * precision * recall / (precision + recall)


def parts_f1(answer: str, gold: str) -> float:
    """Both cut at commas: the mean over the gold's parts of the best F1 of any part said."""
    said, right = answer.split(","), gold.split(",")
    return sum(max(token_f1(part, wanted) for part in said) for wanted in right) / len(right)


def declines(answer: str) -> bool:
    """Whether an answer says, in the official words, that there is none."""
    return any(words in answer.lower() for words in DECLINES)


def official_f1(answer: str, gold: str, category: int) -> float:
    """The metric by category; in category 5 the gold is not looked at."""
    if category == ADVERSARIAL:
        return float(declines(answer))
    if category == MULTI_HOP:
        return parts_f1(answer, gold)
    if category == OPEN_DOMAIN:
        gold = gold.split(";", maxsplit=1)[0]
    return token_f1(answer, gold)
