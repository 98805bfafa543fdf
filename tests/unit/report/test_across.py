"""The report across seeds and repeats: numbers, words, and who served what."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.grading.base import load_grader
from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import Scenario
from memrig.model.trial import AnswerSpec
from memrig.report.boots import Boot, boots_of, shared_boots
from memrig.report.build import build_report
from memrig.report.html import render_html
from memrig.report.model import Report
from memrig.report.terminal.summary import print_report
from memrig.report.view_across import across_view, noisy_note
from memrig.runs.executor import LocalExecutor, Observer, Services
from memrig.runs.judge import TrialJudge
from memrig.stats.seeds import AcrossSeeds, NoisyQuestion, SeedRow
from memrig.stats.variance import split_variance
from support.fake_chat import ScriptedChat, says
from support.fake_memory import FakeProvider
from support.judges import ScriptedJudge
from support.plans import small_plan
from support.reports import sample_report
from support.scenarios import small_scenario
from support.terminals import plain

PROTOCOL = "answer-judge"
YES, NO = '{"correct": true, "reason": "r"}', '{"correct": false, "reason": "r"}'


class Reader(ScriptedChat):
    """Implements `ModelService` for memories that ask for no model."""

    def usage_of(self, trial_id: str) -> tuple[()]:
        return ()


def answered(name: str) -> Scenario:
    """Four questions whose right answer is always the attic."""
    scenario = small_scenario(name)
    gold = {
        key: Gold(question_id=key, category=old.category, evidence=old.evidence,
                  answer=TextGold(type="text", value="the attic"))
        for key, old in scenario.gold.items()
    }  # fmt: skip
    return Scenario(name, scenario.timeline, gold)


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="mr") as name:
        yield Path(name)


async def judged(folder: Path, judge: ScriptedJudge, **changes: object) -> Report:
    """A run of one scenario, judged, and reported."""
    grader = load_grader(PROTOCOL)
    plan = small_plan(folder / "run", answered("s"), mode="reader", protocol=PROTOCOL,
                      grader=f"{grader.protocol}/{grader.version}", judge="judge",
                      answer=AnswerSpec(model="scripted"), **changes)  # fmt: skip
    reader = Reader([says("the attic")] * 4 * len(plan.specs))
    trial_judge = TrialJudge(plan.directory, grader, judge, "judge")
    services = Services(FakeProvider(folder), reader, trial_judge)  # type: ignore[arg-type]
    await LocalExecutor(services, 1).execute(plan, Observer())
    return build_report(plan.directory)


async def test_a_split_vote_leaves_the_variance_of_its_median(folder):
    """One question of four, two votes to one: 140/729 by 4², in every figure."""

    def split(prompt: str, context: object) -> str:
        asked = context.scope  # type: ignore[attr-defined]
        return NO if "q1" in asked and context.vote == 2 else YES  # type: ignore[attr-defined]

    report = await judged(folder, ScriptedJudge(split), seeds=(7, 8), repeats=2)
    assert report.across is not None
    assert report.across.metric == "accuracy"
    parts = {part.source: part for part in report.across.variance}
    assert parts["judge"].variance == pytest.approx(140 / 729 / 16)
    assert (parts["seed"].variance, parts["repeat"].variance) == (0, 0)
    assert "below 0" in parts["repeat"].note


async def test_votes_that_agree_leave_none(folder):
    """It was measured, and is 0."""
    report = await judged(folder, ScriptedJudge(lambda *_: YES), seeds=(7, 8))
    assert report.across is not None
    (judge,) = [part for part in report.across.variance if part.source == "judge"]
    assert judge.variance == 0


async def test_one_seed_and_one_repeat_have_no_such_section(folder):
    """The report is as it was."""
    report = await judged(folder, ScriptedJudge(lambda *_: YES))
    assert report.across is None
    assert across_view(report) is None
    assert 'id="seeds"' not in render_html(report)


async def test_every_trial_names_the_process_that_served_it(folder):
    """By seed and repeat."""
    report = await judged(folder, ScriptedJudge(lambda *_: YES), seeds=(7, 8), repeats=2)
    assert [(boot.seed, boot.repeat) for boot in report.boots] == [(7, 0), (7, 1), (8, 0), (8, 1)]
    assert len({boot.trial_id for boot in report.boots}) == 4


def boot(trial: str, boot_id: str) -> Boot:
    return Boot(trial_id=trial, seed=1, repeat=0, boot_id=boot_id)


def test_two_trials_that_share_a_process_are_told():
    """A pod that was not fresh, or a boot_id that does not change."""
    said = shared_boots([boot("a", "x"), boot("b", "x"), boot("c", "y")])
    assert said.startswith("2 trials share a boot_id")


def test_a_trial_with_several_processes_shares_none():
    """It was interrupted and went on in a fresh pod."""
    assert not shared_boots([boot("a", "x"), boot("a", "y"), boot("b", "z")])


@pytest.mark.parametrize("pod", ["baseline", "endpoint", "given"])
def test_what_the_rig_does_not_start_has_no_processes(pod):
    """An endpoint lives before and after; a baseline lives in the rig."""
    assert boots_of(pod, [boot("a", "x")]) == ()


def wavering(count: int = 2, seeds: tuple[int, ...] = (42, 123)) -> Report:
    """A report across seeds in which some questions waver."""
    values = tuple(0.6 + 0.02 * place for place in range(len(seeds)))
    row = SeedRow(metric="recall_any@10", group="overall", kind="micro", values=values,
                  counts=(50,) * len(seeds), mean=0.61, sd=0.0141, low=0.483, high=0.737,
                  interval="t")  # fmt: skip
    rest = len(seeds) - 1
    noisy = tuple(
        NoisyQuestion(name=f"temporal/latest/<b>{n}", category="temporal",
                      values=(0.25, *(0.75,) * rest), counts=(4, *(3,) * rest),
                      between_seeds=0.5, between_repeats=None)
        for n in range(count)
    )  # fmt: skip
    variance = split_variance({42: [0.6], 123: [0.62]}, None)
    across = AcrossSeeds(seeds=seeds, repeats=1, rows=(row,), metric="recall_any@10",
                         compared=90, noisy=noisy, variance=variance)  # fmt: skip
    boots = (boot("world-42", "b1"), boot("world-123", "b2"))
    return sample_report().model_copy(update={"across": across, "boots": boots, "seeds": seeds})


def printed(report: Report) -> str:
    console, file = plain()
    print_report(report, console=console)
    return file.getvalue()


def test_the_terminal_shows_each_seed_and_what_is_said_over_them():
    """Mean, sd and interval; noisy questions; variance; processes."""
    text = printed(wavering())
    assert "s42   s123   mean    sd        95 %" in text
    assert "60.0   62.0   61.0   1.4   48.3–73.7" in text
    said = " ".join(text.split())
    assert "2 of 90 questions, or forms of them, vary by more than 10 points in R@10" in said
    assert "100.0 %" not in said
    assert (
        "of R@10, one seed run once: seed and repeat together sd 1.4 points "
        "(each seed ran once: --repeats tells them apart)"
    ) in said
    assert "2 trials, 2 boot_ids, no two share one" in text


def test_a_range_over_single_questions_says_that_the_draw_alone_can_make_it():
    """Of the other form, three questions and more stand behind each mean."""
    report = wavering()
    first, second = report.across.noisy
    noisy = (first, second.model_copy(update={"counts": (1, 2)}))
    across = report.across.model_copy(update={"noisy": noisy})
    assert "one question" not in noisy_note(report.across)
    assert noisy_note(across).endswith(
        "; 1 of these have one question a seed: its draw alone can do it"
    )


def test_the_terminal_shows_the_extremes_of_many_seeds():
    """Nine columns of values would not fit."""
    text = printed(wavering(seeds=tuple(range(9))))
    assert "lowest   highest   mean" in text
    assert "60.0      76.0   61.0" in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_page_has_the_section_and_escapes_what_is_in_it():
    """A template's name comes from a suite."""
    page = render_html(wavering())
    assert '<section id="seeds"' in page
    assert '<a href="#seeds">Seeds</a>' in page
    assert "temporal/latest/&lt;b&gt;0" in page
    assert '<td>temporal</td><td class="num">3–4</td>' in page
    assert "Which process served which trial: 2 trials, 2 boot_ids, no two share one" in page


