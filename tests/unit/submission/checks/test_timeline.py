"""Checks of the timeline: one meaning changed, and the check that is for it objects."""

from dataclasses import replace

import pytest

from memrig.model.scenario import LoadProbe, LookFor, Scenario, UsageProbe
from memrig.model.transcript import (
    AttemptRecord,
    CapabilitiesRecord,
    CloseRecord,
    FaultRecord,
    FlushRecord,
    IngestRecord,
    PodRecord,
    ProbeRecord,
    QuestionRecord,
    ResetRecord,
    StreamRecord,
    UsageRecord,
)
from memrig.model.trial import Outcome
from memrig.submission.checks import timeline
from support.evidence import found
from support.happened import asked, changed, fakes, places, put
from support.scenarios import small_scenario

CRASH = Outcome(status="adapter_crashed", kind="exit", message="gone")


@pytest.fixture(scope="module")
def halves():
    """Two episodes, two questions, and the same again."""
    with fakes() as place:
        yield place.run(place.spec(small_scenario(halves=True)))


@pytest.fixture(scope="module")
def two():
    """Two scenarios in one memory."""
    with fakes() as place:
        scenarios = (small_scenario("one"), small_scenario("two"))
        yield place.run(place.spec(*scenarios, isolation="reset"))


@pytest.fixture(scope="module")
def probed():
    """A small scenario with two measurements."""
    small = small_scenario()
    looks = (LookFor(query="blue kettle", episode_ids=("e1",)),)
    load = LoadProbe(probe_id="load", clients=1, searches=looks)
    events = [*small.timeline, UsageProbe(probe_id="use"), load]
    with fakes() as place:
        yield place.run(place.spec(Scenario("probed", events, small.gold)))


def caught(check_id, trial):
    return found(timeline.TRIAL_CHECKS, check_id, trial)


def moved(trial, kind, number, to):
    """One record of a kind, put before another place."""
    place = places(trial, kind)[number]
    records = list(trial.records)
    records.insert(to, records.pop(place))
    return replace(trial, records=tuple(records))


def with_acks(trial, number, make):
    """The acknowledgements of one record, made otherwise."""
    place = places(trial, IngestRecord)[number]
    acks = tuple(make(list(trial.records[place].acks)))
    return put(trial, place, trial.records[place].model_copy(update={"acks": acks}))


def again(trial, *after):
    """The trial, interrupted after some of its records, and then gone on with."""
    first = trial.records[0]
    second = first.model_copy(update={"number": first.number + 1})
    kept = [one for one in trial.records if not isinstance(one, QuestionRecord)]
    return replace(trial, records=(*after, second, *kept[1:]))


class TestOrder:
    @pytest.mark.parametrize(
        "cheat",
        [
            lambda trial: put(trial, places(trial, PodRecord)[0]),
            lambda trial: put(trial, places(trial, CapabilitiesRecord)[0]),
            lambda trial: put(trial, places(trial, FlushRecord)[1]),
            lambda trial: moved(trial, UsageRecord, 0, 4),
            lambda trial: put(trial, places(trial, CloseRecord)[0]),
            lambda trial: replace(trial, records=trial.records[1:]),
            lambda trial: replace(trial, records=(*trial.records, trial.records[1])),
        ],
        ids=["no pod", "no handshake", "no barrier", "usage early", "open", "no attempt", "more"],
    )
    def test_records_out_of_order_are_objected_to(self, halves, cheat):
        """What the rig would never write in this order."""
        assert caught("timeline.order", halves) == []
        assert caught("timeline.order", cheat(halves))


