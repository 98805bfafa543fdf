"""From grades to a flat list of metrics."""

from collections.abc import Iterable

import pytest

from memrig.grading.base import Grade, Metric
from memrig.stats.intervals import bca, wilson
from memrig.stats.summary import MetricValue, summarise

HIT = Metric("recall_any@10", binary=True, headline=True)
MRR = Metric("mrr", binary=False)


def grade(scenario: str, category: str, value: float, **changes: object) -> Grade:
    fields: dict[str, object] = {
        "trial_id": f"{scenario}-s1-r0",
        "scenario_id": scenario,
        "cluster": scenario,
        "question_id": "q",
        "category": category,
        "seed": 1,
        "repeat": 0,
        "protocol": "practical",
        "grader": "practical/1",
        "status": "graded",
        "outcome": "answered",
        "scores": {"recall_any@10": float(value > 0), "mrr": value},
    }
    return Grade.model_validate(fields | changes)


def table(grades: Iterable[Grade], *metrics: Metric) -> dict[tuple[str, str], MetricValue]:
    values = summarise(list(grades), metrics or (HIT, MRR), "practical", "practical", seed=5)
    return {(value.metric, value.group): value for value in values}


LOPSIDED = [
    *[grade(f"s{n % 3}", "facts", 1.0) for n in range(9)],
    *[grade(f"s{n % 3}", "temporal", 0.0) for n in range(3)],
]


def test_overall_is_the_mean_over_questions_and_macro_that_over_categories():
    """Nine right of one category, three wrong of the other."""
    values = table(LOPSIDED)
    assert values["recall_any@10", "overall"].value == 9 / 12
    assert values["recall_any@10", "macro"].value == (1 + 0) / 2
    assert values["recall_any@10", "facts"].value == 1
    assert values["recall_any@10", "temporal"].value == 0


def test_micro_and_macro_are_labelled():
    """Neither can be taken for the other."""
    kinds = {group: value.kind for (_, group), value in table(LOPSIDED).items()}
    categories = {"facts": "category", "temporal": "category"}
    assert kinds == {"overall": "micro", "macro": "macro"} | categories


def test_groups_come_in_a_fixed_order():
    """Metrics as declared; overall, macro, then the categories by name."""
    grades = [grade("s", name, 1.0) for name in ("c", "a", "b", "a")]
    values = summarise(grades, (MRR, HIT), "practical", "practical", seed=5)
    groups = ["overall", "macro", "a", "b", "c"]
    assert [(v.metric, v.group) for v in values] == [
        *[("mrr", group) for group in groups],
        *[("recall_any@10", group) for group in groups],
    ]


def test_n_counts_graded_questions():
    """An ungraded one is in no mean."""
    ungraded = grade("s9", "facts", 0.0, status="ungraded", reason="harness_error", scores={})
    values = table([*LOPSIDED, ungraded])
    assert values["recall_any@10", "overall"].n == 12
    assert values["recall_any@10", "overall"].value == 9 / 12


def test_a_metric_counts_only_the_questions_that_it_applies_to():
    """A question without keywords has no lenient score, not a lenient zero."""
    some = [grade("s1", "facts", 1.0), grade("s2", "facts", 1.0, scores={"mrr": 0.0})]
    values = table(some)
    assert values["recall_any@10", "overall"].n == 1
    assert values["mrr", "overall"].n == 2


def test_a_metric_that_applies_to_nothing_is_left_out():
    """It is n/a, not zero."""
    assert table([grade("s1", "facts", 1.0)], Metric("other", binary=True)) == {}


def test_no_grades_give_no_metrics():
    """A run in which nothing was graded."""
    assert table([]) == {}


def independent(values: list[float]) -> list[Grade]:
    return [grade(f"s{n}", "facts", value) for n, value in enumerate(values)]


def test_independent_proportions_have_wilsons_interval():
    """One question a scenario, each right or wrong."""
    value = table(independent([1, 1, 0, 1, 0, 1, 1, 1]))["recall_any@10", "overall"]
    expected = wilson(6, 8)
    assert (value.low, value.high, value.interval) == (expected.low, expected.high, "wilson")


def test_independent_means_are_bootstrapped():
    """Bias-corrected and accelerated, seeded from the run."""
    values = [1, 0.5, 0, 1, 0.25, 0.1, 1, 0.3]
    value = table(independent(values))["mrr", "overall"]
    assert value.interval == "bca"
    assert value.low < value.value < value.high
    assert (value.low, value.high) != (bca(values, 5).low, bca(values, 5).high)


@pytest.mark.parametrize(("scenarios", "method"), [(3, "cluster-t"), (12, "cluster-bootstrap")])
def test_questions_of_one_scenario_make_it_the_unit(scenarios, method):
    """Whatever the metric."""
    grades = [
        grade(f"s{n}", "facts", value)
        for n in range(scenarios)
        for value in (1.0, 0.0, 1.0 * (n % 2))
    ]
    values = table(grades)
    assert {v.interval for v in values.values()} == {method}
    assert all(v.low < v.value < v.high for v in values.values())


