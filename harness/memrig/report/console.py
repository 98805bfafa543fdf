"""Everything that commands print for people, except live progress (report/progress.py).

Each `print_…` takes a console for tests and defaults to stdout; errors go to stderr.
"""

from memrig.report.terminal.base import make_console
from memrig.report.terminal.calibration import print_calibration
from memrig.report.terminal.compare import print_comparison
from memrig.report.terminal.conformance import print_conformance
from memrig.report.terminal.errors import print_error
from memrig.report.terminal.profiles import (
    SuiteRun,
    print_differences,
    print_profile,
    print_suite_head,
    print_suite_runs,
)
from memrig.report.terminal.questions import print_question, print_questions_table
from memrig.report.terminal.reran import (
    MeanAgain,
    PartAgain,
    print_facts,
    print_rerun,
    print_step,
)
from memrig.report.terminal.summary import print_report
from memrig.report.terminal.tables import (
    print_checks,
    print_clean,
    print_datasets,
    print_images,
    print_plan,
    print_problems,
    print_suites,
)
from memrig.report.terminal.verified import Held, HeldRun, print_verification

__all__ = [
    "Held",
    "HeldRun",
    "MeanAgain",
    "PartAgain",
    "SuiteRun",
    "make_console",
    "print_calibration",
    "print_checks",
    "print_clean",
    "print_comparison",
    "print_conformance",
    "print_datasets",
    "print_differences",
    "print_error",
    "print_facts",
    "print_images",
    "print_plan",
    "print_problems",
    "print_profile",
    "print_question",
    "print_questions_table",
    "print_report",
    "print_rerun",
    "print_step",
    "print_suite_head",
    "print_suite_runs",
    "print_suites",
    "print_verification",
]