class TestAttempts:
    def test_a_number_left_out_is_objected_to(self, halves):
        """An attempt between them was dropped."""
        kept = again(halves, *halves.records[:4])
        assert caught("timeline.attempts", kept) == []
        trial = changed(kept, AttemptRecord, 1, number=3)
        assert "attempt 3 follows attempt 1" in caught("timeline.attempts", trial)[0]

    def test_a_memory_that_questions_change_cannot_be_gone_on_with(self, halves):
        """The prefix, told again, is not what the kept answers came from."""
        place = places(halves, QuestionRecord)[0]
        trial = again(halves, *halves.records[: place + 1])
        assert caught("timeline.attempts", trial) == []
        declared = changed(trial, CapabilitiesRecord, optional=("questions_change_memory",))
        assert "cannot be the same" in caught("timeline.attempts", declared)[0]

    def test_probes_cannot_be_gone_on_with(self, probed):
        """They measure one memory as it goes."""
        place = places(probed, ProbeRecord)[0]
        trial = again(probed, *probed.records[: place + 1])
        assert "cannot be the same" in caught("timeline.attempts", trial)[0]

    def test_attempts_set_aside_need_a_reason(self, halves, probed):
        """Questions that change the memory are one, probes another."""
        later = changed(halves, AttemptRecord, number=3)
        assert "nothing let those before it" in caught("timeline.abandoned", later)[0]
        declared = changed(later, CapabilitiesRecord, optional=("questions_change_memory",))
        assert caught("timeline.abandoned", declared) == []
        assert caught("timeline.abandoned", changed(probed, AttemptRecord, number=3)) == []


class TestWhatIsTold:
    @pytest.mark.parametrize(
        ("make", "says"),
        [
            (lambda acks: acks[:-1], "never acknowledged 'e2'"),
            (lambda acks: [*acks, acks[0]], "'e1' twice"),
            (lambda acks: [*acks, acks[0].model_copy(update={"episode_id": "e9"})], "no episode"),
            (lambda acks: [*acks, acks[0].model_copy(update={"episode_id": "e3"})], "its time"),
        ],
        ids=["missing", "twice", "made up", "early"],
    )
    def test_every_episode_is_acknowledged_once_at_its_time(self, halves, make, says):
        """As the timeline has it."""
        assert caught("timeline.acknowledged", halves) == []
        assert says in caught("timeline.acknowledged", with_acks(halves, 0, make))[0]

    @pytest.mark.parametrize("changes", [{"episodes": 3}, {"text_bytes": 9_999}], ids=str)
    def test_a_stream_has_the_counts_of_the_timeline(self, halves, changes):
        """Throughput is made of them."""
        assert caught("timeline.streams", halves) == []
        (objection,) = caught("timeline.streams", changed(halves, StreamRecord, **changes))
        assert next(iter(changes)) in objection

    def test_a_question_asked_too_early_is_objected_to(self, halves):
        """Its episodes were not in."""
        place = places(halves, IngestRecord)[1]
        trial = moved(halves, QuestionRecord, 2, place)
        assert caught("timeline.told", halves) == []
        assert "asked when 1 of the 2 streams" in caught("timeline.told", trial)[0]

    def test_a_question_asked_too_late_is_objected_to(self, halves):
        """More was in than at its time."""
        trial = moved(halves, QuestionRecord, 1, places(halves, FlushRecord)[1])
        assert "come after it" in caught("timeline.told", trial)[0]

    def test_a_question_before_the_barrier_is_objected_to(self, halves):
        """Only then is everything searchable."""
        trial = moved(halves, QuestionRecord, 0, places(halves, FlushRecord)[0])
        assert "0 of the 1 streams" in caught("timeline.told", trial)[0]

    def test_a_resumed_attempt_tells_everything_again(self, halves):
        """Its pod is empty."""
        place = places(halves, QuestionRecord)[1]
        first = halves.records[0].model_copy(update={"number": 2})
        rest = halves.records[place + 1 :]
        trial = replace(halves, records=(*halves.records[: place + 1], first, *rest))
        assert "before its time" in caught("timeline.acknowledged", trial)[0]

    @pytest.mark.parametrize("make", [lambda one: (), lambda one: (one, one)], ids=["no", "twice"])
    def test_a_shared_memory_is_emptied_between_scenarios(self, two, make):
        """Once."""
        place = places(two, ResetRecord)[0]
        assert caught("timeline.reset", two) == []
        trial = put(two, place, *make(two.records[place]))
        assert "scenario two" in caught("timeline.reset", trial)[0]


