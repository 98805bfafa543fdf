"""Validators: a sound draft passes all of them, and each refuses what it is there for, by name."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

import pytest

from memrig.generation.model import (
    Draft,
    EpisodeKind,
    Finding,
    PlannedEpisode,
    PlannedQuestion,
)
from memrig.generation.planner import plan_by_formula
from memrig.generation.render import document
from memrig.generation.spec import Spec
from memrig.generation.stuffed import picked_lines
from memrig.generation.validators import NAMES, VALIDATORS, limits, validate
from memrig.generation.validators.separable import auc, bound
from memrig.model.canonical import derive
from memrig.model.longitudinal import QUESTION_TYPES
from support.stories import pump_spec

Change = Callable[[Draft], Draft]


def rendered(spec: Spec) -> Draft:
    """A spec's plan with its documents."""
    plan = plan_by_formula(spec)
    return Draft(
        plan,
        {
            episode.episode_id: document(
                episode.sheet, spec.document, derive(spec.seed, episode.episode_id)
            )
            for episode in plan.episodes
        },
    )


@lru_cache(maxsize=1)
def sound() -> Draft:
    """The pump story."""
    return rendered(pump_spec())


async def looking_up(question: PlannedQuestion, texts: tuple[str, ...]) -> str:
    """A context-stuffed answer that knows controls, and nothing else."""
    known = question.type == "null_hypothesis" and texts
    return sound_answer(question) if known else "I do not know."


def sound_answer(question: PlannedQuestion) -> str:
    """The question's own canonical answer, whatever a test made of its facts."""
    planned = {q.question_id: q.canonical_answer for q in sound().plan.questions}
    return planned.get(question.question_id, "")


async def silent(question: PlannedQuestion, texts: tuple[str, ...]) -> str:
    """A context-stuffed answer that says nothing."""
    return f"{question.question_id}: nothing from {len(texts)} documents"


def findings(draft: Draft, stuffed=looking_up) -> tuple[Finding, ...]:
    """What all validators say."""
    return asyncio.run(validate(draft, stuffed))


def names(found: tuple[Finding, ...]) -> set[str]:
    """Which validators."""
    return {finding.validator for finding in found}


# ------------------------------------------------------------------------------ changes to a draft


def with_text(draft: Draft, change: Callable[[str], str], kind: EpisodeKind, number: int) -> Draft:
    """One episode's text changed."""
    episode = of_kind(draft, kind, number)
    return replace(
        draft, texts={**draft.texts, episode.episode_id: change(text_of(draft, episode))}
    )


def of_kind(draft: Draft, kind: EpisodeKind, number: int) -> PlannedEpisode:
    """The episode of this kind and number."""
    return next(e for e in draft.plan.episodes if (e.kind, e.number) == (kind, number))


def text_of(draft: Draft, episode: PlannedEpisode) -> str:
    return draft.texts[episode.episode_id]


def with_question(draft: Draft, name: str, /, **changes: object) -> Draft:
    """One question changed."""
    questions = tuple(
        replace(q, **changes) if q.question_id == f"pump-{name}" else q
        for q in draft.plan.questions
    )
    return replace(draft, plan=replace(draft.plan, questions=questions))


def question(draft: Draft, question_id: str) -> PlannedQuestion:
    return next(q for q in draft.plan.questions if q.question_id == f"pump-{question_id}")


def with_episodes(draft: Draft, change: Callable[[int, PlannedEpisode], PlannedEpisode]) -> Draft:
    """Every episode changed; texts move with their ids."""
    old = draft.plan.episodes
    new = tuple(change(place, episode) for place, episode in enumerate(old))
    texts = {n.episode_id: draft.texts[o.episode_id] for o, n in zip(old, new, strict=True)}
    return Draft(replace(draft.plan, episodes=new), texts)


def with_thresholds(draft: Draft, **changes: object) -> Draft:
    spec = draft.plan.spec
    thresholds = spec.thresholds.model_copy(update=changes)
    return replace(
        draft, plan=replace(draft.plan, spec=spec.model_copy(update={"thresholds": thresholds}))
    )


