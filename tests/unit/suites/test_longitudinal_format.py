"""Longitudinal files are refused for what no run can do with them: member, id, value and fix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.model.longitudinal import FORMAT, QUESTION_TYPES
from memrig.suites.longitudinal_format import read_dataset
from memrig.suites.longitudinal_lint import lint_dataset
from memrig.suites.problems import Problem, errors_of, refusal
from support.longitudinal import dataset, episode, question, spoilt

OWN = {"format": FORMAT, "name": "mine"}


def faults(raw: object) -> list[Problem]:
    problems, made = read_dataset(raw)
    errors = errors_of(problems)
    assert (made is None) == bool(errors)
    return errors


def first_episode(raw):
    return raw["scopes"][0]["episodes"][0]


def first_question(raw):
    return raw["questions"][0]


def truth(raw):
    return first_question(raw)["ground_truth"]


def test_a_sound_file_has_no_defect():
    """LENS's, and our own, which has a format and a name more."""
    assert read_dataset(dataset("one", "two"))[0] == []
    problems, made = read_dataset(dataset() | OWN)
    assert problems == []
    assert made
    assert (made.name, made.version) == ("mine", "1")


EPISODE, QUESTION = "episode 'one_ep_001'", "question 'one_q1'"
TRUTH = f"{QUESTION}: ground_truth"
SPOILT = [
    (lambda d: d.pop("version"), "version", "section is missing", "add version"),
    (lambda d: d.update(version=1), "version", "expected str, got int 1", "put text"),
    (lambda d: d.pop("scopes"), "scopes", "section is missing", "add scopes"),
    (lambda d: d.update(scopes=[]), "scopes", "is empty", "at least one"),
    (lambda d: d.update(scopes={}), "scopes", "expected list, got dict", "put a list"),
    (lambda d: d.pop("questions"), "questions", "section is missing", "--distractor-file"),
    (lambda d: d.update(questions=[]), "questions", "is empty", "at least one"),
    (lambda d: d.update(format="memrig.longitudinal/9"), "format",
     "is 'memrig.longitudinal/9', expected 'memrig.longitudinal/1'", "leave format out"),
    (lambda d: d.update(format=FORMAT), "name", "section is missing", "add name"),
    (lambda d: d["scopes"][0].pop("scope_id"), "scopes[0]: scope_id", "is missing", "add"),
    (lambda d: d["scopes"][0].update(episodes=[]), "scope 'one': episodes", "is empty", "one"),
    (lambda d: d["scopes"][0].update(domain=3), "scope 'one': domain", "expected str", "text"),
    (lambda d: first_episode(d).pop("episode_id"), "scopes[0].episodes[0]: episode_id",
     "is missing", "add episode_id"),
    (lambda d: first_episode(d).pop("timestamp"), f"{EPISODE}: timestamp", "is missing", "add"),
    (lambda d: first_episode(d).update(timestamp="2025-01-06T00:00:00T10:30:00"),
     f"{EPISODE}: timestamp", "'2025-01-06T00:00:00T10:30:00' is no ISO 8601", "write it as"),
    (lambda d: first_episode(d).update(timestamp="soon"), f"{EPISODE}: timestamp",
     "'soon' is no ISO 8601", "write it as"),
    (lambda d: first_episode(d).update(timestamp="0001-01-01T00:00:00+09:00"),
     f"{EPISODE}: timestamp", "is no ISO 8601", "write it as"),
    (lambda d: first_episode(d).update(timestamp=7), f"{EPISODE}: timestamp", "got int 7", "text"),
    (lambda d: first_episode(d).update(text=" "), f"{EPISODE}: text", "is empty", "put text"),
    (lambda d: first_episode(d).update(text=None), f"{EPISODE}: text", "got nothing", "text"),
    (lambda d: first_episode(d).update(text="a\ud83d"), f"{EPISODE}: text", "surrogate", "repair"),
    (lambda d: first_episode(d).pop("scope_id"), f"{EPISODE}: scope_id", "is missing", "add"),
    (lambda d: first_episode(d).update(meta=[1]), f"{EPISODE}: meta", "expected dict", "object"),
    (lambda d: first_episode(d).update(meta=""), f"{EPISODE}: meta", "expected dict", "object"),
    (lambda d: first_episode(d)["meta"].update(episode_type=1), f"{EPISODE}: meta.episode_type",
     "expected str, got int 1", "put text"),
    (lambda d: d["scopes"][0]["episodes"].append("x"), "scopes[0].episodes[4]",
     "expected dict, got str 'x'", "put a JSON object"),
    (lambda d: first_question(d).pop("question_id"), "questions[0]: question_id", "missing", "add"),
    (lambda d: first_question(d).update(scope_id="ome"), f"{QUESTION}: scope_id",
     "there is no scope 'ome'", "one of: one"),
    (lambda d: first_question(d).update(question_type="null_hypotesis"),
     f"{QUESTION}: question_type", "there is no question type 'null_hypotesis'",
     "one of: null_hypothesis"),
    (lambda d: first_question(d).update(prompt=""), f"{QUESTION}: prompt", "is empty", "put text"),
    (lambda d: first_question(d).update(checkpoint_after=0), f"{QUESTION}: checkpoint_after",
     "is 0, and the scope has 4 episodes", "give 1 to 4"),
    (lambda d: first_question(d).update(checkpoint_after=5), f"{QUESTION}: checkpoint_after",
     "is 5, and the scope has 4 episodes", "give 1 to 4"),
    (lambda d: first_question(d).update(checkpoint_after=10**400), f"{QUESTION}: checkpoint_after",
     f"is 1{'0' * 59}, and the scope has 4 episodes", "give 1 to 4"),
    (lambda d: first_question(d).update(checkpoint_after=2.0), f"{QUESTION}: checkpoint_after",
     "expected int, got float 2.0", "put a whole number"),
    (lambda d: first_question(d).update(checkpoint_after=True), f"{QUESTION}: checkpoint_after",
     "expected int, got bool True", "put a whole number"),
    (lambda d: first_question(d).pop("ground_truth"), TRUTH, "is missing", "add ground_truth"),
    (lambda d: first_question(d).update(ground_truth={}), TRUTH, "is empty", "fill it in"),
    (lambda d: truth(d).update(canonical_answer=""), f"{TRUTH}: canonical_answer", "empty", "text"),
    (lambda d: truth(d).pop("key_facts"), f"{TRUTH}: key_facts", "is missing", "add key_facts"),
    (lambda d: truth(d).update(key_facts=["a | "]), f"{TRUTH}: key_facts[0]",
     "has an empty alternative", "write the fact"),
    (lambda d: truth(d).update(key_facts="a"), f"{TRUTH}: key_facts", "expected list", "a list"),
    (lambda d: truth(d).update(required_evidence_refs=["one_ep_01"]),
     f"{TRUTH}.required_evidence_refs", "names 'one_ep_01', which is no episode of scope 'one'",
     "name an episode of the scope: one of: one_ep_001"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "where", "message", "fix"), SPOILT)
