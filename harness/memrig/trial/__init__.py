"""One trial, as a small state machine. The only code path that executes a trial."""

from memrig.trial.runner import Progress, TrialServices, run_trial

__all__ = ["Progress", "TrialServices", "run_trial"]
