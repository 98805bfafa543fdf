"""Reports to render: a whole run, one that was cut short, one whose adapter is hostile."""

from memrig.report.model import (
    AdapterSummary,
    Audit,
    Bar,
    Claims,
    IngestSummary,
    Latency,
    QuestionCounts,
    Report,
    Resources,
    ShownEvidence,
    ShownHit,
    ShownQuestion,
)
from memrig.runs.lock import DataLock, Machine
from memrig.stats.summary import MetricValue
from support.plans import execution

HEADLINE = ("recall_any@1", "recall_any@5", "recall_any@10", "mrr")
#: (n, R@1, R@5, R@10, MRR) of a plain BM25 on LoCoMo, near enough.
SCORES = {
    "overall": (1982, 0.265, 0.489, 0.578, 0.363),
    "macro": (1982, 0.241, 0.447, 0.537, 0.331),
    "adversarial": (446, 0.242, 0.478, 0.561, 0.344),
    "multi-hop": (282, 0.202, 0.447, 0.571, 0.311),
    "open-domain": (92, 0.109, 0.261, 0.337, 0.174),
    "single-hop": (841, 0.326, 0.545, 0.622, 0.422),
    "temporal": (321, 0.327, 0.504, 0.594, 0.404),
}
OTHERS = {"recall_all@10": -0.06, "ndcg@10": -0.14, "map": -0.22}

#: What an adapter may send in the hope that somebody renders or prints it as it is.
SCRIPT = "<script>document.title='owned'</script>"
IMAGE = "<img src=x onerror=\"document.title='owned'\">"
ANSI = "\x1b[31;1mred\x1b[0m\x1b]0;owned\x07"
BIDI = "abc\u202edcba\u202c\u2066x\u2069"
MARKUP = "[bold red]loud[/bold red] [link=file:///etc]x[/link] {{ 7 * 7 }} :smile:"
LONG = "w" * 10_000
HOSTILE = f"{SCRIPT} {IMAGE} {ANSI} {BIDI} {MARKUP} </title></style> \ud800 "


def metric_values() -> tuple[MetricValue, ...]:
    """Four headline metrics and three more, for every group."""
    values = [
        _value(metric, group, numbers[0], number)
        for place, metric in enumerate(HEADLINE, 1)
        for group, numbers in SCORES.items()
        for number in [numbers[place]]
    ]
    values += [
        _value(metric, group, numbers[0], numbers[3] + shift)
        for metric, shift in OTHERS.items()
        for group, numbers in SCORES.items()
    ]
    return tuple(values)


def _value(metric: str, group: str, n: int, number: float) -> MetricValue:
    half = 0.9 / n**0.5 + 0.01
    return MetricValue(
        suite="locomo",
        protocol="locomo-any",
        metric=metric,
        group=group,
        value=round(number, 4),
        low=round(max(0.0, number - half), 4),
        high=round(min(1.0, number + half), 4),
        n=n,
        interval="cluster-t",
        kind="macro" if group == "macro" else "micro",
    )


def shown_question(number: int = 1, **changes: object) -> ShownQuestion:
    """A question whose evidence stands at rank 3, under a superseded memory."""
    fields: dict[str, object] = {
        "scenario_id": "conv-26",
        "question_id": f"conv-26#q{number}",
        "category": "temporal",
        "text": "When did Caroline go to the support group for the second time?",
        "gold": "the Sunday before 25 May 2023",
        "outcome": "answered",
        "message": "",
        "rank": 3,
        "latency_ms": 1.234,
        "evidence": (
            ShownEvidence(
                source="D4:7", text="Caroline: I went to that support group again on Sunday."
            ),
        ),
        "hits": (
            _hit(1, "Melanie: The group hike was muddy, but the kids loved it!", "D9:2"),
            _hit(2, "Caroline: I will go to the support group in June.", "D1:3", stale=True),
            _hit(
                3,
                "Caroline: I went to that support group again on Sunday.",
                "D4:7",
                relevant=True,
            ),
        ),
    }
    return ShownQuestion.model_validate(fields | changes)


