"""A question's page: from what was ingested to what it cost."""

import json

import pytest

import memrig
from memrig.model.canonical import canonical_json
from memrig.model.judgement import Verdict, Vote
from memrig.report.units import metric_head, percent
from memrig.trial.directory import hold
from memrig.viewer import Shelf, links
from memrig.viewer.question import QuestionPage, question_page
from support.pages import Page, words
from support.viewed import Made, client, contents, made_run


@pytest.fixture
def made(tmp_path) -> Made:
    return made_run(tmp_path / "run")


def page_of(made: Made, name: str = "q1") -> QuestionPage:
    shelf = Shelf(made.directory.root)
    return question_page(shelf, "run", made.spec.trial_id, "small", name)


def test_it_tells_what_was_ingested_before_the_question(made):
    """How much, how it was acknowledged, how long that took."""
    episodes = page_of(made).episodes
    assert episodes.before == "4 episodes"
    said = "4 stored, ingested in 2.00 ms, flushed in 3.00 ms, 4 items in the memory"
    assert episodes.told == said


def test_the_evidence_has_its_place_and_its_rank(made):
    """Where it stood among the episodes, and where among the hits."""
    superseded, evidence = page_of(made, "q3").episodes.evidence
    assert (superseded.name, superseded.role) == ("e1", "superseded")
    assert (evidence.name, evidence.where) == ("e3", "3 of 4, 1 episode since")
    assert evidence.found is not None
    assert evidence.found.text == "found at rank 2"
    assert evidence.ack == "stored, 1 item"


def test_the_strip_shows_where_episodes_stood(made):
    """Evidence on top of what hits name."""
    episodes = page_of(made, "q3").episodes
    marks = {(mark.kind, mark.x) for mark in episodes.marks}
    assert marks == {("hit", 12.5), ("hit", 62.5), ("stale", 12.5), ("evidence", 62.5)}
    assert episodes.marks[-1].kind == "evidence"


def test_hits_say_what_they_are(made):
    """Evidence, superseded, or from nowhere."""
    (search,) = page_of(made, "q3").searches
    assert [hit.kind for hit in search.hits] == ["stale", "relevant", "other"]
    assert search.own
    assert search.said == "3 hits, evidence at 2"
    assert "(void)" in search.hits[2].note


def test_it_is_graded_on_the_spot(made):
    """As `memrig score` would, with nothing written: a run in flight has no grades."""
    before = contents(made.directory.root)
    scores = {score.head: score.value for score in page_of(made, "q3").scores}
    assert scores["R@1"] == "0.0"
    assert contents(made.directory.root) == before
    report = memrig.score(made.directory.root)
    assert report.value("recall_any@1").value == 0
    grades = made.directory.grades.read_bytes().splitlines()
    kept = next(g for g in map(json.loads, grades) if g["question_id"] == "q3")
    assert scores == {metric_head(name): percent(v) for name, v in kept["scores"].items()}


def test_what_was_answered_and_cited(made):
    """With the memory that the answer cites."""
    answer = page_of(made, "q1").answer
    assert answer is not None
    assert answer.text == ("the attic",)
    (cited,) = answer.cited
    assert (cited.handle, cited.relevant) == ("m1", True)
    assert cited.text == "Ada: the blue kettle is in the attic"


def test_what_it_cost(made):
    """Time, and how much of it was the memory's; bytes, and how many were allowed."""
    cost = {row.name: (row.value, row.note) for row in page_of(made).cost}
    assert cost["Time"] == ("8.00 ms", "budget 5 s")
    assert cost["of it, the memory system"][0] == "6.00 ms"
    assert cost["Returned by the memory"] == ("300 B", "budget 4.0 MiB")


def test_a_judges_votes_are_shown(tmp_path):
    """Each with what it said; and their score is the one that is graded."""
    made = made_run(tmp_path / "run", judge="judge-1", protocol="answer-judge", mode="reader")
    votes = [vote(1, "yes"), vote(0, "no"), vote(1, "yes again")]
    save_verdict(made, votes, score=1, agreement=2 / 3)
    (ruling,) = page_of(made, "q1").rulings
    assert (ruling.task, ruling.badge.text) == ("answer", "right")
    assert [line.reply for line in ruling.votes] == ["yes", "no", "yes again"]
    assert "judge-1" in ruling.note


def vote(score: float, reply: str) -> Vote:
    return Vote(score=score, reply=reply, input_tokens=10, output_tokens=2, cost_usd=0.5)


