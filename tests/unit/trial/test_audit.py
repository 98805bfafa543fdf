"""The canary of the isolation audit."""

from memrig.trial.audit import make_canary
from support.scenarios import small_spec


def test_no_image_can_know_the_canary_beforehand(tmp_path):
    """It hangs on the whole spec, with it on the image's digest."""
    spec = small_spec(tmp_path)
    images = {"adapter": "sha256:" + "1" * 64}
    other = spec.model_copy(update={"adapter": spec.adapter.model_copy(update={"images": images})})
    assert make_canary(spec, "Ann") == make_canary(spec, "Ann")
    assert make_canary(spec, "Ann").token != make_canary(other, "Ann").token