def test_the_page_cuts_a_long_list_of_noisy_questions_and_says_so():
    """The JSON has them all."""
    page = render_html(wavering(count=50))
    assert page.count("temporal/latest/") == 40
    assert "And 10 more" in page


def made_world(folder: Path, **options: str) -> Report:
    """The report of a planned run of a suite that makes its worlds; nothing was run."""
    plan = small_plan(folder / "run", small_scenario("world-7"), suite="longhorizon",
                      options=options)  # fmt: skip
    return build_report(plan.directory)


def test_a_made_world_is_no_data_of_ones_own(tmp_path):
    """Its name says what it is made of."""
    labels = made_world(tmp_path).labels
    assert [label for label in labels if "own data" in label or "usual world" in label] == []


def test_a_world_of_another_size_is_labelled(tmp_path):
    """It cannot be held against one of the usual size."""
    labels = made_world(tmp_path, turns="300", question_set="holdout").labels
    assert "not the suite's usual world: turns 300, question set holdout" in labels


def test_a_limit_is_said_to_be_of_each_seed(tmp_path):
    """Or the n of tables would not fit."""
    one = small_plan(tmp_path / "one", limit=5)
    many = small_plan(tmp_path / "many", limit=5, seeds=(1, 2))
    assert "limited to 5 questions (stratified)" in build_report(one.directory).labels
    assert "limited to 5 questions of each seed (stratified)" in build_report(many.directory).labels
