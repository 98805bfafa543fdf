"""Cheats with what happened when: ingest, barriers, attempts, pods, faults, outcomes."""

from collections.abc import Callable

from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering

_CRASH = {"status": "adapter_crashed", "kind": "oom", "message": "'adapter' was killed"}


def _place(records: Rows, kind: str, number: int = 0) -> int:
    return [n for n, record in enumerate(records) if record["kind"] == kind][number]


def _in_first(change: Callable[[Rows], object]) -> Callable[[Tampering], None]:
    def forge(forgery: Tampering) -> None:
        forgery.edit(forgery.first, change)

    return forge


def _asked_late(records: Rows) -> None:
    """A question moves behind the episodes that follow it."""
    question = records.pop(_place(records, "question"))
    records.insert(_place(records, "flush", 1) + 1, question)


def _asked_early(records: Rows) -> None:
    """A question moves before the stream that holds its evidence."""
    question = records.pop(_place(records, "question", 1))
    records.insert(_place(records, "ingest", 1), question)


def _peeked(records: Rows) -> None:
    """The episodes of the second stream came with the first one."""
    later = records[_place(records, "ingest", 1)]
    first = records[_place(records, "ingest")]
    first["acks"] += later["acks"]
    later["acks"] = []


def _left_out(records: Rows) -> None:
    """An episode that is costly to take in is not."""
    del records[_place(records, "ingest")]["acks"][0]


def _left_out_counted(records: Rows) -> None:
    """Neither is it counted."""
    acks = records[_place(records, "ingest")]["acks"]
    stream = records[_place(records, "ingest_end")]
    flush = records[_place(records, "flush")]
    del acks[0]
    stream["episodes"] -= 1
    stream["text_bytes"] -= 50
    flush["total_items"] -= 1


def _told_twice(records: Rows) -> None:
    acks = records[_place(records, "ingest")]["acks"]
    acks.append(dict(acks[0]))


def _made_up(records: Rows) -> None:
    """An episode of the adapter's own, with the answers in it."""
    acks = records[_place(records, "ingest")]["acks"]
    acks.append(acks[0] | {"episode_id": "notes"})


def _more_text(records: Rows) -> None:
    stream = records[_place(records, "ingest_end")]
    stream["text_bytes"] *= 10


def _no_barrier(records: Rows) -> None:
    del records[_place(records, "flush")]


def _barrier_later(records: Rows) -> None:
    """The wait for the index is put behind the questions: it looks short, and was not made."""
    flush = records.pop(_place(records, "flush"))
    records.insert(_place(records, "question") + 1, flush)


def _mixed(records: Rows) -> None:
    """Goes on with the old pod's answers in a new attempt, and tells its memory nothing."""
    at = _place(records, "question")
    start = [dict(record) for record in records[:3]]
    start[0]["number"] = 2
    start[2]["boot_id"] = "feedfacecafebeef"
    records[at + 1 : at + 1] = start


def _attempt_dropped(records: Rows) -> None:
    """What is left of a trial that had another attempt before this one."""
    records[0]["number"] = 2


def _attempts_odd(records: Rows) -> None:
    again = [dict(record) for record in records[:1]]
    again[0]["number"] = 7
    records[1:1] = again


def _two_systems(records: Rows) -> None:
    """Another version of the memory system takes over after an interruption."""
    at = _place(records, "question")
    again = [dict(record) for record in records[:at]]
    again[0]["number"] = 2
    again[2] |= {"boot_id": "feedfacecafebeef", "version": "tuned"}
    records[at + 1 : at + 1] = again


def _not_emptied(records: Rows) -> None:
    del records[_place(records, "reset")]


def _never_closed(records: Rows) -> None:
    records.insert(_place(records, "usage"), records.pop())


def _crashed(records: Rows) -> None:
    """From the second question on, all is blamed on a crash that came late."""
    last = _place(records, "question", -1)
    records.insert(last, {"kind": "fault", "outcome": _CRASH, "message": "gone", "log_tail": ""})


def _harness_error(forgery: Tampering) -> None:
    """A wrong answer is nobody's fault."""
    fault = {"status": "harness_error", "kind": "rejected", "message": "the provider said no"}

    def change(record: Json) -> None:
        record |= {"outcome": fault, "answer": None}

    forgery.question(change, lambda record: record["answer"] is not None)


