"""Published numbers: each has a source and a date, and aggregates of two kinds are not mixed."""

import pytest

from memrig.report.published import LOCOMO_COUNTS, LONGMEMEVAL_COUNTS, published

GROUPS = [("longmemeval", "s"), ("longmemeval", "m"), ("longmemeval", "oracle"), ("locomo", "")]
EVERY = [score for group in GROUPS for score in published(*group)]
TYPED = [score for score in EVERY if score.by_type and score.metric != "unspecified"]
COUNTS = {"longmemeval": LONGMEMEVAL_COUNTS, "locomo": LOCOMO_COUNTS}


def named(score):
    return f"{score.system}-{score.reader}-{score.variant}-{score.metric}-{score.value}"


def recomputed(score):
    """Micro or macro from the scores by type, with the official counts."""
    counts = COUNTS[score.benchmark]
    if score.metric == "macro":
        return sum(score.by_type.values()) / len(counts)
    weighted = sum(score.by_type[name] * count for name, count in counts.items())
    return weighted / sum(counts.values())


@pytest.mark.parametrize("score", EVERY, ids=named)
def test_every_number_has_a_source_and_a_date(score):
    """The source is a page that can be opened."""
    assert score.source.startswith("https://")
    assert score.as_of
    assert score.dated in {"published", "read"}


@pytest.mark.parametrize("group", GROUPS)
def test_a_variant_holds_its_own_numbers_alone(group):
    """S is never compared with M."""
    assert published(*group)
    assert {(score.benchmark, score.variant) for score in published(*group)} == {group}


def test_an_unknown_benchmark_has_no_numbers():
    """And LongMemEval has none without a variant."""
    assert published("longmemeval") == ()
    assert published("nothing", "s") == ()


@pytest.mark.parametrize("score", TYPED, ids=named)
def test_an_aggregate_follows_from_its_numbers_by_type(score):
    """Micro weighs by the official counts, macro not at all; both to a tenth of a point."""
    assert set(score.by_type) == set(COUNTS[score.benchmark])
    assert recomputed(score) == pytest.approx(score.value, abs=0.001)


def test_what_has_numbers_by_type_is_shown_both_ways():
    """The same system under the same reader, once micro and once macro."""
    shown = {(s.system, s.reader, s.metric) for s in TYPED if s.benchmark == "longmemeval"}
    systems = {(system, reader) for system, reader, _ in shown}
    assert len(systems) == 6
    assert shown == {(*who, metric) for who in systems for metric in ("micro", "macro")}


@pytest.mark.parametrize(
    ("system", "reader", "micro", "macro"),
    [
        ("Mastra Observational Memory", "gpt-5-mini", 0.9360, 0.9487),
        ("Mastra Observational Memory", "gpt-4o", 0.8479, 0.8422),
        ("Mem0 platform", "production stack", 0.9442, 0.9535),
        ("Supermemory", "gpt-4o", 0.8180, 0.8336),
        ("Zep", "gpt-4o", 0.7041, 0.7227),
        ("Full context", "gpt-4o", 0.5917, 0.6060),
    ],
)
def test_micro_and_macro_are_those_of_the_reconciliation(system, reader, micro, macro):
    """Vendors headline the one or the other; here both are said."""
    found = {
        score.metric: score.value
        for score in published("longmemeval", "s")
        if (score.system, score.reader) == (system, reader) and score.by_type
    }
    assert found == {
        "micro": pytest.approx(micro, abs=5e-4),
        "macro": pytest.approx(macro, abs=5e-4),
    }


def test_the_official_counts_are_those_of_the_data():
    """500 questions of LongMemEval, 1,540 of LoCoMo without category 5."""
    assert sum(LONGMEMEVAL_COUNTS.values()) == 500
    assert sum(LOCOMO_COUNTS.values()) == 1540
    sizes = {(score.benchmark, score.n) for score in EVERY if score.n}
    assert sizes == {("longmemeval", 500), ("locomo", 1540)}


def test_a_total_that_its_own_categories_contradict_says_so():
    """Mem0's LoCoMo total is above what its categories can give."""
    (mem0,) = [s for s in published("locomo") if s.system == "Mem0 platform"]
    weighted = sum(mem0.by_type[name] * count for name, count in LOCOMO_COUNTS.items()) / 1540
    assert weighted < mem0.value - 0.02
    assert f"{weighted:.3f}" in mem0.note
