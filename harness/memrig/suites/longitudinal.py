"""`longitudinal`: evidence that only builds up over time (LENS's datasets, and memrig's own)."""

from collections.abc import Iterator

from memrig.errors import UsageError
from memrig.model.scenario import Scenario
from memrig.model.trial import Mode, PromptStyle
from memrig.suites.base import DataSource, SuiteOptions


class Longitudinal:
    """The suite."""

    name = "longitudinal"
    summary = "episodes in time order; what no single one shows is asked at checkpoints"
    protocols = ("lens-v1", "lens-v3.4")
    label_sets = ("true",)
    modes: tuple[Mode, ...] = ("agent", "reader", "native")
    variants = ("40", "120")
    orders: tuple[str, ...] = ()
    granularities: tuple[str, ...] = ()
    labels = ("published",)
    distractors = True
    prompt: PromptStyle = "cited"
    top_k = 10

    def top_k_for(self, options: SuiteOptions) -> int:
        """Ten, whatever is asked."""
        del options
        return self.top_k

    def source(self, options: SuiteOptions) -> DataSource:
        """Finds the data."""
        del options
        raise UsageError("the suite reads no data yet", where="--suite longitudinal", fix="wait")

    def scenarios(self, options: SuiteOptions) -> Iterator[Scenario]:
        """One scenario a scope."""
        del options
        raise UsageError("the suite reads no data yet", where="--suite longitudinal", fix="wait")


SUITE = Longitudinal()
