"""The audits of a run, below its scores."""

from rich.console import Console
from rich.text import Text

from memrig.report.model import Report
from memrig.report.terminal.base import BAD, DIM, GOOD, facts, words
from memrig.report.view_audits import AuditLine, audit_lines

_TONES = {"good": GOOD, "bad": BAD, "": ""}
_DETAIL = 300


def print_audits(report: Report, console: Console) -> None:
    """A line an audit: its verdict, and what was measured."""
    lines = audit_lines(report.audits)
    if not lines:
        return
    console.print(Text("Audits, in trials of their own", style=DIM))
    facts(console, [(line.name.lower(), _said(line)) for line in lines])
    console.print()


def _said(line: AuditLine) -> Text:
    text = Text(line.verdict, style=_TONES[line.tone])
    return text.append(": ", "default").append_text(words(line.detail, "default", _DETAIL))
