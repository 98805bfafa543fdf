"""An organiser's rerun: what is drawn, refused and signed, and what it is judged by."""

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memrig.cli import main
from memrig.cli.audits import show_audit
from memrig.errors import (
    DataError,
    IncompleteError,
    PrerequisiteError,
    UsageError,
    VerificationError,
)
from memrig.grading.base import Grade
from memrig.leaderboard.audits import read_audits
from memrig.model.trial import AnswerSpec
from memrig.runs.directory import RunDirectory
from memrig.submission import draws
from memrig.submission.auditrecord import Tolerance, read_audit
from memrig.submission.draws import claimed_grades, draw_cells, fresh_seeds
from memrig.submission.keys import load_key, new_key
from memrig.submission.replaying import Replayed, replay
from memrig.submission.rerun import Reran, RerunOptions, rerun
from memrig.submission.tolerance import (
    Bounds,
    by_question,
    cell_bound,
    deviations,
    judge_run,
    other_questions,
    said,
    tolerance_of,
)
from memrig.submission.verify import opened
from support.source import ROOT
from support.submissions import Forgery, Submissions, forged, submissions

__all__ = ["submissions"]

ONE = RerunOptions(cells=1, draw=7)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """An organiser's."""
    new_key(tmp_path / "organiser")
    return tmp_path / "organiser"


def dead(grades: Iterable[Grade]) -> tuple[Grade, ...]:
    """The grades of a memory system that never came up."""
    return tuple(grade.model_copy(update={"outcome": "adapter_crashed(exit)"}) for grade in grades)


@pytest.fixture(scope="module")
def made(submissions: Submissions, tmp_path_factory: pytest.TempPathFactory) -> Reran:
    """A rerun of one cell, and under fresh ids, of a baseline of the rig."""
    folder = tmp_path_factory.mktemp("rerun")
    new_key(folder / "organiser")
    options = replace(ONE, fresh_seeds=True)
    out, key = folder / "x.audit.json", folder / "organiser"
    return rerun(submissions("repeats"), options, out=out, key=key)


class TestRecord:
    """What is written."""

    def test_it_says_what_agrees_and_of_which_archive(
        self, made: Reran, submissions: Submissions
    ) -> None:
        """A leaderboard finds the submission by its manifest's digest."""
        with opened(submissions("repeats")) as found:
            assert made.audit.manifest_digest == found.verification.manifest_digest
        assert made.audit.passed
        assert "1 of 1 cells agree, exactly" in made.audit.summary
        assert [cell.differing for cell in made.audit.cells] == [0]

    def test_a_limited_run_draws_other_questions_of_fixed_data(self, made: Reran) -> None:
        """Asked twice, a claimed question still counts once."""
        (fresh,) = made.audit.fresh
        assert (fresh.made, fresh.questions, fresh.claimed_questions) == ("ids", 6, 6)
        assert fresh.agrees
        assert all(row.low is not None for row in fresh.metrics)

    def test_an_organisers_lifts_the_tier(self, made: Reran) -> None:
        """The leaderboard reads it as it was written."""
        found = read_audits(made.file.parent, [made.key], print)
        (mark,) = found[made.audit.manifest_digest]
        assert (mark.passed, mark.said) == (True, made.audit.summary)

    def test_a_changed_one_is_refused(self, made: Reran, tmp_path: Path) -> None:
        """By the leaderboard, and by who reads it."""
        content = json.loads(made.file.read_text("utf-8"))
        content["audit"]["cells"][0]["differing"] = 1
        path = tmp_path / "y.audit.json"
        path.write_text(json.dumps(content), "utf-8")
        told: list[str] = []
        assert read_audits(tmp_path, [made.key], told.append) == {}
        assert "signature" in told[0]
        with pytest.raises(VerificationError, match="changed since it was signed"):
            read_audit(path)

    def test_it_can_be_read_again(self, made: Reran, tmp_path: Path) -> None:
        """Nothing is lost, and what is no record is said to be none."""
        assert read_audit(made.file).audit == made.audit
        (tmp_path / "z").write_text("{}", "utf-8")
        with pytest.raises(DataError, match="is no audit record"):
            read_audit(tmp_path / "z")