# ----------------------------------------------------------------------------------------- passing


def test_a_sound_draft_passes_every_validator():
    """Else nothing below shows that it is the change that is refused."""
    assert findings(sound()) == ()


def test_a_sound_draft_passes_with_an_answerer_that_looks_things_up():
    """The default one."""
    assert findings(sound(), picked_lines) == ()


def test_every_validator_has_its_own_name_a_reason_and_a_limit():
    """They go into a dataset's provenance."""
    spec = pump_spec()
    assert len(set(NAMES)) == len(NAMES) == 10
    assert set(limits(spec)) == set(NAMES)
    assert all(limits(spec).values())
    assert all(validator.reason for validator in VALIDATORS)


# --------------------------------------------------------------------------------------- documents


@pytest.mark.parametrize("word", ["bearing", "Bearings", "ROOT-CAUSE", "correlates"])
def test_a_forbidden_word_in_any_form_is_found(word):
    """Inflected, in capitals, or with a hyphen."""
    draft = with_text(sound(), lambda text: text.replace("Date", f"{word} Date"), "signal", 4)
    draft = with_text(draft, lambda text: text.rstrip() + f" A {word} was seen.\n", "signal", 4)
    found = findings(draft)
    assert names(found) == {"forbidden-words"}
    assert found[0].where == "signal episode 4 (calm, 2024-03-07)"


@pytest.mark.parametrize("word", ["because root", "core relation", "forbearingly"])
def test_words_that_only_look_alike_are_allowed(word):
    """Words of a phrase follow each other; a forbidden word begins a word."""
    draft = with_text(sound(), lambda text: text.rstrip() + f" A {word} was seen.\n", "signal", 4)
    assert findings(draft) == ()


def test_a_document_out_of_its_band_is_found():
    """Too long; and the limit is named."""
    draft = with_text(sound(), lambda text: text + "and so on " * 100, "distractor", 3)
    found = findings(draft)
    assert names(found) == {"length-band"}
    assert "expected 200 to 450" in found[0].message


def test_a_distractor_that_speaks_of_the_storys_things_is_found():
    """It would be evidence."""
    draft = with_text(
        sound(), lambda text: text.rstrip() + " The valve has no backlash.\n", "distractor", 5
    )
    found = findings(draft)
    assert names(found) == {"dissimilar"}
    assert "(backlash, valv)" in found[0].message


def test_a_theme_with_a_label_of_the_story_is_found():
    """Two series of one name cannot be told apart."""
    spec = sound().plan.spec
    theme = spec.distractors.themes[0]
    signals = (theme.signals[0].model_copy(update={"label": "tank head"}), *theme.signals[1:])
    themes = (theme.model_copy(update={"signals": signals}),)
    distractors = spec.distractors.model_copy(update={"themes": themes})
    changed = spec.model_copy(update={"distractors": distractors})
    draft = replace(sound(), plan=replace(sound().plan, spec=changed))
    found = findings(draft)
    assert names(found) == {"dissimilar"}
    assert found[0].where == "theme kitchen, signal s0"


# --------------------------------------------------------------------------------------- questions


def test_a_synthesis_question_that_one_episode_answers_is_found():
    """Its facts are values of a single day."""
    control = question(sound(), "control")
    facts = (*control.facts, question(sound(), "q0").facts[0])
    draft = with_question(
        sound(), "q0", facts=facts, evidence=(1, 3, 20), prompt="What do the sheets show?"
    )
    found = findings(draft)
    assert names(found) == {"single-episode-coverage"}
    assert "signal episode 3 " in found[0].message
    assert "0.67" in found[0].message


def test_the_share_that_one_episode_may_tell_is_the_specs():
    """The same draft, with a higher limit."""
    control = question(sound(), "control")
    facts = (*control.facts, question(sound(), "q0").facts[0])
    draft = with_question(
        sound(), "q0", facts=facts, evidence=(1, 3, 20), prompt="What do the sheets show?"
    )
    assert findings(with_thresholds(draft, single_episode_coverage=0.7)) == ()


