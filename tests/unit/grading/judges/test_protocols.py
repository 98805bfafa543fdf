"""What each protocol asks a judge, of which questions, and what it makes of the verdict."""

import pytest

from memrig.grading.judges import generic, locomo, longmemeval
from memrig.grading.judges.base import JudgeGrader, reference_text
from memrig.model.gold import AbstentionGold, EntityGold, Item, NumberGold, OrderedListGold, SetGold
from memrig.model.judgement import Verdict, Vote
from memrig.model.transcript import AnswerRecord
from memrig.model.trial import Outcome
from support.judges import asked, blocks_of, text_gold

COMPATIBLE, STRICT = longmemeval.COMPATIBLE, longmemeval.STRICT
GRADERS = [COMPATIBLE, STRICT, locomo.LENIENT, locomo.STRICT, generic.GRADER]
TYPES = {
    "single-session-user": "all the steps",
    "single-session-assistant": "all the steps",
    "multi-session": "only a part",
    "temporal-reasoning": "misses the reference by one",
    "knowledge-update": "older values",
    "single-session-preference": "every point of the rubric",
}

#: A changed text is another protocol's version: raise the set's version, then change this.
DIGESTS = {
    "longmemeval-compatible/1": "2bacbdb53285",
    "longmemeval-strict/1": "932b620523f0",
    "locomo-judge/1": "77b1644b0226",
    "locomo-judge-strict/1": "635a677cb33c",
    "answer-judge/1": "cf9a757875ef",
}


def name_of(grader: JudgeGrader) -> str:
    return f"{grader.protocol}/{grader.version}"


def verdict(
    score: float | None,
    *,
    by: JudgeGrader = generic.GRADER,
    reason: str = "",
    agreement: float | None = None,
) -> Verdict:
    return Verdict(
        trial_id="t",
        scenario_id="s1",
        question_id="q1",
        protocol="p",
        model="m",
        task="answer",
        votes=(Vote(score=score),),
        quorum=1,
        score=score,
        agreement=agreement,
        reason=reason,
        grader=name_of(by),
    )


@pytest.mark.parametrize("grader", GRADERS, ids=lambda grader: grader.protocol)
def test_a_prompt_cannot_change_unnoticed(grader):
    """Its digest is pinned to its version, and is part of the grader's."""
    name = f"{grader.protocol}/{grader.prompts.version}"
    assert grader.prompts.digest.removeprefix("sha256:")[:12] == DIGESTS[name]


def test_every_protocol_has_a_version_of_its_own():
    """The same rules under another ballot grade differently."""
    assert len({grader.version for grader in GRADERS}) == len(GRADERS)


@pytest.mark.parametrize("grader", GRADERS, ids=lambda grader: grader.protocol)
def test_a_judge_is_shown_question_gold_and_answer_and_nothing_else(grader):
    """Blind to category, tags, ids and what was retrieved."""
    one = asked("in the loft", category="multi-session", tags=("secret-tag",), hits=("e9",))
    (task,) = grader.tasks(one)
    assert blocks_of(task.prompt) == {
        "question": "Where is the kettle?",
        "reference": "the attic",
        "answer": "in the loft",
    }
    assert not {"multi-session", "secret-tag", "e9", "q1"} & set(task.prompt.split())
    assert task.system == ""


@pytest.mark.parametrize("grader", [COMPATIBLE, STRICT], ids=lambda grader: grader.protocol)
@pytest.mark.parametrize(("kind", "words"), TYPES.items())
def test_longmemeval_judges_each_type_by_its_rule(grader, kind, words):
    """Five rules for six types and abstention."""
    (task,) = grader.tasks(asked(category=kind))
    assert words in task.prompt
    block = "rubric" if kind == "single-session-preference" else "reference"
    assert block in blocks_of(task.prompt)


