"""What a run's probes say together."""

import pytest

from memrig.model.transcript import AttemptRecord
from memrig.report.model_probes import OutageRow
from memrig.report.probes import probe_summary
from support.probes import (
    EMPTY,
    ILL,
    METRICS,
    MIB,
    SIZES,
    WELL,
    asked,
    every_kind,
    freshness,
    growth,
    leak,
    load,
    logged,
    outage,
    probe,
    restart,
    summary,
    usage,
)


def test_a_run_without_probes_says_nothing():
    """As every suite but one."""
    assert probe_summary(logged([]), asked({10: 1.0}), METRICS, 1) is None


def test_a_row_a_size():
    """Growth is over the empty pod, the rate over what came since the size before."""
    found = summary(growth(models=True)).growth
    assert found is not None
    assert found.empty_bytes == EMPTY
    assert [row.episodes for row in found.rows] == list(SIZES)
    last = found.rows[-1]
    assert (last.items, last.memory_bytes) == (100_000, EMPTY + 2048 * 100_000)
    assert last.bytes_per_1000 == last.marginal_per_1000 == 2_048_000
    # 200 µs an episode to send, and as long again at the barrier.
    assert last.episodes_per_s == 2_500
    assert (last.model_calls, last.tokens, last.usd) == (100_000, 15_000_000, 10)
    assert [(one.clients, one.calls) for one in last.loads] == [(1, 3), (8, 24)]
    assert last.loads[0].timing is not None
    assert last.loads[0].timing.p50_ms == 120
    assert last.loads[1].per_s == pytest.approx(24 / (24 * 0.4 / 8))


def test_recall_at_a_size_is_of_the_questions_asked_there():
    """Not of those at other sizes, nor of other scenarios."""
    rows = asked({1_000: 1.0, 10_000: 0.5}) + asked({10_000: 0.0}, scenario="restart")
    found = probe_summary(logged(growth()), rows, METRICS, 1)
    assert found is not None
    assert found.growth is not None
    values = [row.recall.value if row.recall else None for row in found.growth.rows]
    assert values == [1.0, 0.5, None]
    assert found.growth.recall == "recall_any@10"


def test_exponents_are_of_growth_over_the_empty_pod_and_of_a_single_client():
    """Both grow in proportion here, though the whole pod does not."""
    found = summary(growth()).growth
    assert found is not None
    assert found.memory.exponent == pytest.approx(1, abs=0.001)
    assert found.latency.exponent == pytest.approx(1, abs=0.001)


def test_several_trials_are_means_and_points_of_one_fit():
    """Two seeds are two points a size."""
    twice = [
        record.model_copy(update={"values": record.values | {"memory_bytes": EMPTY + 3 * MIB}})
        if record.kind == "probe" and record.probe == "usage" and record.episodes == 1_000
        else record
        for record in growth()
    ]
    found = summary(growth(), twice).growth
    assert found is not None
    assert found.rows[0].trials == 2
    assert found.rows[0].memory_bytes == EMPTY + (2_048_000 + 3 * MIB) // 2
    assert found.memory.n == 6
    assert found.rows[0].loads[0].calls == 6


def test_without_an_empty_pod_there_is_no_growth_over_it():
    """And the exponent says so; the sizes stand."""
    found = summary(growth()[1:]).growth
    assert found is not None
    assert found.rows[0].bytes_per_1000 is None
    assert found.memory.exponent is None
    assert found.memory.why == "the empty pod was not measured"


def test_a_pod_that_cannot_tell_its_memory_leaves_gaps():
    """An endpoint's: searches are timed all the same."""
    records = [
        record.model_copy(update={"values": {}})
        if record.kind == "probe" and record.probe == "usage"
        else record
        for record in growth()
    ]
    found = summary(records).growth
    assert found is not None
    assert {row.memory_bytes for row in found.rows} == {None}
    assert found.latency.exponent == pytest.approx(1, abs=0.001)


def test_a_memory_that_hardly_grows_has_no_exponent():
    """A library that is loaded late is no growth."""
    flat = [usage(0, EMPTY), *(usage(size, EMPTY + MIB + size) for size in SIZES)]
    found = summary(flat).growth
    assert found is not None
    assert found.memory.exponent is None
    assert "too little to tell" in found.memory.why


def test_failed_searches_count_as_errors_not_as_time():
    """A call that fails at once would make the memory look fast."""
    found = summary([load(1_000, 8, [5.0] * 6, calls=8, errors=2, wall_s=0.5)]).growth
    assert found is not None
    (one,) = found.rows[0].loads
    assert one.timing is not None
    assert (one.calls, one.errors, one.timing.n, one.per_s) == (8, 2, 6, 12)


