"""Every answer of the suite, worked out again from the question's words and the turns' texts."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path

import pytest

from memrig.suites.longhorizon.files import write_world
from memrig.suites.longhorizon.spec import QUESTIONS_FILE, TURNS_FILE, WorldSpec
from support.longhorizon_again import Listed, Result, answer
from support.longhorizon_asked import Query, meanings
from support.longhorizon_gold import agrees, wrong_ones
from support.longhorizon_heard import Fact, Memory, MisreadError, heard

CATEGORIES = 15
#: One world in the fast lane; five more, 1,000 questions, in the whole.
FAST = WorldSpec(5, turns=1_000, questions=150)
WHOLE = (
    WorldSpec(11, turns=1_500, questions=200),
    WorldSpec(12, turns=1_500, questions=200, question_set="holdout"),
    WorldSpec(13, turns=2_000, questions=200, question_set="holdout"),
    WorldSpec(42, turns=1_500, questions=200),
    WorldSpec(123, turns=1_200, questions=200),
)
WORLDS = [
    pytest.param(FAST, id="fast"),
    *(
        pytest.param(spec, id=f"{spec.question_set}-{spec.seed}", marks=pytest.mark.slow)
        for spec in WHOLE
    ),
]
#: What may be loaded of the suite where answers are worked out again: what fields there are.
ALLOWED = {"memrig.suites.longhorizon.schema", "memrig.suites.longhorizon.model"}
#: What only works where the first kind of thing has several values: what each is, not how many.
_COUNTED = {"spread": "count"}


@dataclass(frozen=True)
class Asked:
    """A question: its words, its gold, and what was heard before it."""

    given: Mapping
    means: tuple[Query, ...]
    told: tuple[Fact, ...]
    evidence: tuple[Fact, ...]

    @property
    def today(self) -> date:
        return date.fromisoformat(self.given["as_of_day"])

    @property
    def gold(self) -> Mapping:
        return self.given["answer"]

    @property
    def query(self) -> Query:
        return self.means[0]

    def from_evidence(self, without: str = "", wanted: str = "") -> Result:
        query = replace(self.query, wanted=wanted) if wanted else self.query
        return answer(query, Memory(self.evidence, self.today, {without}))

    def from_all(self, *without: str) -> Result:
        return answer(self.query, Memory(self.told, self.today, without))


@dataclass(frozen=True)
class World:
    """A world as it is written out, read by nothing but its texts."""

    turns: tuple[Mapping, ...]
    questions: tuple[Mapping, ...]

    @cached_property
    def heard(self) -> tuple[tuple[Fact, ...], ...]:
        return tuple(heard(turn) for turn in self.turns)

    @cached_property
    def asked(self) -> tuple[Asked, ...]:
        return tuple(self._asked())

    def _asked(self) -> Iterator[Asked]:
        places = {turn["turn_id"]: n for n, turn in enumerate(self.turns)}
        for question in self.questions:
            told = tuple(f for facts in self.heard[: question["asked_after"]] for f in facts)
            shown = (self.heard[places[name]] for name in question["evidence"])
            evidence = tuple(fact for facts in shown for fact in facts)
            yield Asked(question, meanings(question["text"]), told, evidence)


@pytest.fixture(scope="module", params=WORLDS)
def world(request, tmp_path_factory) -> World:
    folder: Path = tmp_path_factory.mktemp("world")
    write_world(request.param, lambda name: (folder / name).open("wb"))
    read = (
        tuple(json.loads(line) for line in (folder / name).read_bytes().splitlines())
        for name in (TURNS_FILE, QUESTIONS_FILE)
    )
    made = World(*read)
    assert len(made.questions) == request.param.questions
    return made


def per_category(asked: list[Mapping] | tuple[Mapping, ...]) -> Counter[str]:
    return Counter(question["category"] for question in asked)


def test_nothing_of_the_generator_is_loaded():
    """Whoever works out the answers again knows the fields and the phrasings, and no program."""
    names = ("words", "heard", "asked", "again", "gold")
    code = "".join(f"import support.longhorizon_{name}\n" for name in names)
    code += "import sys; print('\\n'.join(m for m in sys.modules if '.longhorizon.' in m))"
    folder = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, check=True, text=True
    )
    assert set(done.stdout.split()) == ALLOWED


def test_every_question_is_understood_in_one_way(world):
    """By its words alone; nothing else of the question is looked at."""
    unclear = [(len(a.means), a.given["text"]) for a in world.asked if len(a.means) != 1]
    assert unclear == []


def test_the_evidence_alone_gives_the_gold(world):
    """Value, unit, members, order and pairs, in every category; no question is passed over.

    Where the gold is that nobody can know, there is no evidence, and nothing gives an answer.
    """
    again = []
    for asked in world.asked:
        result = asked.from_evidence()
        assert agrees(result, asked.gold, asked.query), (asked.given["text"], result, asked.gold)
        again.append(asked.given)
    assert per_category(again) == per_category(world.questions)
    assert len(per_category(again)) == CATEGORIES


def test_all_that_was_told_gives_the_same(world):
    """With everything told before the question, no other value is right."""
    for asked in world.asked:
        result = asked.from_all()
        assert agrees(result, asked.gold, asked.query), (asked.given["text"], result, asked.gold)


def test_what_a_question_is_graded_on_beside_agrees_too(world):
    """The gold of each dimension: the exact figure, the order, who claims what."""
    graded = Counter()
    for asked in world.asked:
        for aspect in asked.given["aspects"]:
            gold = aspect["answer"]
            result = asked.from_all()
            assert agrees(result, gold, asked.query), (asked.given["text"], result, gold)
            graded[aspect["dimension"]] += 1
    assert set(graded) == {"specificity", "temporal_awareness", "source_attribution"}


def test_no_wrong_value_is_the_right_one(world):
    """What counts as a confusion is never what is asked for."""
    seen = 0
    for asked in world.asked:
        wrong = wrong_ones(asked.gold, asked.query)
        seen += len(wrong)
        right = asked.from_all()
        values = right.values if isinstance(right, Listed) else (right,)
        assert not any(value in wrong for value in values), (asked.given["text"], right, wrong)
    assert seen > len(world.questions) // 2


def test_every_turn_of_the_evidence_is_needed(world):
    """Without any one of them the rest gives another answer, or none."""
    for asked in world.asked:
        # Two entries may show the same machine: there each must be one of those looked at.
        wanted = _COUNTED.get(asked.query.wanted, "")
        whole = asked.from_evidence(wanted=wanted)
        for turn in asked.given["evidence"]:
            less = asked.from_evidence(without=turn, wanted=wanted)
            assert less != whole, (asked.given["text"], turn)


def test_nothing_but_the_evidence_tells_it(world):
    """Without the evidence, all else that was told gives another answer; for a lookup, none."""
    lookups = 0
    for asked in world.asked:
        if not asked.given["evidence"]:
            continue
        rest = asked.from_all(*asked.given["evidence"])
        assert not agrees(rest, asked.gold, asked.query), (asked.given["text"], rest)
        if asked.given["operation"] == "lookup":
            assert rest is None, (asked.given["text"], rest)
            lookups += 1
    assert lookups >= CATEGORIES


def test_evidence_and_stale_turns_were_told_before(world):
    """Both lie before the question, in the order told, and no turn is both."""
    for question in world.questions:
        evidence, stale = question["evidence"], question["stale"]
        assert evidence == sorted(set(evidence))
        assert not set(evidence) & set(stale)
        assert all(turn <= question["as_of_turn"] for turn in [*evidence, *stale])
        assert bool(evidence) is question["answerable"]


def test_stale_turns_tell_another_value_of_the_same(world):
    """Each says something, under a head that the answer rests on, that holds no more."""
    by_turn = {facts[0].turn: facts for facts in world.heard if facts}
    seen = 0
    for asked in world.asked:
        rested = {(fact.predicate, fact.entity): fact.value for fact in asked.evidence}
        shared = {cond.predicate: cond.value for cond in asked.query.conds}
        for turn in asked.given["stale"]:
            told = [(f.predicate, f.entity, f.value) for f in by_turn[turn]]
            other = any(rested.get((p, e), v) != v for p, e, v in told)
            left = any(shared.get(p) == v for p, _, v in told)
            assert other or left, (asked.given["text"], told)
            seen += 1
    assert seen > CATEGORIES


def test_what_is_told_of_a_change_fits_what_was_told_before(world):
    """An old value was in force, a withdrawal brings back the one before, nothing is new twice."""
    whole = Memory((f for facts in world.heard for f in facts), date.max)
    seen = Counter()
    for predicate, entity in whole.keys:
        facts = whole.about(predicate, entity)
        for place, fact in enumerate(facts):
            held = Memory(facts[:place], fact.heard).course(predicate, entity)
            seen[fact.told] += 1
            if fact.told == "stated":
                assert not held, fact
            elif fact.told in {"updated", "updated_later", "corrected", "retracted"}:
                assert held, fact
                assert fact.old in {None, held[-1].value}, fact
                assert fact.value != held[-1].value, fact
            if fact.told == "retracted":
                assert held[-2].value == fact.value, fact
            elif fact.told in {"supposed", "rumoured"}:
                assert fact.value not in {h.value for h in held}, fact
    assert len(seen) >= 8


def _spoiled(gold: Mapping) -> Mapping:
    """The same gold with another value."""
    kind = gold["type"]
    if kind == "abstention":
        return {"type": "entity", "value": "something"}
    if kind == "mapping":
        first, *rest = gold["entries"]
        return {**gold, "entries": [{**first, "key": "Auditor Nobody"}, *rest]}
    changed = {
        "number": lambda: {"value": gold["value"] + 1},
        "date": lambda: {"value": "2029-01-01"},
        "entity": lambda: {"value": f"{gold['value']} or so"},
        "text": lambda: {"key_facts": [*gold["key_facts"][1:], "something"]},
        "set": lambda: {"items": gold["items"][1:]},
    }
    return {**gold, **changed[kind]()}


def test_a_wrong_gold_is_noticed(world):
    """Every gold that is changed a little disagrees with what was worked out."""
    kinds = set()
    for asked in world.asked:
        assert not agrees(asked.from_all(), _spoiled(asked.gold), asked.query), asked.given["text"]
        kinds.add(asked.gold["type"])
    assert kinds >= {"number", "date", "entity", "text", "set", "mapping", "abstention"}


@pytest.mark.parametrize(
    "text", ["The weather is fine.", "The budget of Project X is high.", "The desk is A-101."]
)
def test_what_cannot_be_read_is_no_small_talk(text):
    """A sentence of another wording raises: nothing is passed over."""
    turn = {"turn_id": "t000000", "told_at": "2031-05-05T08:00:00Z", "speaker": "Ivo", "text": text}
    with pytest.raises(MisreadError, match="0 readings"):
        heard(turn)


def test_other_words_are_no_question():
    """A question that nobody foresaw has no meaning here, and so cannot agree by chance."""
    assert meanings("How is the weather?") == ()
