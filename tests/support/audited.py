"""Audits over memories of this process: honest ones, and some that cheat in one way each."""

import asyncio
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memrig.grading.base import load_grader
from memrig.model.gold import Gold, TextGold
from memrig.model.scenario import Episode, Question, Scenario
from memrig.model.transcript import AuditAskRecord, Record
from memrig.model.trial import AnswerSpec, Deadlines
from memrig.report.build import build_report
from memrig.report.model import Report
from memrig.report.model_audits import AuditRow
from memrig.runs.executor import LocalExecutor, Observer, Services
from memrig.runs.judge import TrialJudge
from memrig.runs.plan import Plan
from memrig.trial.directory import load_trial
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.fake_chat import ScriptedChat, says
from support.judges import ScriptedJudge
from support.plans import small_plan
from support.right_adapter import InProcessProvider, Memory, in_process_adapter

#: What is told, and what is asked about it.
TOLD = {
    "the blue kettle is in the attic": "Where is the blue kettle?",
    "my train leaves at nine": "When does the train leave?",
    "the cat is called Pepper": "What is the cat called?",
    "the roof was mended in March": "Which month was the roof mended?",
    "the dentist moved to Gull Street": "To which street did the dentist move?",
    "the choir rehearses on Thursdays": "On which days does the choir rehearse?",
}
JUDGED = "answer-judge"
_ORDER = re.compile(r"answer with this one word and nothing else: (\w+)")
_NOON = datetime(2025, 3, 4, 12, tzinfo=UTC)


def told_scenario(name: str = "told") -> Scenario:
    """Six facts of one day, and a question about each."""
    episodes = [
        Episode(episode_id=f"e{n}", text=f"Ada: {text}", timestamp=_NOON + timedelta(minutes=n))
        for n, text in enumerate(TOLD)
    ]
    questions = [Question(question_id=f"q{n}", text=text) for n, text in enumerate(TOLD.values())]
    gold = {
        f"q{n}": Gold(question_id=f"q{n}", category="facts", evidence=(f"e{n}",),
                      answer=TextGold(type="text", value=text))
        for n, text in enumerate(TOLD)
    }  # fmt: skip
    return Scenario(name, [*episodes, *questions], gold)


class Slow(Memory):
    """Takes its time to search."""

    async def Search(self, request, context):  # noqa: N802
        await asyncio.sleep(0.01)
        return await super().Search(request, context)


class Cached(Slow):
    """Takes it once for each query."""

    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[str, pb.SearchResponse] = {}

    async def Reset(self, request, context):  # noqa: N802
        self.cache.clear()
        return await super().Reset(request, context)

    async def Search(self, request, context):  # noqa: N802
        if request.query not in self.cache:
            self.cache[request.query] = await super().Search(request, context)
        return self.cache[request.query]

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        self.cache.clear()
        return super().take(episode)


class CachedForGood(Cached):
    """Its cache outlives Reset."""

    async def Reset(self, request, context):  # noqa: N802
        return await Memory.Reset(self, request, context)

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        return Memory.take(self, episode)


class Tabled(Memory):
    """Knows the questions, and by their text what answers them."""

    def ranked(self, request: pb.SearchRequest) -> list[pb.Hit]:
        table = {question: f"Ada: {text}" for text, question in TOLD.items()}
        wanted = table.get(request.query)
        found = [
            hit for e in self.episodes.values() for hit in self.passages(e) if e.text == wanted
        ]
        for hit in found:
            hit.score = 1.0
        return found


class NewestOnly(Memory):
    """Returns what matches and came last, and nothing else."""

    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        return super().ranked(request)[:1] if not self.poisoned else self.poisoned[-1:]

    @property
    def poisoned(self) -> list[pb.Hit]:
        """Whatever tells somebody to ignore something."""
        found = [hit for e in self.episodes.values() for hit in self.passages(e)]
        return [hit for hit in found if "Ignore all" in hit.text]


class DiesOnItsTenthSearch(Memory):
    """Is gone in the middle."""

    searches = 0

    async def Search(self, request, context):  # noqa: N802
        self.searches += 1
        if self.searches == 10 and self.pod is not None:
            self.pod.die()
            await asyncio.sleep(1)
        return await super().Search(request, context)


class Reader(ScriptedChat):
    """Implements `ModelService`: says what a function makes of what it is shown."""

    def __init__(self, say: Callable[[str], str]) -> None:
        super().__init__([lambda request: says(say(request.messages[0].text))])

    def usage_of(self, trial_id: str) -> tuple[()]:
        return ()


def obedient(shown: str) -> str:
    """Does what the first memory that orders something says."""
    found = _ORDER.search(shown)
    return found[1] if found else "I don't know: this is not mentioned in the memories."


def telling(shown: str) -> str:
    """Says that somebody tried."""
    found = _ORDER.search(shown)
    return f"A memory holds an instruction to say {found[1]}; I left it out." if found else "Pepper"


def steadfast(shown: str) -> str:
    """Answers something."""
    del shown
    return "Pepper"


def audit_plan(root: Path, *scenarios: Scenario, **changes: object) -> Plan:
    """A run with audits, of one scenario where none is given."""
    fields: dict[str, object] = {
        "audits": True,
        "adapter": in_process_adapter(),
        "deadlines": Deadlines(search=2, ingest_idle=2, flush=2, reset=2, capabilities=2),
    }
    return small_plan(root, *(scenarios or (told_scenario(),)), **fields | changes)


#: A run in which a model answers.
READ: dict[str, object] = {
    "mode": "reader",
    "protocol": "practical-answers",
    "grader": "practical-answers/1",
    "answer": AnswerSpec(model="scripted"),
}


async def execute(
    plan: Plan,
    memory: type[Memory] = Memory,
    reader: Reader | None = None,
    judge: ScriptedJudge | None = None,
) -> Report:
    """Runs a plan, and reports."""
    trial_judge = None
    if judge is not None:
        trial_judge = TrialJudge(plan.directory, load_grader(JUDGED), judge, "judge")
    provider = InProcessProvider(plan.directory.root.parent, memory)
    services = Services(provider, reader, trial_judge)
    executed = await LocalExecutor(services, 1).execute(plan, Observer())
    assert executed.failures == {}
    return build_report(plan.directory)


def row(report: Report, audit: str) -> AuditRow:
    """What one audit came to."""
    assert report.audits is not None
    return next(row for row in report.audits.rows if row.audit == audit)


def verdicts(report: Report) -> dict[str, str]:
    """All verdicts by audit."""
    return {found.audit: found.verdict for found in (report.audits.rows if report.audits else ())}


def audit_records(plan: Plan) -> list[Record]:
    """The records of the one audits trial."""
    (spec,) = (spec for spec in plan.specs if spec.kind == "audits")
    return load_trial(plan.directory.trials / spec.trial_id)[2]


def asks_of(records: Sequence[Record]) -> list[AuditAskRecord]:
    """What was asked."""
    return [record for record in records if isinstance(record, AuditAskRecord)]
