"""A judge measured: by judges whose faults are known."""

import json
from contextlib import asynccontextmanager

import pytest

from memrig import api
from memrig.errors import GatewayError, IncompleteError
from memrig.grading.judges import generic, locomo, longmemeval
from memrig.judging.calibrate import Calibration, Changes, Confusion, Rate, calibrate, kappa
from memrig.judging.labels import LabelledAnswer, default_labels
from memrig.model.chat import CallContext
from support.judges import ScriptedJudge, blocks_of

GRADER = generic.GRADER


def labelled(name: str, *, label: bool, **fields: object) -> LabelledAnswer:
    given = {"question": "q", "gold": "red", "answer": "red" if label else "blue"}
    return LabelledAnswer.model_validate({"id": name, "label": label} | given | fields)


SET = (
    labelled("r1", label=True),
    labelled("r2", label=True, answer="it is red"),
    labelled("r3", label=True, answer="it is red, red indeed", pair="r2"),
    labelled("w1", label=False, kind="specific-wrong"),
    labelled("w2", label=False, kind="vague-wrong", answer="some colour"),
    labelled("w3", label=False, kind="vague-wrong", answer="a warm colour"),
)


def says(judge) -> ScriptedJudge:
    """A judge by a function of the blocks, in their order."""

    def reply(prompt: str, _: CallContext) -> str:
        verdict = judge(blocks_of(prompt))
        return json.dumps({"correct": verdict}) if isinstance(verdict, bool) else verdict

    return ScriptedJudge(reply)


def perfect(blocks: dict[str, str]) -> bool:
    return blocks["reference"] in blocks["answer"]


async def measured(judge, items=SET, grader=GRADER) -> Calibration:
    return await calibrate(says(judge), "judge", grader, items)


async def test_a_judge_without_fault_measures_as_one():
    """Every count is that of the set."""
    result = await measured(perfect)
    assert (result.labelled, result.graded, result.right, result.ungraded) == (6, 6, 6, 0)
    assert result.confusion == Confusion(true_positive=3, true_negative=3)
    assert (result.kappa, result.agreement) == (1.0, 1.0)
    assert result.position == result.verbosity == Changes(compared=6, to_right=0, to_wrong=0)
    assert result.pairs == Changes(compared=1, to_right=0, to_wrong=0)
    assert result.served_models == ("judge-1",)


async def test_every_answer_is_judged_three_times_and_all_of_it_is_counted():
    """As asked, swapped, padded: times three votes."""
    result = await measured(perfect)
    assert (result.calls, result.input_tokens) == (6 * 3 * 3, 6 * 3 * 3 * 100)
    assert result.cost_usd == pytest.approx(0.54)


async def test_errors_are_told_by_kind():
    """A judge that takes any answer about a colour."""
    result = await measured(lambda b: "colour" in b["answer"] or perfect(b))
    assert result.confusion == Confusion(true_positive=3, false_positive=2, true_negative=1)
    assert result.false_positives == {
        "specific-wrong": Rate(count=0, of=1),
        "vague-wrong": Rate(count=2, of=2),
    }
    assert result.false_negatives == {"right": Rate(count=0, of=3)}
    assert result.kappa == pytest.approx(1 / 3)


async def test_a_judge_that_hangs_on_the_order_shows_position_bias():
    """It takes whatever comes last for right."""
    result = await measured(lambda b: perfect(b) and list(b)[-1] == "answer")
    assert result.position == Changes(compared=6, to_right=0, to_wrong=3)
    assert result.position.changed == 3
    assert result.verbosity.changed == 0


async def test_a_judge_that_loves_words_shows_verbosity_bias():
    """Longer answers are right to it."""
    result = await measured(lambda b: len(b["answer"]) > 100 or perfect(b))
    assert result.verbosity == Changes(compared=6, to_right=3, to_wrong=0)
    assert result.position.changed == 0


async def test_a_judge_that_dislikes_words_changes_within_pairs():
    """The same answer, longer, is wrong to it."""
    result = await measured(lambda b: perfect(b) and len(b["answer"]) < 12)
    assert result.pairs == Changes(compared=1, to_right=0, to_wrong=1)
    assert result.verbosity == Changes(compared=6, to_right=0, to_wrong=2)


async def test_votes_that_differ_lower_the_agreement():
    """Two to one everywhere."""

    def reply(prompt: str, context: CallContext) -> str:
        verdict = perfect(blocks_of(prompt)) is not (context.vote == 2)
        return json.dumps({"correct": verdict})

    result = await calibrate(ScriptedJudge(reply), "judge", GRADER, SET)
    assert result.agreement == pytest.approx(2 / 3)
    assert result.right == 6


async def test_an_answer_without_a_verdict_is_ungraded_and_in_no_cell():
    """And compared with nothing."""
    result = await measured(lambda b: "I think so" if "colour" in b["answer"] else perfect(b))
    assert (result.ungraded, result.graded, result.right) == (2, 4, 4)
    assert sum(result.confusion.model_dump().values()) == 4
    assert result.position.compared == 4
    assert result.false_positives == {"specific-wrong": Rate(count=0, of=1)}