@pytest.mark.parametrize("kind", TYPES)
def test_abstention_comes_before_the_type(kind):
    """The gold is then an explanation, whatever record carries it."""
    tagged = asked(category=kind, tags=("abstention",), gold=text_gold("only a dog was named"))
    typed = asked(
        category=kind, gold=AbstentionGold(type="abstention", reason="only a dog was named")
    )
    prompts = [task.prompt for one in (tagged, typed) for task in COMPATIBLE.tasks(one)]
    assert prompts[0] == prompts[1]
    assert blocks_of(prompts[0])["explanation"] == "only a dog was named"
    assert "cannot be answered" in prompts[0]


def test_the_compatible_form_is_the_published_one():
    """One vote, ten tokens, yes or no."""
    (task,) = COMPATIBLE.tasks(asked())
    assert (task.votes, task.max_tokens, task.name) == (1, 10, "answer")
    assert task.prompt.endswith("yes or no only.")
    assert [task.parse(reply) for reply in ("Yes", "no", "")] == [1.0, 0.0, None]


@pytest.mark.parametrize("grader", [STRICT, locomo.STRICT, generic.GRADER])
def test_strict_protocols_take_three_votes_in_json(grader):
    """A word is no verdict there."""
    (task,) = grader.tasks(asked())
    assert task.votes == 3
    assert [task.parse(r) for r in ('{"correct": true}', "yes")] == [1.0, None]


def test_the_lenient_locomo_judge_labels_in_one_pass():
    """As popularised."""
    (task,) = locomo.LENIENT.tasks(asked())
    assert task.votes == 1
    assert task.parse('{"label": "WRONG", "reason": "r"}') == 0.0
    assert "Be generous" in task.prompt


@pytest.mark.parametrize("grader", [locomo.LENIENT, locomo.STRICT])
def test_locomo_leaves_category_5_out_and_says_so(grader):
    """By the file's own number, whatever the category is called."""
    one = asked(category="open-domain", tags=("locomo:5",), evidence=("e1",), hits=("e1",))
    assert grader.tasks(one) == ()
    marks = grader.grade(one)
    assert (marks.scores, marks.ungraded) == (
        {},
        "category 5 (adversarial) is left out of this protocol",
    )
    assert grader.tasks(asked(category="open-domain", tags=("locomo:4",)))


def test_an_unknown_longmemeval_type_is_ungraded():
    """No rule is guessed."""
    one = asked(category="riddle")
    assert COMPATIBLE.tasks(one) == ()
    assert COMPATIBLE.grade(one).ungraded == "LongMemEval has no judge's rule for type 'riddle'"


@pytest.mark.parametrize("score", [0.0, 1.0])
def test_the_verdict_is_the_accuracy(score):
    """With the votes' agreement."""
    verdicts = {"answer": verdict(score, agreement=2 / 3)}
    marks = generic.GRADER.grade(asked(verdicts=verdicts))
    assert (marks.scores["accuracy"], marks.agreement, marks.ungraded) == (score, 2 / 3, "")


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [
        ({}, "no judge was asked"),
        ({"answer": verdict(None, reason="1 of 3 votes were valid")}, "1 of 3 votes were valid"),
        ({"answer": verdict(0.5)}, "the votes are split: their median is 0.5"),
    ],
)
def test_without_a_clear_verdict_a_question_is_ungraded(verdicts, reason):
    """Never 0."""
    marks = generic.GRADER.grade(asked(verdicts=verdicts))
    assert (marks.scores, marks.ungraded) == ({}, reason)


@pytest.mark.parametrize("other", [STRICT, None], ids=["protocol", "prompts"])
def test_a_verdict_on_other_terms_is_no_verdict(other):
    """Another protocol's, or one on prompts that have changed since."""
    foreign = verdict(1.0, by=other or generic.GRADER)
    if other is None:
        foreign = foreign.model_copy(update={"grader": "answer-judge/0-00000000"})
    marks = generic.GRADER.grade(asked(verdicts={"answer": foreign}))
    own = name_of(generic.GRADER)
    reason = f"no judge was asked by {own}: the verdict is on the terms of {foreign.grader}"
    assert (marks.scores, marks.ungraded) == ({}, reason)


def test_a_question_without_a_gold_answer_is_ungraded():
    """There is nothing to judge by."""
    one = asked()
    bare = asked(verdicts={"answer": verdict(1.0)})
    object.__setattr__(bare, "gold", one.gold.model_copy(update={"answer": None}))
    assert generic.GRADER.tasks(bare) == ()
    assert generic.GRADER.grade(bare).ungraded == "the data holds no answer"


