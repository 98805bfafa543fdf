"""What each dimension of a grade weighs (scoring §2), as data that suites and graders share."""

from collections.abc import Mapping
from types import MappingProxyType

from memrig.model.gold import Dimension

#: Weights are relative: a grade is the mean over the dimensions that apply, Σ wᵢsᵢ ÷ Σ wᵢ.
#: ADR 0014 tells why these.
WEIGHTS: Mapping[Dimension, float] = MappingProxyType(
    {
        "factual_accuracy": 0.5,
        "specificity": 0.2,
        "temporal_awareness": 0.2,
        "source_attribution": 0.2,
        "confidence_calibration": 0.1,
    }
)
