"""The bridge to an agent that serves HTTP: POST /learn, /answer and /reset, with JSON.

Inside a pod it is served like any adapter and told by its environment where the agent is. For an
agent that runs already: ``python -m memrig_adapters.bridges.http --agent-url URL``.
"""

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from memrig_adapters import cli
from memrig_adapters.bridges import settings as known
from memrig_adapters.bridges.base import Bridge
from memrig_adapters.bridges.exchange import Exchange, NotThereError, Reply
from memrig_adapters.bridges.reply import AgentError, quoted, read_json
from memrig_adapters.bridges.running import command_line, end, free_port, run
from memrig_adapters.errors import Rejected
from memrig_adapters.types import Json

_RETRY_S: Final = 0.05
_NOT_READY: Final = 503
#: What a server says of a text that it will not have, and of a store that is full.
_REFUSALS: Final = frozenset({413, 415, 422})
_FULL: Final = 507


class HttpBridge(Bridge):
    """Speaks to an agent over one kept connection, a request at a time."""

    usual_name: ClassVar[str] = "http-agent"

    _exchange: Exchange | None = None
    _process: Process | None = None

    async def open(self) -> None:
        """Starts the agent if there is a command for that, waits until it serves, and empties it.

        It waits as long as it is let: how long an agent may take is the manifest's to say.

        Raises:
            AgentError: the address or the command cannot be, or the agent failed or ended.
        """
        port = str(free_port())
        url = self.settings.url.replace("{port}", port)
        self._exchange = Exchange(url, _headers(self.settings.headers))
        if self.settings.command:
            words = command_line(self.settings.command.replace("{port}", port))
            self._process = await run(words, stdin=subprocess.DEVNULL, pipes=None)
        while True:
            if await self._ready():
                return
            await asyncio.sleep(_RETRY_S)

    async def close(self) -> None:
        """Drops the connection, and ends the agent if it was started here."""
        if self._exchange is not None:
            self._exchange.close()
        if self._process is not None:
            await end(self._process)

    async def learn(self, text: str) -> None:
        """POST /learn {"content"}; any 2xx is an acknowledgement.

        Raises:
            Rejected: 413, 415 or 422: the agent will not have this text.
            MemoryError: 507: it has no room.
            AgentError: any other status, or no reply.
        """
        reply = await self._post("/learn", {"content": text})
        if reply.status in _REFUSALS:
            raise Rejected(_words("/learn", reply))
        if reply.status == _FULL:
            raise MemoryError(_words("/learn", reply))
        _require_ok("/learn", reply)

    async def ask(self, question: str) -> Mapping[str, Json]:
        """POST /answer {"question"}.

        Raises:
            AgentError: another status than 2xx, no reply, or one that is no JSON object.
        """
        reply = await self._post("/answer", {"question": question})
        _require_ok("/answer", reply)
        value = read_json(reply.text)
        if not isinstance(value, dict):
            raise AgentError(f"POST /answer: the reply is no JSON object: {quoted(reply.text)!r}")
        return value

    async def empty(self) -> None:
        """POST /reset {}.

        Raises:
            AgentError: another status than 2xx, or no reply.
        """
        _require_ok("/reset", await self._post("/reset", {}))

    async def _post(self, path: str, body: Mapping[str, str]) -> Reply:
        if self._exchange is None:
            raise AgentError("the agent was never reached")
        try:
            return await self._exchange.post(path, body)
        except AgentError as error:
            code = await self._exit_code()
            if code is None:
                raise
            raise AgentError(f"the agent has ended, with exit code {code}") from error

    async def _ready(self) -> bool:
        try:
            reply = await self._post("/reset", {})
        except NotThereError as error:
            self.waiting = str(error)
            return False
        if reply.status == _NOT_READY:
            self.waiting = _words("/reset", reply)
            return False
        _require_ok("/reset", reply)
        return True

    async def _exit_code(self) -> int | None:
        if self._process is None:
            return None
        with contextlib.suppress(TimeoutError):  # its connections end a moment before it does
            await asyncio.wait_for(self._process.wait(), _RETRY_S)
        return self._process.returncode


def _require_ok(path: str, reply: Reply) -> None:
    if not reply.ok:
        raise AgentError(_words(path, reply))


def _words(path: str, reply: Reply) -> str:
    return f"POST {path}: status {reply.status}: {quoted(reply.text) or 'no further words'}"


def _headers(text: str) -> dict[str, str]:
    value = read_json(text) if text else {}
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise AgentError(f"{known.HEADERS} is no JSON object of texts: {quoted(text)!r}")
    return {name: str(said) for name, said in value.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Serves the bridge to an agent that is running already, until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(
        prog="python -m memrig_adapters.bridges.http",
        description="Serves an agent that speaks HTTP over the memrig contract. Its memory is "
        "emptied at the start, and between scenarios.",
    )
    parser.add_argument("--agent-url", required=True, metavar="URL", help="where the agent serves")
    parser.add_argument("--listen", default=cli.DEFAULT_ADDRESS, help="host:port or unix:/path")
    parser.add_argument("--name", default="", help="the agent's name in tables")
    parser.add_argument("--agent-version", default="", help="its version, likewise")
    parser.add_argument(
        "--header",
        action="append",
        type=_header,
        default=[],
        metavar="NAME:VALUE",
        help="sent with every request",
    )
    parser.add_argument("--bare", action="store_true", help="texts without their times")
    parser.add_argument("--steady", action="store_true", help="questions change nothing")
    options = parser.parse_args(arguments)
    os.environ |= {
        known.URL: options.agent_url,
        known.NAME: options.name,
        known.VERSION: options.agent_version,
        known.HEADERS: json.dumps(dict(options.header)),
        known.TELLING: "bare" if options.bare else "dated",
        known.STEADY: "yes" if options.steady else "no",
    }
    cli.main(["serve", "memrig_adapters.bridges.http:HttpBridge", "--listen", options.listen])


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form NAME:VALUE")
    return name.strip(), value.strip()


if __name__ == "__main__":
    main()