def save_verdict(made: Made, votes: list[Vote], score: float, agreement: float) -> None:
    verdict = Verdict(
        trial_id=made.spec.trial_id,
        scenario_id="small",
        question_id="q1",
        protocol="answer-judge",
        model="judge-1",
        task="answer",
        votes=tuple(votes),
        quorum=2,
        score=score,
        agreement=agreement,
    )
    path = made.directory.verdicts_of(made.spec.trial_id)
    path.parent.mkdir()
    path.write_bytes(canonical_json(verdict) + b"\n")


def test_a_question_that_waits_says_so(tmp_path):
    """What it will be asked about is there already."""
    made = made_run(tmp_path / "run", settled=2, sealed=False)
    page = page_of(made, "q4")
    assert not page.settled
    assert [badge.text for badge in page.badges][-1] == "not settled yet"
    assert page.searches == ()
    assert page.episodes.evidence[-1].found is None


def test_a_question_of_a_trial_in_flight_is_whole(tmp_path):
    """Once it is settled, whatever its trial is at."""
    made = made_run(tmp_path / "run", settled=2, sealed=False)
    with hold(made.directory.root), hold(made.partial):
        page = page_of(made, "q2")
    assert page.settled
    assert page.scores


def test_a_record_in_use_is_left_alone(tmp_path):
    """SQLite would lock it; the rest of the page does not need it."""
    made = made_run(tmp_path / "run")
    path = made.transcript
    call = (
        '{"purpose":"reader","model":"m","served_model":"m","key":"k","input_tokens":1,'
        '"output_tokens":1,"cost_usd":null,"ns":5,"attempts":1}'
    )
    path.write_text(path.read_text("utf-8").replace('"model_calls":[]', f'"model_calls":[{call}]'))
    made.directory.record.write_bytes(b"")
    log = made.directory.root / "llm.sqlite-wal"
    log.write_bytes(b"")
    page = page_of(made)
    assert page.silent.startswith("the record is in use")
    assert [one.what for one in page.calls] == ["1. reader: m"]


async def test_the_page_leads_to_its_place_in_the_timeline(made):
    """The event that it is."""
    asker = client(made.directory.root.parent)
    page = page_of(made, "q3")
    path, _, anchor = page.timeline.partition("#")
    events = Page((await asker.get(path)).text)
    (event,) = (e for e in events.all("li") if e.attributes.get("id") == anchor)
    assert "what is the cat called" in event.text
    assert event.attributes["class"] == "question"


async def test_neighbours_are_a_link_away(made):
    """The question before, and the one after it."""
    asker = client(made.directory.root.parent)
    href = links.question("run", made.spec.trial_id, "small", "q2")
    page = Page((await asker.get(href)).text)
    near = {
        e.attributes["rel"]: e.attributes["href"] for e in page.all("a") if "rel" in e.attributes
    }
    assert near["prev"] == links.question("run", made.spec.trial_id, "small", "q1")
    assert near["next"] == links.question("run", made.spec.trial_id, "small", "q3")


@pytest.mark.parametrize(
    ("scenario", "name"), [("small", "q9"), ("elsewhere", "q1"), ("", ""), ("../small", "q1")]
)
async def test_what_is_not_there_is_a_page_that_says_so(made, scenario, name):
    """And no traceback."""
    asker = client(made.directory.root.parent)
    answer = await asker.get(links.question("run", made.spec.trial_id, scenario, name))
    assert answer.status == 404
    assert "This cannot be shown" in answer.text


async def test_a_changed_scenario_is_told(made):
    """What was asked cannot be vouched for any more; the page is shown all the same."""
    files = made.directory.scenarios.iterdir()
    (path,) = (file for file in files if not file.name.endswith(".gold.jsonl"))
    path.write_text(path.read_text("utf-8").replace("blue kettle", "red kettle"), "utf-8")
    answer = await client(made.directory.root.parent).get(
        links.question("run", made.spec.trial_id, "small", "q1")
    )
    assert answer.status == 200
    assert "was changed since planning" in answer.text


async def test_a_long_text_is_folded(tmp_path):
    """So that what comes after it is in sight; all of it is there to be opened."""
    made = made_run(tmp_path / "run", text="a long story " * 80)
    asker = client(tmp_path)
    text = (await asker.get(links.question("run", made.spec.trial_id, "small", "q1"))).text
    folds = [e for e in Page(text).all("details") if e.attributes.get("class") == "long"]
    assert folds
    assert all("open" not in e.attributes for e in folds)
    lead = Page(text).all("summary")
    assert max(len(words(e.text)) for e in lead if e.text.startswith("Ada")) < 200
    assert folds[0].text.count("a long story") > 80
