"""`longitudinal`: evidence that only builds up over time (LENS's datasets, and memrig's own).

One scenario a scope: its episodes in time order, and each question right behind the episode of its
checkpoint, so that a memory holds exactly the episodes up to there when it is asked.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from memrig.errors import UsageError
from memrig.model.canonical import digest_bytes
from memrig.model.scenario import Scenario
from memrig.model.trial import Mode, PromptStyle
from memrig.suites import longitudinal_shipped as built_in
from memrig.suites.base import DataSource, SuiteOptions
from memrig.suites.fields import check_is_file, parsed, unreadable
from memrig.suites.longitudinal_format import read_dataset
from memrig.suites.longitudinal_lint import balance, notes, oddities
from memrig.suites.longitudinal_model import Dataset
from memrig.suites.longitudinal_scenario import scenario_of
from memrig.suites.longitudinal_streams import distractors_for, interleave
from memrig.suites.problems import errors_of, refusal


@dataclass(frozen=True, slots=True)
class _Data:
    """A dataset as a run uses it, where it came from, and what to say of each scope."""

    source: DataSource
    dataset: Dataset
    notes: dict[str, tuple[str, ...]]


class Longitudinal:
    """The suite."""

    name = "longitudinal"
    summary = "LENS, corrected: what no single episode shows, asked at checkpoints of a long story"
    protocols = ("lens-v1", "lens-v3.4")
    label_sets = ("true",)
    modes: tuple[Mode, ...] = ("agent", "reader", "native")
    variants = built_in.VARIANTS
    orders: tuple[str, ...] = ()
    granularities: tuple[str, ...] = ()
    labels = ("published",)
    distractors = True
    seeds: tuple[int, ...] = ()
    made_of_seeds = False
    question_sets: tuple[str, ...] = ()
    prompt: PromptStyle = "cited"
    top_k = 10

    def top_k_for(self, options: SuiteOptions) -> int:
        """Ten, whatever is asked."""
        del options
        return self.top_k

    def source(self, options: SuiteOptions) -> DataSource:
        """Reads the data and interleaves what is asked for: all that can be wrong shows here."""
        return _load(options).source

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """One scenario a scope, in file order; a scope that nothing is asked about is left out."""
        data = _load(options)
        for scope in data.dataset.scopes:
            if scope.questions:
                yield scenario_of(scope, data.notes[scope.scope_id])


def _load(options: SuiteOptions) -> _Data:
    source, where, text = _find(options)
    dataset, passed_over = _read(text, where)
    name = source.name or _name_of(dataset)
    said: dict[str, tuple[str, ...]] = {}
    if options.distractors is not None or options.distractor_file is not None:
        name += ", other distractors"
        dataset, said = _mixed(dataset, options)
    shown = (*source.notes, *passed_over, *notes(list(balance(dataset))))
    source = replace(source, name=name, notes=shown)
    for scope in dataset.scopes:
        found = notes(list(oddities(scope)), scope.scope_id)
        said[scope.scope_id] = said.get(scope.scope_id, ()) + found
    return _Data(source, dataset, said)


def _find(options: SuiteOptions) -> tuple[DataSource, str, bytes]:
    """Where the data come from, how errors call the file, and its content."""
    if options.sample:
        text = built_in.sample()
        note = "the built-in sample: one invented scope of eight episodes"
        source = DataSource("longitudinal sample", "built in", digest_bytes(text), (note,))
        return source, "the built-in sample", text
    if options.file is None:
        variant = options.variant or built_in.VARIANTS[0]
        text = built_in.shipped(variant)
        name = f"longitudinal-{variant}"
        return DataSource(name, "built in", digest_bytes(text)), name, text
    if options.variant:
        message, where = "--variant and --file exclude each other", f"--variant {options.variant}"
        raise UsageError(message, where=where, fix="give one of them")
    text = _bytes_of(options.file, "--file")
    digest = digest_bytes(text)
    source = DataSource(built_in.name_of(digest), options.file.name, digest)
    return source, str(options.file), text


def _name_of(dataset: Dataset) -> str:
    """A file's own name, told apart from what ships under one like it."""
    return f"file {dataset.name}" if dataset.name else f"LENS {dataset.version}"


def _bytes_of(path: Path, flag: str) -> bytes:
    check_is_file(path, f"{flag} {path}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error, f"{flag} {path}") from error


def _read(text: bytes, where: str, *, questions: bool = True) -> tuple[Dataset, tuple[str, ...]]:
    """A file's dataset, and what reading passed over."""
    problems, dataset = read_dataset(parsed(text, where), questions=questions)
    if dataset is None:
        raise refusal(errors_of(problems), where)
    return dataset, tuple(f"{problem.where}: {problem.message}" for problem in problems)


def _mixed(dataset: Dataset, options: SuiteOptions) -> tuple[Dataset, dict[str, tuple[str, ...]]]:
    """The dataset with the distractors that were asked for, and a note for each scope."""
    file = options.distractor_file
    other: Dataset | None = None
    if file is not None:
        other, _ = _read(_bytes_of(file, "--distractor-file"), str(file), questions=False)
    mixed = [
        interleave(scope, options.distractors, distractors_for(scope, other) if other else None)
        for scope in dataset.scopes
    ]
    said: dict[str, tuple[str, ...]] = {
        item.scope.scope_id: (f"{item.scope.scope_id}: {item.note}",) for item in mixed
    }
    return replace(dataset, scopes=tuple(item.scope for item in mixed)), said


SUITE = Longitudinal()
