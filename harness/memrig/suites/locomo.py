"""LoCoMo (Maharana et al., ACL 2024): long dialogues between two people, read from `locomo10.json`.

One scenario a dialogue. Every turn is an episode, as ``speaker: text``, in session order; image
captions and the data's own summaries are left out, as in the retrieval protocols in use. Category
numbers are named by what their evidence shows (1 multi-hop … 5 adversarial); the paper's prose
numbers them otherwise, and so do some published tables: `category_labels` matches those.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path
from typing import TypeVar

from memrig.errors import DataError
from memrig.model.canonical import digest_file
from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import Episode, Event, Question, Scenario
from memrig.model.trial import Mode
from memrig.suites.base import DataSource, SuiteOptions
from memrig.suites.checks import check_text
from memrig.suites.datasets import DATASETS, locate

#: Names of the category numbers 1 to 5, by who uses them.
LABELS: Mapping[str, tuple[str, str, str, str, str]] = {
    "true": ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial"),
    "synapse": ("single-hop", "temporal", "multi-hop", "open-domain", "open-domain"),
    "memorybench": ("single-hop", "multi-hop", "temporal", "world-knowledge", "adversarial"),
    "paper": ("single-hop", "multi-hop", "temporal", "open-domain", "adversarial"),
}
_SESSION = re.compile(r"^session_(\d+)$")
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
T = TypeVar("T")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question's evidence after repair; `repaired` and `dropped` count its odd strings."""

    turns: tuple[str, ...]
    repaired: int
    dropped: int


def repair_evidence(raw: list[str], known: set[str]) -> Evidence:
    """Reads turn ids out of evidence strings as they are.

    Several ids in one string are split; ``D:11:26`` means ``D11:26``; zero padding goes; an id that
    names no turn of the dialogue is dropped.
    """
    turns: list[str] = []
    repaired = dropped = 0
    for text in raw:
        found = [f"D{session}:{turn}" for session, turn in _EVIDENCE.findall(text)]
        kept = [turn for turn in found if turn in known]
        repaired += kept != [text] and bool(kept)
        dropped += (len(found) - len(kept)) or (not found)
        turns.extend(turn for turn in kept if turn not in turns)
    return Evidence(tuple(turns), repaired, dropped)


class Locomo:
    """The suite."""

    name = "locomo"
    summary = "LoCoMo: 10 long dialogues, 1,986 questions; did the memory find a turn that answers?"
    protocols = ("locomo-any", "locomo-f1", "locomo-judge", "locomo-judge-strict")
    label_sets = tuple(LABELS)
    modes: tuple[Mode, ...] = ("retrieval", "reader", "agent", "native")
    variants: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    granularities: tuple[str, ...] = ()
    labels = ("published", "audited")
    top_k = 10

    def top_k_for(self, options: SuiteOptions) -> int:
        """Ten, whatever is asked."""
        del options
        return self.top_k

    def source(self, options: SuiteOptions) -> DataSource:
        """Finds `locomo10.json`: the sample, the user's file, or what `memrig data fetch` left."""
        if options.sample:
            with as_file(files("memrig.suites") / "locomo_sample.json") as path:
                digest = digest_file(path)
            note = "the built-in sample: one invented dialogue, not LoCoMo"
            return DataSource("locomo sample", "built in", digest, (note,))
        path = options.file or locate("locomo")
        if not path.is_file():
            raise DataError("there is no such file", where=f"--file {path}")
        digest = digest_file(path)
        notes: tuple[str, ...] = ()
        if digest != f"sha256:{DATASETS['locomo'].sha256}":
            notes = ("the file is not the published locomo10.json (its sha256 differs)",)
        name = "not the published LoCoMo" if notes else "locomo"
        return DataSource(name, path.name, digest, notes)

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """One scenario a dialogue, in file order."""
        labels = LABELS[options.category_labels]
        where, dialogues = _load(options)
        for number, dialogue in enumerate(dialogues):
            yield _Dialogue(f"{where}: [{number}]", dialogue, labels).scenario()


def _load(options: SuiteOptions) -> tuple[str, list[object]]:
    if options.sample:
        text = (files("memrig.suites") / "locomo_sample.json").read_bytes()
        where = "the built-in sample"
    else:
        path: Path = options.file or locate("locomo")
        text, where = _read(path), str(path)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", where=where) from error
    if not isinstance(value, list) or not value:
        message = f"holds {type(value).__name__}, expected a list of dialogues"
        raise DataError(message, where=where, fix="give LoCoMo's locomo10.json")
    return where, value


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", where=str(path)) from error


