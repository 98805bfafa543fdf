"""An adapter that fails in the way that the environment or a query asks for."""

import os
import subprocess
import sys
import time
import urllib.request

from memrig_adapters import Adapter, Capabilities, Episode, Hit, Query

MEBIBYTE = 1 << 20
LINE = "x" * 1023 + "\n"


def at_start(mode: str) -> None:
    """What TRICKY asks for before anything is served."""
    if mode == "crash":
        sys.stderr.write("tricky: \x1b[31mno database\x1b[0m\n")
        sys.stderr.flush()
        os._exit(9)
    if mode == "never":
        sys.stderr.write("tricky: will never serve\n")
        time.sleep(3600)


def allocate(mebibytes: int) -> None:
    """Takes memory and touches it."""
    held = [bytearray(os.urandom(MEBIBYTE)) for _ in range(mebibytes)]
    del held


def obey(order: list[str]) -> str:  # noqa: C901, PLR0912 - one case for each way to fail
    """Does what a query says; returns what there is to tell."""
    match order:
        case ["exit", code]:
            sys.stderr.write("tricky: leaving\n")
            sys.stderr.flush()
            os._exit(int(code))
        case ["hang"]:
            time.sleep(3600)
        case ["oom"]:
            allocate(1024)
        case ["oom-child"]:
            program = "b=[bytearray(__import__('os').urandom(1<<20)) for _ in range(1024)]"
            ended = subprocess.run([sys.executable, "-c", program], check=False)
            return f"child ended with {ended.returncode}"
        case ["flood", mebibytes]:
            for _ in range(int(mebibytes) * 1024):
                sys.stdout.write(LINE)
            sys.stdout.write("the last line of the flood\n")
            sys.stdout.flush()
        case ["fetch"]:
            url = os.environ["MEMRIG_LLM_BASE_URL"] + "/hello"
            with urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310
                return str(response.read().decode())
        case ["environment"]:
            return "\n".join(f"{k}={v}" for k, v in sorted(os.environ.items()))
        case ["escape"]:
            child = subprocess.Popen(["sleep", "3600"], start_new_session=True)
            return str(child.pid)
        case ["burn"]:
            started = time.process_time()
            while time.process_time() - started < 0.3:
                pass
        case ["write", path]:
            with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
                file.write("kept")
        case ["fill", path, mebibytes]:
            with open(path, "wb") as file:  # noqa: PTH123
                file.write(bytes(int(mebibytes) << 20))
        case ["read", path]:
            with open(path, encoding="utf-8") as file:  # noqa: PTH123
                return file.read()
    return "done"


class Tricky(Adapter):
    """Remembers nothing. A search does what its text says and tells of it in its only hit."""

    capabilities = Capabilities(name="tricky", version="1.0", max_results=100)

    def ingest(self, _episode: Episode) -> int:
        """Stores nothing."""
        return 0

    def flush(self) -> int:
        """Holds nothing."""
        return 0

    def search(self, query: Query) -> list[Hit]:
        """Obeys."""
        return [Hit("r1", obey(query.text.split()), 1.0)]

    def reset(self) -> None:
        """Has nothing to empty."""


at_start(os.environ.get("TRICKY", ""))
