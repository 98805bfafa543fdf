"""The main job end to end, as a user runs it: plan, pods, transcript, grades, report, resume."""

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.command import ROOT, Done, memrig, start

BM25 = ROOT / "images" / "bm25"
PODS = ["process", pytest.param("docker", marks=pytest.mark.docker)]
SAMPLE = ("--suite", "practical", "--sample")


def run(cwd: Path, *more: object, pod: str = "process") -> Done:
    return memrig("run", "--adapter", BM25, "--pod", pod, *more, cwd=cwd)


def only_run(cwd: Path) -> Path:
    (folder,) = (cwd / "runs").iterdir()
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Done, Path]:
    """A finished run of the sample, to read only: what the command said, and its folder."""
    cwd = tmp_path_factory.mktemp("finished")
    done = run(cwd, *SAMPLE, "--json")
    assert done.code == 0, done.err
    return done, only_run(cwd)


@pytest.fixture
def sampled(finished, tmp_path) -> Path:
    """A copy of that run, to do anything with."""
    _, folder = finished
    return Path(shutil.copytree(folder, tmp_path / "run"))


@pytest.mark.parametrize("pod", PODS)
def test_the_practical_suite_runs_grades_and_reports(tmp_path, pod):
    """One command: plan, run, grade, report, and a summary on standard output."""
    done = run(tmp_path, "--suite", "practical", pod=pod)
    assert done.code == 0, done.err
    report = json.loads((only_run(tmp_path) / "report.json").read_text())
    assert report["complete"]
    assert report["questions"]["outcomes"] == {"answered": 144}
    assert report["audit"]["verdict"] == "passed"
    overall = {m["metric"]: m["value"] for m in report["metrics"] if m["group"] == "overall"}
    assert 0.3 < overall["recall_any@10"] < 0.95
    assert "recall" in done.out.lower() or "R@10" in done.out
    assert (only_run(tmp_path) / "report.html").read_text().startswith("<!doctype html>")


def test_json_prints_a_line_per_trial_and_the_reports_path_last(finished):
    """Nothing but JSON on standard output."""
    done, folder = finished
    *trials, last = done.lines
    assert {line["event"] for line in trials} == {"trial"}
    assert {line["kind"] for line in trials} == {"scored", "isolation-audit"}
    assert last["event"] == "report"
    assert (folder.parents[1] / str(last["path"])).is_file()


def test_two_runs_with_the_same_seed_give_byte_identical_grades(finished, tmp_path):
    """Times differ, grades do not."""
    _, folder = finished
    done = run(tmp_path, *SAMPLE, "--out", tmp_path / "again")
    assert done.code == 0, done.err
    first, second = (
        (where / "grades.jsonl").read_bytes() for where in (folder, tmp_path / "again")
    )
    assert first == second
    assert first.count(b"\n") == 24


def test_a_pooled_run_says_so_and_keeps_every_question(tmp_path):
    """All scenarios in one memory; labelled wherever it is shown."""
    done = run(tmp_path, "--suite", "practical", "--isolation", "pooled")
    assert done.code == 0, done.err
    report = json.loads((only_run(tmp_path) / "report.json").read_text())
    assert any(label.startswith("pooled") for label in report["labels"])
    assert report["questions"]["graded"] == 144
    assert "pooled" in done.out


def test_reset_isolation_uses_one_pod_and_passes_its_audit(tmp_path):
    """Reset between scenarios, proved by the canary."""
    done = run(tmp_path, "--suite", "practical", "--limit", 30, "--isolation", "reset", "--json")
    assert done.code == 0, done.err
    scored = [line for line in done.lines if line.get("kind") == "scored"]
    assert len(scored) == 1
    assert scored[0]["questions"] == 30
    report = json.loads((only_run(tmp_path) / "report.json").read_text())
    assert report["audit"]["verdict"] == "passed"


def answered(run_folder: Path) -> dict[str, str]:
    """Every question record on disk, by trial and question, torn lines left out."""
    found = {}
    for path in (run_folder / "trials").glob("*/transcript.jsonl"):
        for line in path.read_bytes().split(b"\n")[:-1]:
            record = json.loads(line)["record"]
            if record["kind"] == "question":
                trial = path.parent.name.removesuffix(".partial")
                key = f"{trial}/{record['question_id']}"
                assert key not in found, f"{key} was asked twice"
                found[key] = json.dumps(record)
    return found


# An interrupted run resumes in either lane (below).
@pytest.mark.parametrize(
    "pod",
    [
        pytest.param("process", marks=pytest.mark.slow),
        pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.slow]),
    ],
)
def test_a_killed_run_resumes_and_asks_no_kept_answer_again(tmp_path, pod):
    """kill -9, the same command: same final grades, and what was on disk stays as it was."""
    arguments = ["--suite", "practical", "--limit", 60, "--out", tmp_path / "killed"]
    process = start("run", "--adapter", BM25, "--pod", pod, *arguments, cwd=tmp_path)
    try:
        wait_for_answers(process, tmp_path / "killed", at_least=15)
    finally:
        process.kill()
        process.communicate()
    kept = answered(tmp_path / "killed")
    assert 15 <= len(kept) < 60
    done = run(tmp_path, *arguments, pod=pod)
    assert done.code == 0, done.err
    after = answered(tmp_path / "killed")
    assert {key: after[key] for key in kept} == kept
    whole = run(tmp_path, *arguments[:-1], tmp_path / "whole", pod=pod)
    assert whole.code == 0, whole.err
    grades = [(tmp_path / name / "grades.jsonl").read_bytes() for name in ("killed", "whole")]
    assert grades[0] == grades[1]


