"""Does the typed fact matcher tell true from false? Means over the questions of LENS files.

    python benchmarks/facts.py DATA/scope_01_only.json DATA/scope_16_only.json

Each canonical answer is put to its own key facts, to those of every other scope given, denied in
five ways, with its numbers changed, and to the key facts of later questions; so are the question
itself and raw episodes, which state nothing of the kind. No model, no chance but a seeded draw of
episodes. It prints aggregates alone: a file that was not looked at stays unseen.
"""

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memrig.grading.typed.facts import fact_score
from memrig.grading.typed.reading import read

_AUXILIARY = re.compile(
    r"\b(is|are|was|were|has|have|had|can|could|will|would|should|must|does|do|did)\b(?! not)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*")
_SWAPS = dict(
    pair
    for one, other in (
        ("increase", "decrease"), ("increases", "decreases"), ("increased", "decreased"),
        ("increasing", "decreasing"), ("rise", "fall"), ("rises", "falls"), ("rose", "fell"),
        ("rising", "falling"), ("higher", "lower"), ("high", "low"), ("elevated", "reduced"),
        ("worsening", "improving"), ("worsened", "improved"), ("gradual", "sudden"),
        ("gradually", "suddenly"), ("before", "after"), ("grew", "shrank"),
    )
    for pair in ((one, other), (other, one))
)  # fmt: skip
_SWAPPED = re.compile(r"\b(?:" + "|".join(_SWAPS) + r")\b", re.IGNORECASE)
#: Episodes tried as an answer to each question.
EPISODES = 5


@dataclass(frozen=True, slots=True)
class Item:
    """A question with key facts, and what is known of its scope."""

    scope: str
    checkpoint: int
    question: str
    answer: str
    facts: tuple[str, ...]


@dataclass(slots=True)
class Scope:
    """The questions of a file, by scope, and the texts that they are about."""

    items: list[Item] = field(default_factory=list)
    episodes: list[str] = field(default_factory=list)


