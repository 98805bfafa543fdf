"""Answers from elsewhere, verdicts from elsewhere, a judge by itself, and the baselines."""

import json
from pathlib import Path

import pytest

import memrig
from memrig.errors import UsageError
from memrig.model.gold import AbstentionGold
from memrig.suites.base import SuiteOptions, load_suite
from support.command import Done
from support.command import memrig as command
from support.model_fixtures import nobody, standin
from support.model_runs import CLAUDE, GPT, Ran, answers

__all__ = ["nobody", "standin"]

FOUR_O = "gpt-4o-2024-08-06"


def right_answers() -> dict[str, str]:
    """What the sample of LongMemEval holds to be right, by question."""
    suite = load_suite("longmemeval")
    options = SuiteOptions("longmemeval-typed", None, True, "true")
    found = {}
    for scenario in suite.scenarios(options):
        for name, gold in scenario.gold.items():
            declined = isinstance(gold.answer, AbstentionGold)
            found[name] = "I do not know." if declined else str(getattr(gold.answer, "value", ""))
    return found


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def grade(file: Path, *more: object, out: str = "graded") -> Done:
    folder = file.parent
    chosen = ("--suite", "longmemeval", "--sample", "--answers", file, "--out", folder / out)
    return command("grade", *chosen, *more, cwd=folder)


def grades_of(folder: Path) -> dict[str, dict[str, object]]:
    lines = (folder / "grades.jsonl").read_text().splitlines()
    return {grade["question_id"]: grade for grade in map(json.loads, lines)}


@pytest.mark.parametrize("field", ["answer", pytest.param("hypothesis", marks=pytest.mark.slow)])
def test_answers_are_graded_in_either_form_and_missing_ones_are_wrong_by_name(tmp_path, field):
    """Our own lines or LongMemEval's; a question without an answer scores 0 as what it is."""
    right = right_answers()
    missing = min(right)
    lines = [{"question_id": k, field: v} for k, v in right.items() if k != missing]
    done = grade(write(tmp_path / "a.jsonl", lines))
    assert done.code == 0, done.err
    found = grades_of(tmp_path / "graded")
    assert len(found) == len(right)
    lost = found.pop(missing)
    assert (lost["outcome"], lost["scores"]["accuracy"]) == ("adapter_error", 0.0)
    scored = [grade["scores"] for grade in found.values() if grade["status"] == "graded"]
    assert len(scored) >= len(found) - 1  # a rubric needs a judge
    assert {scores["accuracy"] for scores in scored} == {1.0}
    report = json.loads((tmp_path / "graded" / "report.json").read_text())
    assert report["questions"]["outcomes"]["adapter_error"] == 1
    assert report["audit"]["verdict"] == "not run"


@pytest.mark.slow
def test_given_answers_may_be_opposed(tmp_path):
    """By the reader, who is told of nothing but the data."""
    right = right_answers()
    lines = [{"question_id": name, "answer": text} for name, text in right.items()]
    done = grade(write(tmp_path / "a.jsonl", lines), "--naive-baseline")
    assert done.code == 0, done.err
    report = json.loads((tmp_path / "graded" / "report.json").read_text())
    assert [(row["purpose"], row["model"], row["calls"]) for row in report["costs"]] == [
        ("naive", "local/extractive", len(right))
    ]
    assert report["answering"]["reader"] == ""


def test_only_answered_leaves_the_others_out(tmp_path):
    """And says nothing of them."""
    name, text = next(iter(right_answers().items()))
    file = write(tmp_path / "a.jsonl", [{"question_id": name, "answer": text}])
    done = grade(file, "--only-answered")
    assert done.code == 0, done.err
    assert list(grades_of(tmp_path / "graded")) == [name]


@pytest.mark.slow
def test_an_answer_to_no_question_is_told(tmp_path):
    """A misspelt id would count as a wrong answer in silence."""
    lines = [{"question_id": k, "answer": v} for k, v in right_answers().items()]
    file = write(tmp_path / "a.jsonl", [*lines, {"question_id": "nobody-asked", "answer": "x"}])
    done = grade(file)
    assert done.code == 0, done.err
    assert "nobody-asked" in done.out + done.err + (tmp_path / "graded" / "report.json").read_text()


