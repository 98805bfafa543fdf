"""A judge at a real server that fails three calls in ten, in every way: nothing else moves."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, median

import pytest

from memrig.errors import IncompleteError
from memrig.model.canonical import derive
from memrig.report.model import Report
from support.command import Done
from support.command import memrig as command
from support.judges import blocks_of
from support.llm_standin import Fault, LlmStandIn, Say, Seen
from support.model_fixtures import nobody, with_models, without_models
from support.model_runs import GPT, answers, words

__all__ = ["nobody"]

pytestmark = pytest.mark.slow

SEEDS = "42,123"
RUN = (
    "run", "--suite", "longhorizon", "--turns", "300", "--questions", "90", "--mode", "reader",
    "--adapter", "baseline:oracle", "--seeds", SEEDS, "--repeats", "2", "--no-audit",
)  # fmt: skip
#: What is no dimension of prose, and can hang on no vote.
STRUCTURED = ("specificity", "temporal_awareness", "source_attribution")
#: Three calls in ten meet one of these: what no later try mends, and what a try of its own may.
TROUBLE: tuple[Say | Fault, ...] = (
    Fault(status=400, message="blocked by a content filter"),
    Say("I can not help with that.", stop="refusal"),
    Say("The answer states the fact, I would say."),
    Say('{"stated": tru', stop="length"),
    Fault(status=500),
    Fault(status=429, retry_after="0.01"),
)


class Judge:
    """One of two minds about every fact, at a server that fails three calls in ten.

    What it says depends on what it is shown and on how often it was shown that, so that the votes
    on one fact may differ. One in ten refuses, breaks off or talks for good.
    """

    def __init__(self) -> None:
        self.met: Counter[str] = Counter()
        self.troubled = 0

    def __call__(self, seen: Seen) -> str | Say | Fault:
        number = self.met[seen.text]
        self.met[seen.text] += 1
        if derive(7, "lasting", seen.text) % 10 == 0:
            self.troubled += 1
            return TROUBLE[derive(7, "kind", seen.text) % 4]
        if derive(7, "fails", seen.text, str(number)) % 10 < 3:
            self.troubled += 1
            return TROUBLE[derive(7, "kind", seen.text, str(number)) % len(TROUBLE)]
        blocks = blocks_of(seen.text)
        share = len(words(blocks["fact"]) & words(blocks["answer"])) / len(words(blocks["fact"]))
        stated = derive(7, "mind", seen.text, str(number)) % 100 < 20 + 60 * share
        return f'{{"stated": {str(stated).lower()}, "reason": "as I read it"}}'


@pytest.fixture(scope="module")
def judge() -> Judge:
    """The one that the run asks."""
    return Judge()


@pytest.fixture(scope="module")
def ran(tmp_path_factory, judge) -> Iterator[tuple[Path, Done, Done]]:
    """The run without a judge, with one, and replayed with no provider: in `folder` each."""
    folder = tmp_path_factory.mktemp("votes")
    with pytest.MonkeyPatch.context() as patched, LlmStandIn.in_thread(judge) as server:
        without_models(patched)
        plain = command(*RUN, "--out", folder / "plain", cwd=folder, timeout=300)
        assert plain.code == 0, plain.err
        with_models(patched, server)
        asked = (*RUN, "--judge-model", GPT)
        dry = command(*asked, "--dry-run", cwd=folder)
        judged = command(*asked, "--out", folder / "judged", cwd=folder, timeout=300)
        yield folder, dry, judged


def grades_of(folder: Path) -> dict[tuple[str, str], dict[str, object]]:
    """Every grade by trial and question."""
    lines = map(json.loads, (folder / "grades.jsonl").read_text().splitlines())
    return {(line["trial_id"], line["question_id"]): line for line in lines}


def verdicts_of(folder: Path) -> list[dict[str, object]]:
    """Every verdict, as raw JSON."""
    files = sorted((folder / "verdicts").glob("*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().splitlines()]


def prose(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Of each spooled question with prose for gold: its name and key facts."""
    for file in (folder / "scenarios").glob("*.gold.jsonl"):
        for gold in map(json.loads, file.read_text().splitlines()):
            if gold["answer"]["type"] == "text":
                yield gold["question_id"], gold["answer"]["key_facts"]


