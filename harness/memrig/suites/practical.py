"""`practical`: memrig's own conversations, the suite that everyone runs first.

Six people, a year each: facts, temporal, preference, multi-hop and correction questions, with
corrections that supersede and near misses that distract. No download, no key, seconds.
"""

import json
from collections.abc import Iterator
from importlib.resources import files

from memrig.model.canonical import digest_file, digest_of
from memrig.model.scenario import Scenario
from memrig.model.trial import Mode, PromptStyle
from memrig.suites.base import DataSource, SuiteOptions
from memrig.suites.conversations import FORMAT, ConversationSet, parse_set, read_set, scenario_of
from memrig.suites.datasets import DATASETS
from memrig.suites.fields import check_is_file

#: `--sample` takes the first of these alone.
PERSONAS = ("amara-obi", "dmitri-falk", "priya-nair", "rosa-klein", "tomas-vega", "wen-zhao")


def built_in(names: tuple[str, ...] = PERSONAS) -> ConversationSet:
    """The suite's own data."""
    folder = files("memrig.suites") / "practical_data"
    scenarios = [json.loads((folder / f"{name}.json").read_bytes()) for name in names]
    raw = {"format": FORMAT, "name": "practical", "scenarios": scenarios}
    return parse_set(raw, "the built-in data")


def _load(options: SuiteOptions) -> ConversationSet:
    if options.file is not None:
        return read_set(options.file)
    return built_in(PERSONAS[:1] if options.sample else PERSONAS)


class Practical:
    """The suite."""

    name = "practical"
    summary = "memrig's own: 6 people, 72 sessions, 144 questions, near misses and corrections"
    protocols = ("practical", "practical-answers", "answer-judge")
    label_sets = ("true",)
    modes: tuple[Mode, ...] = ("retrieval", "reader", "agent", "native")
    variants: tuple[str, ...] = ()
    orders: tuple[str, ...] = ()
    granularities: tuple[str, ...] = ()
    labels = ("published",)
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
        """The built-in data by content, or the user's file."""
        if options.file is not None:
            check_is_file(options.file, f"--file {options.file}")
            data = read_set(options.file)
            taken = data.name in {self.name, *DATASETS}
            name = f"not the published {data.name}" if taken else data.name
            return DataSource(name, options.file.name, digest_file(options.file))
        notes = ("the built-in sample: one person of six",) if options.sample else ()
        return DataSource("practical", "built in", digest_of(_load(options)), notes)

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """One scenario a person."""
        for conversation in _load(options).scenarios:
            yield scenario_of(conversation)


SUITE = Practical()
