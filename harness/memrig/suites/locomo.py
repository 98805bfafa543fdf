"""LoCoMo (Maharana et al., ACL 2024): long dialogues between two people, read from `locomo10.json`.

One scenario a dialogue. Every turn is an episode, as ``speaker: text``, in session order; image
captions and the data's own summaries are left out, as in the retrieval protocols in use. Category
numbers are named by what their evidence shows (1 multi-hop … 5 adversarial); the paper's prose
numbers them otherwise, and so do some published tables: `category_labels` matches those.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path

from memrig.errors import DataError
from memrig.model.canonical import digest_file
from memrig.model.gold import AbstentionGold, Gold, GoldAnswer, TextGold
from memrig.model.scenario import Episode, Event, Question, Scenario
from memrig.model.trial import Mode, PromptStyle
from memrig.suites.base import DataSource, SuiteOptions
from memrig.suites.datasets import DATASETS, locate
from memrig.suites.fields import check_is_file, expect, parsed, some_text, texts, unreadable
from memrig.suites.locomo_audit import CLEAN, ERROR, WRONG_AUDIT, Finding, read_audit

#: Names of the category numbers 1 to 5, by who uses them.
LABELS: Mapping[str, tuple[str, str, str, str, str]] = {
    "true": ("multi-hop", "temporal", "open-domain", "single-hop", "adversarial"),
    "synapse": ("single-hop", "temporal", "multi-hop", "open-domain", "open-domain"),
    "memorybench": ("single-hop", "multi-hop", "temporal", "world-knowledge", "adversarial"),
    "paper": ("single-hop", "multi-hop", "temporal", "open-domain", "adversarial"),
}
_ADVERSARIAL = 5
_SESSION = re.compile(r"^session_(\d+)$")
_EVIDENCE = re.compile(r"D:?(\d+):0*(\d+)")
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
    summary = "LoCoMo: 10 long dialogues of two people, 1,986 questions about what was said"
    protocols = ("locomo-any", "locomo-f1", "locomo-judge", "locomo-judge-strict")
    label_sets = tuple(LABELS)
    modes: tuple[Mode, ...] = ("retrieval", "reader", "agent", "native")
    variants: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    granularities: tuple[str, ...] = ()
    labels = ("published", "audited")
    distractors = False
    seeds: tuple[int, ...] = ()
    made_of_seeds = False
    question_sets: tuple[str, ...] = ()
    prompt: PromptStyle = "direct"
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
        check_is_file(path, f"--file {path}")
        digest = digest_file(path)
        notes: tuple[str, ...] = ()
        if digest != f"sha256:{DATASETS['locomo'].sha256}":
            notes = ("the file is not the published locomo10.json (its sha256 differs)",)
        name = "not the published LoCoMo" if notes else "locomo"
        return DataSource(name, path.name, digest, notes + _audit_notes(options))

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """One scenario a dialogue, in file order."""
        labels = LABELS[options.category_labels]
        where, dialogues = _load(options)
        findings = _findings(options, dialogues)
        for number, dialogue in enumerate(dialogues):
            found = findings[number] if findings else None
            yield _Dialogue(f"{where}: [{number}]", dialogue, labels, found).scenario()


def _findings(options: SuiteOptions, dialogues: list[object]) -> list[dict[int, Finding]] | None:
    """An audit's findings by dialogue and question; None where none was asked for."""
    if options.audit_file is None:
        return None
    found: list[dict[int, Finding]] = [{} for _ in dialogues]
    for (dialogue, question), finding in read_audit(options.audit_file).items():
        raw = dialogues[dialogue] if dialogue < len(dialogues) else {}
        listed = raw.get("qa") if isinstance(raw, dict) else None
        if not isinstance(listed, list) or question >= len(listed):
            message = "names a question that the data does not have"
            raise DataError(message, where=f"{finding.where}.question_id", fix=WRONG_AUDIT)
        found[dialogue][question] = finding
    return found


def _load(options: SuiteOptions) -> tuple[str, list[object]]:
    if options.sample:
        text = (files("memrig.suites") / "locomo_sample.json").read_bytes()
        where = "the built-in sample"
    else:
        path: Path = options.file or locate("locomo")
        text, where = _read(path), str(path)
    value = parsed(text, where)
    if not isinstance(value, list) or not value:
        message = f"holds {type(value).__name__}, expected a list of dialogues"
        raise DataError(message, where=where, fix="give LoCoMo's locomo10.json")
    return where, value


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error


