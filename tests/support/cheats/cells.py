"""Cheats with what was run: trials, questions, seeds, data, and the settings of the lock."""

from memrig.grading.base import load_grader
from memrig.runs.lock import grader_lock
from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering

_OTHER = "sha256:" + "e1" * 32


def _drop_trial(forgery: Tampering) -> None:
    forgery.remove(forgery.of_kind("scored")[-1])


def _drop_repeat(forgery: Tampering) -> None:
    """The lock still says two."""
    worse = forgery.of_kind("scored")[-1]
    forgery.remove(worse)
    forgery.executions(lambda line: line.update(trials_run=line["trials_run"] - 1))


def _drop_seed(forgery: Tampering) -> None:
    """Its scenario is left out of the lock as well, the seed is not."""
    lock = forgery.lock
    kept = [ref for ref in lock["scenarios"] if ref["seed"] == lock["seeds"][0]]
    forgery.relock(scenarios=kept)


def _fewer_scenarios(forgery: Tampering) -> None:
    scenarios = forgery.lock["scenarios"]
    gone = scenarios[0]["scenario_id"]
    (trial,) = forgery.of_kind("scored")
    records = forgery.records(trial)
    first = next(n for n, record in enumerate(records) if record["kind"] == "reset")
    start = next(n for n, record in enumerate(records) if record["kind"] == "ingest")
    forgery.put_records(trial, records[:start] + records[first + 1 :])
    _retold(forgery, scenarios[1:], f"{gone} is left out")


def _retold(forgery: Tampering, scenarios: Rows, why: str) -> None:
    """A lock of other scenarios, although a trial of all of them goes by other names then."""
    before = forgery.lock
    assert why and scenarios != before["scenarios"]
    forgery.relock_all(scenarios=scenarios)


def _fewer_questions(forgery: Tampering) -> None:
    """In the lock, too: counts and digests of a scenario that holds only the easy ones."""
    scenarios = forgery.lock["scenarios"]
    scenarios[0] |= {"questions": scenarios[0]["questions"] - 1, "gold_digest": _OTHER}
    forgery.edit_each("question", lambda record: None)
    for trial in forgery.of_kind("scored"):
        forgery.edit(trial, _without_last_question)
    forgery.relock_all(scenarios=scenarios)


def _without_last_question(records: Rows) -> None:
    last = max(n for n, record in enumerate(records) if record["kind"] == "question")
    del records[last]


def _hard_question(forgery: Tampering) -> None:
    forgery.edit(forgery.first, _without_last_question)


def _twice(forgery: Tampering) -> None:
    def change(records: Rows) -> None:
        at = next(n for n, record in enumerate(records) if record["kind"] == "question")
        records.insert(at, dict(records[at]))

    forgery.edit(forgery.first, change)


def _turned_round(forgery: Tampering) -> None:
    """The second question was asked before the first."""

    def change(records: Rows) -> None:
        at = next(n for n, record in enumerate(records) if record["kind"] == "question")
        records[at], records[at + 1] = records[at + 1], records[at]

    forgery.edit(forgery.first, change)


def _instead(forgery: Tampering) -> None:
    """An easy question's record under a hard one's name, and its own."""

    def change(records: Rows) -> None:
        asked = [record for record in records if record["kind"] == "question"]
        asked[1] |= {key: asked[0][key] for key in ("searches", "ns", "memory_ns", "outcome")}

    forgery.edit(forgery.first, change)


def _swapped(forgery: Tampering) -> None:
    """The records of one seed's trial under the other's name, both ways."""
    one, other = forgery.of_kind("scored")
    records = forgery.records(one), forgery.records(other)
    digests = [forgery.json(f"{path}/outcome.json")["spec_digest"] for path in (one, other)]
    for path, own, digest in zip((one, other), reversed(records), digests, strict=True):
        for record in own:
            if record["kind"] == "attempt":
                record["spec_digest"] = digest
        forgery.put_records(path, own)


def _best_repeat(forgery: Tampering) -> None:
    """One repeat's records, copied over the other's."""
    best, other = forgery.of_kind("scored")
    records = forgery.records(best)
    digest = forgery.json(f"{other}/outcome.json")["spec_digest"]
    for record in records:
        if record["kind"] == "attempt":
            record["spec_digest"] = digest
    forgery.put_records(other, records)


