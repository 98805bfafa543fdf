"""LongMemEval's retrieval numbers, against a second computation straight from the file."""

import json
import math
import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.grading.base import Asked, Marks
from memrig.grading.longmemeval_all_turns import GRADER as ALL_TURNS
from memrig.grading.longmemeval_official import GRADER as OFFICIAL
from memrig.grading.longmemeval_retrieval import (
    KS,
    LongMemEvalRetrieval,
    cut_at_sessions,
    official_ndcg,
)
from memrig.grading.ranking import ndcg
from memrig.model.gold import Gold
from memrig.model.scenario import Question, Scenario, episodes_of
from memrig.model.transcript import HitRecord, QuestionRecord, SearchRecord
from memrig.model.trial import Outcome
from memrig.suites.base import SuiteOptions
from memrig.suites.longmemeval import SUITE
from support.data import data_file

QUESTION = Question(question_id="q", text="which")
Scores = dict[str, float]


def hit(*episodes: str | None, turns: tuple[str | None, ...] = ()) -> HitRecord:
    return HitRecord(ref_id="r", text="words", score=1.0, episodes=episodes, turns=turns)


def graded(
    grader: LongMemEvalRetrieval, gold: Gold, hits: Iterable[HitRecord], limit: int = 50
) -> Marks:
    search = SearchRecord(query="q", limit=limit, ns=1, payload_bytes=1, hits=tuple(hits))
    record = QuestionRecord(
        scenario_id="s",
        question_id="q",
        outcome=Outcome(status="answered"),
        ns=1,
        searches=(search,),
    )
    return grader.grade(Asked(QUESTION, record, gold, {}, limit))


def sessions(*evidence: str, turns: tuple[str, ...] = ()) -> Gold:
    return Gold(question_id="q", category="c", evidence=evidence, evidence_turns=turns)


def by_turn(*turns: str) -> Gold:
    """The gold of a run at turn granularity."""
    return sessions(*turns, turns=turns)


# --- the official gain ---------------------------------------------------------------------------


def test_the_official_gain_weighs_ranks_one_and_two_alike():
    """rel₁ + Σ relᵢ / log2(i): the second is divided by log2(2)."""
    relevant = frozenset({"a"})
    assert official_ndcg(["a", "b"], relevant, 5) == official_ndcg(["b", "a"], relevant, 5) == 1.0
    assert official_ndcg(["b", "c", "a"], relevant, 5) == pytest.approx(1 / math.log2(3))
    assert ndcg(["b", "a"], relevant, 5) == pytest.approx(1 / math.log2(3))


def test_the_official_ideal_is_cut_at_k():
    """Two of four within the first two is all that could be."""
    assert official_ndcg(["a", "b", "x"], frozenset("abcd"), 2) == 1.0
    assert official_ndcg(["a", "x", "y"], frozenset("ab"), 3) == pytest.approx(0.5)


def test_the_official_gain_is_zero_without_gold():
    """Not a division by it."""
    assert official_ndcg(["a"], frozenset(), 5) == 0.0


DOCUMENTS = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)


@given(DOCUMENTS, st.frozensets(st.sampled_from("abcdefghij"), min_size=1), st.sampled_from(KS))
def test_the_official_gain_is_a_fraction(ranking, relevant, k):
    """One for an ideal ranking alone."""
    value = official_ndcg(ranking, relevant, k)
    assert 0.0 <= value <= 1.0 + 1e-12
    assert official_ndcg(sorted(relevant), relevant, k) == pytest.approx(1.0)


# --- from turns to sessions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranking", "k", "expected"),
    [
        (["a_1", "b_1", "c_1", "d_1"], 3, 3),
        (["a_1", "a_2", "a_3", "b_1", "c_1", "d_1"], 3, 5),
        (["a_1", "a_2", "b_1"], 3, 3),
        (["a_1", "e_1", "e_2", "b_1"], 3, 3),
        (["e_1", "e_2", "b_1", "c_1"], 3, 3),
        ([None, "a_1", None, "b_1", "c_1"], 2, 4),
        ([], 3, 0),
    ],
)
def test_the_list_is_lengthened_until_k_sessions_are_covered(ranking, k, expected):
    """A session counts twice where turns with and without evidence (e_1, e_2) are met."""
    assert cut_at_sessions(ranking, frozenset({"e_1"}), k) == expected