def _audit_notes(options: SuiteOptions) -> tuple[str, ...]:
    if options.audit_file is None:
        return ()
    findings = read_audit(options.audit_file).values()
    wrong = sum(ERROR in finding.tags for finding in findings)
    said = f"{wrong} wrong answers and {len(findings) - wrong} wrong citations"
    file = f"{options.audit_file.name}, {digest_file(options.audit_file)}"
    return (f"labels audited: {said} marked, graded as published ({file})",)


class _Dialogue:
    """One element of the file, checked field by field."""

    def __init__(
        self,
        where: str,
        raw: object,
        labels: tuple[str, ...],
        findings: Mapping[int, Finding] | None,
    ) -> None:
        self._where = where
        self._labels = labels
        self._findings = findings
        self._raw = expect(raw, dict, where)
        self._conversation = expect(self._raw.get("conversation"), dict, f"{where}.conversation")
        self._id = some_text(self._raw.get("sample_id"), f"{where}.sample_id")

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
            for index, item in enumerate(expect(self._conversation.get(key), list, where)):
                turn = expect(item, dict, f"{where}[{index}]")
                fields = {
                    name: expect(turn.get(name), str, f"{where}[{index}].{name}")
                    for name in ("speaker", "text", "dia_id")
                }
                yield Episode(
                    episode_id=fields["dia_id"],
                    timestamp=date,
                    text=f"{fields['speaker']}: {fields['text']}",
                )

    def _date(self, key: str) -> datetime:
        where = f"{self._where}.conversation.{key}"
        text = expect(self._conversation.get(key), str, where)
        try:
            return datetime.strptime(text, _DATE).replace(tzinfo=UTC)
        except ValueError as error:
            message = f"{text!r} is not a date like '1:56 pm on 8 May, 2023'"
            raise DataError(message, where=where, fix="write it like that") from error

    def _questions(
        self, known: set[str]
    ) -> tuple[list[Question], dict[str, Gold], tuple[str, ...]]:
        questions, gold = [], {}
        counts: Counter[str] = Counter()
        for index, item in enumerate(expect(self._raw.get("qa"), list, f"{self._where}.qa")):
            where = f"{self._where}.qa[{index}]"
            qa = expect(item, dict, where)
            raw = texts(qa.get("evidence", []), f"{where}.evidence")
            evidence = repair_evidence(raw, known)
            counts["evidence strings repaired"] += evidence.repaired
            counts["evidence ids dropped: no such turn"] += evidence.dropped
            counts["questions without evidence, not scored"] += not evidence.turns
            name = f"{self._id}#{index}"
            text = some_text(qa.get("question"), f"{where}.question")
            questions.append(Question(question_id=name, text=text))
            number = self._number(qa.get("category"), where)
            answer = _answer(qa, number, where)
            finding = self._finding(index, text, qa)
            notes = ("" if evidence.turns else "the data names no evidence", _note(finding))
            gold[name] = Gold(
                question_id=name,
                category=self._labels[number - 1],
                answer=answer,
                evidence=evidence.turns,
                scorable=bool(evidence.turns),
                note="; ".join(note for note in notes if note),
                tags=(f"locomo:{number}", *self._tags(number, finding)),
            )
        shown = tuple(f"{self._id}: {count} {what}" for what, count in counts.items() if count)
        return questions, gold, shown

    def _number(self, raw: object, where: str) -> int:
        if type(raw) is not int or not 1 <= raw <= len(self._labels):
            place, fix = f"{where}.category", "give one of LoCoMo's category numbers"
            raise DataError(f"is {raw!r:.60}, expected 1 to 5", where=place, fix=fix)
        return raw

    def _finding(self, index: int, question: str, qa: Mapping[str, object]) -> Finding | None:
        finding = self._findings.get(index) if self._findings else None
        if finding:
            finding.check(question, str(qa.get("answer")))
        return finding

    def _tags(self, number: int, finding: Finding | None) -> tuple[str, ...]:
        if number == _ADVERSARIAL:
            return ("adversarial",)
        if self._findings is None:
            return ()
        return finding.tags if finding else (CLEAN,)


def _note(finding: Finding | None) -> str:
    return finding.note if finding else ""


def _answer(qa: Mapping[str, object], number: int, where: str) -> GoldAnswer | None:
    """The raw string of categories 1 to 4; category 5 asks for what was never said."""
    if number == _ADVERSARIAL:
        trap = qa.get("adversarial_answer", "")
        return AbstentionGold(
            type="abstention", reason=expect(str(trap), str, f"{where}.adversarial_answer")
        )
    answer = qa.get("answer")
    if answer is None:
        return None
    return TextGold(type="text", value=expect(str(answer), str, f"{where}.answer"))


SUITE = Locomo()
