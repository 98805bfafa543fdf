"""How numbers and the names of metrics read, the same in the terminal and on the page."""

from collections.abc import Sequence

NOT_AVAILABLE = "n/a"

_FAMILIES = {
    "recall_any": ("R", "share of questions with any of their evidence in the first {k} ranks"),
    "recall_all": ("all R", "share of questions with all of their evidence in the first {k} ranks"),
    "ndcg": ("nDCG", "how near to the top the evidence stands in the first {k} ranks"),
    "ndcg_any": (
        "nDCG",
        "how near to the top the evidence stands in the first {k} ranks, by the suite's formula",
    ),
    "session_recall_any": ("ses R", "as R, of the sessions that turns come from"),
    "session_recall_all": ("ses all R", "as all R, of the sessions that turns come from"),
    "session_ndcg_any": ("ses nDCG", "as nDCG, of the sessions that turns come from"),
    "turn_recall_any": ("turn R", "as R, of turns, where hits name them"),
    "turn_recall_all": ("turn all R", "as all R, of turns, where hits name them"),
    "turn_ndcg_any": ("turn nDCG", "as nDCG, of turns, where hits name them"),
    "keyword_recall": (
        "kw R",
        "share of questions with the answer's keyword in the first {k} hits",
    ),
}
_SINGLE = {
    "accuracy": ("accuracy", "share of questions whose answer is right"),
    "score": ("score", "mean of the dimensions that apply to a question, by their weights"),
    "content_score": ("content", "the score without confidence calibration"),
    "factual_accuracy": ("accurate", "how right the answer is, by the type of the gold answer"),
    "specificity": ("specific", "whether it is exact: the figure with its unit, the full date"),
    "temporal_awareness": ("time", "whether it is what held at the time that was asked about"),
    "source_attribution": ("sources", "whether each claim goes to the one who made it"),
    "confidence_calibration": (
        "calibration",
        "1 less the squared difference of confidence and accuracy, where a confidence was given",
    ),
    "citation_recall": ("cited", "share of the evidence that the answer cites"),
    "citation_precision": ("cited right", "share of the answer's citations that are evidence"),
    "fact_recall": ("fact recall", "share of the key facts that the answer states"),
    "evidence_grounding": ("grounding", "share of cited memories that come from ingested episodes"),
    "evidence_coverage": ("coverage", "share of the required episodes that the answer cites"),
    "citation_coverage": ("cited", "the same as evidence coverage, under its second name"),
    "budget_compliance": ("in budget", "share of questions that ended within their budget"),
    "answer_quality": (
        "quality",
        "win rate against the canonical answer, fact by fact; 50 is a draw",
    ),
    "insight_depth": ("depth", "share of synthesis answers that cite two episodes or more"),
    "reasoning_quality": ("reasoning", "share of answers of some length that tools were used for"),
    "longitudinal_advantage": (
        "advantage",
        "fact recall of synthesis questions less that of control questions, -100 to 100",
    ),
    "action_quality": ("action", "share of five criteria that a recommendation meets"),
    "evidence_retrieved": ("retrieved", "share of the required episodes that the memory returned"),
    "naive_baseline_advantage": (
        "over naive",
        "win rate against a model that was shown all episodes so far; 50 is a draw",
    ),
    "fact_recall_naive": (
        "naive recall",
        "fact recall of the model that was shown all episodes so far",
    ),
    "f1": ("F1", "overlap of the answer's stemmed words with the gold answer's"),
    "mrr": ("MRR", "mean of 1 ÷ rank of the first evidence, 0 beyond rank 10"),
    "map": ("MAP", "mean average precision over the first 10 ranks"),
    "keyword_mrr": ("kw MRR", "mean of 1 ÷ rank of the first hit with the answer's keyword"),
    "current_before_stale": (
        "current first",
        "share of corrected facts whose valid memory ranks above every superseded one",
    ),
}
_PHASES = {
    "pod_start": "pod start",
    "pod_ready": "pod ready",
    "ingest": "ingest, per episode",
    "flush": "flush",
    "search": "search",
    "answer": "answer, the model's part",
    "judge": "judge, slowest vote",
    "teardown": "teardown",
}


def percent(fraction: float | None) -> str:
    """A fraction as percent with one decimal, without the sign: ``57.8``; ``n/a`` of none."""
    return NOT_AVAILABLE if fraction is None else f"{fraction * 100:.1f}"


def short_count(number: int) -> str:
    """A number where there is no room, in thousands of 1,024 each: ``512``, ``4k``."""
    return f"{number // 1024}k" if number >= 1024 else str(number)


def bounds(low: float | None, high: float | None) -> str:
    """An interval as percent: ``52.1–63.4``, ``-2.1 to 4.0``; empty where there is none."""
    if low is None or high is None:
        return ""
    between = " to " if low < 0 else "–"
    return f"{percent(low)}{between}{percent(high)}"


def count(number: int) -> str:
    """A whole number with separators: ``1,982``."""
    return f"{number:,}"


def plural(number: int, noun: str, many: str = "") -> str:
    """``1 trial``, ``2 trials``; `many` where an s does not do."""
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def milliseconds(value: float) -> str:
    """A duration given in milliseconds, in the unit that reads best."""
    if value >= 1000:
        return seconds(value / 1000)
    return f"{value:.1f} ms" if value >= 10 else f"{value:.2f} ms"


def brief(value: float) -> str:
    """A duration given in milliseconds, for a line that many follow: ``120 ms``, ``1.2 s``."""
    if value >= 100_000:
        return seconds(value / 1000)
    if value >= 500:
        return f"{value / 1000:.1f} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.1f} ms"


def seconds(value: float) -> str:
    """A duration given in seconds, in the unit that reads best."""
    if value >= 120:
        minutes, rest = divmod(round(value), 60)
        return f"{minutes} min {rest} s"
    return f"{value:.1f} s" if value >= 10 else f"{value:.2f} s"


def dollars(value: float | None) -> str:
    """Money: ``$1.24``, ``$0.0031``."""
    if value is None:
        return NOT_AVAILABLE
    if 0 < value < 0.0001:
        return "<$0.0001"
    return f"${value:,.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"


def size(number: int | None) -> str:
    """Bytes in binary units: ``212 MiB``."""
    if number is None:
        return NOT_AVAILABLE
    value = float(number)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1000 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if value >= 100 or unit == "B" else f"{value:.1f} {unit}"


def rate(value: float | None, unit: str) -> str:
    """A throughput: ``9,321 episodes/s``."""
    if value is None:
        return NOT_AVAILABLE
    return f"{value:,.0f} {unit}/s" if value >= 100 else f"{value:,.1f} {unit}/s"


def metric_head(name: str) -> str:
    """A metric's short name for a table's head: ``recall_any@5`` is ``R@5``."""
    family, _, k = name.partition("@")
    if k and family in _FAMILIES:
        return f"{_FAMILIES[family][0]}@{k}"
    return _SINGLE[name][0] if name in _SINGLE else name


def metric_help(name: str) -> str:
    """What a metric says, in half a sentence; empty for one that a plug-in brought."""
    family, _, k = name.partition("@")
    if k and family in _FAMILIES:
        return _FAMILIES[family][1].format(k=k)
    return _SINGLE[name][1] if name in _SINGLE else ""


def phase_name(phase: str) -> str:
    """A phase as people read it."""
    return _PHASES.get(phase, phase)


def seeds_text(seeds: Sequence[int]) -> str:
    """The seeds of a run, as a head names them."""
    return f"{'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))}"