def _harness_error_replayed(forgery: Tampering) -> None:
    """And says that it was in a record, which nobody has, that the provider failed."""
    _harness_error(forgery)
    forgery.executions(lambda line: line.update(llm="replay"))


def _probe_left_out(forgery: Tampering) -> None:
    """Freshness looked bad."""
    for trial in forgery.of_kind("scored"):
        records = forgery.records(trial)
        kept = [record for record in records if record["kind"] != "probe"]
        if len(kept) < len(records):
            forgery.put_records(trial, kept)
            return


def _probe_twice(forgery: Tampering) -> None:
    """Measured again, and another place of the timeline."""

    def change(records: Rows) -> None:
        at = _place(records, "probe")
        records.insert(_place(records, "flush") + 1, records[at] | {"values": {}})

    forgery.edit(forgery.first, change)


def _cites_more(forgery: Tampering) -> None:
    """More citations than memories."""
    forgery.question(
        lambda record: record["answer"].update(cited=["m1", "m2"]),
        lambda record: bool(record["answer"]) and bool(record["answer"]["memories"]),
    )


def _native_searched(forgery: Tampering) -> None:
    """The rig helped a memory that answers by itself."""
    search = {"query": "nine", "limit": 10, "ns": 5, "payload_bytes": 0, "hits": []}

    def change(record: Json) -> None:
        record["searches"] = [search]

    forgery.question(change, lambda record: bool(record["answer"]))


def _crash_as_rigs(forgery: Tampering) -> None:
    """The crash was the rig's, so that what it left open counts for nothing."""
    ours = {"status": "harness_error", "kind": "rejected", "message": "the provider said no"}

    def change(records: Rows) -> None:
        for record in records:
            if record.get("outcome", {}).get("status") == "adapter_crashed":
                record["outcome"] = ours

    forgery.edit(forgery.first, change)


def _crash_hidden(forgery: Tampering) -> None:
    """The fault is gone, and what it left open was answered with nothing found."""

    def change(records: Rows) -> None:
        del records[_place(records, "fault")]
        for record in records:
            if record.get("outcome", {}).get("status") == "adapter_crashed":
                record["outcome"] = {"status": "answered", "kind": "", "message": ""}

    forgery.edit(forgery.first, change)


def _error_hidden(forgery: Tampering) -> None:
    def change(record: Json) -> None:
        record["outcome"] = {"status": "answered", "kind": "", "message": ""}

    forgery.question(change, lambda record: record["outcome"]["status"] == "adapter_error")


def _abstained(forgery: Tampering) -> None:
    """A wrong answer was none, where abstaining costs less."""

    def change(record: Json) -> None:
        record["outcome"] = {"status": "abstained", "kind": "", "message": ""}

    forgery.question(change, lambda record: record["outcome"]["status"] == "answered")


def _budget_hidden(forgery: Tampering) -> None:
    def change(record: Json) -> None:
        record["outcome"] = {"status": "answered", "kind": "", "message": ""}

    forgery.question(change, lambda record: record["outcome"]["status"] == "budget_exceeded")


def _usage_negative(forgery: Tampering) -> None:
    forgery.edit_each("usage", lambda record: record.update(cpu_s=-1.0))


def _usage_nothing(forgery: Tampering) -> None:
    """A memory that takes none, and more than it ever took in all."""
    forgery.edit_each("usage", lambda record: record.update(peak_memory_bytes=0))


def _usage_impossible(forgery: Tampering) -> None:
    """More CPU time than all cores have in that time."""
    forgery.edit_each("usage", lambda record: record.update(cpu_s=1e9))


