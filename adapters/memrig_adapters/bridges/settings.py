"""What a bridge is told by its environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast, get_args

from memrig_adapters.errors import AdapterBug

#: How an episode is put into words: with its time before it, or as it is.
Telling: TypeAlias = Literal["dated", "bare"]

URL: Final = "MEMRIG_AGENT_URL"
COMMAND: Final = "MEMRIG_AGENT_COMMAND"
HEADERS: Final = "MEMRIG_AGENT_HEADERS"
NAME: Final = "MEMRIG_AGENT_NAME"
VERSION: Final = "MEMRIG_AGENT_VERSION"
TELLING: Final = "MEMRIG_AGENT_TELLING"
STEADY: Final = "MEMRIG_AGENT_STEADY"

_SAID = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Settings:
    """What is known of the agent behind a bridge.

    Args:
        name: the agent's name, shown in every table.
        version: the agent's version, likewise.
        telling: how episodes and questions are put into words.
        steady: whether questions leave the agent's memory, and its later answers, as they are.
        url: where an agent that speaks HTTP serves; `{port}` in it is a free port.
        command: what starts the agent, or runs it for one call; `demo` is the bridge's own.
        headers: sent with every HTTP request, as JSON.
    """

    name: str
    version: str
    telling: Telling = "dated"
    steady: bool = False
    url: str = ""
    command: str = ""
    headers: str = ""


def settings(name: str, environ: Mapping[str, str] = os.environ) -> Settings:
    """Reads the settings of the bridge of that name.

    Raises:
        AdapterBug: a variable has a value that it cannot have.
    """
    return Settings(
        name=environ.get(NAME) or name,
        version=environ.get(VERSION) or "unknown",
        telling=cast("Telling", _one_of(environ, TELLING, get_args(Telling), "dated")),
        steady=_SAID[_one_of(environ, STEADY, tuple(_SAID), "no")],
        url=environ.get(URL, ""),
        command=environ.get(COMMAND, ""),
        headers=environ.get(HEADERS, ""),
    )


def _one_of(environ: Mapping[str, str], name: str, known: tuple[str, ...], usual: str) -> str:
    found = environ.get(name) or usual
    if found not in known:
        raise AdapterBug(f"{name} is {found!r}, expected one of: {', '.join(known)}")
    return found
