"""The suites of the results table: their flags, their data, and the figures that lead."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memrig.suites.longitudinal_shipped import shipped

#: The scope of the longitudinal suite that is run: 40 episodes, 24 questions.
SCOPE = "checkout-latency"


@dataclass(frozen=True, slots=True)
class Suite:
    """One section of the page.

    `columns` are metrics of the report and their heads, `lead` the one that orders the table;
    `file` is looked for in `--data`; `scope` is cut out of the shipped longitudinal dataset.
    """

    name: str
    title: str
    about: str
    arguments: Sequence[str]
    columns: Sequence[tuple[str, str]]
    lead: str = "recall_any@10"
    file: str = ""
    scope: str = ""

    def missing(self, data: Path | None) -> str:
        """Why it cannot be run; empty if it can."""
        if not self.file or (data and (data / self.file).exists()):
            return ""
        return f"needs `{self.file}` in --data"

    def flags(self, data: Path | None, folder: Path) -> list[str]:
        """What `memrig run` is given; a file that has to be made is made in `folder`."""
        flags = [*self.arguments]
        if self.file and data:
            flags += ["--file", str((data / self.file).resolve())]
        if self.scope:
            flags += ["--file", str(_one_scope(self.scope, folder).resolve())]
        return flags

    @property
    def shown(self) -> str:
        """The command, as a user would type it."""
        file = self.file or (f"{self.scope}.json" if self.scope else "")
        words = ["memrig run --adapter IMAGE --pod docker --jobs 1", *self.arguments]
        return " ".join(words + ([f"--file {file}"] if file else []))


def _one_scope(scope: str, folder: Path) -> Path:
    """Writes a dataset of one scope, and of the questions about it."""
    whole = json.loads(shipped("40"))
    cut = {key: whole[key] for key in ("format", "version")}
    cut |= {"name": scope}
    cut |= {
        key: [one for one in whole[key] if one["scope_id"] == scope]
        for key in ("scopes", "questions")
    }
    path = folder / f"{scope}.json"
    path.write_text(json.dumps(cut), "utf-8")
    return path


_RECALL = (("recall_any@1", "R@1"), ("recall_any@5", "R@5"), ("recall_any@10", "R@10"))
_MRR = ("mrr", "MRR")

SUITES = {
    suite.name: suite
    for suite in (
        Suite(
            "practical",
            "practical",
            "Six people, 577 messages, 144 questions; ships with memrig.",
            ("--suite", "practical"),
            (*_RECALL, _MRR),
        ),
        Suite(
            "locomo",
            "LoCoMo, retrieval",
            "Ten dialogues, 5,882 turns, 1,982 questions with evidence.",
            ("--suite", "locomo", "--protocol", "locomo-any", "--mode", "retrieval"),
            (*_RECALL, _MRR),
            file="locomo10.json",
        ),
        Suite(
            "longmemeval",
            "LongMemEval-S, eight haystacks",
            "One question of each type and two abstentions, about 500 turns each: six are scored,"
            " so that one of them is 17 points. Costs are what this section is for.",
            (
                "--suite",
                "longmemeval",
                "--protocol",
                "longmemeval-all-turns",
                "--mode",
                "retrieval",
            ),
            (
                ("recall_all@5", "all@5"),
                ("recall_all@10", "all@10"),
                ("ndcg_any@5", "nDCG@5"),
                ("ndcg_any@10", "nDCG@10"),
            ),
            lead="ndcg_any@10",
            file="longmemeval_s_subset8.json",
        ),
        Suite(
            "longhorizon",
            "longhorizon, 1,000 turns, retrieval",
            "One world, seed 42, 200 questions.",
            (
                *("--suite", "longhorizon", "--protocol", "longhorizon-retrieval"),
                *("--turns", "1000", "--seeds", "42", "--mode", "retrieval"),
            ),
            (*_RECALL, _MRR),
        ),
        Suite(
            "longitudinal",
            f"longitudinal, scope `{SCOPE}`, with the built-in reader",
            "40 episodes, half of them distractors, 24 questions at checkpoints. The reader is"
            " `local/extractive`, no language model: what counts is what it was shown.",
            ("--suite", "longitudinal", "--mode", "reader", "--reader-model", "local/extractive"),
            (
                ("evidence_retrieved", "retrieved"),
                ("evidence_coverage", "cited"),
                ("fact_recall", "facts"),
            ),
            lead="evidence_retrieved",
            scope=SCOPE,
        ),
    )
}