class TestRefusals:
    """What is not run again at all."""

    def test_one_that_does_not_verify(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """There is nothing to compare with; the failed check is named."""

        def change(forgery: Forgery) -> None:
            forgery.files[f"{forgery.run}/grades.jsonl"] = b""

        file = forged(submissions("repeats"), tmp_path / "x.memrig", change)
        with pytest.raises(VerificationError, match=r"grades\.recomputed"):
            rerun(file, ONE, key=key)
        assert not (tmp_path / "x.audit.json").exists()

    def test_a_record_is_not_overwritten(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """A rerun that failed could be replaced until one passes."""
        out = tmp_path / "x.audit.json"
        out.write_text("mine", "utf-8")
        with pytest.raises(UsageError, match="every one counts"):
            rerun(submissions("repeats"), ONE, out=out, key=key)
        assert out.read_text("utf-8") == "mine"

    @pytest.mark.parametrize(
        ("out", "keep", "told"),
        [
            ("/proc/x.audit.json", None, "nothing can be written"),
            ("x.audit.json", "/proc/kept", "cannot be made"),
            ("x.audit.json", "organiser", "is a file"),
        ],
    )
    def test_what_cannot_be_written_at_the_end(
        self,
        submissions: Submissions,
        tmp_path: Path,
        key: Path,
        out: str,
        keep: str | None,
        told: str,
    ) -> None:
        """It is missed before anything is verified or run, which may take hours."""
        said: list[str] = []
        options = replace(ONE, keep=tmp_path / keep if keep else None)
        with pytest.raises(UsageError, match=told):
            rerun(submissions("repeats"), options, out=tmp_path / out, key=key, say=said.append)
        assert said == []

    def test_a_broken_one_names_what_objects_alone(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """What was left out for it has not failed."""
        file = tmp_path / "x.memrig"
        file.write_bytes(submissions("repeats").read_bytes()[:-200])
        with pytest.raises(VerificationError) as caught:
            rerun(file, ONE, key=key)
        assert caught.value.message == "does not verify: archive.format"

    def test_what_runs_in_another_kind_of_pod(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """The way out is one that this command has."""
        options = replace(ONE, adapter="grpc://127.0.0.1:1")
        with pytest.raises(UsageError, match="pod of kind baseline") as caught:
            rerun(submissions("repeats"), options, out=tmp_path / "x.audit.json", key=key)
        assert caught.value.fix == "leave --adapter out"

    def test_cells_that_nobody_served(
        self,
        submissions: Submissions,
        tmp_path: Path,
        key: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Nothing agrees with nothing, and shows nothing; that it serves now would show much."""
        out = tmp_path / "x.audit.json"
        monkeypatch.setattr(draws, "claimed_grades", lambda run: dead(claimed_grades(run)))
        assert not rerun(submissions("repeats"), ONE, out=out, key=key).audit.passed
        out.unlink()

        def dying(*given: Any) -> Replayed:
            found = replay(*given)
            return replace(found, grades=dead(found.grades), faults=("it went",))

        monkeypatch.setattr("memrig.submission.rerun.replay", dying)
        with pytest.raises(IncompleteError, match=r"no cell was served.*: it went"):
            rerun(submissions("repeats"), ONE, out=out, key=key)
        assert not out.exists()

    def test_without_a_key(self, submissions: Submissions, tmp_path: Path) -> None:
        """It is missed before anything is run."""
        with pytest.raises(PrerequisiteError, match="no key"):
            rerun(submissions("repeats"), ONE, out=tmp_path / "x.audit.json", key=tmp_path / "none")

    @pytest.mark.parametrize(
        "options", [RerunOptions(cells=0), RerunOptions(draw=-1), RerunOptions(draw=2**53)]
    )
    def test_numbers_that_are_none(
        self, submissions: Submissions, tmp_path: Path, key: Path, options: RerunOptions
    ) -> None:
        """They could be neither drawn nor written down."""
        with pytest.raises(UsageError):
            rerun(submissions("repeats"), options, out=tmp_path / "x.audit.json", key=key)

    def test_too_few_questions_for_bounds(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """Six questions say nothing of a mean."""
        options = replace(ONE, tolerance="statistical")
        with pytest.raises(UsageError, match="hold 6 questions"):
            rerun(submissions("repeats"), options, out=tmp_path / "x.audit.json", key=key)


class TestShown:
    """What a rerun prints."""

    def test_it_names_the_metric_and_leaves_out_what_there_is_not(
        self, made: Reran, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A baseline takes no time to search."""
        show_audit(made)
        out = capsys.readouterr().out
        (line,) = [line for line in out.splitlines() if made.audit.cells[0].trial_id in line]
        assert line.split()[2:] == ["R@10", "0.167", "0.167"]
        assert "none" not in out
        assert "0 of 6 questions differ" in out
        assert f"draw       {made.audit.draw}" in out
        assert f"written    {made.file}" in out
        assert "lifts none" not in out

    def test_what_lifts_no_tier_says_so(
        self, made: Reran, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The leaderboard leaves a record that passed without fresh seeds aside."""
        show_audit(replace(made, audit=made.audit.model_copy(update={"fresh_seeds": False})))
        assert "lifts none: made without --fresh-seeds" in capsys.readouterr().out

    def test_an_interrupt_says_how_to_take_the_same_cells(
        self,
        submissions: Submissions,
        tmp_path: Path,
        key: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        """A rerun does not resume."""

        def stopped(*_: Any) -> Replayed:
            raise KeyboardInterrupt

        monkeypatch.setattr("memrig.submission.rerun.replay", stopped)
        monkeypatch.setattr(main.signal, "signal", lambda *_: None)
        file, out = str(submissions("repeats")), str(tmp_path / "x.audit.json")
        flags = ["--draw", "7", "--key", str(key), "--out", out]
        monkeypatch.setattr(sys, "argv", ["memrig", "submission", "rerun", file, *flags])
        with pytest.raises(SystemExit) as caught:
            main.main()
        assert caught.value.code == 130
        said = capsys.readouterr().err
        assert "Interrupted; nothing was written; --draw 7 takes the same cells.\n" in said
        assert "resume" not in said


@pytest.mark.slow
class TestSystems:
    """Which memory system is started for a process pod."""

    def test_what_an_archive_names_is_never_started_outside_of_a_container(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """It could be any command."""
        with pytest.raises(PrerequisiteError, match="not started outside") as caught:
            rerun(submissions("practical"), ONE, out=tmp_path / "x.audit.json", key=key)
        assert "--adapter FOLDER" in caught.value.fix

    def test_another_system_is_refused(
        self, submissions: Submissions, tmp_path: Path, key: Path
    ) -> None:
        """Its results would say nothing of this one."""
        options = replace(ONE, adapter=str(ROOT / "images" / "fts5"))
        told = r"is not what the submission was made with: bm25 \S+; this is fts5 \S+$"
        with pytest.raises(UsageError) as caught:
            rerun(submissions("practical"), options, out=tmp_path / "x.audit.json", key=key)
        assert re.search(told, caught.value.message)


class TestDraws:
    """What is left to chance."""

    def test_one_draw_takes_the_same_cells_again(self, submissions: Submissions) -> None:
        """An organiser can be checked; and other draws take others."""
        with opened(submissions("repeats")) as found:
            taken = [
                [cell.spec.trial_id for cell in draw_cells(found.runs, 1, draw)]
                for draw in (1, 1, *range(2, 12))
            ]
        assert taken[0] == taken[1]
        assert len({one[0] for one in taken}) == 2

    def test_no_cell_is_taken_twice(self, submissions: Submissions) -> None:
        """Where more are asked for than there are, all are taken."""
        with opened(submissions("repeats")) as found:
            cells = draw_cells(found.runs, 99, 1)
        assert len(cells) == len({cell.spec.trial_id for cell in cells}) == 2

    def test_fresh_seeds_are_none_that_were_known(self) -> None:
        """Nor any twice."""
        first = fresh_seeds(1, "run", 5, (42,))
        again = fresh_seeds(1, "run", 5, first[:2])
        assert len({*first, *again}) == 7
        assert fresh_seeds(1, "run", 5, (42,)) == first
        assert fresh_seeds(2, "run", 5, (42,)) != first


@pytest.fixture(scope="module")
def claimed(submissions: Submissions) -> list[Grade]:
    """Grades like those of a small run, of four copies of its scenario; all are right."""
    with opened(submissions("repeats")) as found:
        grades = [grade for grade in claimed_grades(found.runs[0]) if not grade.repeat]
    return [
        grade.model_copy(
            update={"scenario_id": f"s{copy}", "cluster": f"s{copy}", "scores": {"mrr": 1.0}}
        )
        for copy in range(4)
        for grade in grades
    ]


def lowered(grades: list[Grade], every: int) -> list[Grade]:
    """Every so-manieth question found nothing."""
    return [
        grade.model_copy(update={"scores": dict.fromkeys(grade.scores, 0.0), "rank": None})
        if not number % every
        else grade
        for number, grade in enumerate(grades)
    ]


def tolerance(rule: str, metric: str = "mrr") -> Tolerance:
    margin = 0.0 if rule == "exact" else 0.02
    return Tolerance.model_validate(
        {"run_id": "r", "rule": rule, "why": "", "metric": metric, "metrics": [metric]}
        | {"margin": margin, "fresh_margin": 0.05}
    )


class TestTolerances:
    """What a rerun is judged by."""

    def test_what_calls_no_model_must_be_the_same_to_the_letter(
        self, submissions: Submissions
    ) -> None:
        """There is nothing in it that could come out otherwise."""
        lock = RunDirectory(submissions.run("repeats")).lock()
        found = tolerance_of("r", lock, [], "auto")
        assert (found.rule, found.margin) == ("exact", 0.0)
        assert "every grade of every question the same" in said(found)

    @pytest.mark.parametrize(
        "change", [{"answer": AnswerSpec(model="openai/x")}, {"judge": "anthropic/y"}]
    )
    def test_what_calls_a_model_is_held_to_bounds(
        self, submissions: Submissions, change: dict[str, object]
    ) -> None:
        """Which are told, with the model that they are for."""
        lock = RunDirectory(submissions.run("repeats")).lock().model_copy(update=change)
        found = tolerance_of("r", lock, [], "auto")
        assert found.rule == "statistical"
        assert "it calls" in said(found)

    def test_what_differs_from_itself_is_held_to_bounds(
        self, submissions: Submissions, claimed: list[Grade]
    ) -> None:
        """Its own repeats show that it wavers."""
        lock = RunDirectory(submissions.run("repeats")).lock()
        second = [grade.model_copy(update={"repeat": 1}) for grade in lowered(claimed, 6)]
        assert tolerance_of("r", lock, [*claimed, *second], "auto").rule == "statistical"
        same = [grade.model_copy(update={"repeat": 1}) for grade in claimed]
        assert tolerance_of("r", lock, [*claimed, *same], "auto").rule == "exact"

    def test_a_cells_bound_is_wider_of_fewer_questions(self) -> None:
        """And of nothing that may differ it is none."""
        wide, narrow = (cell_bound(tolerance("statistical"), n, 5) for n in (20, 200))
        assert 1 > wide > narrow > 0
        assert cell_bound(tolerance("exact"), 20, 5) == 0

    def test_exactly_is_every_grade(self, claimed: list[Grade]) -> None:
        """One question that differs is one too many, and is named with what is other."""
        again = [*lowered(claimed[:1], 1), *claimed[1:]]
        result = judge_run(tolerance("exact"), [by_question(claimed)], [by_question(again)])
        assert (result.differing, result.agrees) == (1, False)
        (odd,) = deviations(by_question(claimed), by_question(again))
        assert odd.question_id == claimed[0].question_id
        assert any(field.startswith("scores.") for field in odd.fields)

    def test_a_question_that_is_missing_differs(self, claimed: list[Grade]) -> None:
        """What was not settled again was not shown."""
        (odd,) = deviations(by_question(claimed), by_question(claimed[1:]))
        assert odd.fields == ("was not settled again",)

    def test_bounds_let_a_little_pass_and_no_more(self, claimed: list[Grade]) -> None:
        """Half of the questions are not chance, whichever way they differ."""
        rule = tolerance("statistical")
        pairs = (
            (claimed, claimed),
            (claimed, lowered(claimed, 24)),
            (claimed, lowered(claimed, 2)),
        )
        verdicts = [
            judge_run(rule, [by_question(old)], [by_question(new)]).agrees for old, new in pairs
        ]
        assert verdicts == [True, True, False]
        old, new = by_question(lowered(claimed, 2)), by_question(claimed)
        assert not judge_run(rule, [old], [new]).agrees

    def test_more_must_be_claimed_than_is_found(self) -> None:
        """Fresh worlds that are easier are no cheat; without an interval means decide."""
        assert not Bounds(0.9, 0.4, 0.3, 0.7).allows(0.05)
        assert Bounds(0.9, 0.8, -0.02, 0.22).allows(0.05)
        assert Bounds(0.4, 0.9, -0.7, -0.3).allows(0.05)
        assert not Bounds(1.0, 0.0).allows(0.05)
        assert not Bounds(1.0, None).allows(0.05)

    def test_of_other_questions_means_are_compared_without_pairs(
        self, claimed: list[Grade]
    ) -> None:
        """A metric that only some have counts in those."""
        bounds = other_questions(claimed, lowered(claimed, 1), "mrr")
        assert bounds.found == 0
        assert not bounds.allows(0.05)
        assert other_questions(claimed, claimed, "mrr").allows(0.05)


def test_tolerances_are_told_before_anything_is_run(
    submissions: Submissions, tmp_path: Path, key: Path
) -> None:
    """Nobody can say afterwards that it was meant to be wider."""
    told: list[str] = []
    options = replace(ONE, fresh_seeds=True)
    done = rerun(
        submissions("repeats"), options, out=tmp_path / "x.audit.json", key=key, say=told.append
    )
    first = next(number for number, line in enumerate(told) if line.startswith("done"))
    before = "\n".join(told[:first])
    assert f"draw       {done.audit.draw}" in before
    assert before.count("tolerance") == 2
    assert done.audit.cells[0].trial_id in before
    assert done.key == load_key(key).public
