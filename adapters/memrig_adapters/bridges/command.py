"""The bridge to an agent that is a command: `--learn`, `--answer` and `--reset`, a process a call.

What is learned or asked is its standard input, in UTF-8. What it answers is its standard output: a
JSON object with the keys of the HTTP agent, or else a plain text. The agent keeps its own state; a
folder for it is in `MEMRIG_AGENT_STATE`, empty at the start.
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import ClassVar, Final

from memrig_adapters.bridges.base import Bridge
from memrig_adapters.bridges.reply import MAX_REPLY_BYTES, AgentError, quoted, reply_of_text
from memrig_adapters.bridges.running import command_line, kill, run, spoken
from memrig_adapters.types import Json

_LEARN: Final = "--learn"
_ANSWER: Final = "--answer"
_RESET: Final = "--reset"


class CommandBridge(Bridge):
    """Runs the agent once for each call."""

    usual_name: ClassVar[str] = "subprocess-agent"

    _command: tuple[str, ...] = ()
    _state: str = ""

    async def open(self) -> None:
        """Makes a folder for the agent's state, and empties the agent.

        Raises:
            AgentError: there is no such command, or it failed.
        """
        self._command = tuple(command_line(self.settings.command))
        self._state = await asyncio.to_thread(tempfile.mkdtemp, prefix="agent-")
        await self.empty()

    async def close(self) -> None:
        """Removes the folder."""
        if self._state:
            await asyncio.to_thread(shutil.rmtree, self._state, ignore_errors=True)

    async def learn(self, text: str) -> None:
        """``--learn``, with the text; exit code 0 is an acknowledgement.

        Raises:
            AgentError: another exit code.
        """
        await self._call(_LEARN, text)

    async def ask(self, question: str) -> Mapping[str, Json]:
        """``--answer``, with the question.

        Raises:
            AgentError: another exit code than 0, or too long an output.
        """
        return reply_of_text(await self._call(_ANSWER, question))

    async def empty(self) -> None:
        """``--reset``, with nothing.

        Raises:
            AgentError: another exit code than 0.
        """
        await self._call(_RESET, "")

    async def _call(self, flag: str, text: str) -> str:
        words = [*self._command, flag]
        pipe = subprocess.PIPE
        process = await run(words, stdin=pipe, pipes=pipe, state=self._state)
        try:
            out, err = await spoken(process, text.encode())
        finally:
            kill(process)  # also what it left running: the next call must find the agent alone
        said = err.decode("utf-8", "replace")
        sys.stderr.write(said)
        if process.returncode:
            how = f"ended with exit code {process.returncode}"
            if process.returncode < 0:
                how = f"was killed by signal {-process.returncode}"
            last = quoted((said.strip().splitlines() or ["no further words"])[-1])
            raise AgentError(f"{flag} {how}: {last}")
        if flag == _ANSWER and len(out) > MAX_REPLY_BYTES:
            raise AgentError(f"{flag}: the reply has more than {MAX_REPLY_BYTES:,} bytes")
        return out.decode("utf-8", "replace")
