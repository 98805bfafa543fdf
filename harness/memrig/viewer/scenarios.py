"""What spooled scenarios hold: the words of questions, and the order of events."""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field

from memrig.errors import UsageError
from memrig.model.scenario import Question, ScenarioRef
from memrig.model.trial import TrialSpec
from memrig.runs.directory import RunDirectory
from memrig.suites.spool import SpooledScenario

#: Questions of so many scenarios are kept: a page of a list is of few.
_MOST = 64


def scenario_of(directory: RunDirectory, spec: TrialSpec, scenario_id: str) -> SpooledScenario:
    """A scenario of a trial.

    Raises:
        UsageError: the trial has none of this name.
    """
    if all(ref.scenario_id != scenario_id for ref in spec.scenarios):
        raise UsageError(f"trial {spec.trial_id} has no scenario {scenario_id!r}")
    return directory.scenario(spec, scenario_id)


@dataclass(slots=True)
class Texts:
    """Questions by scenario, kept by the digest of their file: its content never changes."""

    _known: OrderedDict[str, Mapping[str, Question]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def question(
        self, directory: RunDirectory, spec: TrialSpec, scenario_id: str, question_id: str
    ) -> Question | None:
        """A question as it was asked; None where its scenario is not there any more."""
        try:
            scenario = scenario_of(directory, spec, scenario_id)
            return self.questions(scenario.ref, scenario).get(question_id)
        except (OSError, UsageError):
            return None

    def questions(self, ref: ScenarioRef, scenario: SpooledScenario) -> Mapping[str, Question]:
        """Every question of a scenario by id.

        Raises:
            FileNotFoundError: the scenario is not there any more.
        """
        with self._lock:
            known = self._known.get(ref.digest)
        if known is None:
            known = scenario.questions()
        with self._lock:
            self._known[ref.digest] = known
            self._known.move_to_end(ref.digest)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)
        return known