def test_an_attempt_that_was_begun_anew_leaves_nothing():
    """A trial with probes is measured from its first episode on."""
    again = AttemptRecord(number=2, spec_digest="sha256:0", started_at="2026-01-01T00:00:00Z",
                          memrig_version="0")  # fmt: skip
    found = summary([*growth((1_000, 5_000)), again, *growth()]).growth
    assert found is not None
    assert [row.episodes for row in found.rows] == list(SIZES)
    assert found.rows[0].episodes_per_s == 2_500
    assert {row.trials for row in found.rows} == {1}


def test_freshness_tells_apart_what_needs_the_barrier():
    """Found by itself, found after the barrier, never."""
    found = summary([freshness(12, 5, 20), freshness(20, 0, 20)]).freshness
    assert found is not None
    assert (found.asked, found.found, found.after_flush, found.trials) == (40, 32, 5, 2)
    assert found.visible is not None
    assert found.visible.n == 32


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ({"recall_before": 0.9, "recall_after": 0.9}, "kept"),
        ({"recall_before": 0.9, "recall_after": 0.3}, "lost some"),
        ({"recall_before": 0.9, "recall_after": 0.0}, "lost all"),
        ({"recall_before": 0.0, "recall_after": 0.0}, "n/a"),
    ],
)
def test_a_restart_is_judged_by_what_was_known(values, verdict):
    """What nobody knew cannot be lost."""
    (row,) = summary([restart("adapter", **values)]).restarts
    assert row.verdict == verdict


def test_a_container_that_does_not_come_back_is_named():
    """Its record has no recall after, and a failure."""
    gone = probe("restart", "restart", subject="postgres", values={"recall_before": 0.9},
                 failure="1 calls failed: rpc=Search: UNAVAILABLE")  # fmt: skip
    found = summary([restart("adapter"), gone])
    assert [(row.subject, row.verdict) for row in found.restarts] == [
        ("adapter", "kept"),
        ("postgres", "not back"),
    ]
    assert found.restarts[1].down is None
    (note,) = found.notes
    assert (note.kind, note.subject) == ("failed", "postgres")


@pytest.mark.parametrize(
    ("record", "verdict"),
    [
        (leak(0), "passed"),
        (leak(1), "failed"),
        (leak(1, failure="1 calls failed"), "failed"),
        (leak(0, failure="1 calls failed"), "n/a"),
        (leak(values={"asked": 20, "leaks": 0, "recall_before": 0}), "n/a"),
        (leak(values={"recall_before": 0.9}, failure="Reset: UNIMPLEMENTED"), "n/a"),
    ],
)
def test_no_leak_is_shown_only_where_one_could_have_been_seen(record, verdict):
    """Every search must work, and what is looked for have been found before Reset."""
    found = summary([record]).leak
    assert found is not None
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        (WELL, "recovered"),
        (ILL, "in part"),
        (WELL | {"acked_after": 19}, "in part"),
        (WELL | {"errors_after": 1}, "in part"),
        (WELL | {"acked_after": 0}, "not recovered"),
        (WELL | {"recall_after": 0.0}, "not recovered"),
        (WELL | {"met": 0}, "not met"),
        ({}, "n/a"),
    ],
)
def test_an_outage_is_judged_by_what_comes_after_it(values, verdict):
    """Where no call met the fault, nothing was tried."""
    (row,) = summary([outage("down", values=values)]).outages
    assert (row.fault, row.verdict) == ("down", verdict)


def test_outages_stand_in_order_of_their_harm():
    """Whichever trial ended first."""
    names = ("other", "down", "slow", "refuses")
    found = summary([outage(name) for name in names])
    assert [row.fault for row in found.outages] == ["slow", "refuses", "down", "other"]


def test_errors_of_an_outage_are_of_every_kind():
    """Streams, barriers and searches."""
    (row,) = summary([outage("down", values=ILL)]).outages
    assert row.errors == 1 + 1 + 18
    assert isinstance(row, OutageRow)


def test_what_says_nothing_of_a_system_is_no_row_but_a_reason():
    """Once, however many trials say it."""
    skipped = outage("slow", values={}, skipped="asked for no model")
    found = summary([skipped], [skipped])
    assert found.outages == ()
    (note,) = found.notes
    assert (note.kind, note.probe, note.text) == ("skipped", "outage", "asked for no model")


def test_every_kind_has_its_place():
    """A whole run."""
    found = summary(every_kind())
    assert found.growth
    assert found.freshness
    assert found.leak
    assert [row.subject for row in found.restarts] == ["adapter", "postgres"]
    assert [row.fault for row in found.outages] == ["slow", "down"]