def scopes_of(path: Path) -> dict[str, Scope]:
    """What a LENS file holds. Questions without facts are kept: their answers come earlier."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    found = {
        scope["scope_id"]: Scope(episodes=[episode["text"] for episode in scope["episodes"]])
        for scope in content["scopes"]
    }
    for question in content.get("questions", []):
        gold = question["ground_truth"]
        item = Item(
            scope=question["scope_id"],
            checkpoint=question["checkpoint_after"],
            question=question["prompt"],
            answer=gold["canonical_answer"],
            facts=tuple(gold.get("key_facts", ())),
        )
        found[item.scope].items.append(item)
    return found


def score(answer: str, question: str, facts: Sequence[str]) -> float:
    """The mean over key facts."""
    reading = read(answer, question)
    return sum(fact_score(reading, fact) for fact in facts) / len(facts)


def _each(answer: str, turn: Callable[[str], str]) -> str:
    return " ".join(turn(sentence) for sentence in _SENTENCE.split(answer.strip()) if sentence)


def _that(frame: str) -> Callable[[str], str]:
    return lambda answer: _each(answer, lambda s: f"{frame} {s[0].lower()}{s[1:]}")


def _after_auxiliary(word: str, frame: str) -> Callable[[str], str]:
    def turn(sentence: str) -> str:
        turned = _AUXILIARY.sub(rf"\1 {word}", sentence, count=1)
        return turned if turned != sentence else f"{frame} {sentence[0].lower()}{sentence[1:]}"

    return lambda answer: _each(answer, turn)


#: Every sentence denied, each in a way of its own.
DENIALS: dict[str, Callable[[str], str]] = {
    "it is false that": _that("It is false that"),
    "it is not true that": _that("It is not true that"),
    "not": _after_auxiliary("not", "It is not the case that"),
    "no longer": _after_auxiliary("no longer", "It is no longer true that"),
    "none of it": lambda answer: f"{answer} None of this is true.",
}


def swapped(answer: str) -> str | None:
    """The answer with its directions turned round; nothing where it has none."""
    turned = _SWAPPED.sub(lambda found: _SWAPS[found.group().lower()], answer)
    return turned if turned != answer else None


def numbers_changed(item: Item) -> Iterator[float]:
    """What is left of a fact whose number was changed wherever the answer has it."""
    for fact in item.facts:
        for number in dict.fromkeys(_NUMBER.findall(fact)):
            changed = str(int(re.sub(r"\D.*", "", number)) + 7)
            answer = re.sub(rf"(?<![\w.,]){re.escape(number)}(?![\d.,]\d)", changed, item.answer)
            if answer != item.answer:
                yield score(answer, item.question, [fact])


def earlier(scope: Scope, *, unknown: bool) -> Iterator[float]:
    """Answers of earlier checkpoints against later facts; or those the earlier did not have."""
    for item in _asked(scope):
        for before in scope.items:
            known = before.facts if unknown else ()
            facts = [fact for fact in item.facts if fact not in known]
            if before.checkpoint < item.checkpoint and facts:
                yield score(before.answer, item.question, facts)


def _asked(scope: Scope) -> list[Item]:
    return [item for item in scope.items if item.facts]


def measures(scopes: Sequence[Scope], others: Sequence[Scope]) -> Iterator[tuple[str, list[float]]]:
    """The name and the scores of each kind of answer."""
    items = [item for scope in scopes for item in _asked(scope)]
    yield "own", [score(item.answer, item.question, item.facts) for item in items]
    foreign = {fact for scope in others for item in scope.items for fact in item.facts}
    if foreign:
        yield "other", [score(item.answer, item.question, sorted(foreign)) for item in items]
    for name, deny in DENIALS.items():
        yield f"negated: {name}", [score(deny(i.answer), i.question, i.facts) for i in items]
    turned = [(item, swapped(item.answer)) for item in items]
    yield "directions swapped", [score(a, i.question, i.facts) for i, a in turned if a]
    yield "number changed", [value for item in items for value in numbers_changed(item)]
    yield "earlier", [value for scope in scopes for value in earlier(scope, unknown=False)]
    yield (
        "earlier, new facts",
        [value for scope in scopes for value in earlier(scope, unknown=True)],
    )
    yield "question", [score(item.question, item.question, item.facts) for item in items]
    yield "question as statement", [score(_told(i.question), i.question, i.facts) for i in items]
    yield "episode", list(_episodes(scopes))


def _told(question: str) -> str:
    return f"This is about the following: {question.rstrip('?')}."


def _episodes(scopes: Sequence[Scope]) -> Iterator[float]:
    chance = random.Random(0)  # noqa: S311  (which episodes are tried, not a secret)
    for scope in scopes:
        for item in _asked(scope):
            seen = scope.episodes[: item.checkpoint]
            for text in chance.sample(seen, min(EPISODES, len(seen))):
                yield score(text, item.question, item.facts)


def cost(scopes: Sequence[Scope]) -> tuple[float, int]:
    """Seconds for all own facts, answers read anew, and how many there are."""
    items = [item for scope in scopes for item in _asked(scope)]
    read.cache_clear()
    start = time.perf_counter()
    for item in items:
        score(item.answer, item.question, item.facts)
    return time.perf_counter() - start, sum(len(item.facts) for item in items)


def main() -> None:
    """Prints the table of each file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="LENS dataset JSON")
    files = {path: scopes_of(path) for path in parser.parse_args().files}
    for path, scopes in files.items():
        others = [s for other, held in files.items() if other != path for s in held.values()]
        sys.stdout.write(f"\n{path.name}\n")
        for name, scores in measures(list(scopes.values()), others):
            mean = f"{sum(scores) / len(scores):.3f}" if scores else "n/a"
            sys.stdout.write(f"  {name:28} {mean:>6}  n={len(scores)}\n")
        seconds, facts = cost(list(scopes.values()))
        each = 1000 * seconds / facts if facts else 0.0
        sys.stdout.write(f"  {'ms a fact':28} {each:6.2f}  n={facts}\n")


if __name__ == "__main__":
    main()
