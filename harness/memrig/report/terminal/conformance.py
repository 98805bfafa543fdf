"""What a conformance run came to."""

from rich.console import Console
from rich.text import Text

from memrig.conformance.model import CheckResult, ConformanceReport, Status
from memrig.report.terminal.base import BAD, DIM, GOOD, WARN, make_console, new_table, title, words
from memrig.report.units import count, plural

_MARKS: dict[Status, tuple[str, str]] = {
    "passed": ("ok", GOOD),
    "failed": ("FAILED", f"bold {BAD}"),
    "not_applicable": ("n/a", DIM),
    "error": ("ERROR", f"bold {WARN}"),
}


def print_conformance(report: ConformanceReport, console: Console | None = None) -> None:
    """Prints every check; of one that did not pass, what was expected and what came instead."""
    console = console or make_console()
    adapter = report.adapter
    console.print(title(f"{adapter.name} {adapter.version}", f"{adapter.pod} pod", "conformance"))
    table = new_table("", "check", "what it asks")
    table.columns[0].no_wrap = True
    for result in report.results:
        mark, style = _MARKS[result.status]
        table.add_row(Text(mark, style=style), words(result.id), _what(result))
    console.print(table)
    counts = ", ".join(
        f"{count(number)} {status.replace('_', ' ')}"
        for status, number in report.counts.items()
        if number
    )
    style, verdict = (GOOD, "conforms") if report.conforms else (BAD, "does not conform")
    console.print(Text(f"The adapter {verdict}", style=f"bold {style}").append(f": {counts}."))
    if report.left_out:
        console.print(Text(f"{plural(len(report.left_out), 'check')} not chosen.", style=DIM))


def _what(result: CheckResult) -> Text:
    text = words(result.title, limit=300)
    if result.status == "passed":
        return text
    lines = [("", result.message), ("expected", result.expected), ("got", result.got)]
    if result.status in ("failed", "error"):
        lines += [("why", result.reason), ("rule", result.spec)]
    for name, value in lines:
        if value:
            text.append(f"\n{name}: " if name else "\n", DIM)
            text.append_text(words(value, limit=600))
    return text
