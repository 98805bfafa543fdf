"""Which texts a public page may carry: those of data that may be given on."""

from memrig.report.answering import is_made
from memrig.report.model import Report, ShownQuestion
from memrig.runs.lock import Lock
from memrig.suites.datasets import DATASETS

WITHHELD = "(text withheld: the data’s licence, or its owner, does not let a site give it on)"
_FREE = frozenset({"MIT", "Apache-2.0", "CC0-1.0"})


def may_show(lock: Lock) -> bool:
    """Whether episodes, questions and gold of a run may stand on a public page.

    They may where memrig ships or makes the data, and of a public dataset whose licence lets
    anybody give it on. Of LoCoMo (CC BY-NC) and of a user's own file they may not.
    """
    if lock.data.origin == "built in" or is_made(lock):
        return True
    found = DATASETS.get(lock.data.name)
    sha256 = lock.data.sha256.removeprefix("sha256:")
    return found is not None and found.licence in _FREE and found.sha256 == sha256


def without_texts(report: Report) -> Report:
    """The report with every text of the data, and every answer that may quote it, left out."""
    worst = tuple(map(without_text, report.worst))
    return report.model_copy(update={"worst": worst, "timeline": None, "faults": ()})


def without_text(shown: ShownQuestion) -> ShownQuestion:
    """The question with its ids, ranks, scores and durations alone."""
    blank = {"text": WITHHELD}
    return shown.model_copy(
        update={
            "text": WITHHELD,
            "message": "",
            "gold": WITHHELD if shown.gold else "",
            "answer": WITHHELD if shown.answer else shown.answer,
            "naive": None,
            "verdicts": tuple(
                verdict.model_copy(update={"reason": "", "votes": ()}) for verdict in shown.verdicts
            ),
            "citations": tuple(item.model_copy(update=blank) for item in shown.citations),
            "tools": tuple(
                item.model_copy(update={"arguments": "", "result": ""}) for item in shown.tools
            ),
            "evidence": tuple(item.model_copy(update=blank) for item in shown.evidence),
            "hits": tuple(item.model_copy(update=blank) for item in shown.hits),
        }
    )