@pytest.mark.parametrize("answer", [None, "", " \u200b\n"])
def test_who_says_nothing_is_wrong_without_a_judge(answer):
    """A fault of the adapter, an exhausted budget, or blank space."""
    one = asked(answer, outcome=Outcome(status="adapter_error"), evidence=("e1",))
    assert generic.GRADER.tasks(one) == ()
    assert generic.GRADER.grade(one).scores["accuracy"] == 0.0


@pytest.mark.parametrize(("tags", "score"), [(("abstention",), 1.0), ((), 0.0)])
def test_a_declared_abstention_without_words_is_right_only_where_abstaining_is(tags, score):
    """No judge is needed to tell."""
    one = asked(AnswerRecord(text="", abstained=True), tags=tags)
    assert COMPATIBLE.tasks(one) == ()
    assert COMPATIBLE.grade(one).scores == {"accuracy": score}


def test_a_reader_is_also_told_whether_the_evidence_was_found():
    """Beside the verdict, at depths that the search had."""
    one = asked(hits=("e3", "e1"), evidence=("e1",), verdicts={"answer": verdict(1.0)})
    marks = generic.GRADER.grade(one)
    assert marks.scores == {
        "accuracy": 1.0,
        "recall_any@1": 0.0,
        "recall_any@5": 1.0,
        "recall_any@10": 1.0,
    }
    assert marks.rank == 2


@pytest.mark.parametrize("grader", GRADERS, ids=lambda grader: grader.protocol)
@pytest.mark.parametrize("mode", ["reader", "agent", "native"])
def test_a_grader_scores_no_metric_that_it_does_not_declare(grader, mode):
    """Tables follow the declaration; accuracy alone is the headline."""
    one = asked(
        hits=("e1",), evidence=("e1",), verdicts={"answer": verdict(1.0, by=grader)}, mode=mode
    )
    declared = {metric.name for metric in grader.metrics}
    assert set(grader.grade(one).scores) <= declared
    assert grader.metrics[0].name == "accuracy"
    assert [metric.name for metric in grader.metrics if metric.heads("native")] == ["accuracy"]
    assert grader.judge == "required"
    assert mode in grader.modes


def test_the_swapped_form_shows_the_answer_first():
    """The same material in another order, to measure a judge."""
    plain, swapped = generic.GRADER.task(asked()), generic.GRADER.task(asked(), swapped=True)
    assert plain is not None
    assert swapped is not None
    assert list(blocks_of(plain.prompt)) == ["question", "reference", "answer"]
    assert list(blocks_of(swapped.prompt)) == ["question", "answer", "reference"]
    assert blocks_of(plain.prompt) == blocks_of(swapped.prompt)


@pytest.mark.parametrize(
    ("gold", "text"),
    [
        (EntityGold(type="entity", value="Lund", aliases=("Lunden",)), "Lund (or: Lunden)"),
        (
            SetGold(type="set", items=(Item(value="a", aliases=("A",)), Item(value="b"))),
            "a (or: A), b (in any order)",
        ),
        (
            OrderedListGold(type="ordered_list", items=(Item(value="a"), Item(value="b"))),
            "a, b (in this order)",
        ),
        (NumberGold(type="number", value=5, unit="km", tolerance=0.5), "5 km (within 0.5)"),
        (NumberGold(type="number", value=5, unit="km"), "5 km"),
        (AbstentionGold(type="abstention"), "What the system was told does not hold the answer."),
    ],
)
def test_a_typed_gold_tells_the_judge_what_is_as_good(gold, text):
    """Aliases, order and tolerance."""
    assert reference_text(gold) == text


def test_siblings_are_not_shown():
    """The wrong values would put words into the judge's mouth."""
    gold = EntityGold(type="entity", value="Lund", siblings=("Aarhus",))
    assert "Aarhus" not in reference_text(gold)
    assert isinstance(generic.GRADER, JudgeGrader)
