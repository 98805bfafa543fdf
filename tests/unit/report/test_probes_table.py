"""Runs of the operations suite beside each other, as Markdown."""

from memrig.report.model import Report
from memrig.report.probes_table import operations_table
from support.probes import (
    every_kind,
    freshness,
    growth,
    hostile_operations,
    leak,
    operated_report,
    outage,
    restart,
    summary,
)
from support.reports import sample_report


def rows(*reports: tuple[str, Report]) -> tuple[list[list[str]], list[list[str]]]:
    """The cells of both tables, without their heads."""
    tables = operations_table(reports).split("\n\n")
    cells = [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
        for table in tables
    ]
    for table in cells:
        assert {len(row) for row in table} == {len(table[0])}
    return cells[0][2:], cells[1][2:]


def test_the_first_table_is_of_the_last_size():
    """With the exponents over all sizes, and recall at the first and the last."""
    ((row,), _) = rows(("mine", operated_report()))
    assert row[:5] == ["mine", "100,000", "40.0 MiB", "235 MiB", "2.0 MiB"]
    assert row[5] == "1.00 (1.00 to 1.00)"
    assert row[6:10] == ["2,500/s", "120 ms", "282 ms", "400 ms"]
    assert row[11:] == ["100.0 → 60.0", "15,000,000", "$10.00"]


def test_a_rate_that_could_not_be_had_has_no_unit():
    """As every other figure that is not there."""
    report = operated_report()
    assert report.probes
    assert report.probes.growth
    last = report.probes.growth.rows[-1].model_copy(update={"episodes_per_s": None})
    grown = report.probes.growth.model_copy(update={"rows": (last,)})
    probes = report.probes.model_copy(update={"growth": grown})
    ((row,), _) = rows(("mine", report.model_copy(update={"probes": probes})))
    assert row[6] == "n/a"


def test_the_second_table_has_every_verdict():
    """Containers by name, outages by fault."""
    (_, (row,)) = rows(("mine", operated_report(probes=summary(every_kind()))))
    assert row == [
        "mine",
        "18 of 20, 12 ms",
        "adapter: lost all, postgres: kept",
        "1.9 s, 1.9 s",
        "failed",
        "recovered; stored 40/40 meanwhile",
        "no models",
        "in part; stored 4/40 meanwhile",
    ]


def test_a_memory_without_models_says_so_in_a_word():
    """Thrice the same sentence would hide the rest."""
    quiet = [outage(name, values={}, skipped="asked for no model") for name in ("slow", "down")]
    records = [*growth(), freshness(), restart("adapter"), leak(), *quiet]
    ((held,), (row,)) = rows(("mine", operated_report(probes=summary(records))))
    assert held[-2:] == ["n/a", "n/a"]
    assert row[5:] == ["no models"] * 3
    assert row[4] == "passed"


def test_a_pod_without_containers_has_no_restart():
    """An endpoint's."""
    (_, (row,)) = rows(("mine", operated_report(probes=summary([leak()]))))
    assert row[2:4] == ["n/a", "n/a"]


def test_a_run_of_another_suite_is_left_out():
    """It has no probes."""
    assert rows(("other", sample_report()), ("mine", operated_report()))[1][0][0] == "mine"


def test_a_hostile_name_breaks_no_cell():
    """Of a container, which its maker named."""
    _, (row,) = rows(("mine", hostile_operations()))
    assert "\n" not in row[2]
    probes = summary([restart("a|b\n| c")])
    table = operations_table([("mine", operated_report(probes=probes))])
    assert "a\\|b \\| c: kept" in table