def test_repeats_of_a_question_are_not_independent():
    """They are of one scenario."""
    grades = [grade(f"s{n}", "facts", n % 2, repeat=r) for n in range(4) for r in range(2)]
    assert table(grades)["recall_any@10", "overall"].interval == "cluster-t"


def test_one_scenario_has_no_interval():
    """Nothing can be said of others."""
    grades = [grade("s1", "facts", n % 2) for n in range(50)]
    value = table(grades)["recall_any@10", "overall"]
    assert (value.low, value.high, value.interval) == (None, None, "none")


def test_the_summary_does_not_depend_on_the_order_of_grades_within_scenarios():
    """Only the draws depend on the order of scenarios, and grades are sorted before."""
    backwards = [g for s in ("s0", "s1", "s2") for g in reversed(LOPSIDED) if g.scenario_id == s]
    forwards = [g for s in ("s0", "s1", "s2") for g in LOPSIDED if g.scenario_id == s]
    assert table(backwards) == table(forwards)


def test_every_interval_of_a_run_is_the_same_at_every_report():
    """The seed comes from the run's lock."""
    assert table(LOPSIDED) == table(LOPSIDED)


TAGGED = [
    *[grade(f"a{n}", "facts", 1.0) for n in range(4)],
    *[grade(f"b{n}", "facts", 0.0, tags=("abstention",)) for n in range(2)],
    *[grade(f"c{n}", "temporal", float(n > 0)) for n in range(3)],
    grade("d", "temporal", 1.0, tags=("abstention", "source:7")),
]


def test_a_tag_splits_the_questions_in_two_groups():
    """Those that have it and those without; marks of the form name:value make no group."""
    values = table(TAGGED)
    assert values["recall_any@10", "without abstention"].value == 6 / 7
    assert values["recall_any@10", "abstention"].value == 1 / 3
    assert [values["recall_any@10", name].n for name in ("without abstention", "abstention")] == (
        [7, 3]
    )
    assert {group for _, group in values} == {
        "overall", "macro", "without abstention", "abstention", "facts", "temporal",
    }  # fmt: skip


def test_tags_are_labelled_and_stand_between_macro_and_the_categories():
    """Neither a category nor a mean of them."""
    values = summarise(TAGGED, (HIT,), "practical", "practical", seed=5)
    assert [(value.group, value.kind) for value in values] == [
        ("overall", "micro"),
        ("macro", "macro"),
        ("without abstention", "tag"),
        ("abstention", "tag"),
        ("facts", "category"),
        ("temporal", "category"),
    ]


def test_tags_are_never_in_macro():
    """The mean of the categories' means is the same with them and without."""
    plain = [item.model_copy(update={"tags": ()}) for item in TAGGED]
    assert table(TAGGED)["mrr", "macro"] == table(plain)["mrr", "macro"]
    assert table(TAGGED)["mrr", "macro"].value == pytest.approx((4 / 6 + 3 / 4) / 2)


def test_tag_groups_have_intervals_of_their_own_questions():
    """As every group."""
    value = table(TAGGED)["recall_any@10", "abstention"]
    expected = wilson(1, 3)
    assert (value.low, value.high, value.interval) == (expected.low, expected.high, "wilson")


def test_a_tag_that_every_question_has_makes_no_group():
    """It would be overall once more."""
    every = [item.model_copy(update={"tags": ("abstention",)}) for item in TAGGED]
    assert {group for _, group in table(every)} == {"overall", "macro", "facts", "temporal"}


def test_where_only_the_untagged_are_scored_that_is_said():
    """Retrieval has no number for abstention, and its overall is of the others."""
    grades = [
        item if "abstention" not in item.tags else item.model_copy(update={"scores": {"mrr": 1.0}})
        for item in TAGGED
    ]
    groups = {group for metric, group in table(grades) if metric == "recall_any@10"}
    assert "without abstention" in groups
    assert "abstention" not in groups
    assert ("mrr", "abstention") in table(grades)


def test_a_tag_that_is_a_categorys_name_is_one_group():
    """LoCoMo's adversarial questions are both; a report has one value of a name."""
    grades = [
        *[grade(f"a{n}", "facts", 1.0) for n in range(3)],
        *[grade(f"b{n}", "adversarial", 0.0, tags=("adversarial",)) for n in range(2)],
    ]
    values = summarise(grades, (HIT,), "locomo", "locomo-f1", seed=5)
    assert [(value.group, value.kind) for value in values] == [
        ("overall", "micro"),
        ("macro", "macro"),
        ("without adversarial", "tag"),
        ("adversarial", "category"),
        ("facts", "category"),
    ]


@pytest.mark.parametrize("scenarios", [8, 40])
def test_a_macro_without_spread_claims_no_certainty(scenarios):
    """All right in every category: the interval is that of so many scenarios, not a point."""
    grades = [grade(f"s{n}", ("facts", "temporal")[n % 2], 1.0) for n in range(scenarios)]
    value = table(grades)["recall_any@10", "macro"]
    expected = wilson(scenarios, scenarios)
    assert (value.low, value.high) == (expected.low, expected.high)
    assert value.interval == "even"