def recounted(verdict: Mapping[str, object]) -> float | None:
    """The median of the votes that are scores, if two of the three are."""
    valid = [vote["score"] for vote in verdict["votes"] if vote["score"] is not None]
    return median(valid) if len(valid) >= 2 else None


def test_the_run_ends_whatever_fails(ran, judge):
    """Exit code 4 and a whole report: some questions have no verdict, all have been asked."""
    folder, _, judged = ran
    assert judged.code == 4
    report = json.loads((folder / "judged" / "report.json").read_text())
    assert report["questions"]["settled"] == report["questions"]["planned"] == 360
    assert 0.2 < judge.troubled / sum(judge.met.values()) < 0.5


def test_the_forecast_counts_three_votes_a_key_fact_of_prose(ran):
    """The most that there can be; replies that are none, asked for again, come on top."""
    folder, dry, _ = ran
    row = next(line for line in dry.out.splitlines() if line.startswith("judge "))
    facts = sum(len(facts) for _, facts in prose(folder / "judged"))
    assert int(row.split()[2].replace(",", "")) == 3 * facts * 2  # two repeats
    assert len(verdicts_of(folder / "judged")) <= facts * 2


def test_every_verdict_is_the_median_of_its_own_votes(ran):
    """Three votes, a quorum of two; a vote that failed is none, and never 0."""
    verdicts = verdicts_of(ran[0] / "judged")
    assert {(len(v["votes"]), v["quorum"]) for v in verdicts} == {(3, 2)}
    assert [v["score"] for v in verdicts] == [recounted(v) for v in verdicts]
    failed = [vote for v in verdicts for vote in v["votes"] if vote["score"] is None]
    assert failed
    assert all(vote["reason"] for vote in failed)
    assert {v["score"] for v in verdicts} >= {None, 0.0, 1.0}
    assert any(len({vote["score"] for vote in v["votes"]} - {None}) == 2 for v in verdicts)


def test_no_deterministic_dimension_moves_by_a_bit(ran):
    """Against the run without a judge: only prose has other grades, and only its accuracy."""
    folder, _, _ = ran
    plain, judged = grades_of(folder / "plain"), grades_of(folder / "judged")
    asked = {name for name, _ in prose(folder / "judged")}
    by_question = {(g["seed"], g["repeat"], g["question_id"]): g for g in plain.values()}
    moved = Counter()
    for grade in judged.values():
        key = grade["seed"], grade["repeat"], grade["question_id"]
        before, after = by_question[key]["scores"], grade["scores"]
        if grade["category"] != "problem_solving":
            assert after == before, key
            assert not grade["missing"]
            continue
        assert grade["question_id"] in asked
        assert {n: after.get(n) for n in STRUCTURED} == {n: before.get(n) for n in STRUCTURED}
        kept = {n: v for n, v in after.items() if n.startswith("recall")}
        assert kept == {n: v for n, v in before.items() if n.startswith("recall")}
        moved[after.get("factual_accuracy") != before["factual_accuracy"]] += 1
    assert moved[True]


def test_prose_is_the_mean_of_its_facts_or_missing_by_name(ran):
    """Recomputed from the raw votes; below the quorum neither accuracy nor score is there."""
    folder, _, _ = ran
    facts: dict[tuple[str, str], list[float | None]] = {}
    for verdict in verdicts_of(folder / "judged"):
        key = verdict["trial_id"], verdict["question_id"]
        facts.setdefault(key, []).append(recounted(verdict))
    grades = grades_of(folder / "judged")
    missing = 0
    for key, medians in facts.items():
        grade = grades[key]
        assert grade["status"] == "graded"
        if None in medians:
            missing += 1
            assert set(grade["missing"]) == {"score", "factual_accuracy", "content_score"}
            assert "of 3 votes" in grade["missing"]["score"]
            assert not {"score", "factual_accuracy"} & set(grade["scores"])
        else:
            assert grade["scores"]["factual_accuracy"] == fmean(medians)
    assert 0 < missing < len(facts)