def test_a_defect_is_named_by_place_value_and_fix(change, where, message, fix):
    """One fault for one defect: the place is the id where there is one."""
    (found,) = faults(spoilt(change))
    assert found.where == where
    assert message in found.message
    assert fix in found.fix


@pytest.mark.parametrize("raw", [None, [], "x", 3, {}])
def test_what_is_no_object_is_refused_as_a_whole(raw):
    """Or an empty one."""
    (found,) = faults(raw)
    assert found.where == "(top level)"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def places(value: object) -> list[tuple[object, object]]:
    """Every container of a JSON value with every key in it."""
    keys = list(value) if isinstance(value, dict) else []
    keys = list(range(len(value))) if isinstance(value, list) else keys
    return [(value, key) for key in keys] + [
        place
        for key in keys
        for place in places(value[key])  # type: ignore[index]
    ]


@given(st.data(), JSON)
def test_whatever_stands_anywhere_is_read_or_named(data, value):
    """Never a crash, and never a dataset with a hole in it."""
    raw = dataset("one", "two")
    container, key = data.draw(st.sampled_from(places(raw)))
    container[key] = value
    problems, made = read_dataset(raw)
    assert (made is None) == bool(errors_of(problems))
    for scope in made.scopes if made else ():
        known = {item.episode_id for item in scope.episodes}
        assert all(item.text.strip() and item.episode_id for item in scope.episodes)
        for item in scope.questions:
            assert set(item.evidence) <= known
            assert 1 <= item.checkpoint <= len(known)
            assert item.question_type in QUESTION_TYPES
    lint_dataset(raw)


