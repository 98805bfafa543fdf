"""Text that others wrote (an adapter, a data file), made fit to show."""

from memrig.pod.text import plain_text

_ELLIPSIS = "…"


def clean(text: str, limit: int | None = None) -> str:
    """The text without control characters, direction overrides and lone surrogates.

    Args:
        text: from anywhere.
        limit: at most this many characters, an ellipsis included.
    """
    # Cut first, generously: what is dropped for its length need not be looked through.
    if limit is not None:
        text = text[: 4 * limit]
    return _cut(plain_text(text), limit)


def one_line(text: str, limit: int | None = None) -> str:
    """As `clean`, with every run of white space made one space."""
    return _cut(" ".join(clean(text, None if limit is None else 4 * limit).split()), limit)


def question_name(scenario_id: str, question_id: str) -> str:
    """A question's id, with its scenario's before it where the id alone does not name it.

    Worlds count their questions alike: `q0042` is one of each, `world-42#q0042` is one.
    """
    known = question_id.startswith(scenario_id)
    return question_id if known else f"{scenario_id}#{question_id}"


def _cut(text: str, limit: int | None) -> str:
    if limit is None or len(text) <= limit:
        return text
    return text[: limit - 1] + _ELLIPSIS