def test_a_session_is_found_by_a_turn_with_evidence_alone():
    """Another turn of the same session is another document to the official rule."""
    found = graded(OFFICIAL, by_turn("e_1"), [hit("e_2"), hit("a_1"), hit("e_1")])
    assert found.scores["session_recall_any@1"] == 0.0
    assert found.scores["session_recall_any@3"] == 1.0
    plain = graded(ALL_TURNS, by_turn("e_1"), [hit("e_2"), hit("a_1"), hit("e_1")])
    assert plain.scores["session_recall_any@1"] == 1.0
    assert plain.scores["recall_any@1"] == 0.0


def test_session_metrics_belong_to_turn_granularity_and_turn_metrics_to_hits_that_name_turns():
    """What was not told is not scored."""
    gold = sessions("a", turns=("a_1",))
    plain = graded(ALL_TURNS, gold, [hit("a")]).scores
    assert plain["recall_any@1"] == 1.0
    assert not any(name.startswith(("turn_", "session_")) for name in plain)
    told = graded(ALL_TURNS, gold, [hit("a", turns=("a_2", "a_1"))]).scores
    assert told["turn_recall_any@1"] == 0.0
    assert told["turn_recall_any@3"] == 1.0
    split = graded(ALL_TURNS, by_turn("a_1"), [hit("a_1")]).scores
    assert split["session_recall_all@1"] == 1.0
    assert not any(name.startswith("turn_") for name in split)


def test_every_claim_takes_a_rank():
    """Claiming every session earns nothing."""
    everything = [hit(*(f"s{n}" for n in range(48)), "a")]
    found = graded(OFFICIAL, sessions("a"), everything).scores
    assert found["recall_any@30"] == 0.0
    assert found["recall_any@50"] == 1.0


def test_metrics_deeper_than_the_search_are_left_out():
    """They were not measured; ten hits say nothing of thirty."""
    shallow = graded(OFFICIAL, sessions("a"), [hit("a")], limit=10).scores
    assert "recall_any@10" in shallow
    assert not {"recall_any@30", "ndcg_any@50"} & shallow.keys()


def test_a_question_that_cannot_be_scored_is_ungraded_with_its_reason():
    """It counts in no mean."""
    gold = Gold(question_id="q", category="c", scorable=False, note="why")
    marks = graded(OFFICIAL, gold, [hit("a")])
    assert (marks.ungraded, marks.scores) == ("why", {})


def test_finding_nothing_scores_nothing():
    """In every metric of its granularity."""
    for gold in (sessions("a"), by_turn("a_1")):
        scores = graded(OFFICIAL, gold, []).scores
        assert set(scores.values()) == {0.0}
        assert len(scores) == (18 if gold.evidence == ("a",) else 36)


def test_the_metrics_are_declared():
    """Every score has a metric, and recalls are counts of questions."""
    declared = {metric.name: metric for metric in OFFICIAL.metrics}
    for gold, hits in (
        (sessions("a", turns=("a_1",)), [hit("a", turns=("a_1",))]),
        (by_turn("a_1"), [hit("a_1")]),
    ):
        assert graded(OFFICIAL, gold, hits).scores.keys() <= declared.keys()
    assert all(metric.binary != ("ndcg" in name) for name, metric in declared.items())
    assert [m.name for m in OFFICIAL.metrics if m.headline] == [
        "recall_all@5", "recall_all@10", "ndcg_any@5", "ndcg_any@10",
    ]  # fmt: skip
    assert (OFFICIAL.modes, OFFICIAL.judge) == (("retrieval",), "none")
    assert ALL_TURNS.tasks(Asked(QUESTION, None, sessions("a"), {}, 1)) == ()  # type: ignore[arg-type]


# --- an independent computation ------------------------------------------------------------------
# From here on everything is written straight from the facts about the official scripts, over lists
# of document ids and indices, as they have it; nothing of the rig's is used but its answers.


def overlap(question: str, text: str) -> int:
    """A toy system: how many of the question's words a document holds."""
    return len(set(re.findall(r"\w+", question.lower())) & set(re.findall(r"\w+", text.lower())))


def official_corpus(record: dict, by: str) -> tuple[list[str], list[str]]:
    """Document ids, with evidence marked in the id as the official scripts do, and texts."""
    ids, texts = [], []
    pairs = zip(record["haystack_session_ids"], record["haystack_sessions"], strict=True)
    for name, session in pairs:
        users = [t for t in session if t["role"] == "user"]
        if by == "session":
            marked = any(t.get("has_answer") for t in users)
            ids.append(name if marked else name.replace("answer", "noans"))
            texts.append(" ".join(t["content"] for t in users))
            continue
        for place, turn in enumerate(session, 1):
            if turn["role"] == "user":
                marked = "answer" in name and turn.get("has_answer")
                ids.append(f"{name if marked else name.replace('answer', 'noans')}_{place}")
                texts.append(turn["content"])
    return ids, texts


