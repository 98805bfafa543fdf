"""What a dataset must hold to be written: every demand has a name, a reason, and a limit."""

from memrig.generation.model import Draft, Finding, Stuffed
from memrig.generation.spec import Spec
from memrig.generation.validators.base import Validator
from memrig.generation.validators.knowledge import (
    ControlAnswerable,
    Recoverable,
    SingleEpisodeCoverage,
    StuffedBand,
)
from memrig.generation.validators.plan import EvidenceBeforeCheckpoint, QuestionForm
from memrig.generation.validators.separable import Separability
from memrig.generation.validators.texts import Dissimilar, ForbiddenWords, LengthBand

__all__ = ["NAMES", "VALIDATORS", "limits", "validate"]

#: Form first: what comes after may rely on it.
VALIDATORS: tuple[Validator, ...] = (
    QuestionForm(),
    EvidenceBeforeCheckpoint(),
    LengthBand(),
    ForbiddenWords(),
    Separability(),
    Dissimilar(),
    ControlAnswerable(),
    Recoverable(),
    SingleEpisodeCoverage(),
)
_STUFFED = StuffedBand()
NAMES = (*(validator.name for validator in VALIDATORS), _STUFFED.name)


async def validate(draft: Draft, stuffed: Stuffed) -> tuple[Finding, ...]:
    """Every way in which a draft falls short. The spec's thresholds hold.

    Args:
        draft: a rendered scope.
        stuffed: answers from all documents up to a checkpoint, as one context.

    Raises:
        GatewayError: the answerer's model could not be had.
    """
    found = [finding for validator in VALIDATORS for finding in validator.check(draft)]
    return (*found, *await _STUFFED.check(draft, stuffed))


def limits(spec: Spec) -> dict[str, str]:
    """The limit of every validator for a scope, for its provenance."""
    found = {validator.name: validator.limit(spec) for validator in VALIDATORS}
    return {**found, _STUFFED.name: _STUFFED.limit(spec)}