def test_longitudinal_answers_come_to_a_composite(tmp_path):
    """From text and citations alone; with the suite's own options, which are inputs of the run."""
    suite = load_suite("longitudinal")
    (scenario,) = suite.scenarios(SuiteOptions("lens-v1", sample=True))
    lines: list[dict[str, object]] = [
        {"question_id": name, "answer": getattr(gold.answer, "value", ""), "cited": gold.evidence}
        for name, gold in scenario.gold.items()
    ]
    chosen = ("--suite", "longitudinal", "--sample", "--distractors", "0")
    file = write(tmp_path / "a.jsonl", lines)
    done = command("grade", *chosen, "--answers", file, "--out", tmp_path / "g", cwd=tmp_path)
    assert done.code == 0, done.err
    scores = [grade["scores"] for grade in grades_of(tmp_path / "g").values()]
    assert [s["evidence_coverage"] for s in scores] == [1.0] * len(scenario.gold)
    assert [s["evidence_grounding"] for s in scores] == [1.0] * len(scenario.gold)
    assert min(s["fact_recall"] for s in scores) > 0.9
    lock = json.loads((tmp_path / "g" / "lock.json").read_text())
    assert lock["options"] == {"distractors": "0.0"}
    report = json.loads((tmp_path / "g" / "report.json").read_text())
    assert report["composite"]["value"] > 0.5


def exported(tmp_path: Path, run: Ran) -> Path:
    """The hypotheses of a run, by the command line."""
    file = tmp_path / "hypotheses.jsonl"
    done = command("export", "longmemeval", run.root, "--out", file, cwd=tmp_path)
    assert done.code == 0, done.err
    return file


def imported(file: Path, sample: Path, *more: object) -> Done:
    chosen = ("--file", sample, "--out", file.parent / "imported")
    return command("import", "longmemeval", file, *chosen, *more, cwd=file.parent)


@pytest.fixture
def sample_file(tmp_path: Path) -> Path:
    """The sample as a file of its own."""
    source = Path(memrig.__file__).parent / "suites" / "longmemeval_sample.json"
    path = tmp_path / "sample.json"
    path.write_bytes(source.read_bytes())
    return path


@pytest.mark.slow
def test_what_is_exported_and_imported_has_the_same_typed_grades(tmp_path, sample_file):
    """Answers survive the way out to the official evaluator and back."""
    chosen = {"suite": "longmemeval", "file": sample_file, "mode": "reader"}
    ran = answers(tmp_path / "run", adapter="baseline:oracle", **chosen)
    done = imported(exported(tmp_path, ran), sample_file)
    assert done.code == 0, done.err
    before, after = grades_of(ran.root), grades_of(tmp_path / "imported")
    assert before.keys() == after.keys()
    for name, grade in before.items():
        assert grade["status"] == after[name]["status"]
        assert grade["scores"].get("accuracy") == after[name]["scores"].get("accuracy")


def test_the_official_evaluators_verdicts_stand_as_they_are(tmp_path, sample_file):
    """Its judge is named, no key is needed, and no verdict is asked for again."""
    labels = {name: number % 3 > 0 for number, name in enumerate(sorted(right_answers()))}
    lines: list[dict[str, object]] = [
        {
            "question_id": name,
            "hypothesis": "whatever was said",
            "autoeval_label": {"model": FOUR_O, "label": label},
        }
        for name, label in labels.items()
    ]
    file = write(tmp_path / "official.jsonl", lines)
    done = imported(file, sample_file)
    assert done.code == 0, done.err
    found = grades_of(tmp_path / "imported")
    assert {name: bool(grade["scores"]["accuracy"]) for name, grade in found.items()} == labels
    report = json.loads((tmp_path / "imported" / "report.json").read_text())
    assert report["answering"]["judge"] == FOUR_O
    assert report["protocol"] == "longmemeval-compatible"
    assert not (tmp_path / "imported" / "llm.sqlite").exists()
    assert imported(file, sample_file, "--judge-model", GPT).code == 2


