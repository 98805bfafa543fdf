"""The plot: what stands for cost, who is on the front, and that nothing is drawn outside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrig.leaderboard.plot import Plot, plot_of
from support.boards import board_run, cost, entry, table_of


def plot(*entries: object) -> Plot:
    found = plot_of(table_of(*entries), 1)
    assert found is not None
    return found


def paid(name: str, score: float | None, usd: float | None, **changes: object) -> object:
    return entry(name, board_run(score, spent=cost(usd=usd, usd_per_1000=usd)), **changes)


def test_the_front_is_who_nobody_beats_in_both() -> None:
    """Cheapest first; one that costs as much and does worse is behind."""
    found = plot(
        paid("cheap", 0.4, 1.0),
        paid("dear", 0.8, 9.0),
        paid("beaten", 0.3, 5.0),
        paid("equal", 0.39, 1.0),
    )
    assert found.front == ("cheap 1.0", "dear 1.0")


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12))
def test_who_is_not_on_the_front_is_beaten(drawn: list[tuple[int, int]]) -> None:
    """And nobody on it is, whatever the numbers."""
    figures = {f"s{n}": (float(usd), score / 10) for n, (usd, score) in enumerate(drawn)}
    found = plot(*(paid(name, score, usd) for name, (usd, score) in figures.items()))
    front = {name.removesuffix(" 1.0") for name in found.front}

    def beaten(name: str) -> bool:
        usd, score = figures[name]
        return any(u <= usd and s >= score and (u, s) != (usd, score) for u, s in figures.values())

    assert not any(beaten(name) for name in front)
    kept = {figures[name] for name in front}
    assert all(beaten(name) or figures[name] in kept for name in figures)


def test_baselines_and_parts_of_runs_are_drawn_but_not_on_the_front() -> None:
    """The oracle knows the gold, and what is not whole proves nothing."""
    found = plot(
        paid("oracle", 1.0, 0.5, pod="baseline"),
        entry("part", board_run(0.9, complete=False, spent=cost(usd=0.1, usd_per_1000=0.1))),
        paid("real", 0.4, 1.0),
    )
    assert found.front == ("real 1.0",)
    assert {point.label: point.kind for point in found.points}["oracle"] == "baseline"


def test_an_unknown_price_is_told_and_not_drawn() -> None:
    """Zero would be a lie."""
    found = plot(paid("a", 0.4, 1.0), paid("b", 0.5, 2.0), paid("unpriced", 0.9, None))
    assert found.absent == ("unpriced 1.0",)
    assert len(found.points) == 2


@pytest.mark.parametrize(
    ("usd", "cpu", "axis"),
    [(1.0, 2.0, "US dollars"), (0.0, 2.0, "CPU seconds"), (0.0, None, "search time")],
)
def test_cost_is_money_where_any_was_paid(usd: float, cpu: float | None, axis: str) -> None:
    """Else what was computed, else time; and the axis says so."""
    spent = cost(usd=usd, usd_per_1000=usd, cpu_s_per_1000=cpu)
    found = plot(entry("a", board_run(0.4, spent=spent)), entry("b", board_run(0.5, spent=spent)))
    assert axis in found.axis


def test_an_axis_that_is_logarithmic_says_so() -> None:
    """It is where costs lie far apart, and none of them is nothing."""
    assert plot(paid("a", 0.4, 0.01), paid("b", 0.5, 9.0)).axis.endswith("logarithmic")
    assert "logarithmic" not in plot(paid("a", 0.4, 0.0), paid("b", 0.5, 9.0)).axis
    assert "logarithmic" not in plot(paid("a", 0.4, 8.0), paid("b", 0.5, 9.0)).axis


def test_one_row_makes_no_plot() -> None:
    """There is nothing to hold it against."""
    assert plot_of(table_of(entry("a", board_run(0.5))), 1) is None


@given(
    st.lists(
        st.tuples(st.floats(0, 1e6), st.floats(0, 1), st.floats(0, 0.3)), min_size=2, max_size=15
    )
)
def test_nothing_is_drawn_outside(drawn: list[tuple[float, float, float]]) -> None:
    """Dots, whiskers and ticks stay within the drawing."""
    found = plot(
        *(
            entry(
                f"system {n}",
                board_run(score, spread=spread, spent=cost(usd=usd, usd_per_1000=usd))
                if score - spread >= 0 and score + spread <= 1
                else board_run(score, spread=None, spent=cost(usd=usd, usd_per_1000=usd)),
            )
            for n, (usd, score, spread) in enumerate(drawn)
        )
    )
    ys = [y for p in found.points for y in (p.y, p.low, p.high) if y is not None]
    assert all(0 <= y <= found.baseline for y in ys)
    assert all(0 <= x <= 100 for x in [p.x for p in found.points] + [t.x for t in found.x_ticks])
    assert all(0 <= y <= found.baseline for y, _ in found.y_ticks)


def test_labels_do_not_cover_each_other() -> None:
    """Where there is no room for one, it is left out: the dot still has a title."""
    found = plot(*(paid(f"system-{n:02}", 0.5 + n / 1000, 1.0) for n in range(12)))
    placed = [(p.label_y, p.label_dx) for p in found.points if p.label]
    assert 0 < len(placed) < 12
    assert len(set(placed)) == len(placed)
    assert all(point.title for point in found.points)


def test_the_front_strikes_no_label_through() -> None:
    """A system that is hardly worse, and dearer, stands right beneath the front's line."""
    found = plot(paid("cheap", 0.50, 1.0), paid("dear", 0.495, 2.0))
    behind = next(point for point in found.points if point.label == "dear")
    (line,) = found.strokes
    assert behind.kind == "behind"
    assert not behind.label_y - 11 < line.y1 < behind.label_y + 3


def test_no_label_stands_on_the_axis() -> None:
    """What found nothing is at the plot's foot, and the figures of cost are beneath it."""
    found = plot(
        entry("none", board_run(0.0, spread=None, spent=cost(usd=1.0, usd_per_1000=1.0))),
        paid("cheap", 0.5, 1.2),
        paid("dear", 0.9, 30.0),
    )
    assert all(p.label_y <= found.baseline for p in found.points if p.label)
    assert [p.label for p in found.points if p.kind == "front"] == ["dear", "cheap", ""]
