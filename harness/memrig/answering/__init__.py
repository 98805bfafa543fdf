"""How a question becomes an answer: retrieval, reader, agent, native (architecture §6)."""

from memrig.answering.modes import mode_of

__all__ = ["mode_of"]
