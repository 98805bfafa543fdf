"""Tables: which rows stand together, in what order, and who is ranked how."""

from memrig.leaderboard.tables import Row, ranks_of, tables_of
from memrig.model.canonical import digest_of
from support.boards import board_run, entry, table_of


def unknown(_row: Row, _other: Row) -> None:
    """Nothing was compared."""


def names(rows: tuple[Row, ...]) -> list[str]:
    return [row.entry.adapter for row in rows]


def ranks(*entries: object, better: object = unknown) -> dict[str, int]:
    table = table_of(*entries)
    found = ranks_of(table.rows, better)
    return {row.entry.adapter: found[row.key] for row in table.rows if row.key in found}


def test_rows_are_best_first() -> None:
    """A run without a score comes last."""
    rows = [
        entry("low", board_run(0.2)),
        entry("none", board_run(None)),
        entry("high", board_run(0.9)),
    ]
    assert names(table_of(*rows).rows) == ["high", "low", "none"]


def test_rows_of_one_table_were_asked_the_same() -> None:
    """By content: a sample or a limit is another table, of which the larger one comes first."""
    other = digest_of("a sample")
    tables = tables_of(
        [
            entry("sampled", board_run(0.9, asked=other)),
            entry("a", board_run(0.5)),
            entry("b", board_run(0.4)),
        ]
    )
    assert [names(table.rows) for table in tables] == [["a", "b"], ["sampled"]]
    assert len({table.slug for table in tables}) == 2


def test_modes_and_protocols_stand_apart() -> None:
    """A reader's answers are not set beside bare searches."""
    reading = board_run(0.5, number=2, mode="reader", protocol="practical-answers")
    tables = tables_of([entry("a", board_run(0.5), reading)])
    assert [(table.protocol, table.mode) for table in tables] == [
        ("practical", "retrieval"),
        ("practical-answers", "reader"),
    ]


def test_a_slug_is_made_of_letters_that_every_file_system_has() -> None:
    """Names of suites may come from plug-ins."""
    table = table_of(entry("a", board_run(0.5, suite="../Ünder score/", protocol="X")))
    assert set(table.slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_intervals_that_touch_share_a_rank() -> None:
    """Where no pair was compared, only intervals that lie apart tell systems apart."""
    found = ranks(
        entry("a", board_run(0.90)), entry("b", board_run(0.85)), entry("c", board_run(0.6))
    )
    assert found == {"a": 1, "b": 1, "c": 3}


def test_paired_statistics_come_before_intervals() -> None:
    """They see differences that intervals hide, and none where intervals lie apart by chance."""
    entries = entry("a", board_run(0.90)), entry("b", board_run(0.85)), entry("c", board_run(0.6))

    def only_b(row: Row, other: Row) -> bool:
        return (row.entry.adapter, other.entry.adapter) == ("a", "b")

    assert ranks(*entries, better=only_b) == {"a": 1, "b": 2, "c": 1}


def test_a_score_without_interval_beats_nobody() -> None:
    """One scenario says nothing about the next one."""
    assert ranks(entry("a", board_run(0.9, spread=None)), entry("b", board_run(0.1))) == {
        "a": 1,
        "b": 1,
    }


def test_divisions_are_ranked_apart() -> None:
    """What was chosen freely does not push back what keeps to the profile."""
    found = ranks(entry("open", board_run(0.9), division="open"), entry("closed", board_run(0.2)))
    assert found == {"open": 1, "closed": 1}


def test_only_isolated_whole_runs_of_memory_systems_have_a_rank() -> None:
    """Neither a baseline that sees the gold, nor a process that could see anything, nor a part."""
    found = ranks(
        entry("oracle", board_run(1.0), pod="baseline"),
        entry("outside", board_run(0.95), pod="process"),
        entry("part", board_run(0.93, complete=False)),
        entry("real", board_run(0.2)),
    )
    assert found == {"real": 1}
