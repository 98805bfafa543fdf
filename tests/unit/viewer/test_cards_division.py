"""The division of a run, as the viewer's cards tell it."""

from memrig.report.model import ProfileSummary
from memrig.viewer.cards import division_badges
from support.reports import sample_report


def test_only_a_run_to_the_letter_of_its_profile_has_a_badge() -> None:
    """What makes a run open is among its labels already."""
    closed = ProfileSummary(
        name="official-v1", tier="no-key", digest="sha256:0", division="closed", differences=()
    )
    report = sample_report().model_copy(update={"profile": closed})
    (badge,) = division_badges(report)
    assert (badge.text, badge.kind) == ("closed division: official-v1, no-key", "good")
    open_ = closed.model_copy(update={"division": "open", "differences": ("top_k: 10 → 5",)})
    assert division_badges(report.model_copy(update={"profile": open_})) == ()
    assert division_badges(sample_report()) == ()
    assert division_badges(None) == ()
