"""Answers given in a file, in either of the forms that they come in."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from memrig.model.given import GivenAnswer
from memrig.suites.answers_file import read_answers, read_lines
from memrig.suites.fields import unreadable
from memrig.suites.longmemeval_files import read_hypotheses


def read_given(path: Path) -> Mapping[str, GivenAnswer]:
    """Reads answers by question id: our own lines, or LongMemEval's hypotheses.

    The first line tells which: only the latter have a ``hypothesis``. Every trial of a run asks for
    the same file: it is parsed again only when it has changed.

    Raises:
        DataError: names line, field, value and fix.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    return MappingProxyType(_read(path.absolute(), state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=2)
def _read(path: Path, size: int, mtime_ns: int) -> dict[str, GivenAnswer]:
    del size, mtime_ns  # they key the cache
    _, first = next(iter(read_lines(path)))
    if "hypothesis" not in first:
        return read_answers(path)
    found = read_hypotheses(path)
    return {name: GivenAnswer(answer=item.text) for name, item in found.items()}
