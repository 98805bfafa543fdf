"""The tables of the other commands: doctor, suites, data, image, clean, run --dry-run."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.text import Text

from memrig.model.canonical import short
from memrig.model.scenario import ScenarioRef
from memrig.pod.check import Check
from memrig.pod.images.types import BuiltImage
from memrig.pod.reaper import CleanReport
from memrig.report.terminal.base import (
    BAD,
    DIM,
    GOOD,
    WARN,
    facts,
    make_console,
    new_table,
    title,
    warning,
    words,
)
from memrig.report.units import count, dollars, plural, seconds, seeds_text, size
from memrig.runs.plan import Plan
from memrig.suites.base import Suite
from memrig.suites.datasets import Dataset, path_of
from memrig.suites.problems import Problem

_SCENARIOS = 12


def print_checks(checks: Iterable[Check], console: Console | None = None) -> None:
    """Prints what a machine has and lacks; a gap with its fix below it."""
    console = console or make_console()
    table = new_table("", "check", "found")
    for check in checks:
        found = words(check.value)
        if not check.ok and check.fix:
            found.append("\nfix: ", "bold").append_text(words(check.fix))
        table.add_row(_check_mark(check), words(check.name), found)
    console.print(table)


def _check_mark(check: Check) -> Text:
    if check.ok:
        return Text("ok", style=GOOD)
    return Text("gap", style=f"bold {BAD}") if check.needed else Text("note", style=WARN)


def print_suites(suites: Iterable[Suite], console: Console | None = None) -> None:
    """Prints the installed suites; the first protocol and variant of each are its defaults."""
    console = console or make_console()
    for suite in suites:
        console.print(words(suite.name, "bold"))
        rows = [("", words(suite.summary)), ("protocols", words(", ".join(suite.protocols)))]
        if suite.variants:
            rows.append(("variants", words(", ".join(suite.variants))))
        if len(suite.label_sets) > 1:
            rows.append(("category labels", words(", ".join(suite.label_sets))))
        if suite.question_sets:
            rows.append(("question sets", words(", ".join(suite.question_sets))))
        if suite.seeds:
            made = "worlds of seeds" if suite.made_of_seeds else "seeds"
            rows.append((made, Text(", ".join(map(str, suite.seeds)))))
        rows.append(("hits a question", Text(str(suite.top_k))))
        facts(console, rows)
        console.print()


def print_datasets(datasets: Iterable[Dataset], console: Console | None = None) -> None:
    """Prints the known datasets and whether they are on this machine."""
    console = console or make_console()
    table = new_table("name", "size", "licence", "on this machine", right=(1,))
    for item in datasets:
        path = path_of(item)
        here = Text(str(path), style=GOOD) if path.is_file() else Text("no", style=WARN)
        if not path.is_file():
            here.append(f": memrig data fetch {item.name}", "default")
        table.add_row(item.name, size(item.size), item.licence, here)
    console.print(table)


def print_problems(
    problems: Sequence[Problem], where: str = "", console: Console | None = None
) -> None:
    """Prints what is wrong with a data file, and how to mend it."""
    console = console or make_console()
    if not problems:
        console.print(words(f"{where}: no defect found." if where else "No defect found."))
        return
    table = new_table("", "where", "what, and how to mend it")
    for problem in problems:
        style = BAD if problem.severity == "error" else WARN
        what = words(problem.message, limit=500)
        if problem.fix:
            what.append("\nfix: ", DIM).append_text(words(problem.fix, limit=300))
        mark = Text(problem.severity, style=style)
        table.add_row(mark, words(problem.where, limit=200), what)
    table.columns[0].no_wrap = True
    console.print(table)
    numbers = Counter(problem.severity for problem in problems)
    said = ", ".join(plural(numbers[kind], kind) for kind in ("error", "warning") if numbers[kind])
    console.print(words(f"{where}: {said}" if where else said))


def print_clean(report: CleanReport, console: Console | None = None) -> None:
    """Prints what `memrig clean` removed, and what it could not."""
    console = console or make_console()
    if report.docker:
        console.print(warning(f"Containers and volumes were not looked for: {report.docker}"))
    if report.removed:
        table = new_table("removed", "name", "run", "because")
        for orphan in report.removed:
            row = (orphan.kind, orphan.name, orphan.run or "-", orphan.reason)
            table.add_row(*(words(text) for text in row))
        console.print(table)
        console.print(f"Removed {plural(len(report.removed), 'item')}.")
    elif not report.problems:
        console.print("Nothing was left behind.")
    for problem in report.problems:
        console.print(warning(f"Could not be removed: {problem}", BAD))


def print_images(images: Iterable[BuiltImage], console: Console | None = None) -> None:
    """Prints images and their digests, each on a line that can be copied."""
    console = console or make_console()
    for image in images:
        done = f"built in {seconds(image.seconds)}" if image.built else "unchanged, not built again"
        console.print(title(image.name, size(image.size_bytes), done), soft_wrap=True)
        for name, value in (("tag", image.tag), ("digest", image.digest), ("inputs", image.inputs)):
            console.print(Text(f"  {name:<7} {value}"), soft_wrap=True)


def print_plan(plan: Plan, console: Console | None = None) -> None:
    """Prints what a run would do, for `--dry-run`."""
    console = console or make_console()
    lock = plan.lock
    audits = sum(spec.kind != "scored" for spec in plan.specs)
    done = sum(plan.directory.finished(spec) is not None for spec in plan.specs)
    console.print(title(f"{lock.adapter.name} {lock.adapter.version}", lock.suite, "dry run"))
    rows = [
        ("adapter", words(_adapter(plan))),
        ("pod", words(plan.pod_reason)),
        ("suite", words(f"{lock.suite}, protocol {lock.protocol}, mode {lock.mode}")),
        ("data", words(f"{lock.data.origin} (sha256 {short(lock.data.sha256)})")),
        ("isolation", words(f"{lock.isolation}, {seeds_text(lock.seeds)}")),
        ("trials", Text(f"{count(len(plan.specs))}, of which {plural(audits, 'audit')}")),
        ("finished", Text(f"{count(done)}, which will not run again")),
        ("calls", Text(_calls(plan))),
        ("folder", words(str(plan.directory.root))),
    ]
    facts(console, [row for row in rows if row[0] != "finished" or plan.resumed])
    console.print()
    _print_forecast(plan, console)
    _print_scenarios(plan, console)


def _adapter(plan: Plan) -> str:
    adapter = plan.lock.adapter
    images = ", ".join(f"{name} {digest}" for name, digest in adapter.images.items())
    return images or adapter.endpoint or f"{adapter.name}, as a local process"


def _calls(plan: Plan) -> str:
    """What the scored trials will ask of the adapter, when nothing fails."""
    scored = [spec for spec in plan.specs if spec.kind == "scored"]
    memories = sum(len(spec.scenarios) for spec in scored)
    return (
        f"{plural(plan.episodes, 'episode')} into {plural(memories, 'memory', 'memories')}, "
        f"{plural(plan.questions, 'search', 'searches')} for the top {plan.lock.top_k}"
    )


def _print_forecast(plan: Plan, console: Console) -> None:
    rows = plan.forecast
    if plan.lock.answer is None and not any(row.input_tokens for row in rows):
        return  # no model is asked for anything
    table = new_table("expected", "model", "calls", "tokens in", "out", "cost", right=range(2, 6))
    for row in rows:
        numbers = (row.calls, row.input_tokens, row.output_tokens)
        name = words(row.who, limit=28)
        table.add_row(row.phase, name, *map(count, numbers), dollars(row.usd))
    known = [row.usd for row in rows if row.usd is not None]
    total = dollars(sum(known)) if len(known) == len(rows) else f"≥ {dollars(sum(known))}"
    table.add_section()
    table.add_row(Text("in all", "bold"), "", "", "", "", Text(total, "bold"))
    console.print(table)
    bases: dict[str, list[str]] = {}
    for row in rows:
        bases.setdefault(row.basis, []).append(row.phase)
    for basis, phases in bases.items():
        console.print(Text(f"{', '.join(phases)}: {basis}", DIM))
    console.print()


def _name(ref: ScenarioRef) -> str:
    return ref.scenario_id if ref.seed is None else f"{ref.scenario_id} (seed {ref.seed})"


def _print_scenarios(plan: Plan, console: Console) -> None:
    lock = plan.lock
    of_seeds = any(ref.seed is not None for ref in lock.scenarios)
    times = lock.repeats if of_seeds else lock.repeats * len(lock.seeds)
    each = f", {count(times)} times each" if times > 1 else ""
    table = new_table(f"scenario{each}", "episodes", "questions", right=(1, 2))
    for ref in lock.scenarios[:_SCENARIOS]:
        table.add_row(words(_name(ref)), count(ref.episodes), count(ref.questions))
    if more := lock.scenarios[_SCENARIOS:]:
        episodes, questions = sum(r.episodes for r in more), sum(r.questions for r in more)
        table.add_row(Text(f"and {count(len(more))} more", DIM), count(episodes), count(questions))
    table.add_section()
    table.add_row(Text("in all", "bold"), count(plan.episodes), count(plan.questions))
    console.print(table)
