"""The modes of answering, by name."""

from collections.abc import Mapping

from memrig.answering.agent import agent
from memrig.answering.base import AnsweringMode
from memrig.answering.native import native
from memrig.answering.reader import reader
from memrig.answering.retrieval import retrieval
from memrig.model.trial import Mode

_MODES: Mapping[Mode, AnsweringMode] = {
    "retrieval": retrieval,
    "reader": reader,
    "agent": agent,
    "native": native,
}


def mode_of(mode: Mode) -> AnsweringMode:
    """The mode of that name."""
    return _MODES[mode]