def test_a_control_question_without_facts_is_found():
    """Longitudinal advantage could not be measured."""
    found = findings(with_question(sound(), "control", facts=()))
    assert names(found) == {"control-answerable", "question-form", "stuffed-band"}


def test_a_control_question_that_needs_two_episodes_is_found():
    """It would measure putting together."""
    found = findings(with_question(sound(), "control", evidence=(3, 4)))
    assert names(found) == {"control-answerable"}
    assert "expected exactly one" in found[0].message


def test_a_control_question_whose_episode_shows_another_value_is_found():
    """Nobody could answer it; every other question still can be."""
    value = question(sound(), "control").facts[0].values[0]
    draft = with_text(sound(), lambda text: text.replace(value, "99.9"), "signal", 3)
    assert names(findings(draft)) == {"control-answerable", "recoverable"}


def test_a_control_question_whose_episodes_lines_are_not_credited_is_found():
    """A right look-up would count as wrong: the fact is in words that no document has."""
    control = question(sound(), "control")
    told = replace(control.facts[0], text=control.facts[0].text.replace("was", "dwelt around"))
    found = findings(with_question(sound(), "control", facts=(told, control.facts[1])))
    assert names(found) == {"control-answerable"}
    assert "its lines are not credited" in found[0].message


def test_a_value_that_stands_beside_another_label_is_found():
    """The evidence holds the figure, and not whose it is."""
    fact = question(sound(), "q0").facts[0]
    draft = with_text(
        sound(), lambda text: text.replace("Inlet pressure", "Roof pressure"), "signal", 20
    )
    found = findings(draft)
    assert names(found) == {"recoverable"}
    assert f"{fact.values[-1]} beside Inlet pressure" in found[0].message


def test_a_value_within_a_longer_number_does_not_count():
    """65.1 is not in 165.1."""
    value = question(sound(), "q0").facts[0].values[-1]
    draft = with_text(sound(), lambda text: text.replace(value, f"1{value}"), "signal", 20)
    assert names(findings(draft)) == {"recoverable"}


def test_a_date_that_the_evidence_does_not_give_is_found():
    """Facts name days."""
    draft = with_text(sound(), lambda text: text.replace("2024-03-12", "a Tuesday"), "signal", 9)
    found = findings(draft)
    assert names(found) == {"recoverable"}
    assert "2024-03-12" in found[0].message


def test_a_number_that_does_not_follow_from_the_evidence_is_found():
    """Such as one of a later episode."""
    first = question(sound(), "q0")
    later = replace(first.facts[0], text="Inlet pressure rose from 20.3 kPa to 77.7 kPa")
    draft = with_question(sound(), "q0", facts=(later, *first.facts[1:]))
    found = findings(draft)
    assert names(found) == {"recoverable"}
    assert "77.7 neither stands in the evidence nor follows from it" in found[0].message


@pytest.mark.parametrize(
    "text",
    ["Inlet rose by 221 percent", "It rose by 44.8 kPa", "It is 3.2 times what it was", "19 days"],
)
def test_a_number_that_follows_from_two_values_is_allowed(text):
    """Percentage, difference, quotient; days between days."""
    first = question(sound(), "q0")
    told = replace(first.facts[0], text=text, answer="Inlet pressure")
    assert findings(with_question(sound(), "q0", facts=(told, *first.facts[1:]))) == ()


def test_evidence_after_its_checkpoint_is_found():
    """It cannot be known yet."""
    found = findings(with_question(sound(), "q4", checkpoint_after=20))
    assert names(found) == {"evidence-before-checkpoint"}
    assert "the checkpoint is after 20" in found[0].message
    nothing = findings(with_question(sound(), "q4", checkpoint_after=0))
    assert names(nothing) == {"evidence-before-checkpoint"}