def _extra_trial(forgery: Tampering) -> None:
    """One more repeat than the lock has."""
    path = forgery.of_kind("scored")[-1]
    spec = forgery.spec(path)
    extra = spec.model_copy(update={"repeat": spec.repeat + 1})
    forgery.copy(path, f"{forgery.run}/trials/{extra.trial_id}")
    forgery.reseal(f"{forgery.run}/trials/{extra.trial_id}", extra)


def _other_data(forgery: Tampering) -> None:
    data: Json = forgery.lock["data"]
    forgery.relock(data=data | {"sha256": _OTHER})


def _whole_data(forgery: Tampering) -> None:
    forgery.relock(sample=False)


def _praised(forgery: Tampering) -> None:
    forgery.relock(notes=["verified by the organisers"])


def _seeds(*seeds: int) -> object:
    def forge(forgery: Tampering) -> None:
        forgery.relock(seeds=seeds)

    return forge


def _other_seeds(forgery: Tampering) -> None:
    """Worlds that were picked for being easy, under the seeds that everybody runs."""
    lock = forgery.lock
    to = dict(zip(lock["seeds"], (7, 8), strict=True))
    scenarios = [ref | {"seed": to[ref["seed"]]} for ref in lock["scenarios"]]
    forgery.relock_all(seeds=list(to.values()), scenarios=scenarios)


def _same_world(forgery: Tampering) -> None:
    """One made world stands for every seed."""
    lock = forgery.lock
    world = lock["scenarios"][0] | {"seed": None}
    for trial in forgery.of_kind("scored")[1:]:
        forgery.remove(trial)
    forgery.put_lock(lock | {"scenarios": [world]})


def _protocol(forgery: Tampering) -> None:
    """One that grades answers, where none was given."""
    grader = grader_lock(load_grader("practical-answers"))
    forgery.relock(protocol="practical-answers", grader=grader)


def _endless(forgery: Tampering) -> None:
    forgery.put_lock(forgery.lock | {"repeats": 2_000_000})


def _locked(**changes: object) -> object:
    def forge(forgery: Tampering) -> None:
        forgery.relock(**changes)

    return forge


def _deadline(forgery: Tampering) -> None:
    """Searches took 45 s, and the lock says that they had 10."""

    def slow(record: Json) -> None:
        record["searches"][0]["ns"] = record["memory_ns"] = 45_000_000_000
        record["ns"] = record["memory_ns"] + 1_000_000

    forgery.question(slow, lambda record: bool(record["searches"]))
    forgery.longer(60)


def _late(forgery: Tampering) -> None:
    most = forgery.lock["budget"]["wall_time_s"]

    def slow(record: Json) -> None:
        record["ns"] += int((most + 40) * 1e9)

    forgery.question(slow, lambda record: bool(record["answer"]))
    forgery.longer(most + 60)


def _top_k_hidden(forgery: Tampering) -> None:
    """The limit that was asked for is changed with it; what came back is not."""
    forgery.relock(top_k=5)
    for kind in ("question", "audit_ask"):
        forgery.edit_each(kind, lambda record: [s.update(limit=5) for s in record["searches"]])


def _in_spec(forgery: Tampering) -> None:
    """Only the specs know of the larger budget; the trial keeps its name."""
    spec = forgery.spec(forgery.first)
    larger = spec.model_copy(update={"top_k": 50})
    path = forgery.first
    forgery.reseal(path, larger)
    forgery.move(path, f"{forgery.run}/trials/{larger.trial_id}")


