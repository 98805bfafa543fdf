"""What a public page may carry of the data."""

from memrig.leaderboard.texts import WITHHELD, may_show, without_text, without_texts
from memrig.runs.lock import DataLock
from memrig.suites.datasets import DATASETS
from support.plans import small_lock
from support.reports import HOSTILE, hostile_report, sample_report, shown_question


def data(name: str, origin: str, sha256: str = "sha256:0") -> DataLock:
    return DataLock(name=name, origin=origin, sha256=sha256)


def test_what_ships_or_is_made_may_be_shown(tmp_path) -> None:
    """Anybody has it who has memrig."""
    assert may_show(small_lock(tmp_path, data=data("practical", "built in")))
    made = data("longhorizon 200 turns", "generated from seed 42")
    assert may_show(small_lock(tmp_path, suite="longhorizon", data=made))


def test_a_dataset_may_be_shown_if_its_licence_lets_anybody_give_it_on(tmp_path) -> None:
    """LongMemEval's does, LoCoMo's does not; and only if it is that very file."""
    lme, locomo = DATASETS["longmemeval-s"], DATASETS["locomo"]
    found = data(lme.name, lme.file_name, f"sha256:{lme.sha256}")
    assert may_show(small_lock(tmp_path, suite="longmemeval", data=found))
    assert not may_show(small_lock(tmp_path, suite="longmemeval", data=data(lme.name, "x")))
    found = data(locomo.name, locomo.file_name, f"sha256:{locomo.sha256}")
    assert not may_show(small_lock(tmp_path, suite="locomo", data=found))


def test_data_of_ones_own_may_not(tmp_path) -> None:
    """Whoever ran it did not say that it may be published."""
    assert not may_show(small_lock(tmp_path, data=data("mine", "mine.json")))


def test_a_withheld_question_keeps_ids_ranks_and_scores_alone() -> None:
    """No text of it is left anywhere, nor an answer that may quote it."""
    shown = hostile_report().worst[0].model_copy(update={"question_id": "q1", "scenario_id": "s"})
    left = without_text(shown.model_copy(update={"category": "c"}))
    assert left.text == WITHHELD
    assert (left.question_id, left.rank) == ("q1", shown.rank)
    for item in (*left.hits, *left.evidence, *left.citations):
        assert item.text == WITHHELD
    assert HOSTILE not in " ".join((left.gold, left.answer or "", left.message))
    assert not any(verdict.votes for verdict in left.verdicts)


def test_a_report_without_texts_keeps_its_figures() -> None:
    """Its worst questions stay, blank, so that it does not claim to have none."""
    report = sample_report(worst=(shown_question(1),))
    left = without_texts(report)
    assert left.metrics == report.metrics
    assert [item.text for item in left.worst] == [WITHHELD]
