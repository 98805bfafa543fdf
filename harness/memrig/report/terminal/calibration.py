"""What `memrig judge calibrate` prints."""

from rich.console import Console
from rich.text import Text

from memrig.judging.calibrate import Calibration, Changes
from memrig.report.terminal.base import DIM, WARN, facts, make_console, new_table, title, words
from memrig.report.units import NOT_AVAILABLE, count, dollars, percent
from memrig.stats.intervals import wilson


def print_calibration(found: Calibration, console: Console | None = None) -> None:
    """Prints how a judge did against labels."""
    console = console or make_console()
    console.print(title(found.model, f"as judge of {found.protocol}", "calibration"))
    console.print()
    facts(console, _facts(found))
    console.print()
    _print_errors(found, console)


def _facts(found: Calibration) -> list[tuple[str, Text]]:
    matrix = found.confusion
    served = ", ".join(found.served_models)
    rows = [
        ("served as", words(served or NOT_AVAILABLE)),
        ("items", Text(_items(found))),
        ("accuracy", Text(_share(found.right, found.graded))),
        ("kappa", Text(NOT_AVAILABLE if found.kappa is None else f"{found.kappa:.3f}")),
        ("accepted though wrong", Text(_share(matrix.false_positive, _wrong(found)))),
        ("refused though right", Text(_share(matrix.false_negative, _right(found)))),
        ("order of the texts", Text(_changed(found.position))),
        ("padded answers", Text(_changed(found.verbosity))),
        ("long against short", Text(_changed(found.pairs))),
    ]
    if found.agreement is not None:
        rows.append(("votes that agree", Text(f"{percent(found.agreement)} %")))
    tokens = f"{count(found.input_tokens)} tokens in, {count(found.output_tokens)} out"
    calls = f"{count(found.calls)} calls, {tokens}, {dollars(found.cost_usd)}"
    return [*rows, ("cost", Text(calls))]


def _items(found: Calibration) -> str:
    parts = [f"{count(found.labelled)} labelled, {count(found.graded)} decided"]
    if found.left_out:
        parts.append(f"{count(found.left_out)} left out by the protocol")
    if found.ungraded:
        parts.append(f"{count(found.ungraded)} without a verdict")
    return ", ".join(parts)


def _wrong(found: Calibration) -> int:
    return found.confusion.false_positive + found.confusion.true_negative


def _right(found: Calibration) -> int:
    return found.confusion.true_positive + found.confusion.false_negative


def _share(part: int, whole: int) -> str:
    if not whole:
        return NOT_AVAILABLE
    span = wilson(part, whole)
    low, high = percent(span.low or 0), percent(span.high or 0)
    return f"{percent(part / whole)} % ({count(part)} of {count(whole)}; 95 %: {low}–{high})"


def _changed(found: Changes) -> str:
    if not found.compared:
        return NOT_AVAILABLE
    ways = f"{count(found.to_right)} to right, {count(found.to_wrong)} to wrong"
    return (
        f"{percent(found.changed / found.compared)} % of {count(found.compared)} changed ({ways})"
    )


def _print_errors(found: Calibration, console: Console) -> None:
    table = new_table("kind of answer", "label", "judged otherwise", "of", "share", right=(2, 3, 4))
    for label, errors in (("wrong", found.false_positives), ("right", found.false_negatives)):
        for kind, rate in errors.items():
            share = percent(rate.count / rate.of) if rate.of else NOT_AVAILABLE
            style = WARN if rate.count else ""
            counted = Text(count(rate.count), style)
            table.add_row(words(kind), label, counted, count(rate.of), share)
    console.print(table)
    console.print(Text("Of the answers that the judge decided; shares in percent.", DIM))