class TestTheEnd:
    def test_a_pod_is_measured_before_it_goes(self, halves):
        """Whatever happened in it."""
        assert caught("timeline.order", halves) == []
        kept = tuple(one for one in halves.records if one.kind not in {"usage", "teardown"})
        trial = replace(halves, records=kept)
        assert "nobody noted what it had used" in "".join(caught("timeline.order", trial))

    def test_an_attempt_begins_a_pod(self, halves):
        """Only a fault ends a trial for those that come after it."""
        last = places(halves, QuestionRecord)[-1]
        second = halves.records[0].model_copy(update={"number": 2})
        trial = replace(halves, records=(*halves.records[: last + 1], second, CloseRecord()))
        assert "began no pod" in "".join(caught("timeline.order", trial))
        fault = FaultRecord(outcome=CRASH, message="gone")
        ended = replace(trial, records=(*trial.records[:-2], fault, second, CloseRecord()))
        assert caught("timeline.order", ended) == []


class TestFaults:
    def ended(self, trial):
        """A fault before the last question, which gets its outcome."""
        place = places(trial, QuestionRecord)[-1]
        last = asked(trial, -1)
        bare = QuestionRecord(
            scenario_id=last.scenario_id, question_id=last.question_id, outcome=CRASH, ns=0
        )
        fault = FaultRecord(outcome=CRASH, message="gone")
        return put(trial, place, fault, bare)

    def test_what_a_fault_leaves_open_has_its_outcome(self, halves):
        """And nothing else."""
        ended = self.ended(halves)
        assert caught("timeline.faults", ended) == []
        answered = changed(ended, QuestionRecord, -1, outcome=Outcome(status="answered"))
        assert "had ended the trial" in caught("timeline.faults", answered)[0]
        searched = changed(ended, QuestionRecord, -1, searches=asked(halves, -1).searches)
        assert caught("timeline.faults", searched)

    def test_no_pod_is_started_after_a_fault(self, halves):
        """Luck is not rolled again."""
        ended = self.ended(halves)
        trial = again(halves, *ended.records[:-3])
        assert "after the fault" in caught("timeline.faults", trial)[0]


class TestProbes:
    def test_a_probe_left_out_is_missed(self, probed):
        """Whatever it measured."""
        assert caught("timeline.probes", probed) == []
        trial = put(probed, places(probed, ProbeRecord)[0])
        assert caught("timeline.probes", trial) == [
            f"run run: trial {trial.name}: scenario probed: 'use' was never measured"
        ]

    def test_a_probe_made_twice_or_elsewhere_is_objected_to(self, probed):
        """The better one would count; an empty memory is fast."""
        place = places(probed, ProbeRecord)[1]
        twice = put(probed, place, probed.records[place], probed.records[place])
        assert "measured 2 times" in caught("timeline.probes", twice)[0]
        early = moved(probed, ProbeRecord, 1, places(probed, IngestRecord)[0])
        assert "not measured at its place" in caught("timeline.probes", early)[0]


class TestPods:
    def resumed(self, trial, **changes):
        place = places(trial, QuestionRecord)[1]
        kept = again(trial, *trial.records[: place + 1])
        return changed(kept, CapabilitiesRecord, 1, **changes)

    def test_every_pod_is_a_process_of_its_own(self, halves):
        """Else it is warned of."""
        assert caught("timeline.boots", self.resumed(halves, boot_id="another")) == []
        assert "by one process" in caught("timeline.boots", self.resumed(halves))[0]

    @pytest.mark.parametrize(
        "changes", [{"name": "better"}, {"version": "2"}, {"max_results": 7}], ids=str
    )
    def test_a_memory_stays_the_same(self, halves, changes):
        """In every pod of a trial."""
        assert caught("timeline.handshake", self.resumed(halves)) == []
        assert (
            next(iter(changes)) in caught("timeline.handshake", self.resumed(halves, **changes))[0]
        )

    def test_another_contract_is_objected_to(self, halves):
        """This rig would not have gone on."""
        trial = changed(halves, CapabilitiesRecord, contract_version="2.0")
        assert "contract 2.0" in caught("timeline.handshake", trial)[0]
