"""Runs set side by side: what is paired, refused, said; and the gates."""

import json
from pathlib import Path

import numpy as np
import pytest

import memrig
from memrig import api
from memrig.errors import GateError, UsageError
from memrig.model.trial import Budget
from memrig.report.gates import parse_gate, require_gates
from memrig.report.schema import compare_schema
from support.comparisons import STRONG, WEAK, grade, saved_run
from support.scenarios import small_scenario

PUBLISHED = Path(__file__).parents[3] / "docs" / "schema" / "compare.schema.json"


@pytest.fixture
def weak(tmp_path: Path) -> Path:
    return saved_run(tmp_path / "weak", WEAK)


@pytest.fixture
def strong(tmp_path: Path) -> Path:
    return saved_run(tmp_path / "strong", STRONG)


class TestPairs:
    def test_the_first_run_is_the_base(self, weak: Path, strong: Path) -> None:
        """Differences are the other run less the first; turned round, they turn their sign."""
        there, back = memrig.compare([weak, strong]), memrig.compare([strong, weak])
        row = there.row("recall_any@5")
        assert (row.base_value, row.run_value) == pytest.approx((1 / 3, 2 / 3))
        assert (row.difference, row.verdict, row.n) == (pytest.approx(1 / 3), "better", 36)
        assert back.row("recall_any@5").difference == pytest.approx(-row.difference)
        assert back.row("recall_any@5").verdict == "worse"

    def test_repeats_of_a_question_are_one_pair(self, tmp_path: Path, strong: Path) -> None:
        """Their mean is what is paired, and more of them do not weigh more."""
        twice = [grade(q, score * r, repeat=r) for q, score in WEAK.items() for r in (0, 1)]
        found = memrig.compare([saved_run(tmp_path / "twice", twice), strong])
        row = found.row("recall_any@5")
        assert (row.n, row.base_value) == (36, pytest.approx(1 / 6))

    def test_a_question_under_two_seeds_is_two_pairs(self, tmp_path: Path) -> None:
        """Each with its own partner, never with the other seed's."""
        runs = [
            saved_run(
                tmp_path / name,
                [grade(q, s if seed == 7 else 0.5, seed=seed) for q, s in scores.items()
                 for seed in seeds],
                seeds=seeds,
            )
            for name, scores, seeds in (("a", WEAK, (7, 8)), ("b", STRONG, (8, 9)))
        ]  # fmt: skip
        found = memrig.compare(runs)
        assert (found.pairs[0].pairs, found.pairs[0].only_base, found.pairs[0].only_run) == (
            36, 36, 36)  # fmt: skip
        assert found.row("recall_any@5").difference == 0

    def test_what_is_missing_in_one_run_is_counted_and_left_out(
        self, tmp_path: Path, weak: Path
    ) -> None:
        """Not settled in one, or settled and not graded: neither is a wrong answer."""
        some = [grade(q, s) for q, s in list(STRONG.items())[3:]]
        some[0] = some[0].model_copy(update={"status": "ungraded", "reason": "x", "scores": {}})
        found = memrig.compare([weak, saved_run(tmp_path / "some", some)])
        counts = found.pairs[0]
        assert (counts.pairs, counts.only_base, counts.ungraded) == (32, 3, 1)
        assert found.row("recall_any@5").n == 32
        assert any("4 questions are left out: 3 only in A" in note for note in found.notes)

    def test_categories_and_macro_are_compared_too(self, weak: Path, strong: Path) -> None:
        """By the base's categories; tags as in a report."""
        found = memrig.compare([weak, strong])
        groups = [row.group for row in found.rows if row.metric == "recall_any@5"]
        assert groups == ["overall", "macro", "q0", "q1", "q2"]
        assert found.row("recall_any@5", "q0").n == 12

    def test_tags_part_the_questions_as_in_a_report(self, tmp_path: Path) -> None:
        """Abstention apart."""
        runs = [
            saved_run(
                tmp_path / name,
                [grade(q, s, tags=("abstention",) if q.endswith("2") else ()) for q, s in
                 scores.items()],
            )
            for name, scores in (("a", WEAK), ("b", STRONG))
        ]  # fmt: skip
        found = memrig.compare(runs)
        assert found.row("mrr", "without abstention").n == 24
        assert found.row("mrr", "abstention").n == 12

    def test_the_interval_is_that_of_independent_code(self, weak: Path, tmp_path: Path) -> None:
        """Percentiles of resampled scenarios, drawn here one by one, with other seeds."""
        mixed = {q: s if int(q[1:3]) % 5 < 2 else STRONG[q] for q, s in WEAK.items()}
        diffs = np.array([mixed[q] - WEAK[q] for q in WEAK]).reshape(12, 3).mean(axis=1)
        rng = np.random.default_rng(5)
        means = [np.mean(rng.choice(diffs, 12)) for _ in range(4000)]
        found = memrig.compare([weak, saved_run(tmp_path / "mixed", mixed)])
        row = found.row("recall_any@5")
        assert row.interval == "cluster-bootstrap"
        assert (row.low, row.high) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.03)

    def test_p_is_adjusted_over_metrics_and_runs(self, weak: Path, tmp_path: Path) -> None:
        """Two metrics of two runs overall are four tests."""
        others = [saved_run(tmp_path / name, STRONG) for name in ("b", "c")]
        found = memrig.compare([weak, *others])
        rows = [row for row in found.rows if row.kind == "micro"]
        assert len(rows) == 4
        assert min(row.p_holm for row in rows) == pytest.approx(4 * min(row.p for row in rows))
        assert [run.letter for run in found.runs] == ["A", "B", "C"]

    def test_a_run_against_itself_shows_no_difference(self, weak: Path) -> None:
        """And the notes say that it is the same."""
        found = memrig.compare([weak, weak])
        assert {row.verdict for row in found.rows} == {"none"}
        assert "some of these are one run: equal locks" in found.notes

    def test_the_same_runs_give_the_same_bytes(self, weak: Path, strong: Path) -> None:
        """All draws are seeded."""
        one, two = (memrig.compare([weak, strong]).model_dump_json() for _ in range(2))
        assert one == two