CHEATS = (
    Cheat("asked-late", "story", "asks a question when episodes after it are in",
          "answers from what is only told later", "timeline.told", _in_first(_asked_late)),
    Cheat("asked-early", "story", "asks a question before its evidence was told",
          "a memory that is small when it is measured", "timeline.told", _in_first(_asked_early)),
    Cheat("episodes-early", "story", "takes in episodes before their time",
          "answers from what is only told later", "timeline.acknowledged", _in_first(_peeked)),
    Cheat("episode-left-out", "story", "leaves out an episode",
          "ingest that looks fast", "timeline.acknowledged", _in_first(_left_out)),
    Cheat("episode-uncounted", "story", "leaves it out of all counts as well",
          "ingest that looks fast", "timeline.streams", _in_first(_left_out_counted)),
    Cheat("episode-twice", "reader", "takes in an episode twice",
          "evidence that weighs more", "timeline.acknowledged", _in_first(_told_twice)),
    Cheat("episode-made-up", "reader", "takes in an episode of its own",
          "the answers, in the memory", "timeline.acknowledged", _in_first(_made_up)),
    Cheat("text-more", "reader", "notes ten times the text",
          "throughput of text that nobody sent", "timeline.streams", _in_first(_more_text)),
    Cheat("barrier-removed", "story", "leaves out the wait for the index",
          "ingest that looks fast", "timeline.order", _in_first(_no_barrier)),
    Cheat("barrier-later", "story", "waits for the index after the question",
          "ingest that looks fast", "timeline.order", _in_first(_barrier_later)),
    Cheat("attempts-mixed", "story", "goes on in a new pod that was told nothing",
          "answers of an earlier, larger memory", "timeline.told", _in_first(_mixed)),
    Cheat("attempt-dropped", "reader", "leaves out a first attempt that went badly",
          "the better of two", "timeline.abandoned", _in_first(_attempt_dropped)),
    Cheat("attempts-odd", "reader", "numbers its attempts as it likes",
          "attempts that went badly, left out", "timeline.attempts", _in_first(_attempts_odd)),
    Cheat("systems-two", "reader", "goes on with another version of the system",
          "a system for each question", "timeline.handshake", _in_first(_two_systems)),
    Cheat("reset-dropped", "several", "does not empty the memory between scenarios",
          "a Reset that costs nothing", "timeline.reset", _in_first(_not_emptied)),
    Cheat("closed-early", "reader", "notes its use of memory after the end",
          "figures that were put in later", "chain.attempts", _in_first(_never_closed)),
    Cheat("crash-made-up", "retrieval", "notes a crash, and answers after it",
          "a hard question that a crash excuses", "timeline.faults", _in_first(_crashed)),
    Cheat("harness-error", "reader", "calls a wrong answer the provider's fault",
          "a hard question that no mean has", "models.faults", _harness_error),
    Cheat("harness-error-replayed", "reader", "likewise, and says that replies were replayed",
          "a hard question that no mean has", "grades.complete", _harness_error_replayed),
    Cheat("probe-left-out", "probed", "leaves out a measurement",
          "a figure that looks bad", "timeline.probes", _probe_left_out),
    Cheat("probe-twice", "probed", "measures twice, and once where it is cheap",
          "the better of two", "timeline.probes", _probe_twice),
    Cheat("native-cites", "native", "cites more than it named",
          "evidence for an answer", "sources.native", _cites_more),
    Cheat("native-searched", "native", "has the rig search for a system that answers by itself",
          "help that others do not have", "sources.native", _native_searched),
    Cheat("crash-as-rigs", "failing", "calls its crash the rig's fault",
          "questions that no mean has", "models.faults", _crash_as_rigs),
    Cheat("crash-hidden", "failing", "hides its crash; it answered, and found nothing",
          "a system that looks stable", "budgets.outcomes", _crash_hidden),
    Cheat("error-hidden", "failing", "hides an error of the system; it found nothing",
          "a system that looks stable", "budgets.outcomes", _error_hidden),
    Cheat("abstained", "reader", "passes a wrong answer off as an abstention",
          "a wrong answer that costs less", "budgets.outcomes", _abstained),
    Cheat("budget-hidden", "tight", "passes a broken budget off as kept",
          "more of the memory than others may read", "budgets.outcomes", _budget_hidden),
    Cheat("usage-negative", "reader", "notes less CPU time than none",
          "a system that looks thrifty", "usage.possible", _usage_negative),
    Cheat("usage-nothing", "reader", "notes a peak of memory of nothing",
          "a system that looks thrifty", "usage.possible", _usage_nothing),
    Cheat("usage-impossible", "reader", "notes more CPU time than there is",
          "nothing: figures that nobody measured", "usage.possible", _usage_impossible),
)  # fmt: skip