def official_metrics(ranked: list[int], ids: list[str], k: int) -> Scores:
    """recall_any, recall_all and the official nDCG of the first k."""
    gold = {name for name in ids if "answer" in name}
    top = {ids[index] for index in ranked[:k]}
    gains = [float(ids[index] in gold) for index in ranked[:k]]
    best = sorted((float(name in gold) for name in ids), reverse=True)[:k]
    return {
        f"recall_any@{k}": float(bool(gold & top)),
        f"recall_all@{k}": float(gold <= top),
        f"ndcg_any@{k}": dcg(gains) / dcg(best) if dcg(best) else 0.0,
    }


def dcg(gains: list[float]) -> float:
    """The first, and from the second on divided by log2 of the rank."""
    return gains[0] + sum(g / math.log2(i) for i, g in enumerate(gains[1:], 2)) if gains else 0.0


def official_from_turns(ranked: list[int], ids: list[str], k: int) -> Scores:
    """The same over sessions: suffixes stripped, the cut enlarged until k ids are covered."""
    stripped = ["_".join(name.split("_")[:-1]) for name in ids]
    cut = k
    while cut <= len(stripped) and len({stripped[index] for index in ranked[:cut]}) < k:
        cut += 1
    return {
        f"session_{name.partition('@')[0]}@{k}": value
        for name, value in official_metrics(ranked, stripped, cut).items()
    }


def plain_metrics(ranked: list[str], gold: set[str], k: int) -> Scores:
    """The textbook's."""
    gains = [1 / math.log2(i + 1) for i, name in enumerate(ranked[:k], 1) if name in gold]
    best = [1 / math.log2(i + 1) for i in range(1, min(k, len(gold)) + 1)]
    return {
        f"recall_any@{k}": float(bool(gold & set(ranked[:k]))),
        f"recall_all@{k}": float(gold <= set(ranked[:k])),
        f"ndcg_any@{k}": sum(gains) / sum(best),
    }


def toy_order(question: str, texts: list[str], seed: int) -> list[int]:
    """Indices by overlap, ties by chance, so that ranks differ from the file's order."""
    rng = random.Random(seed)  # noqa: S311
    return sorted(range(len(texts)), key=lambda i: (-overlap(question, texts[i]), rng.random()))


def mean(rows: list[Scores]) -> Scores:
    """Of every metric over the questions."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


@pytest.fixture(scope="module", params=["longmemeval_s_subset8.json", "longmemeval_oracle.json"])
def real(request: pytest.FixtureRequest) -> tuple[Path, list[dict]]:
    """Real data, where it is on this machine: whole haystacks of S, and all questions."""
    path = data_file(request.param)
    return path, json.loads(path.read_bytes())


def scenarios(path: Path, protocol: str, granularity: str) -> dict[str, Scenario]:
    options = SuiteOptions(protocol, file=path, granularity=granularity)
    return {scenario.scenario_id: scenario for scenario in SUITE.scenarios(options)}


def ranked_hits(scenario: Scenario, record: dict, seed: int) -> list[HitRecord]:
    """The toy system's whole ranking of what the rig ingested, as hits."""
    episodes = list(episodes_of(scenario.timeline))
    order = toy_order(record["question"], [e.text for e in episodes], seed)
    return [hit(episodes[index].episode_id) for index in order]


@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_official_numbers_are_those_of_an_independent_computation(granularity, real):
    """Every metric at every k, question by question, and the mean."""
    path, records = real
    made = scenarios(path, "longmemeval-official", granularity)
    ours, theirs = [], []
    for seed, record in enumerate(records):
        gold = made[record["question_id"]].gold[record["question_id"]]
        users = [t for s in record["haystack_sessions"] for t in s if t["role"] == "user"]
        left_out = "_abs" in record["question_id"] or not any(t.get("has_answer") for t in users)
        assert gold.scorable != left_out
        if left_out:
            continue
        ids, texts = official_corpus(record, granularity)
        kept = [index for index, text in enumerate(texts) if text.strip()]
        ids, texts = [ids[index] for index in kept], [texts[index] for index in kept]
        order = toy_order(record["question"], texts, seed)
        expected: Scores = {}
        for k in KS:
            expected |= official_metrics(order, ids, k)
            if granularity == "turn":
                expected |= official_from_turns(order, ids, k)
        hits = ranked_hits(made[record["question_id"]], record, seed)
        marks = graded(OFFICIAL, gold, hits, limit=max(50, len(hits)))
        assert marks.scores == pytest.approx(expected), record["question_id"]
        ours.append(dict(marks.scores))
        theirs.append(expected)
    assert len(ours) == (419 if len(records) == 500 else 5)
    assert mean(ours) == pytest.approx(mean(theirs))


