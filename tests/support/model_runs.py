"""Runs whose reader and judge live at a stand-in: what the models say, and what may go wrong."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import memrig
from memrig import RunConfig
from memrig.report.model import Report
from support.judges import blocks_of
from support.llm_standin import Fault, Say, Script, Seen

CLAUDE, GPT = "claude-haiku-4-5", "gpt-4o-mini"
KEY = "sk-planted-3f1c9a7e55"
SCATTERED = Path(__file__).parent / "processes"
#: One of each kind that a provider makes: too many, broken, busy, and replies that are none.
FAULTS = (
    Fault(status=429, retry_after="0.02"),
    Fault(status=500),
    Fault(cut="clean"),
    Fault(status=529),
    Fault(garbage='{"choices": ['),
    Fault(cut="hard"),
)

_MEMORY = re.compile(r"<memory [^>]*>(.*?)</memory>", re.DOTALL)
_QUESTION = re.compile(r"<question[^>]*>(.*?)</question>", re.DOTALL)
_WORD = re.compile(r"\w{4,}|\d+")


def words(text: str) -> set[str]:
    """The longer words of a text, and its numbers."""
    return set(_WORD.findall(text.lower()))


def reads(seen: Seen) -> str:
    """A reader: the line of the memories that shares most words with the question."""
    wanted = words(_QUESTION.findall(seen.text)[-1])
    lines = [line for memory in _MEMORY.findall(seen.text) for line in memory.splitlines()]
    best = max(lines, key=lambda line: len(wanted & words(line)), default="")
    if len(wanted & words(best)) < 2:
        return "I don't know: this is not mentioned in the memories."
    return unescape(best)


def judges(seen: Seen) -> str:
    """A judge: right is an answer that shares half of the gold's words; in the form asked for."""
    blocks = blocks_of(seen.text)
    gold = next(blocks[name] for name in ("reference", "rubric", "explanation") if name in blocks)
    shared = words(gold) & words(blocks["answer"])
    right = 2 * len(shared) >= len(words(gold))
    if "yes or no only" in seen.text:
        return "Yes." if right else "No."
    if '"label"' in seen.text:
        return f'{{"label": "{"CORRECT" if right else "WRONG"}"}}'
    return f'{{"correct": {str(right).lower()}}}'


def models(seen: Seen) -> str:
    """Both: what is asked tells which."""
    return judges(seen) if "Their tags carry the code" in seen.text else reads(seen)


def failing(script: Script, every: int, faults: Sequence[Fault] = FAULTS) -> Script:
    """The same models behind a provider that fails every so many requests, in turn."""

    def answer(seen: Seen) -> str | Say | Fault:
        turn, rest = divmod(seen.number, every)
        return faults[turn % len(faults)] if rest == 0 else script(seen)

    return answer


def scattered(folder: Path) -> Path:
    """The folder of the adapter with random refs, for a process pod."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter.toml").write_text(
        'name = "scattered"\nversion = "1.0"\n[image]\nbuild = "."\n[process]\n'
        'command = ["memrig-adapter", "serve", "scattered:Scattered"]\n'
        f'environment = {{ PYTHONPATH = "{SCATTERED}", PYTHONDONTWRITEBYTECODE = "1" }}\n'
    )
    return folder


@dataclass(frozen=True)
class Ran:
    """A run that came to its end."""

    root: Path
    report: Report

    @property
    def grades(self) -> bytes:
        """As they are on disk."""
        return (self.root / "grades.jsonl").read_bytes()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """What the record holds."""
        with closing(sqlite3.connect(self.root / "llm.sqlite")) as record:
            return record.execute(query).fetchall()

    def attempts(self, purpose: str) -> int:
        """The attempts that the report counts for the reader, the agent or the judge."""
        return sum(cost.attempts for cost in self.report.costs if cost.purpose == purpose)


Answers = Callable[..., Ran]


def answers(out: Path, **config: object) -> Ran:
    """Runs, in this process."""
    pod = "auto" if ":" in str(config["adapter"]) else "process"
    fields: dict[str, object] = {"pod": pod, "audit": False, "out": out}
    return Ran(out, memrig.run(RunConfig.model_validate(fields | config)))
