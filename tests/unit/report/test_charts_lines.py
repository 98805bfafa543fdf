"""The geometry of line charts."""

from memrig.report.charts import Tick
from memrig.report.charts_lines import Curve, Dot, LineChart, line_chart


def chart(*curves: Curve, **changes: object) -> LineChart:
    ticks = [Tick(0.0, "0"), Tick(1.0, "1")]
    return line_chart("x", "X", curves, ticks, "x", **changes)  # type: ignore[arg-type]


def test_a_share_is_as_high_as_its_level():
    """The labels left of the plot are of the same scale as the dots."""
    drawn = chart(Curve("a", tuple(Dot(n / 4, n / 4) for n in range(5))))
    (curve,) = drawn.curves
    assert [round(y) for _, y in curve.dots] == [y for y, _ in drawn.levels]
    assert [label for _, label in drawn.levels] == ["0%", "25%", "50%", "75%", "100%"]
    assert (curve.dots[0][0], curve.dots[-1][0]) == (drawn.left, drawn.right)
    assert drawn.levels[0][0] == drawn.base


def test_dots_are_joined_in_order():
    """One line fewer than dots."""
    (curve,) = chart(Curve("a", (Dot(0, 1), Dot(0.5, 0), Dot(1, 1)))).curves
    ends = [((s.x1, s.y1), (s.x2, s.y2)) for s in curve.lines]
    assert ends == [(curve.dots[0], curve.dots[1]), (curve.dots[1], curve.dots[2])]


def test_an_interval_is_drawn_where_there_is_one():
    """Half an interval is none."""
    dots = (Dot(0.2, 0.5, 0.25, 0.75), Dot(0.4, 0.5), Dot(0.6, 0.5, 0.1, None))
    (curve,) = chart(Curve("a", dots)).curves
    (whisker,) = curve.whiskers
    assert whisker.x1 == whisker.x2 == curve.dots[0][0]
    assert whisker.y2 < curve.dots[0][1] < whisker.y1


def test_two_curves_do_not_hide_each_other():
    """At the same place they stand a little apart, in colours and with names of their own."""
    first, second = chart(Curve("a", (Dot(0.5, 0.5),)), Curve("b", (Dot(0.5, 0.5),))).curves
    assert first.dots[0][0] < second.dots[0][0]
    assert first.dots[0][1] == second.dots[0][1]
    assert (first.kind, second.kind) == ("first", "second")
    assert first.legend < second.legend


def test_nothing_leaves_the_plot():
    """A value beyond 0 to 1 stands at the edge."""
    drawn = chart(Curve("a", (Dot(-1, -1), Dot(2, 2))))
    low, high = drawn.curves[0].dots
    assert low == (drawn.left, float(drawn.base))
    assert high == (drawn.right, float(drawn.levels[-1][0]))


def test_counts_make_room_for_themselves():
    """Below the ticks, above the name of the axis."""
    dots = (Dot(0.5, 0.5),)
    plain, counted = (chart(Curve("a", dots), counts=counts) for counts in ((), (Tick(0.5, "12"),)))
    assert counted.height > plain.height
    assert [count.label for count in counted.counts] == ["12"]


def test_the_diagonal_joins_the_corners():
    """Where confidence and accuracy agree."""
    drawn = chart(Curve("a", ()), diagonal=True)
    assert drawn.diagonal is not None
    assert (drawn.diagonal.x1, drawn.diagonal.y1) == (drawn.left, float(drawn.base))
    assert (drawn.diagonal.x2, drawn.diagonal.y2) == (drawn.right, float(drawn.levels[-1][0]))


def test_a_screen_reader_hears_the_values():
    """In the chart's description."""
    assert chart(Curve("recall", (Dot(0, 0.25), Dot(1, 1)))).description == "recall: 25 %, 100 %"
