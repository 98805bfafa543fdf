"""LongMemEval (Wu et al., ICLR 2025): a question each about a haystack of chat sessions.

One scenario a question: the sessions of its haystack, then the question with its date. Files are
streamed: nothing but one question at a time is in memory. What the data says of evidence stays in
the gold records; nothing that is sent is made of it. Policies are in docs/suites.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import IO

from memrig.errors import UsageError
from memrig.model.scenario import Scenario
from memrig.model.trial import Mode, PromptStyle
from memrig.suites.base import DataSource, SuiteOptions
from memrig.suites.datasets import DATASETS, locate
from memrig.suites.fields import check_is_file, unreadable
from memrig.suites.longmemeval_data import read_records
from memrig.suites.longmemeval_scenario import (
    ALL_TURNS,
    OFFICIAL,
    TYPED,
    Shape,
    scenario_of,
    shape_of,
)
from memrig.suites.longmemeval_survey import survey

_SAMPLE = "longmemeval_sample.json"
#: A session is covered by several turns: as deep as this, 50 sessions mostly are.
_TURNS_TO_ASK = 200


class LongMemEval:
    """The suite."""

    name = "longmemeval"
    summary = "LongMemEval: 500 questions, each about its own haystack of up to 500 chat sessions"
    protocols = (TYPED, "longmemeval-compatible", "longmemeval-strict", OFFICIAL, ALL_TURNS)
    label_sets = ("true",)
    modes: tuple[Mode, ...] = ("reader", "agent", "native", "retrieval")
    variants = ("s", "oracle", "m")
    orders = ("file", "date")
    granularities = ("session", "turn")
    labels = ("published",)
    distractors = False
    seeds: tuple[int, ...] = ()
    made_of_seeds = False
    question_sets: tuple[str, ...] = ()
    prompt: PromptStyle = "direct"
    top_k = 10

    def top_k_for(self, options: SuiteOptions) -> int:
        """Retrieval protocols look 50 deep; at turn granularity deeper, to cover 50 sessions."""
        if options.protocol not in (OFFICIAL, ALL_TURNS):
            return self.top_k
        return _TURNS_TO_ASK if options.granularity == "turn" else 50

    def source(self, options: SuiteOptions) -> DataSource:
        """Finds the file and reads it through once: its hash, and what is odd in it."""
        shape = _shape(options)
        with _open(options) as (file, where):
            found = survey(file, where, shape)
        if options.sample:
            note = "the built-in sample: eight invented questions, not LongMemEval"
            notes = (note, *found.notes)
            return DataSource("longmemeval sample", "built in", found.sha256, notes)
        name, notes = _identity(options, found.sha256)
        return DataSource(name, _path(options).name, found.sha256, (*notes, *found.notes))

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """One scenario a question, in file order."""
        shape = _shape(options)
        with _open(options) as (file, where):
            for record in read_records(file, where):
                yield scenario_of(record, shape)


def _shape(options: SuiteOptions) -> Shape:
    return shape_of(options.protocol, options.granularity, options.order)


def _path(options: SuiteOptions) -> Path:
    if options.file is not None:
        return options.file
    variant = options.variant or LongMemEval.variants[0]
    return locate(f"longmemeval-{variant}", f"--suite longmemeval --variant {variant}")


@contextmanager
def _open(options: SuiteOptions) -> Iterator[tuple[IO[bytes], str]]:
    if options.sample:
        with (files("memrig.suites") / _SAMPLE).open("rb") as file:
            yield file, "the built-in sample"
        return
    path = _path(options)
    check_is_file(path, f"--file {path}")
    try:
        file = path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from error
    with file:
        yield file, str(path)


def _identity(options: SuiteOptions, sha256: str) -> tuple[str, tuple[str, ...]]:
    """What the file is by its hash.

    Raises:
        UsageError: it is another of the published files than was asked for.
    """
    for variant in LongMemEval.variants:
        if sha256 == f"sha256:{DATASETS[f'longmemeval-{variant}'].sha256}":
            if options.variant and options.variant != variant:
                message = f"the file is LongMemEval's variant {variant!r}, not {options.variant!r}"
                fix = f"give --variant {variant}, or another file"
                raise UsageError(message, where=f"--variant {options.variant}", fix=fix)
            return f"longmemeval-{variant}", ()
    wanted = [options.variant] if options.variant else list(LongMemEval.variants)
    names = " or ".join(DATASETS[f"longmemeval-{name}"].file_name for name in wanted)
    note = f"the file is not the published {names} (its sha256 differs)"
    return "not the published LongMemEval", (note,)


SUITE = LongMemEval()