def _hit(
    rank: int, text: str, source: str, *, relevant: bool = False, stale: bool = False
) -> ShownHit:
    score = round(14.5 - 1.75 * rank, 3)
    return ShownHit(
        rank=rank, text=text, score=score, sources=(source,), relevant=relevant, stale=stale
    )


def _latency(phase: str, n: int, p50: float) -> Latency:
    return Latency.model_validate(
        {
            "phase": phase,
            "n": n,
            "p50_ms": p50,
            "p95_ms": round(p50 * 1.7, 3),
            "p99_ms": round(p50 * 2.6, 3),
            "max_ms": round(p50 * 6.5, 3),
        }
    )


def _bars() -> tuple[Bar, ...]:
    counts = (
        2,
        9,
        31,
        88,
        204,
        331,
        402,
        318,
        221,
        140,
        92,
        55,
        34,
        20,
        12,
        8,
        6,
        3,
        2,
        1,
        0,
        1,
        0,
        2,
    )
    low, high = 0.42, 5.9
    step = (high / low) ** (1 / len(counts))
    return tuple(
        Bar(low=round(low * step**n, 4), high=round(low * step ** (n + 1), 4), count=number)
        for n, number in enumerate(counts)
    )


_FIELDS: dict[str, object] = {
    "run_id": "locomo-bm25-0123456789",
    "lock_digest": "sha256:" + "0123456789abcdef" * 4,
    "memrig_version": "0.1.0",
    "complete": True,
    "incomplete": "",
    "labels": (),
    "notes": (
        "conv-26: evidence 'D8:6; D9:17' read as 2 ids",
        "intervals: t over 10 scenarios, since questions of one scenario are not independent",
    ),
    "adapter": AdapterSummary(
        name="bm25",
        version="0.1.0",
        pod="docker",
        digest="sha256:" + "ab" * 32,
        inputs="sha256:" + "cd" * 32,
        declared_name="bm25",
        declared_version="0.1.0",
    ),
    "suite": "locomo",
    "protocol": "locomo-any",
    "mode": "retrieval",
    "isolation": "fresh",
    "seeds": (2026,),
    "repeats": 1,
    "top_k": 10,
    "scenarios": 10,
    "headline": HEADLINE,
    "data": DataLock(name="locomo", origin="locomo10.json", sha256="sha256:" + "79" * 32, notes=()),
    "machine": Machine(
        system="Linux",
        kernel="6.1.0",
        architecture="x86_64",
        cpu="Imaginary CPU @ 2.60GHz",
        cores=2,
        memory_bytes=8 * 1024**3,
        python="3.11.2",
    ),
    "questions": QuestionCounts(
        planned=1982, settled=1982, graded=1982, ungraded={}, outcomes={"answered": 1982}
    ),
    "metrics": metric_values(),
    "latencies": (
        _latency("pod_start", 11, 412.0),
        _latency("pod_ready", 11, 655.5),
        _latency("ingest", 5882, 2.1),
        _latency("flush", 10, 148.0),
        _latency("search", 1982, 0.91),
        _latency("teardown", 11, 233.0),
    ),
    "search_histogram_ms": _bars(),
    "rank_histogram": dict(
        zip(
            [*map(str, range(1, 11)), "none"],
            (525, 181, 112, 84, 67, 51, 45, 32, 28, 21, 836),
            strict=True,
        )
    ),
    "ingest": IngestSummary(
        episodes=5882,
        stored=5882,
        duplicate=0,
        rejected=0,
        items=5882,
        text_bytes=812_345,
        episodes_per_s=9321.4,
    ),
    "claims": Claims(hits=19820, void=0, derived=0, surplus=0),
    "resources": Resources(
        cpu_s=8.21,
        peak_memory_bytes=212 * 1024**2,
        rig_peak_memory_bytes=187 * 1024**2,
        wall_s=9.14,
    ),
    "audit": Audit(verdict="passed", detail="the canary was found before, and not in a fresh pod"),
    "faults": (),
    "worst": tuple(
        shown_question(n, rank=None if n % 2 else 7 + n % 3, category=category)
        for n, category in enumerate(list(SCORES)[2:] * 2, 1)
    ),
    "executions": (execution(),),
}


