"""A memory over time: built from a run, and on the page."""

import json

import pytest

import memrig
from memrig import RunConfig
from memrig.report.html import render_html
from memrig.report.model import Report
from memrig.report.view_timeline import timeline_view
from support.pages import Page
from support.timelines import call, checkpoint, question, report_over_time, timeline


def ran(folder, **changes: object) -> Report:
    """A run without a container or a key."""
    fields = {"adapter": "baseline:oracle", "sample": True, "audit": False, "out": folder}
    return memrig.run(RunConfig.model_validate(fields | changes))


@pytest.fixture(scope="module")
def longitudinal(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The built-in sample, read by the built-in reader."""
    folder = tmp_path_factory.mktemp("run") / "run"
    return ran(folder, suite="longitudinal", mode="reader", reader_model="local/extractive")


def test_checkpoints_are_those_of_the_scenarios(longitudinal: Report) -> None:
    """Every question stands at one, in the order of time, and none is lost."""
    found = longitudinal.timeline
    assert found is not None
    assert [point.number for point in found.checkpoints] == list(
        range(1, len(found.checkpoints) + 1)
    )
    places = [point.first for point in found.checkpoints]
    assert places == sorted(set(places))
    assert len(places) > 1
    assert sum(point.n for point in found.checkpoints) == longitudinal.questions.settled
    assert len(found.questions) == longitudinal.questions.settled


def test_scores_are_those_of_the_grades(longitudinal: Report) -> None:
    """The mean over checkpoints, weighted by what was scored, is the run's own."""
    found = longitudinal.timeline
    assert found is not None
    assert found.metric == "fact_recall"
    scored = [item.score for item in found.questions if item.score is not None]
    assert sum(scored) / len(scored) == pytest.approx(longitudinal.value("fact_recall").value)


def test_each_facts_score_adds_up_to_the_questions(longitudinal: Report) -> None:
    """What is shown of key facts is what was graded."""
    found = longitudinal.timeline
    assert found is not None
    for item in found.questions:
        if item.score is not None:
            mean = sum(fact.score for fact in item.facts) / len(item.facts)
            assert mean == pytest.approx(item.score, abs=1e-3)


def test_an_oracle_finds_all_the_evidence(longitudinal: Report) -> None:
    """Needed and retrieved are counted alike."""
    found = longitudinal.timeline
    assert found is not None
    for point in found.checkpoints:
        assert point.evidence.retrieved == point.evidence.required > 0


def test_a_reader_has_the_rigs_own_search_for_a_call(longitudinal: Report) -> None:
    """With the memories that it was shown, by their handles."""
    found = longitudinal.timeline
    assert found is not None
    for item in found.questions:
        assert [made.name for made in item.calls] == ["search"]
        assert set(item.calls[0].handles) <= {memory.handle for memory in item.memories}


def test_a_run_whose_questions_all_come_at_the_end_has_none(tmp_path) -> None:
    """However many questions and scenarios it has."""
    report = ran(tmp_path / "run", suite="locomo", adapter="baseline:full-context")
    assert report.questions.settled > 1
    assert report.timeline is None
    assert 'id="timeline"' not in render_html(report)


def test_the_page_has_a_row_for_each_type_and_a_column_for_each_checkpoint() -> None:
    """And each cell its n."""
    page = Page(render_html(report_over_time()))
    heat = [cell for cell in page.all("td") if "heat-" in (cell.attributes.get("class") or "")]
    assert len(heat) == 4 * 2
    assert [heat[0].text, heat[2].text] == ["20.0n 6", "20.0n 2"]


def test_a_type_that_is_not_asked_at_a_checkpoint_has_an_empty_cell() -> None:
    """It is neither 0 nor n/a."""
    view = timeline_view(timeline(checkpoints=(checkpoint(1), checkpoint(2, cells=()))))
    assert view is not None
    assert [row.cells[1].value for row in view.heat] == ["40.0", "", "", ""]


def test_checkpoints_that_differ_between_scenarios_say_from_where_to_where() -> None:
    """The n-th of each stands in one column."""
    view = timeline_view(timeline(checkpoints=(checkpoint(1, first=9, last=12),)))
    assert view is not None
    assert view.heads[0].value == "after 9–12"


def test_a_limit_that_was_hit_is_marked() -> None:
    """With its kind, and how many of the questions it ended."""
    view = timeline_view(timeline())
    assert view is not None
    assert [row.exceeded for row in view.budget] == ["", "payload_bytes 2 of 6"]


def test_a_calls_result_shows_which_memories_were_evidence() -> None:
    """By handle and date."""
    page = render_html(report_over_time(questions=(question(),)))
    assert '<strong class="mark-good">✓ m1</strong> <span class="date">2024-03-01</span>' in page
    assert 'm2 <span class="date">2024-03-02</span>' in page


@pytest.mark.parametrize(("score", "mark"), [(1, "✓"), (0, "✗"), (0.4, "◐")])
def test_a_fact_is_marked_by_how_far_it_was_stated(score: float, mark: str) -> None:
    """In full, not at all, or in part."""
    facts = ({"text": "the pump broke", "score": score},)
    view = timeline_view(timeline(questions=(question(facts=facts),)))
    assert view is not None
    assert view.scenarios[0].questions[0].facts[0].mark == mark


def test_what_is_left_out_is_counted() -> None:
    """Memories of a call, calls of a question, questions of the run."""
    asked = question(calls=(call(more=7),), more_calls=3)
    page = render_html(report_over_time(questions=(asked,), left_out=12))
    assert "and 7 more" in page
    assert "and 3 more calls" in page
    assert "12 more questions are not shown here" in page


def test_a_timeline_is_in_the_json(longitudinal: Report) -> None:
    """The same numbers as on the page."""
    data = json.loads(longitudinal.model_dump_json())
    assert data["timeline"]["checkpoints"][0]["evidence"]["required"] > 0


def test_a_whole_suites_page_stays_small() -> None:
    """144 questions of eight calls with ten memories each: under 2 MB."""
    handles = tuple(f"m{n}" for n in range(10))
    memories = tuple(
        {"handle": name, "date": "2024-03-01", "evidence": False, "cited": False}
        for name in handles
    )
    calls = (call(handles=handles, arguments="x" * 200),) * 8
    asked = tuple(
        question(number, calls=calls, memories=memories, answer="y" * 800) for number in range(144)
    )
    assert len(render_html(report_over_time(questions=asked))) < 2_000_000


def test_a_scenario_has_checkpoints_of_its_own_under_each_seed(tmp_path) -> None:
    """A limit draws other questions under another, which stand elsewhere."""
    chosen = {"suite": "longitudinal", "mode": "reader", "reader_model": "local/extractive"}
    report = ran(tmp_path / "run", seeds=(1, 2, 3), limit=5, **chosen)
    assert report.timeline is not None
    assert sum(point.n for point in report.timeline.checkpoints) == 15