class TestComparable:
    @pytest.mark.parametrize(
        ("changes", "said"),
        [({"suite": "locomo"}, "suite is 'practical' in one, 'locomo'"),
         ({"protocol": "practical-answers"}, "protocol is 'practical' in one")],
    )  # fmt: skip
    def test_another_benchmark_is_refused(self, weak: Path, tmp_path: Path, changes, said) -> None:
        """The field is named, with both values."""
        other = saved_run(tmp_path / "other", STRONG, **changes)
        with pytest.raises(UsageError, match=said):
            memrig.compare([weak, other])

    def test_another_content_of_a_scenario_is_refused(self, weak: Path, tmp_path: Path) -> None:
        """Its name alone does not make it the same."""
        refs = small_lock_refs(tmp_path)
        other = saved_run(tmp_path / "other", STRONG, scenarios=refs)
        with pytest.raises(UsageError, match="hold other episodes, questions or gold: one"):
            memrig.compare([weak, other])

    def test_grades_of_another_grader_are_refused(self, weak: Path, tmp_path: Path) -> None:
        """And the fix regrades both."""
        grades = [grade(q, s, grader="practical/1") for q, s in STRONG.items()]
        with pytest.raises(UsageError, match=r"graded by practical/2 in one") as found:
            memrig.compare([weak, saved_run(tmp_path / "old", grades)])
        assert "memrig score" in found.value.fix

    def test_runs_without_a_common_question_are_refused(self, weak: Path, tmp_path: Path) -> None:
        """The seeds are named."""
        grades = [grade(q, s, seed=9) for q, s in STRONG.items()]
        with pytest.raises(UsageError, match=r"seeds 7; seeds 9"):
            memrig.compare([weak, saved_run(tmp_path / "other", grades, seeds=(9,))])

    def test_other_conditions_are_named(self, weak: Path, tmp_path: Path) -> None:
        """They are allowed, and every one of them is said with both values."""
        other = saved_run(
            tmp_path / "other", STRONG, top_k=5, budget=Budget(wall_time_s=9), judge="m"
        )
        unlike = {item.field: item.values for item in memrig.compare([weak, other]).unlike}
        assert unlike["top_k"] == ("3", "5")
        assert unlike["judge"] == ("none", "m")
        assert set(unlike) == {"top_k", "judge", "budget"}

    def test_one_run_alone_needs_a_gate(self, weak: Path) -> None:
        """There is nothing to compare it with."""
        with pytest.raises(UsageError, match="nothing to compare"):
            memrig.compare([weak])

    def test_an_incomplete_run_is_named(self, weak: Path, tmp_path: Path) -> None:
        """With what it lacks."""
        cut = {"complete": False, "incomplete": "2 trials not finished"}
        other = saved_run(tmp_path / "cut", STRONG, report=cut)
        run = memrig.compare([weak, other]).runs[1]
        assert (run.complete, run.incomplete) == (False, "2 trials not finished")


