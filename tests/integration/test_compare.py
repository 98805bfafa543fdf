"""`memrig compare` as a user runs it: exit codes, JSON, the page; and on real runs."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from memrig.report.compare_model import Comparison
from support.command import ROOT, memrig
from support.comparisons import STRONG, WEAK, saved_run


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a weak and a strong run."""
    root = tmp_path_factory.mktemp("runs")
    saved_run(root / "weak", WEAK)
    saved_run(root / "strong", STRONG)
    return root


def test_a_met_gate_ends_with_0_and_writes_the_page(runs: Path) -> None:
    """The page is named at the end."""
    done = memrig(
        "compare", "weak", "strong", "--gate", "overall>=0.3", "--html", "c.html", cwd=runs
    )
    assert (done.code, done.err) == (0, "")
    assert "strong against weak" in done.out
    assert done.out.splitlines()[-1].split() == ["page", "c.html"]
    assert "<svg" in (runs / "c.html").read_text("utf-8")


def test_a_failed_gate_ends_with_5_and_is_named_on_stderr(runs: Path) -> None:
    """The comparison is printed all the same, here as JSON."""
    done = memrig("compare", "strong", "weak", "--gate", "overall>=0.5", "--json", cwd=runs)
    assert done.code == 5
    assert "1 of 2 not met: overall>=0.5: B (weak): recall_any@5 of overall is 0.3333" in done.err
    found = Comparison.model_validate_json(done.out)
    assert [gate.met for gate in found.gates] == [True, False]


@pytest.mark.slow
@pytest.mark.parametrize(("run", "base", "code"), [("weak", "strong", 5), ("strong", "weak", 0)])
def test_a_regression_ends_with_5(runs: Path, run: str, base: str, code: int) -> None:
    """One direction only."""
    assert memrig("compare", run, "--no-regression", base, cwd=runs).code == code


def test_a_folder_without_a_run_ends_with_2(runs: Path) -> None:
    """And is named."""
    done = memrig("compare", "weak", "nothing", cwd=runs)
    assert done.code == 2
    assert "nothing" in done.err
    assert "holds no run" in done.err


@pytest.mark.slow
def test_two_real_runs_against_an_independent_computation(tmp_path: Path) -> None:
    """bm25 and fts5: the interval and p of the scenarios' means, from the grades alone."""
    for name in ("bm25", "fts5"):
        flags = ("--suite", "practical", "--pod", "process", "--no-audit", "--out", tmp_path / name)
        done = memrig("run", "--adapter", ROOT / "images" / name, *flags, cwd=tmp_path)
        assert done.code == 0, done.err
    (tmp_path / "fts5" / "grades.jsonl").unlink()  # it is graded again
    done = memrig("compare", "bm25", "fts5", "--json", cwd=tmp_path)
    row = Comparison.model_validate_json(done.out).row("recall_any@1")

    def means(name: str) -> dict[str, float]:
        scenarios: dict[str, list[float]] = {}
        for line in (tmp_path / name / "grades.jsonl").read_text("utf-8").splitlines():
            grade = json.loads(line)
            scenarios.setdefault(grade["scenario_id"], []).append(grade["scores"]["recall_any@1"])
        assert {len(values) for values in scenarios.values()} == {24}
        return {key: float(np.mean(values)) for key, values in scenarios.items()}

    base, other = means("bm25"), means("fts5")
    test = stats.ttest_rel([other[key] for key in base], list(base.values()))
    bounds = test.confidence_interval(0.95)
    assert (row.n, row.scenarios) == (144, 6)
    assert (row.low, row.high, row.p) == pytest.approx((bounds.low, bounds.high, test.pvalue))


@pytest.mark.slow
def test_a_long_horizon_of_three_seeds_against_an_independent_computation(tmp_path: Path) -> None:
    """Each metric overall: t over the jackknife's pseudo-values, and all swaps, from the grades."""
    for name in ("bm25", "fts5"):
        flags = ("--suite", "longhorizon", "--sample", "--seeds", "42,123,456", "--pod", "process",
                 "--reader-model", "local/extractive", "--no-audit")  # fmt: skip
        done = memrig("run", "--adapter", ROOT / "images" / name, *flags, "--out", name,
                      cwd=tmp_path)  # fmt: skip
        assert done.code == 0, done.err
    done = memrig("compare", "bm25", "fts5", "--json", cwd=tmp_path)
    found = Comparison.model_validate_json(done.out)

    def scores(name: str, metric: str) -> dict[tuple[str, str], float]:
        lines = (tmp_path / name / "grades.jsonl").read_text("utf-8").splitlines()
        return {
            (grade["scenario_id"], grade["question_id"]): grade["scores"][metric]
            for grade in map(json.loads, lines)
            if metric in grade["scores"]
        }

    apart = 0
    for metric in found.metrics:
        base, other = scores("bm25", metric), scores("fts5", metric)
        worlds = sorted({world for world, _ in base})
        assert base.keys() == other.keys()
        lost = [[other[key] - base[key] for key in base if key[0] == world] for world in worlds]
        whole = sum(map(sum, lost)) / len(base)
        pseudo = [
            3 * whole - 2 * (len(base) * whole - sum(part)) / (len(base) - len(part))
            for part in lost
        ]
        sums = np.array([sum(part) for part in lost])
        signs = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1)
        swaps = np.mean(np.abs(sums @ signs) >= abs(sums.sum()) - 1e-9)
        row = found.row(metric)
        assert (row.n, row.scenarios, row.smallest_p) == (len(base), 3, 0.25)
        assert row.difference == pytest.approx(whole)
        assert row.p_permutation == pytest.approx(swaps)
        if np.ptp(pseudo) < 1e-9:
            assert row.interval in {"even", "no-spread"}
            continue
        apart += 1
        test = stats.ttest_1samp(pseudo, 0.0)
        bounds = test.confidence_interval(0.95)
        low, high = (min(1, max(-1, whole + side - np.mean(pseudo))) for side in bounds)
        error = stats.sem(pseudo)
        assert (row.low, row.high) == pytest.approx((low, high))
        assert row.error == pytest.approx(error)
        assert row.p == pytest.approx(2 * stats.t.sf(abs(whole) / error, 2))
        assert row.mde == pytest.approx((stats.t.ppf(0.975, 2) + stats.t.ppf(0.8, 2)) * error)
    assert apart
