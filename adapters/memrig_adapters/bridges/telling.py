"""How an episode or a question is put into words for an agent that takes a plain text."""

from datetime import datetime

from memrig_adapters.bridges.settings import Telling
from memrig_adapters.types import Episode, Question


def told(episode: Episode, telling: Telling) -> str:
    """An episode as an agent gets to read it.

    Dated, ``[2031-05-02 14:10] Nadia: We moved to Bergen.`` Where there are several lines, the time
    has the first one for itself. Bare, it is the episode's text alone. Times are UTC.
    """
    text = _said(episode)
    if telling == "bare" or episode.timestamp is None:
        return text
    return f"{_stamp(episode.timestamp)}{chr(10) if chr(10) in text else ' '}{text}"


def asked(question: Question, telling: Telling) -> str:
    """A question as an agent gets to read it: dated, with the time it is asked at before it."""
    if telling == "bare" or question.time is None:
        return question.text
    return f"{_stamp(question.time)} {question.text}"


def _said(episode: Episode) -> str:
    """Who said what, a line a turn; a turn without words says nothing."""
    lines = [f"{turn.speaker}: {turn.text}" for turn in episode.turns if turn.text]
    return "\n".join(lines) or episode.text


def _stamp(moment: datetime) -> str:
    # Not strftime, which writes years before 1000 with fewer digits on some platforms.
    return f"[{moment.isoformat(sep=' ', timespec='minutes').removesuffix('+00:00')}]"