def small_lock_refs(folder: Path) -> tuple[object, ...]:
    """The three scenarios' names over other timelines."""
    from memrig.suites.spool import spool

    return tuple(spool(small_scenario(name, halves=True), folder / "x") for name in ("one", "two"))


class TestGates:
    @pytest.mark.parametrize(
        ("gate", "met"),
        [
            ("overall>=0.6", True),
            ("overall >= 66.6%", True),
            ("overall>0.7", False),
            ("mrr:overall<=0.4", True),
            ("mrr:q0<0.1", False),
            ("recall_any@5:macro>=.5", True),
        ],
    )
    def test_a_bound_is_held_against_every_run(self, strong: Path, gate: str, met: bool) -> None:
        """`[metric:]group OP value`; one run is enough."""
        found = memrig.compare([strong], gates=[gate])
        assert [(g.run, g.met) for g in found.gates] == [("A", met)]

    def test_a_bound_that_is_just_met_is_met(self, tmp_path: Path) -> None:
        """0.1 + 0.2 is 0.3."""
        run = saved_run(tmp_path / "run", {f"s{n}#q": 1.0 if n < 8 else 0.0 for n in range(10)})
        assert memrig.compare([run], gates=["overall>=0.8", "overall<=0.8"]).failed == ()
        assert len(memrig.compare([run], gates=["overall>0.8", "overall<0.8"]).failed) == 2

    def test_what_floats_add_decides_no_gate(self) -> None:
        """0.1 + 0.2 is a little more than 0.3, and 0.7 + 0.1 a little less than 0.8."""
        assert parse_gate("overall<=0.3").holds(0.1 + 0.2)
        assert not parse_gate("overall>0.3").holds(0.1 + 0.2)
        assert parse_gate("overall>=0.8").holds(0.7 + 0.1)
        assert not parse_gate("overall<0.8").holds(0.7 + 0.1)

    @pytest.mark.parametrize(
        "gate", ["overall", "overall=0.8", ">=0.8", "overall>=high", "a>=1>=0"]
    )
    def test_what_is_no_gate_is_refused(self, gate: str) -> None:
        """With an example of one."""
        with pytest.raises(UsageError, match="is no gate") as found:
            parse_gate(gate)
        assert "overall>=0.8" in found.value.fix

    def test_percent_without_its_sign_is_refused(self) -> None:
        """80 is more than all."""
        with pytest.raises(UsageError, match="beyond 1") as found:
            parse_gate("overall>=80")
        assert found.value.fix == "write 80% or 0.8"

    @pytest.mark.parametrize(
        ("gate", "known"), [("f1:overall>=0", "recall_any@5, mrr"), ("q9>=0", "overall, macro, q0")]
    )
    def test_an_unknown_name_is_refused(self, strong: Path, gate: str, known: str) -> None:
        """A gate with a misspelt category would pass for ever; the known ones are named."""
        with pytest.raises(UsageError) as found:
            memrig.compare([strong], gates=[gate])
        assert known in found.value.fix

    def test_a_percentage_beyond_all_is_refused_with_a_fix_that_works(self) -> None:
        """101 % is neither 101 % nor 0.0101."""
        with pytest.raises(UsageError, match="beyond 1") as found:
            parse_gate("overall>=101%")
        assert found.value.fix == "write 0.8 or 80%"

    def test_a_run_alone_is_no_regression_from_itself(self, strong: Path) -> None:
        """A gate that tests nothing must not be met; beside others the base may be named."""
        with pytest.raises(UsageError, match="the only run given"):
            memrig.compare([strong], base=strong)

    def test_an_incomplete_run_meets_no_gate(self, tmp_path: Path) -> None:
        """What it lacks might be what fails."""
        cut = {"complete": False, "incomplete": "2 trials not finished"}
        found = memrig.compare(
            [saved_run(tmp_path / "cut", STRONG, report=cut)], gates=["overall>=0"]
        )
        assert not found.gates[0].met
        assert "2 trials not finished" in found.gates[0].said

    def test_a_metric_that_was_not_measured_meets_no_gate(self, tmp_path: Path) -> None:
        """n/a is no pass."""
        run = saved_run(tmp_path / "run", STRONG, report={"metrics": ()})
        assert "not measured" in memrig.compare([run], gates=["overall>=0"]).failed[0].said

    def test_a_shown_loss_is_a_regression(self, weak: Path, strong: Path) -> None:
        """Named with its group, its size and its p."""
        found = memrig.compare([weak], base=strong)
        assert [run.name for run in found.runs] == ["strong", "weak"]
        (gate,) = found.gates
        assert (gate.run, gate.met) == ("B", False)
        assert "recall_any@5 of overall is -33.3 points (Holm p" in gate.said

    def test_no_shown_loss_says_what_may_go_unseen(self, tmp_path: Path, weak: Path) -> None:
        """Not shown to be worse is not shown to be as good."""
        near = dict(WEAK) | {"s00#q0": 0.0, "s01#q0": 1.0}
        (gate,) = memrig.compare([saved_run(tmp_path / "near", near)], base=weak).gates
        assert gate.met
        assert "overall, losses under" in gate.said

    def test_questions_that_were_not_asked_hide_no_regression(
        self, tmp_path: Path, strong: Path
    ) -> None:
        """A run that leaves out what the base was asked does not pass."""
        some = dict(list(STRONG.items())[:-1])
        (gate,) = memrig.compare([saved_run(tmp_path / "some", some)], base=strong).gates
        assert not gate.met
        assert "1 questions of the base were not asked" in gate.said

    def test_under_other_conditions_nothing_is_a_regression(
        self, weak: Path, tmp_path: Path
    ) -> None:
        """Refused, with the fields."""
        other = saved_run(tmp_path / "other", STRONG, top_k=5)
        with pytest.raises(UsageError, match="differ in top_k"):
            memrig.compare([other], base=weak)

    def test_the_base_itself_is_under_no_bound(self, weak: Path, strong: Path) -> None:
        """It is there to compare with."""
        found = memrig.compare([strong], gates=["overall>=0.5"], base=weak)
        assert [(gate.run, gate.met) for gate in found.gates] == [("B", True), ("B", True)]

    def test_every_failed_gate_is_named(self, weak: Path, strong: Path) -> None:
        """With its run and the value; those that are met are not."""
        found = memrig.compare([weak, strong], gates=["overall>=0.5", "mrr:overall>=0.9"])
        with pytest.raises(GateError) as error:
            require_gates(found)
        assert error.value.exit_code == 5
        assert "3 of 4 not met" in error.value.message
        assert "overall>=0.5: A (weak): recall_any@5 of overall is 0.3333" in error.value.message
        assert "overall>=0.5: B" not in error.value.message


def test_a_run_that_was_never_graded_is_graded_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, weak: Path
) -> None:
    """From its transcripts."""
    bare = saved_run(tmp_path / "bare", STRONG)
    kept = (bare / "grades.jsonl").read_bytes()
    (bare / "grades.jsonl").unlink()
    report = api.read_report(bare)

    def score(folder: Path) -> object:
        (folder / "grades.jsonl").write_bytes(kept)
        return report

    monkeypatch.setattr(api, "score", score)
    assert memrig.compare([weak, bare]).row("mrr").n == 36


def test_the_published_schema_is_the_codes(weak: Path, strong: Path) -> None:
    """`make schema` writes it, and names every field that a comparison has."""
    assert compare_schema() == PUBLISHED.read_text("utf-8")
    found = memrig.compare([weak, strong], gates=["overall>=0.1"])
    schema = json.loads(compare_schema())
    assert set(json.loads(found.model_dump_json())) == set(schema["properties"])