def test_a_run_that_is_not_whole_or_has_no_answers_is_not_exported(tmp_path):
    """Half a file would be graded as a whole one."""
    retrieval = answers(
        tmp_path / "run",
        adapter="baseline:oracle",
        suite="longmemeval",
        sample=True,
        mode="retrieval",
    )
    with pytest.raises(UsageError, match="mode retrieval"):
        memrig.api.export_longmemeval(retrieval.root, tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()


def test_given_answers_are_judged_like_any_others(standin, tmp_path):
    """By a model at the stand-in, three votes each where the protocol says so."""
    lines = [{"question_id": k, "answer": v} for k, v in right_answers().items()]
    file = write(tmp_path / "a.jsonl", lines)
    chosen = ("--protocol", "longmemeval-strict", "--judge-model", CLAUDE)
    done = grade(file, *chosen)
    assert done.code == 0, done.err
    assert len(standin.seen) == 3 * len(lines)
    found = grades_of(tmp_path / "graded")
    assert all(grade["status"] == "graded" for grade in found.values())


@pytest.mark.slow
def test_a_judge_is_measured_against_labels(standin, tmp_path):
    """`memrig judge calibrate` asks the stand-in and prints its table; replayed, as JSON."""
    chosen = ("judge", "calibrate", "--judge-model", CLAUDE)
    record = ("--llm-record", tmp_path / "judge.sqlite")
    done = command(*chosen, *record, cwd=tmp_path)
    assert done.code == 0, done.err
    for row in ("accuracy", "kappa", "order of the texts", "padded answers", "cost"):
        assert row in done.out
    assert f"{CLAUDE}-served" in done.out
    calls = len(standin.seen)
    replayed = command(*chosen, *record, "--json", "--llm", "replay-strict", cwd=tmp_path)
    assert len(standin.seen) == calls
    measured = json.loads(replayed.out)
    assert measured["calls"] == calls
    assert f"{measured['kappa']:.3f}" in done.out


ADAPTERS = {"oracle": "baseline:oracle", "bm25": "images/bm25", "none": "images/none"}


def test_the_oracle_finds_all_a_lexical_memory_some_and_none_nothing(tmp_path, monkeypatch):
    """Retrieval strictly in this order; a built-in reader answers best from the evidence."""
    recall, accuracy = {}, {}
    for name, adapter in ADAPTERS.items():
        where = adapter if ":" in adapter else str(Path(__file__).parents[2] / adapter)
        chosen = {"suite": "practical", "sample": True, "mode": "reader"}
        report = answers(tmp_path / name, adapter=where, **chosen).report
        assert report.complete
        recall[name] = report.value("recall_any@5").value
        accuracy[name] = report.value("accuracy").value
        assert report.answering
        assert report.answering.reader == "local/extractive"
        assert not report.answering.comparable
    assert recall["oracle"] == 1.0
    assert recall["oracle"] > recall["bm25"] > recall["none"] == 0.0
    assert accuracy["oracle"] > accuracy["none"]


def test_full_context_shows_everything_and_drops_the_oldest_first(standin, tmp_path):
    """Cut by the reader's context; what is newest stays."""
    shown = {}
    for limit in (100_000, 1_000):
        ran = answers(
            tmp_path / str(limit),
            adapter="baseline:full-context",
            suite="practical",
            sample=True,
            limit=1,
            mode="reader",
            reader_model=GPT,
            context_tokens=limit,
        )
        (record,) = ran.questions()
        assert record.answer
        shown[limit] = [memory.ref_id for memory in record.answer.memories]
        episodes = ran.report.ingest.episodes
    assert len(shown[100_000]) == episodes
    kept = shown[1_000]
    assert 0 < len(kept) < episodes
    assert kept == shown[100_000][: len(kept)]  # newest first
    assert kept[0] == max(shown[100_000])
