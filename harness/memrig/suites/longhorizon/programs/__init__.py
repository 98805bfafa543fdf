"""The fifteen categories of questions, each a few forms that are filled in from the event log."""

from memrig.suites.longhorizon.programs import (
    cases,
    figures,
    joins,
    lookups,
    sets,
    sources,
    times,
    traps,
)
from memrig.suites.longhorizon.programs.base import Form

#: In the order of reports.
CATEGORIES: tuple[str, ...] = (
    "needle_in_haystack",
    "temporal_evolution",
    "numerical_precision",
    "source_attribution",
    "cross_reference",
    "distractor_resistance",
    "meta_memory",
    "security_log_analysis",
    "incident_tracking",
    "infrastructure_knowledge",
    "problem_solving",
    "multi_hop_reasoning",
    "temporal_trap",
    "numerical_reasoning",
    "adversarial_distractor",
)
FORMS: tuple[Form, ...] = (
    *lookups.FORMS,
    *times.FORMS,
    *sources.FORMS,
    *joins.FORMS,
    *sets.FORMS,
    *cases.FORMS,
    *figures.FORMS,
    *traps.FORMS,
)


def forms_of(category: str) -> tuple[Form, ...]:
    """The forms of a category."""
    return tuple(form for form in FORMS if form.category == category)