class _Dialogue:
    """One element of the file, checked field by field."""

    def __init__(self, where: str, raw: object, labels: tuple[str, ...]) -> None:
        self._where = where
        self._labels = labels
        self._raw = _expect(raw, dict, where)
        self._conversation = _expect(self._raw.get("conversation"), dict, f"{where}.conversation")
        self._id = _some_text(self._raw.get("sample_id"), f"{where}.sample_id")

    def scenario(self) -> Scenario:
        episodes = list(self._episodes())
        known = {episode.episode_id for episode in episodes}
        questions, gold, notes = self._questions(known)
        timeline: list[Event] = [*episodes, *questions]
        return Scenario(self._id, timeline, gold, notes)

    def _episodes(self) -> Iterator[Episode]:
        numbers = sorted(int(m[1]) for key in self._conversation if (m := _SESSION.match(key)))
        for number in numbers:
            key = f"session_{number}"
            where = f"{self._where}.conversation.{key}"
            date = self._date(f"{key}_date_time")
            for index, item in enumerate(_expect(self._conversation.get(key), list, where)):
                turn = _expect(item, dict, f"{where}[{index}]")
                fields = {
                    name: _expect(turn.get(name), str, f"{where}[{index}].{name}")
                    for name in ("speaker", "text", "dia_id")
                }
                yield Episode(
                    episode_id=fields["dia_id"],
                    timestamp=date,
                    text=f"{fields['speaker']}: {fields['text']}",
                )

    def _date(self, key: str) -> datetime:
        where = f"{self._where}.conversation.{key}"
        text = _expect(self._conversation.get(key), str, where)
        try:
            return datetime.strptime(text, _DATE).replace(tzinfo=UTC)
        except ValueError as error:
            message = f"{text!r} is not a date like '1:56 pm on 8 May, 2023'"
            raise DataError(message, where=where) from error

    def _questions(
        self, known: set[str]
    ) -> tuple[list[Question], dict[str, Gold], tuple[str, ...]]:
        questions, gold = [], {}
        repaired = dropped = empty = 0
        for index, item in enumerate(_expect(self._raw.get("qa"), list, f"{self._where}.qa")):
            where = f"{self._where}.qa[{index}]"
            qa = _expect(item, dict, where)
            listed = _expect(qa.get("evidence", []), list, f"{where}.evidence")
            raw = [_expect(e, str, f"{where}.evidence[{n}]") for n, e in enumerate(listed)]
            evidence = repair_evidence(raw, known)
            repaired, dropped = repaired + evidence.repaired, dropped + evidence.dropped
            empty += not evidence.turns
            name = f"{self._id}#{index}"
            text = _some_text(qa.get("question"), f"{where}.question")
            questions.append(Question(question_id=name, text=text))
            gold[name] = Gold(
                question_id=name,
                category=self._category(qa.get("category"), where),
                answer=_answer(qa, f"{where}.answer"),
                evidence=evidence.turns,
                scorable=bool(evidence.turns),
                note="" if evidence.turns else "the data names no evidence",
            )
        notes = tuple(
            f"{self._id}: {count} {what}"
            for count, what in (
                (repaired, "evidence strings repaired"),
                (dropped, "evidence ids dropped: no such turn"),
                (empty, "questions without evidence, not scored"),
            )
            if count
        )
        return questions, gold, notes

    def _category(self, raw: object, where: str) -> str:
        if type(raw) is not int or not 1 <= raw <= len(self._labels):
            raise DataError(f"is {raw!r}, expected 1 to 5", where=f"{where}.category")
        return self._labels[raw - 1]


def _answer(qa: Mapping[str, object], where: str) -> TextGold | None:
    answer = qa.get("answer")
    if answer is None:
        return None
    return TextGold(type="text", value=_expect(str(answer), str, where))


def _expect(value: object, kind: type[T], where: str) -> T:
    if not isinstance(value, kind):
        got = "nothing" if value is None else f"{type(value).__name__} {value!r:.60}"
        raise DataError(f"expected {kind.__name__}, got {got}", where=where)
    if isinstance(value, str):
        check_text(value, where)
    return value


def _some_text(value: object, where: str) -> str:
    text = _expect(value, str, where)
    if not text.strip():
        raise DataError("is empty", where=where)
    return text


SUITE = Locomo()
