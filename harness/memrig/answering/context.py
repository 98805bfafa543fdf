"""What of the hits a reader is shown: cut by rank, shown by date."""

from dataclasses import replace

from memrig.answering.handles import Handles, Item
from memrig.answering.prompts import memory_element
from memrig.model.chat import estimate_tokens

#: A memory that crosses the limit is shown in part if this many tokens are left for its text.
USEFUL_TOKENS = 50
_CUT = " …"


def cut_by_rank(items: list[Item], limit: int, handles: Handles) -> list[Item]:
    """The first items of a ranking that fit into so many tokens, by `estimate_tokens`.

    The item that crosses the limit is cut to fit where that leaves it something to say, else
    dropped; all after it are dropped, even where a shorter one would fit: rank decides, not length.

    Args:
        items: best first.
        limit: tokens of all memories together, with their mark-up.
        handles: told what is shown.
    """
    kept: list[Item] = []
    for item in items:
        tokens = _tokens(item)
        shown = item if tokens <= limit else _cut(item, limit)
        if shown:
            kept.append(shown)
            handles.show(shown.handle, shown.text, _tokens(shown))
        if shown is not item:
            break
        limit -= tokens
    return kept


def _tokens(item: Item) -> int:
    return estimate_tokens(memory_element(item) + "\n")


def _cut(item: Item, limit: int) -> Item | None:
    """The longest beginning that fits, up to the end of a word."""
    if limit - _tokens(replace(item, text=_CUT)) < USEFUL_TOKENS:
        return None
    low, high = 0, len(item.text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = _tokens(replace(item, text=item.text[:middle] + _CUT)) <= limit
        low, high = (middle, high) if fits else (low, middle - 1)
    words, _, _ = item.text[:low].rpartition(" ")
    return replace(item, text=(words or item.text[:low]) + _CUT)