def test_evidence_that_does_not_exist_is_found():
    """Whatever made the plan."""
    evidence = (*question(sound(), "q4").evidence, 99)
    found = findings(with_question(sound(), "q4", evidence=evidence))
    assert names(found) == {"evidence-before-checkpoint"}


def test_a_synthesis_question_of_two_facts_is_found():
    """Two are found by luck."""
    facts = question(sound(), "q0").facts[:2]
    found = findings(with_question(sound(), "q0", facts=facts))
    assert names(found) == {"question-form"}
    assert "2 facts, expected 3" in found[0].message


def test_a_synthesis_question_of_one_evidence_episode_is_found():
    """It synthesises nothing."""
    assert names(findings(with_question(sound(), "q0", evidence=(20,)))) == {"question-form"}


def test_two_questions_of_one_id_are_found():
    """Their answers would be mixed up."""
    assert names(findings(with_question(sound(), "q0", question_id="pump-q1"))) == {"question-form"}


def test_a_prompt_that_quotes_a_value_of_its_facts_is_found():
    """It would give away what is to be found; dates it may name."""
    value = question(sound(), "control").facts[0].values[0]
    prompt = question(sound(), "control").prompt
    found = findings(with_question(sound(), "control", prompt=f"{prompt} Was it {value}?"))
    assert "question-form" in names(found)
    assert f"quotes {value}" in found[0].message


@pytest.mark.parametrize("kind", QUESTION_TYPES)
def test_a_missing_type_is_found(kind):
    """All ten belong to a dataset."""
    plan = sound().plan
    kept = tuple(q for q in plan.questions if q.type != kind)
    found = findings(replace(sound(), plan=replace(plan, questions=kept)))
    assert names(found) == {"question-form"}
    assert kind in found[0].message


# -------------------------------------------------------------------------------------- the stream


def _at_ten(place: int, episode: PlannedEpisode) -> PlannedEpisode:
    """Signal episodes at the full hour, as the predecessor had them; distractors as they are."""
    stamp = episode.timestamp
    if episode.kind == "signal":
        return replace(episode, timestamp=stamp.replace(minute=0, second=place % 60))
    return replace(episode, timestamp=stamp.replace(second=place % 60))


def _low_ids(place: int, episode: PlannedEpisode) -> PlannedEpisode:
    start = "0" if episode.kind == "signal" else "f"
    return replace(episode, episode_id=f"e-{start}{place:03x}")


def _split_days(place: int, episode: PlannedEpisode) -> PlannedEpisode:
    """Every episode on a day of its own, distractors on Sundays alone."""
    days = 7 * place + (0 if episode.kind == "signal" else 6)
    start = episode.timestamp.replace(year=2024, month=1, day=1)
    return replace(episode, timestamp=start + timedelta(days=days))


@pytest.mark.parametrize(
    ("change", "where"), [(_at_ten, "minute"), (_low_ids, "order of the ids"),
                          (_split_days, "weekday 6")]
)  # fmt: skip
def test_what_tells_signal_from_distractor_without_reading_is_found(change, where):
    """Minute, id, weekday: as they leaked before."""
    found = findings(with_episodes(sound(), change))
    assert names(found) == {"separability"}
    assert where in {finding.where for finding in found}


def test_a_strict_alternation_is_found():
    """Every second document would be the story's."""
    episodes = sorted(sound().plan.episodes, key=lambda e: (e.number, e.kind))
    stamps = [episode.timestamp for episode in sound().plan.episodes]
    mixed = tuple(replace(e, timestamp=s) for e, s in zip(episodes, stamps, strict=True))
    found = findings(replace(sound(), plan=replace(sound().plan, episodes=mixed)))
    assert "every place that leaves 0 of 2" in {finding.where for finding in found}