CHEATS = (
    Cheat("trial-dropped", "longhorizon", "leaves a trial out",
          "no bad seed", "cells.complete", _drop_trial),
    Cheat("repeat-dropped", "retrieval", "leaves a repeat out, and out of the invocations' count",
          "the better of two repeats", "cells.complete", _drop_repeat),
    Cheat("seed-dropped", "longhorizon", "leaves out a seed's scenario, in the lock as well",
          "no bad seed", "seeds.used", _drop_seed),
    Cheat("scenario-dropped", "several", "leaves out a scenario, in lock, spec and transcript",
          "no bad scenario", "cells.scenarios", _fewer_scenarios),
    Cheat("question-dropped", "reader", "leaves out a question of a transcript",
          "a higher mean", "questions.settled", _hard_question),
    Cheat("question-unplanned", "retrieval",
          "leaves out a question, and has the lock count one fewer",
          "a higher mean", "cells.scenarios", _fewer_questions),
    Cheat("question-twice", "reader", "has an easy question count twice",
          "a higher mean", "questions.settled", _twice),
    Cheat("questions-turned", "retrieval", "asks two questions in the other order",
          "a question that the one before helps with", "questions.order", _turned_round),
    Cheat("question-instead", "retrieval", "gives a hard question an easy one's results",
          "a higher mean", "sources.query", _instead),
    Cheat("trials-swapped", "longhorizon", "swaps the transcripts of two seeds",
          "results beside the questions that they fit", "timeline.acknowledged", _swapped),
    Cheat("best-repeat", "retrieval", "copies the better repeat over the other one",
          "a higher mean, and no spread", "times.own", _best_repeat),
    Cheat("trial-added", "retrieval", "adds a repeat that the lock does not have",
          "more draws", "cells.only-planned", _extra_trial),
    Cheat("data-other", "reader", "names another dataset's digest",
          "an easier dataset", "cells.data", _other_data),
    Cheat("sample-as-whole", "reader", "passes the sample off as the whole dataset",
          "a benchmark that was never run", "cells.data", _whole_data),
    Cheat("notes-praise", "reader", "writes its own notes into the lock",
          "praise on every page", "cells.described", _praised),
    Cheat("seeds-twice", "longhorizon", "gives one seed twice instead of two",
          "one lucky seed", "seeds.lawful", _seeds(42, 42)),
    Cheat("seeds-other", "longhorizon", "passes worlds of two seeds off as those of two others",
          "worlds that were picked for being easy", "cells.scenarios", _other_seeds),
    Cheat("world-for-all", "longhorizon", "has one made world stand for every seed",
          "one lucky seed", "seeds.made", _same_world),
    Cheat("protocol-other", "retrieval", "names a protocol that is for answers",
          "a label of answers for what is none", "config.grader", _protocol),
    Cheat("grader-older", "reader", "names an older version of the grader",
          "kinder grading", "config.grader", _locked(grader="practical-answers/0")),
    Cheat("top-k-claimed", "retrieval", "searched with ten hits, claims five",
          "more hits than others have", "sources.query", _locked(top_k=5)),
    Cheat("top-k-hidden", "retrieval", "likewise, in every record of a search",
          "more hits than others have", "sources.hits", _top_k_hidden),
    Cheat("top-k-in-spec", "reader", "has a spec of its own with fifty hits",
          "more hits than others have", "cells.only-planned", _in_spec),
    Cheat("deadline-broken", "retrieval", "a search took 45 s where 10 s are allowed",
          "a search that had to count as timed out", "budgets.deadlines", _deadline),
    Cheat("time-broken", "reader", "a question took 40 s more than its time",
          "more time than others have", "budgets.wall-time", _late),
    Cheat("payload-claimed", "reader", "claims a budget of 1,000 bytes that was not kept",
          "a smaller budget's label", "budgets.outcomes",
          _locked(budget={"payload_bytes": 1000, "wall_time_s": 30.0})),
    Cheat("limit-hidden", "retrieval", "says that no questions were left out",
          "a sixth of the questions, passed off as all", "cells.scenarios", _locked(limit=None)),
    Cheat("isolation-claimed", "several", "claims a fresh pod for each scenario",
          "isolation that never was", "cells.complete", _locked(isolation="fresh")),
    Cheat("repeats-claimed", "baseline", "claims three repeats of one",
          "a spread of nothing", "cells.complete", _locked(repeats=3)),
    Cheat("trials-endless", "baseline", "claims so many repeats that no verifier ends",
          "a verifier that gives up", "cells.sized", _endless, rescored=False),
)  # fmt: skip