def test_what_has_no_verdict_is_counted_and_named(ran):
    """In the terminal, its error, and the JSON; with how many questions, and why."""
    folder, _, judged = ran
    lost = [g for g in grades_of(folder / "judged").values() if g["missing"]]
    report = json.loads((folder / "judged" / "report.json").read_text())
    assert report["complete"] is False
    assert f"judged: {len(lost)} questions without a judge's verdict" in judged.err
    assert report["incomplete"] == f"{len(lost)} questions without a judge's verdict"
    metric = next(
        value for value in report["metrics"]
        if (value["metric"], value["group"]) == ("score", "overall")
    )  # fmt: skip
    assert metric["n"] == 360 - len(lost)
    told = re.findall(r"problem_solving – the judge did not decide: \d of 3 votes", judged.err)
    assert len(told) == len(lost)


def test_the_judge_has_its_part_in_the_variance(ran):
    """Medians that could have come out otherwise: above 0, and with seed and repeat the whole."""
    report = json.loads((ran[0] / "judged" / "report.json").read_text())
    parts = {part["source"]: part for part in report["across"]["variance"]}
    assert parts["judge"]["variance"] > 0
    assert parts["judge"]["note"] == ""
    assert sum(part["share"] for part in parts.values()) == pytest.approx(1)
    plain = json.loads((ran[0] / "plain" / "report.json").read_text())
    without = {part["source"]: part for part in plain["across"]["variance"]}
    assert without["judge"]["variance"] is None


def test_a_replay_with_no_provider_gives_the_very_same_grades(ran, monkeypatch):
    """Whatever failed has failed as it did."""
    folder, _, _ = ran
    without_models(monkeypatch)
    record = ("--llm-record", folder / "judged" / "llm.sqlite", "--llm", "replay-strict")
    chosen = (*RUN, "--judge-model", GPT, *record, "--out", folder / "again")
    again = command(*chosen, cwd=folder, timeout=300)
    assert again.code == 4, again.err
    one, two = ((folder / name / "grades.jsonl").read_bytes() for name in ("judged", "again"))
    assert one == two


def test_a_provider_that_stays_down_leaves_the_trial_open_and_goes_on_there(tmp_path, monkeypatch):
    """500 and 429 to no end are no verdict on any answer: the run ends, says so, and once the
    provider is back the same run comes to the very grades of one that met no trouble."""
    down: list[str] = []
    faults = Fault(status=500), Fault(status=429, retry_after="0.01")

    def says(seen: Seen) -> str | Fault:
        if not down:
            down.append(seen.text)
        if seen.text in down:
            return faults[seen.number % 2]
        return f'{{"stated": {str(derive(7, "yes", seen.text) % 2 == 0).lower()}}}'

    chosen = {"suite": "longhorizon", "sample": True, "mode": "reader", "judge_model": GPT,
              "adapter": "baseline:oracle", "seeds": (42, 123)}  # fmt: skip
    with LlmStandIn.in_thread(says) as server:
        with_models(monkeypatch, server)
        with pytest.raises(IncompleteError, match=r"answered (500|429)") as caught:
            answers(tmp_path / "run", **chosen)
        report = caught.value.report
        before = grades_of(tmp_path / "run")
        assert isinstance(report, Report)
        waiting = [g for g in before.values() if g["missing"]]
        assert report.incomplete == f"{len(waiting)} questions without a judge's verdict"
        assert {g["category"] for g in waiting} == {"problem_solving"}
        down[:] = [""]
        second = answers(tmp_path / "run", **chosen)
        calm = answers(tmp_path / "calm", **chosen)
    assert second.report.complete
    assert second.grades == calm.grades
    whole = grades_of(second.root)
    rest = {key: grade for key, grade in before.items() if not grade["missing"]}
    assert len(rest) == len(before) - len(waiting)
    assert {key: whole[key] for key in rest} == rest