@pytest.mark.parametrize("words", ["ab " * 160, "ab" * 400, "\n" * 60])
def test_longer_texts_of_one_kind_are_found(words):
    """In words, characters, or lines."""
    texts = {e.episode_id: text_of(sound(), e) for e in sound().plan.episodes}
    longer = {e.episode_id: f"{texts[e.episode_id]}{words}" for e in sound().plan.episodes
              if e.kind == "signal"}  # fmt: skip
    found = findings(replace(sound(), texts={**texts, **longer}))
    assert "separability" in names(found)


def test_ids_of_two_patterns_are_found():
    """Whatever the area under a curve says."""

    def change(place: int, episode: PlannedEpisode) -> PlannedEpisode:
        return replace(episode, episode_id=f"x{episode.episode_id}") if place == 7 else episode

    found = findings(with_episodes(sound(), change))
    assert [finding.where for finding in found] == ["episode ids"]


def test_two_episodes_at_one_time_are_found():
    """Their order would not be told by their times."""
    stamps = [episode.timestamp for episode in sound().plan.episodes]

    def change(place: int, episode: PlannedEpisode) -> PlannedEpisode:
        return replace(episode, timestamp=stamps[place - 1]) if place == 9 else episode

    found = findings(with_episodes(sound(), change))
    assert names(found) == {"separability"}
    assert "is not after" in found[0].message


def test_a_story_without_distractors_has_nothing_to_tell_apart():
    """The ratio may be 0."""
    draft = rendered(pump_spec(distractors={"ratio": 0}))
    assert "separability" not in names(findings(draft))


@pytest.mark.parametrize(
    ("feature", "expected"),
    [([1, 2, 3, 4], 1.0), ([4, 3, 2, 1], 1.0), ([5, 5, 5, 5], 0.5), ([1, 3, 2, 4], 0.75),
     ([1, 2, 2, 3], 0.875)],
)  # fmt: skip
def test_the_area_under_the_curve_is_mann_and_whitneys(feature, expected):
    """By hand: pairs in order ÷ pairs, ties half, in the larger direction."""
    assert auc(feature, [True, True, False, False]) == expected


def test_few_episodes_are_given_what_chance_may_bring():
    """3.3 standard errors, never less than the spec's limit."""
    assert bound(0.7, 20, 20) == pytest.approx(0.805, abs=0.001)
    assert bound(0.7, 30, 90) == pytest.approx(0.7017, abs=0.001)
    assert bound(0.7, 400, 400) == 0.7


# ---------------------------------------------------------------------------------- stuffed answers


async def knowing(question: PlannedQuestion, texts: tuple[str, ...]) -> str:
    """A context-stuffed answer that knows everything."""
    return question.canonical_answer if texts else ""


def test_questions_that_a_heap_of_documents_answers_are_found_by_type():
    """All but the control, which may be looked up."""
    found = findings(sound(), knowing)
    assert names(found) == {"stuffed-band"}
    assert {finding.where for finding in found} == {
        f"questions of type {kind}" for kind in QUESTION_TYPES if kind != "null_hypothesis"
    }


def test_a_control_that_cannot_be_looked_up_is_found():
    """With everything at hand."""
    assert [(f.validator, f.where) for f in findings(sound(), silent)] == [
        ("stuffed-band", "questions of type null_hypothesis")
    ]


def test_the_band_of_a_type_is_the_specs():
    """Of the others, the default holds."""
    draft = with_thresholds(sound(), stuffed={"null_hypothesis": (0.0, 1.0), "temporal": (0.2, 1)})
    found = findings(draft, silent)
    assert [finding.where for finding in found] == ["questions of type temporal"]


def test_a_stuffed_answer_gets_the_documents_up_to_its_checkpoint_newest_first():
    """And none from after it."""
    seen: dict[str, tuple[str, ...]] = {}

    async def spy(question: PlannedQuestion, texts: tuple[str, ...]) -> str:
        seen[question.question_id] = texts
        return ""

    findings(sound(), spy)
    at = question(sound(), "control").checkpoint_after
    until = [text_of(sound(), e) for e in sound().plan.episodes[:at]]
    assert seen["pump-control"] == tuple(reversed(until))
