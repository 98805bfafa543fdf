"""The geometry of charts: where things stand, at the edges above all."""

from memrig.report.charts import latency_chart, rank_chart, whisker_chart
from memrig.report.model import Bar, Latency
from support.reports import metric_values, sample_report


def latency(p50: float = 1.0, p95: float = 2.0, p99: float = 3.0) -> Latency:
    return Latency(phase="search", n=9, p50_ms=p50, p95_ms=p95, p99_ms=p99, max_ms=p99)


def test_a_dot_stands_where_its_value_is() -> None:
    """Percent across the chart is percent of the metric."""
    value = metric_values()[0].model_copy(update={"value": 0.25, "low": 0.1, "high": 0.5})
    row = whisker_chart("mrr", [value], 0).rows[0]
    assert (row.low, row.x, row.high) == (10.0, 25.0, 50.0)


def test_without_an_interval_there_is_no_whisker() -> None:
    """A missing bound is not drawn as 0."""
    value = metric_values()[0].model_copy(update={"low": None, "high": None})
    row = whisker_chart("mrr", [value], 0).rows[0]
    assert (row.low, row.high) == (None, None)
    assert "(" not in row.value


def test_nothing_leaves_the_chart() -> None:
    """A metric of a plug-in beyond 0 to 1 is drawn at the edge."""
    value = metric_values()[0].model_copy(update={"value": 1.7, "low": -0.5, "high": 2.0})
    row = whisker_chart("x", [value], 0).rows[0]
    assert (row.low, row.x, row.high) == (0.0, 100.0, 100.0)


def test_the_tallest_bar_fills_the_plot_and_the_others_keep_proportion() -> None:
    """Heights are proportional to counts."""
    tall, half, none = rank_chart({"1": 10, "2": 5, "none": 0}).bars
    assert (half.height, none.height) == (tall.height / 2, 0)


def test_no_ranks_make_an_empty_chart() -> None:
    """A run that graded nothing divides by nothing."""
    assert [bar.height for bar in rank_chart({"1": 0, "none": 0}).bars] == [0, 0]


def test_the_quantiles_stand_on_the_logarithmic_axis() -> None:
    """1 ms is half-way between 0.1 and 10 ms."""
    chart = latency_chart([Bar(low=0.1, high=10.0, count=3)], latency(p50=1.0, p95=10.0))
    assert chart is not None
    assert [mark.x for mark in chart.marks[:2]] == [50.0, 100.0]


def test_axis_labels_are_round_and_apart() -> None:
    """Labels are 1, 2 or 5 times a power of ten, and never run into each other."""
    report = sample_report()
    chart = latency_chart(report.search_histogram_ms, report.latencies[4])
    assert chart is not None
    assert [tick.label for tick in chart.ticks] == ["0.5 ms", "1 ms", "2 ms", "5 ms"]
    gaps = [b.x - a.x for a, b in zip(chart.ticks, chart.ticks[1:], strict=False)]
    assert min(gaps) >= 14


def test_a_narrow_range_still_has_an_axis() -> None:
    """Where no round value lies within, the ends are named."""
    chart = latency_chart([Bar(low=1.1, high=1.2, count=3)], latency())
    assert chart is not None
    assert [tick.label for tick in chart.ticks] == ["1.10 ms", "1.20 ms"]


def test_a_range_of_no_width_is_drawn() -> None:
    """A single value has no logarithm of a ratio."""
    chart = latency_chart([Bar(low=0.001, high=0.001, count=3)], latency())
    assert chart is not None
    assert [mark.x for mark in chart.marks] == [50.0, 50.0, 50.0]


def test_without_searches_there_is_no_latency_chart() -> None:
    """Nothing is drawn of nothing."""
    assert latency_chart([], latency()) is None
    assert latency_chart([Bar(low=1, high=2, count=1)], None) is None
