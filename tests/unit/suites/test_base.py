"""What a user asks of a suite is checked against what it offers, before anything runs."""

from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.suites.base import Suite, SuiteOptions, check_options
from memrig.suites.locomo import SUITE as LOCOMO
from memrig.suites.longitudinal import SUITE as LONGITUDINAL
from memrig.suites.longmemeval import SUITE as LONGMEMEVAL
from memrig.suites.practical import SUITE as PRACTICAL

SUITES: list[Suite] = [LOCOMO, LONGITUDINAL, LONGMEMEVAL, PRACTICAL]
FILE = Path("some.json")


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.name)
def test_a_suites_defaults_are_the_first_it_offers(suite):
    """Every protocol runs with no option at all, and with the sample."""
    for protocol in suite.protocols:
        check_options(suite, SuiteOptions(protocol))
        check_options(suite, SuiteOptions(protocol, sample=True))
        assert suite.top_k_for(SuiteOptions(protocol)) >= suite.top_k
    assert (suite.label_sets[0], suite.labels[0]) == ("true", "published")
    assert set(suite.modes) >= {"reader", "agent", "native"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("variant", "oracle"), ("order", "date"), ("granularity", "turn"), ("file", FILE)],
)
def test_what_a_suite_offers_is_accepted(field, value):
    """Each by itself."""
    check_options(LONGMEMEVAL, SuiteOptions("longmemeval-typed", **{field: value}))


@pytest.mark.parametrize("changes", [{"distractors": 0.0}, {"distractors": 2.5},
                                     {"distractor_file": FILE}, {"variant": "120"}])  # fmt: skip
def test_distractors_are_accepted_where_a_suite_takes_them(changes):
    """None at all is a choice too."""
    check_options(LONGITUDINAL, SuiteOptions("lens-v1", **changes))


@pytest.mark.parametrize(
    ("suite", "changes", "where", "fix"),
    [
        (LONGMEMEVAL, {"protocol": "practical"}, "--protocol", "one of: longmemeval-typed, "),
        (LONGMEMEVAL, {"variant": "xl"}, "--variant", "one of: s, oracle, m"),
        (LONGMEMEVAL, {"order": "random"}, "--order", "one of: file, date"),
        (LONGMEMEVAL, {"granularity": "word"}, "--granularity", "one of: session, turn"),
        (LONGMEMEVAL, {"category_labels": "paper"}, "--category-labels", "one of: true"),
        (LONGMEMEVAL, {"labels": "audited"}, "--labels", "one of: published"),
        (LOCOMO, {"variant": "s"}, "--variant s", "leave it out"),
        (LOCOMO, {"order": "date"}, "--order date", "leave it out"),
        (PRACTICAL, {"granularity": "turn"}, "--granularity turn", "leave it out"),
        (LOCOMO, {"labels": "audited"}, "--labels audited", "give both, or neither"),
        (LOCOMO, {"audit_file": FILE}, "--labels published", "give both, or neither"),
        (PRACTICAL, {"audit_file": FILE}, "--labels published", "give both, or neither"),
        (PRACTICAL, {"distractors": 0.0}, "--distractors 0", "leave it out"),
        (LOCOMO, {"distractor_file": FILE}, "--distractor-file some.json", "leave it out"),
        (LONGITUDINAL, {"distractors": -1.0}, "--distractors -1", "give 0, 0.5, 1"),
        (LONGITUDINAL, {"distractors": float("nan")}, "--distractors nan", "give 0, 0.5, 1"),
        (LONGITUDINAL, {"distractors": 0.0, "distractor_file": FILE}, "--distractors 0",
         "give one of them"),
        (LOCOMO, {"sample": True, "file": FILE}, "--file some.json", "give one of them"),
        (LONGMEMEVAL, {"sample": True, "variant": "s"}, "--variant s", "give one of them"),
        (LOCOMO, {"sample": True, "labels": "audited", "audit_file": FILE},
         "--audit-file some.json", "give one of them"),
    ],
)  # fmt: skip
def test_what_it_does_not_offer_is_refused_with_flag_value_and_fix(suite, changes, where, fix):
    """Never silently ignored: the numbers would not be what was asked for."""
    options = SuiteOptions(**({"protocol": suite.protocols[0]} | changes))
    with pytest.raises(UsageError) as caught:
        check_options(suite, options)
    assert caught.value.where == where
    assert caught.value.fix.startswith(fix)