@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_all_turns_numbers_are_those_of_an_independent_computation(granularity, real):
    """Both roles, gold by `answer_session_ids` or by marked turns, textbook gain."""
    path, records = real
    made = scenarios(path, "longmemeval-all-turns", granularity)
    count = 0
    for seed, record in enumerate(records):
        if "_abs" in record["question_id"]:
            continue
        names, texts, marked = all_turns_corpus(record, granularity)
        order = [names[index] for index in toy_order(record["question"], texts, seed)]
        gold = marked if granularity == "turn" else set(record["answer_session_ids"])
        expected: Scores = {}
        for k in KS:
            expected |= plain_metrics(order, gold, k)
            if granularity == "turn":
                expected |= over_sessions(order, gold, k)
        scenario = made[record["question_id"]]
        hits = ranked_hits(scenario, record, seed)
        gold_record = scenario.gold[record["question_id"]]
        marks = graded(ALL_TURNS, gold_record, hits, limit=max(50, len(hits)))
        assert marks.scores == pytest.approx(expected), record["question_id"]
        count += 1
    assert count == (470 if len(records) == 500 else 6)


def all_turns_corpus(record: dict, by: str) -> tuple[list[str], list[str], set[str]]:
    """Ids and texts of both roles, and the ids of marked turns."""
    names, texts, marked = [], [], set()
    pairs = zip(record["haystack_session_ids"], record["haystack_sessions"], strict=True)
    for name, session in pairs:
        said = [(n, t) for n, t in enumerate(session, 1) if t["content"].strip()]
        if by == "session":
            names.append(name)
            texts.append("\n".join(f"{t['role']}: {t['content']}" for _, t in said))
            continue
        for place, turn in said:
            names.append(f"{name}_{place}")
            texts.append(f"{turn['role']}: {turn['content']}")
            if turn.get("has_answer"):
                marked.add(names[-1])
    return names, texts, marked


def over_sessions(order: list[str], gold: set[str], k: int) -> Scores:
    """Each session at the place of its first turn."""
    first: list[str] = []
    for name in order:
        session = name.rsplit("_", 1)[0]
        if session not in first:
            first.append(session)
    wanted = {name.rsplit("_", 1)[0] for name in gold}
    return {f"session_{name}": value for name, value in plain_metrics(first, wanted, k).items()}


@pytest.mark.parametrize("granularity", ["session", "turn"])
@pytest.mark.parametrize("grader", [OFFICIAL, ALL_TURNS], ids=lambda grader: grader.protocol)
def test_an_oracle_scores_one_and_the_toy_less(grader, granularity, real):
    """Recall of any and gain at every k, recall of all from the k on that holds all evidence."""
    path, records = real
    toy, ideal = [], []
    for record in records:
        scenario = scenarios_of(path, grader.protocol, granularity)[record["question_id"]]
        gold = scenario.gold[record["question_id"]]
        if gold.scorable:
            marks = graded(grader, gold, [hit(name) for name in gold.evidence])
            ideal.append(dict(marks.scores))
            toy.append(dict(graded(grader, gold, ranked_hits(scenario, record, 0)).scores))
    best, worse = mean(ideal), mean(toy)
    assert all(best[f"recall_any@{k}"] == 1.0 for k in KS)
    assert all(best[f"ndcg_any@{k}"] == pytest.approx(1.0) for k in KS)
    assert best["recall_all@30"] == best["recall_all@50"] == 1.0
    all_evidence = len(records) == 500 and (grader, granularity) == (ALL_TURNS, "session")
    assert worse["ndcg_any@10"] > 0.0
    assert (worse["ndcg_any@10"] < 1.0) != all_evidence  # the oracle file holds nothing else
    assert all(worse[name] <= best[name] + 1e-12 for name in best)


_CACHE: dict[tuple[Path, str, str], dict[str, Scenario]] = {}


def scenarios_of(path: Path, protocol: str, granularity: str) -> dict[str, Scenario]:
    """As `scenarios`, read once."""
    key = path, protocol, granularity
    if key not in _CACHE:
        _CACHE[key] = scenarios(*key)
    return _CACHE[key]
