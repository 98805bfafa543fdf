"""The addresses of the viewer's pages. Whatever an id holds, its address is plain ASCII."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

HOME = "/"


def _segment(text: str) -> str:
    return quote(text, safe="", errors="replace")


def _query(values: Mapping[str, str]) -> str:
    given = {name: value for name, value in values.items() if value}
    return f"?{urlencode(given, errors='replace')}" if given else ""


def home(**filters: str) -> str:
    """The list of runs."""
    return f"{HOME}{_query(filters)}"


def run(key: str, **values: str) -> str:
    """A run's page."""
    return f"/runs/{_segment(key)}{_query(values)}"


def report(key: str) -> str:
    """A run's whole report."""
    return f"{run(key)}/report"


def questions(key: str, **filters: str) -> str:
    """A run's graded questions."""
    return f"{run(key)}/questions{_query(filters)}"


def trials(key: str, **values: str) -> str:
    """A run's trials."""
    return f"{run(key)}/trials{_query(values)}"


def trial(key: str, trial_id: str, **values: str) -> str:
    """One trial."""
    return f"{trials(key)}/{_segment(trial_id)}{_query(values)}"


def timeline(key: str, trial_id: str, scenario_id: str, page: int = 1) -> str:
    """What one scenario of a trial held, event by event."""
    values = {"scenario": scenario_id, "page": str(page) if page > 1 else ""}
    return f"{trial(key, trial_id)}/timeline{_query(values)}"


def question(key: str, trial_id: str, scenario_id: str, question_id: str, **filters: str) -> str:
    """One question of a trial; `filters` are those of the list that it is looked at from."""
    values = {"scenario": scenario_id, "id": question_id, **filters}
    return f"{trial(key, trial_id)}/question{_query(values)}"


def versus(base: str, other: str = "") -> str:
    """Two runs side by side; without the second, a choice of it."""
    end = f"/{_segment(other)}" if other else ""
    return f"/compare/{_segment(base)}{end}"