async def test_one_vote_has_no_agreement():
    """The compatible protocol takes one."""
    judge = ScriptedJudge(lambda prompt, _: "yes" if perfect(blocks_of(prompt)) else "no")
    result = await calibrate(judge, "judge", longmemeval.COMPATIBLE, SET)
    assert (result.agreement, result.right, result.protocol) == (None, 6, "longmemeval-compatible")


TYPED = labelled("t1", label=True, type="temporal-reasoning")
ABSTAINS = labelled("a1", label=True, abstention=True, answer="I cannot know")


@pytest.mark.parametrize(
    ("grader", "labelled_", "left_out"),
    [(longmemeval.STRICT, 3, 0), (GRADER, 2, 1), (locomo.STRICT, 1, 2)],
)
async def test_what_a_protocol_has_no_rule_for_is_left_out_and_counted(grader, labelled_, left_out):
    """LongMemEval's types; abstention."""
    items = (SET[0], TYPED, ABSTAINS)
    result = await measured(lambda _: True, items, grader)
    assert (result.labelled, result.left_out) == (labelled_, left_out)


async def test_a_typed_answer_is_judged_by_its_types_rule():
    """And abstention by its own."""
    judge = says(lambda _: True)
    await calibrate(judge, "judge", longmemeval.STRICT, (TYPED, ABSTAINS))
    prompts = {request.messages[0].text for request, _ in judge.calls}
    assert sum("misses the reference by one" in prompt for prompt in prompts) == 3
    assert sum("cannot be answered" in prompt for prompt in prompts) == 3


async def test_a_judge_that_cannot_be_had_is_not_measured():
    """There is no half calibration."""
    judge = ScriptedJudge(lambda *_: GatewayError("no key", kind="missing_key"))
    with pytest.raises(GatewayError, match="no key"):
        await calibrate(judge, "judge", GRADER, SET)


async def test_the_set_that_ships_tells_a_careless_judge_from_a_strict_one():
    """One says yes to everything; one reads word for word."""
    items = default_labels()
    careless = await measured(lambda _: True, items)
    literal = await measured(
        lambda b: b.get("reference", "unknowable").casefold() == b["answer"].casefold(), items
    )
    assert careless.confusion.false_positive == sum(
        rate.of for rate in careless.false_positives.values()
    )
    assert careless.kappa == 0.0
    assert literal.confusion.false_positive == 0
    assert literal.false_negatives["verbatim"].count == 0
    assert literal.false_negatives["paraphrase"].count == literal.false_negatives["paraphrase"].of
    assert literal.kappa is not None
    assert 0 < literal.kappa < 1


async def test_every_answer_of_the_set_that_ships_is_judged_by_some_protocol():
    """LongMemEval's rules cover them all."""
    judge = ScriptedJudge(lambda *_: "no")
    result = await calibrate(judge, "judge", longmemeval.COMPATIBLE, default_labels())
    assert (result.left_out, result.labelled) == (0, len(default_labels()))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ((20, 5, 15, 10), 0.4),  # the textbook's 35 of 50, chance 0.5
        ((10, 0, 0, 0), None),
        ((0, 0, 0, 0), None),
        ((5, 5, 5, 5), 0.0),
        ((0, 5, 0, 5), -1.0),
    ],
)
def test_kappa_is_cohens(cells, expected):
    """Agreement beyond chance; none where chance alone would agree throughout."""
    names = ("true_positive", "false_positive", "true_negative", "false_negative")
    result = kappa(Confusion(**dict(zip(names, cells, strict=True))))
    assert result == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("answer", ["I would rather not.", ""])
def test_a_judge_that_gives_no_verdict_at_all_is_an_error(answer, monkeypatch):
    """Exit code 4 with the counts: a table of zeros would pass for a measurement."""

    @asynccontextmanager
    async def gateway(*_: object):
        yield ScriptedJudge(lambda _prompt, _context: answer)

    monkeypatch.setattr(api, "bare_gateway", gateway)
    with pytest.raises(IncompleteError, match="no verdict could be had on any of") as caught:
        api.calibrate(api.JudgeSettings("judge"))
    assert caught.value.exit_code == 4
    assert caught.value.fix
    found = caught.value.report
    assert isinstance(found, Calibration)
    assert (found.graded, found.ungraded) == (0, found.labelled)
    assert f"any of {found.labelled} answers in {found.calls} calls" in caught.value.message


def test_a_judge_that_gives_some_verdict_is_measured(monkeypatch):
    """By what there is."""

    @asynccontextmanager
    async def gateway(*_: object):
        yield says(lambda blocks: "a" in blocks["answer"])

    monkeypatch.setattr(api, "bare_gateway", gateway)
    assert api.calibrate(api.JudgeSettings("judge")).graded > 0