def sample_report(**changes: object) -> Report:
    """A whole, unremarkable run."""
    return Report.model_validate(_FIELDS | changes)


def shallow_report(**changes: object) -> Report:
    """A run that asked for 5 hits: what needs 10 was not measured."""
    deep = {"recall_any@10", "mrr", *OTHERS}
    values = tuple(value for value in metric_values() if value.metric not in deep)
    return sample_report(**({"top_k": 5, "metrics": values} | changes))


def incomplete_report(**changes: object) -> Report:
    """A run that was cut short, with faults, a failed audit and labels."""
    fields: dict[str, object] = {
        "complete": False,
        "incomplete": "2 trials not finished; 300 of 1982 questions not settled",
        "labels": (
            "limited to 200 questions (stratified)",
            "process pod: not isolated, not leaderboard-eligible",
        ),
        "questions": QuestionCounts(
            planned=1982,
            settled=1682,
            graded=1680,
            ungraded={"harness_error": 2},
            outcomes={"adapter_crashed": 40, "answered": 1630, "harness_error": 2, "timeout": 10},
        ),
        "claims": Claims(hits=16300, void=12, derived=3, surplus=40),
        "resources": Resources(
            cpu_s=None, peak_memory_bytes=None, rig_peak_memory_bytes=None, wall_s=304.0
        ),
        "audit": Audit(verdict="failed", detail="the canary was still found after Reset"),
        "faults": tuple(
            f"conv-{n}-s2026-r0-abcdef012345: adapter_crashed(oom): container 'adapter' was killed "
            "for exceeding its memory limit"
            for n in range(7)
        ),
        "worst": (
            shown_question(
                1,
                outcome="adapter_crashed(oom)",
                message="container 'adapter' was killed for exceeding its memory limit",
                rank=None,
                hits=(),
            ),
            shown_question(2),
        ),
    }
    return sample_report(**(fields | changes))


def _vote(said: str) -> dict[str, object]:
    return {"score": None, "said": said}


def hostile_report() -> Report:
    """Every field that an adapter or a data file can write holds `HOSTILE`, some of it long."""
    text = HOSTILE + LONG
    hit = ShownHit(
        rank=1, text=text, score=float("nan"), sources=(HOSTILE,), relevant=True, stale=True
    )
    question = shown_question(
        text=text,
        gold=text,
        message=text,
        category=HOSTILE,
        scenario_id=HOSTILE,
        question_id=HOSTILE,
        evidence=(ShownEvidence(source=HOSTILE, text=text),),
        hits=(hit,),
        answer=text,
        ungraded=text,
        verdicts=(
            {
                "task": HOSTILE,
                "score": None,
                "reason": text,
                "votes": [_vote(text), _vote(HOSTILE)],
            },
        ),
        citations=({"handle": HOSTILE, "sources": [text], "text": text, "relevant": True},),
        tools=(
            {
                "name": HOSTILE,
                "arguments": text,
                "result": text,
                "is_error": True,
                "latency_ms": 1.0,
            },
        ),
    )
    adapter = sample_report().adapter.model_copy(
        update={"name": HOSTILE, "declared_name": text, "declared_version": HOSTILE}
    )
    values = tuple(
        value.model_copy(update={"group": HOSTILE}) if value.group == "temporal" else value
        for value in metric_values()
    )
    return incomplete_report(
        adapter=adapter,
        worst=(question,),
        faults=(text, HOSTILE),
        notes=(text,),
        labels=(HOSTILE,),
        metrics=values,
        audit=Audit(verdict="n/a", detail=text),
    )