def test_ids_occur_once_in_the_whole_file():
    """Of episodes, questions and scopes; the earlier place is named."""
    raw = dataset("one", "two")
    raw["scopes"][1]["episodes"][0]["episode_id"] = "one_ep_001"
    raw["questions"][3]["question_id"] = "one_q1"
    first, second = faults(raw)
    assert (first.where, second.where) == (
        "scopes[1].episodes[0]: episode_id", "questions[3]: question_id",
    )  # fmt: skip
    assert first.message == "'one_ep_001' occurs twice: also at scopes[0].episodes[0]"
    assert second.message == "'one_q1' occurs twice: also at questions[0]"
    twice = faults(dataset("one") | {"scopes": dataset("one")["scopes"] * 2})
    assert twice[0].where == "scopes[1]: scope_id"


def test_evidence_of_another_scope_is_named_as_such():
    """It exists, and not here."""
    raw = dataset("one", "two")
    truth(raw)["required_evidence_refs"] = ["two_ep_001"]
    (found,) = faults(raw)
    assert found.message.endswith("which is no episode of scope 'one' but of 'two'")


def test_every_defect_is_found_and_a_run_names_the_first_and_how_many_more():
    """`memrig data lint` lists them."""
    raw = dataset()
    for item in raw["scopes"][0]["episodes"][:3]:
        item["timestamp"] = "x"
    error = refusal(faults(raw), "my.json")
    assert error.where == "my.json: episode 'one_ep_001': timestamp"
    assert error.message.endswith("(and 2 more; see `memrig data lint`)")


def test_times_without_a_zone_are_utc_and_others_are_turned_into_it():
    """One clock for a whole stream."""
    raw = dataset()
    first_episode(raw)["timestamp"] = "2024-01-01T10:00:00+02:00"
    made = read_dataset(raw)[1]
    assert made
    stamps = [e.timestamp.isoformat() for e in made.scopes[0].episodes[:2]]
    assert stamps == ["2024-01-01T08:00:00+00:00", "2024-01-02T10:00:00+00:00"]


def test_episodes_are_put_into_time_order_and_equal_times_keep_the_files():
    """A stable sort: checkpoints count in it."""
    raw = dataset()
    raw["scopes"][0]["episodes"] = [
        episode("one", 4), episode("one", 2, timestamp="2024-01-01T00:00:00"),
        episode("one", 3, timestamp="2024-01-01T00:00:00"), episode("one", 1),
    ]  # fmt: skip
    made = read_dataset(raw)[1]
    assert made
    assert [e.episode_id[-1] for e in made.scopes[0].episodes] == ["2", "3", "1", "4"]
    assert not made.scopes[0].as_filed


def test_a_distractor_is_told_by_its_meta_and_else_by_its_id():
    """LENS's files have both; others may have either, or neither."""
    raw = dataset(episodes=4)
    given = raw["scopes"][0]["episodes"]
    given[0]["episode_id"], given[0]["meta"] = "one_dx_x_1", None
    given[1]["meta"] = {"episode_type": "distractor", "theme": "t"}
    given[2]["meta"] = {"episode_type": "else"}
    given[3].pop("meta")
    raw["questions"] = [question("one", 1, 3)]
    made = read_dataset(raw)[1]
    assert made
    assert [e.kind for e in made.scopes[0].episodes] == ["distractor", "distractor", "", ""]


def test_a_file_that_only_gives_episodes_needs_no_questions():
    """Such as a stream of distractors: a whole file's or not."""
    raw = dataset()
    raw["questions"] = "whatever"
    problems, made = read_dataset(raw, questions=False)
    assert problems == []
    assert made
    assert len(made.scopes[0].episodes) == 4


def test_members_that_the_format_does_not_have_are_a_warning_each():
    """Named once, with their number: a misspelt one would be lost in silence."""
    raw = dataset()
    for item in raw["scopes"][0]["episodes"]:
        item["colour"] = "red"
    truth(raw)["keyfacts"] = []
    problems, made = read_dataset(raw)
    assert made
    assert [(p.severity, p.where) for p in problems] == [
        ("warning", "episode"), ("warning", "ground truth"),
    ]  # fmt: skip
    assert "'colour' is none of the format's and is ignored (4 times)" in problems[0].message


def test_episodes_that_name_another_scope_are_a_warning():
    """Where they stand counts."""
    raw = dataset()
    for item in raw["scopes"][0]["episodes"]:
        item["scope_id"] = "elsewhere"
    (problem,), made = read_dataset(raw)
    assert made
    assert (problem.severity, problem.where) == ("warning", "scope 'one'")
    assert "'elsewhere': 4" in problem.message


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_every_type_of_question_is_read(kind):
    """The ten of LENS."""
    problems, made = read_dataset(spoilt(lambda d: first_question(d).update(question_type=kind)))
    assert problems == []
    assert made
    assert made.scopes[0].questions[0].question_type == kind
