"""Runs whose reader and judge live at a stand-in: what the models say, and what may go wrong."""

import json
import re
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import memrig
from memrig import RunConfig
from memrig.model.transcript import QuestionRecord
from memrig.report.model import Report
from memrig.trial.directory import load_trial
from support.judges import blocks_of
from support.llm_standin import Fault, LlmStandIn, Say, Script, Seen

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
_FIRST_RESULT = re.compile(r'"results":\s*\[\{"handle":\s*"(m\d+)".*?"text":\s*"([^"]*)')
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


def go_down(standin: LlmStandIn) -> Fault:
    """Takes no more connections; those that are open end with their next reply. For scripts."""
    assert standin._server is not None
    standin._server.close()
    standin.script = lambda _seen: Fault(cut="hard")
    return Fault(cut="hard")


def scattered(folder: Path) -> Path:
    """The folder of the adapter with random refs, for a process pod."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "adapter.toml").write_text(
        'name = "scattered"\nversion = "1.0"\n[image]\nbuild = "."\n[process]\n'
        'command = ["memrig-adapter", "serve", "scattered:Scattered"]\n'
        f'environment = {{ PYTHONPATH = "{SCATTERED}", PYTHONDONTWRITEBYTECODE = "1" }}\n'
    )
    return folder


class Counting:
    """The same models; `paid` holds every request that they answered."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.paid: list[str] = []

    def __call__(self, seen: Seen) -> str | Say | Fault:
        said = self.script(seen)
        if not isinstance(said, Fault):
            self.paid.append(json.dumps([seen.path, seen.body], sort_keys=True))
        return said


def question_of(seen: Seen) -> str:
    """What is asked."""
    return unescape(_QUESTION.findall(seen.text)[-1])


def replies_before(seen: Seen) -> int:
    """How often the model spoke before in this conversation."""
    return sum(message["role"] == "assistant" for message in seen.body["messages"])


def final(answer: str, *cited: str) -> str:
    """An agent's last words."""
    shape = {"answer": answer, "cited": cited, "confidence": 0.5, "abstained": False}
    return json.dumps(shape)


def agent(seen: Seen) -> Say | str:
    """An agent: counts a word of the question by the memory's own tool, searches, and answers."""
    question = question_of(seen)
    if replies_before(seen) == 0:
        word = max(sorted(words(question)), key=len)
        return Say(tools=(("count_items", {"word": word}), ("memory_search", {"query": question})))
    found = _FIRST_RESULT.search(seen.text)
    return final(found[2], found[1]) if found else final("nothing was found")


def insatiable(*, calls: int = 1, delay_s: float = 0.0) -> Script:
    """An agent that goes on searching for as long as it is let."""

    def answer(seen: Seen) -> Say | str:
        if not seen.body.get("tools"):
            return final("from what there was", "m1")
        queries = [f"{question_of(seen)} {replies_before(seen)}.{n}" for n in range(calls)]
        tools = tuple(("memory_search", {"query": query, "limit": 3}) for query in queries)
        return Say(tools=tools, delay_s=delay_s)

    return answer


@dataclass(frozen=True)
class Ran:
    """A run that came to its end, well or not."""

    config: Mapping[str, object]
    report: Report

    @property
    def root(self) -> Path:
        """Its folder."""
        return Path(str(self.config["out"]))

    @property
    def grades(self) -> bytes:
        """As they are on disk."""
        return (self.root / "grades.jsonl").read_bytes()

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """What the record holds."""
        with closing(sqlite3.connect(self.root / "llm.sqlite")) as record:
            return record.execute(query).fetchall()

    def questions(self) -> list[QuestionRecord]:
        """What the sealed trials hold of each question."""
        trials = sorted(path.parent for path in self.root.glob("trials/*/outcome.json"))
        return [
            record
            for folder in trials
            for record in load_trial(folder)[2]
            if isinstance(record, QuestionRecord)
        ]


def answers(out: Path, **config: object) -> Ran:
    """Runs, in this process.

    Raises:
        MemrigError: as `memrig.run`.
    """
    pod = "auto" if ":" in str(config["adapter"]) else "process"
    fields: dict[str, object] = {"pod": pod, "audit": False, **config, "out": out}
    return Ran(fields, memrig.run(RunConfig.model_validate(fields)))


def again(ran: Ran, out: Path, **changes: object) -> Ran:
    """The same run with other settings, in another folder."""
    kept = {name: value for name, value in ran.config.items() if name != "out"}
    return answers(out, **kept | changes)
