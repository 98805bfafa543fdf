"""Which judge published numbers come from."""

import pytest

from memrig.grading.judges.reference import REFERENCE_JUDGES, judge_warning


@pytest.mark.parametrize(
    ("protocol", "model"),
    [
        ("longmemeval-compatible", "gpt-4o-2024-08-06"),
        ("longmemeval-compatible", "openai/gpt-4o-2024-08-06"),
        ("locomo-judge", "gpt-4o-mini"),
        ("locomo-judge", "gpt-4o-mini-2024-07-18"),
        ("longmemeval-strict", "any-model"),
        ("answer-judge", "any-model"),
    ],
)
def test_the_reference_judge_needs_no_warning(protocol, model):
    """Nor does a protocol under which nothing is published."""
    assert judge_warning(protocol, model) == ""


@pytest.mark.parametrize(
    ("protocol", "model"),
    [
        ("longmemeval-compatible", "gpt-4o"),
        ("longmemeval-compatible", "gpt-4o-mini-2024-07-18"),
        ("longmemeval-compatible", "gpt-4o-2024-11-20"),
        ("locomo-judge", "gpt-4o"),
        ("locomo-judge", "gpt-4o-mini-audio-preview"),
        ("locomo-judge", "local/extractive"),
    ],
)
def test_any_other_judge_is_warned_of(protocol, model):
    """With both names."""
    warning = judge_warning(protocol, model)
    assert model in warning
    assert REFERENCE_JUDGES[protocol] in warning
    assert "not comparable" in warning