def wait_for_answers(process: subprocess.Popen[str], folder: Path, at_least: int) -> None:
    give_up = time.monotonic() + 90
    while time.monotonic() < give_up:
        assert process.poll() is None, process.communicate()[1]
        if folder.exists() and len(answered(folder)) >= at_least:
            return
        time.sleep(0.01)
    pytest.fail("the run never got that far")


def test_an_interrupt_ends_with_130_and_leaves_a_run_that_resumes(tmp_path):
    """Ctrl-C is not an error of the run."""
    arguments = ["--suite", "practical", "--out", tmp_path / "run"]
    process = start("run", "--adapter", BM25, "--pod", "process", *arguments, cwd=tmp_path)
    wait_for_answers(process, tmp_path / "run", at_least=5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert run(tmp_path, *arguments).code == 0


def test_a_finished_run_is_reported_again_without_a_pod(sampled, tmp_path):
    """A finished trial is never run again."""
    before = (sampled / "executions.jsonl").read_bytes()
    assert run(tmp_path, *SAMPLE, "--out", sampled).code == 0
    assert (sampled / "executions.jsonl").read_bytes() == before


def test_a_changed_input_is_refused_naming_the_field(sampled, tmp_path):
    """The lock holds every input by content."""
    done = run(tmp_path, *SAMPLE, "--out", sampled, "--top-k", 5)
    assert done.code == 2
    assert "top_k: 10 → 5" in done.err


def test_a_tampered_transcript_is_found_by_score_with_exit_code_6(sampled, tmp_path):
    """And the line is named."""
    transcript = next(sampled.glob("trials/amara*/transcript.jsonl"))
    lines = transcript.read_text().splitlines(keepends=True)
    lines[9] = lines[9].replace('"score":', '"score":1', 1)
    transcript.write_text("".join(lines))
    done = memrig("score", sampled, cwd=tmp_path)
    assert done.code == 6
    assert "line 11" in done.err
    assert "breaks the chain" in done.err


def test_score_rebuilds_identical_grades_without_a_pod(sampled, tmp_path):
    """grades.jsonl is derived: it can be deleted."""
    before = (sampled / "grades.jsonl").read_bytes()
    (sampled / "grades.jsonl").unlink()
    (sampled / "report.json").unlink()
    done = memrig("score", sampled, cwd=tmp_path)
    assert done.code == 0, done.err
    assert (sampled / "grades.jsonl").read_bytes() == before


def test_show_names_what_was_retrieved_for_a_question(sampled, tmp_path):
    """The question, its gold, its evidence, and the hits."""
    grade = json.loads((sampled / "grades.jsonl").read_text().splitlines()[0])
    done = memrig("show", sampled, grade["question_id"], cwd=tmp_path)
    assert done.code == 0, done.err
    assert grade["question_id"] in done.out
    assert memrig("show", sampled, cwd=tmp_path).code == 0
    assert memrig("show", sampled, "no-such-question", cwd=tmp_path).code == 2


def test_one_trial_runs_from_its_spec_alone(sampled, tmp_path):
    """`memrig trial run` is what every executor comes down to."""
    spec = next(path for path in (sampled / "specs").iterdir() if path.name.startswith("amara"))
    done = memrig("trial", "run", spec, "--out", tmp_path / "again", cwd=tmp_path)
    assert done.code == 0, done.err
    assert json.loads(done.out)["statuses"] == {"answered": 24}


def test_the_locomo_sample_says_everywhere_that_it_is_one(tmp_path):
    """Never a silent substitute."""
    done = run(tmp_path, "--suite", "locomo", "--sample")
    assert done.code == 0, done.err
    assert "sample" in done.out
    folder = only_run(tmp_path)
    assert "sample" in (folder / "report.html").read_text()
    assert any("sample" in s for s in json.loads((folder / "report.json").read_text())["labels"])


def test_locomo_without_its_file_names_both_ways_to_get_it(tmp_path, monkeypatch):
    """Exit code 3, `memrig data fetch locomo`, and --file."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    done = run(tmp_path, "--suite", "locomo")
    assert done.code == 3
    assert "memrig data fetch locomo" in done.err
    assert "--file" in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--suite", "nope"], 2, "there is no suite 'nope'"),
        (["--protocol", "nope"], 2, "has no protocol 'nope'"),
        (["--category-labels", "nope"], 2, "has no category labels 'nope'"),
        (["--file", "nope.json"], 2, "nope.json"),
        (["--file", "a.json", "--sample"], 2, "exclude each other"),
        (["--limit", "0"], 2, "limit"),
    ],
)
def test_a_wrong_flag_ends_with_code_2_and_names_it(tmp_path, arguments, code, says):
    """Before anything is started."""
    done = run(tmp_path, *arguments)
    assert done.code == code
    assert says in done.err
    assert "Traceback" not in done.err


def test_a_wrong_adapter_folder_is_named_with_a_fix(tmp_path):
    """Exit code 2, the path, and what to give instead."""
    done = memrig("run", "--adapter", "images/nope", cwd=tmp_path)
    assert done.code == 2
    assert "images/nope" in done.err
    assert "fix:" in done.err


def test_a_wrong_manifest_names_file_field_and_value(tmp_path):
    """adapter.toml is checked whole before anything is built."""
    folder = tmp_path / "mine"
    shutil.copytree(BM25, folder)
    manifest = folder / "adapter.toml"
    manifest.write_text("prot = 50051\nport = 80\n" + manifest.read_text())
    done = memrig("run", "--adapter", folder, "--pod", "process", cwd=tmp_path)
    assert done.code == 2
    assert "adapter.toml" in done.err
    assert "prot" in done.err
    assert "port: Input should be greater than or equal to 1024, got 80" in done.err
