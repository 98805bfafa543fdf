"""Runs on disk to look at, sealed or cut off in the middle, without anything having run."""

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from urllib.parse import parse_qs, unquote, urldefrag, urljoin

from starlette.types import ASGIApp, Message

from memrig.model.canonical import canonical_json, digest_of
from memrig.model.gold import Gold
from memrig.model.scenario import Episode, Question, Scenario
from memrig.model.transcript import (
    Ack,
    AnswerRecord,
    AttemptRecord,
    CapabilitiesRecord,
    CloseRecord,
    FlushRecord,
    HitRecord,
    IngestRecord,
    Memory,
    PodRecord,
    QuestionRecord,
    Record,
    SearchRecord,
    StreamRecord,
    TeardownRecord,
    ToolUseRecord,
    UsageRecord,
)
from memrig.model.trial import Outcome, TrialOutcome, TrialSpec
from memrig.runs.directory import RunDirectory
from memrig.trial.directory import OUTCOME, SPEC, TRANSCRIPT
from memrig.trial.transcript import TranscriptWriter, start_of
from memrig.viewer import Shelf, make_app
from memrig.viewer.server import listening, server_of
from support.fake_memory import fake_adapter
from support.plans import small_plan
from support.scenarios import FACTS, QUESTIONS

#: What a kill leaves at a transcript's end.
TORN = b'{"seq":99,"prev":"00'
AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Made:
    """A run that was made by hand: its folder, and its one trial."""

    directory: RunDirectory
    spec: TrialSpec

    @property
    def partial(self) -> Path:
        """The trial's folder while it is not sealed."""
        return self.directory.trials / f"{self.spec.trial_id}.partial"

    @property
    def transcript(self) -> Path:
        """The trial's transcript."""
        final = self.directory.trials / self.spec.trial_id
        return (final if final.exists() else self.partial) / TRANSCRIPT


def told(text: str = "", name: str = "small") -> Scenario:
    """Four dated facts and a question for each; `text` stands in every text of theirs."""
    more = f" {text}" if text else ""
    episodes = [
        Episode(episode_id=key, text=fact + more, timestamp=AT) for key, fact in FACTS.items()
    ]
    questions = [
        Question(question_id=key, text=asked + more, asked_at=AT)
        for key, (asked, _) in QUESTIONS.items()
    ]
    gold = {
        key: Gold(
            question_id=key,
            category=f"facts{more}",
            evidence=(episode,),
            stale=(stale_of(episode),),
        )
        for key, (_, episode) in QUESTIONS.items()
    }
    return Scenario(name, [*episodes, *questions], gold)


def stale_of(evidence: str) -> str:
    """The episode that stands for a superseded value."""
    return "e2" if evidence == "e1" else "e1"


def made_run(
    folder: Path, *, text: str = "", settled: int = 4, sealed: bool = True, **lock: object
) -> Made:
    """A run of one trial over `told`, as the rig would have left it.

    Args:
        folder: the run's.
        text: stands in all that the adapter and the data say.
        settled: how many of the four questions are.
        sealed: whether the trial is over; else its transcript ends in a torn line.
        lock: fields of the lock.
    """
    adapter = fake_adapter().model_copy(update={"name": text or "fake", "version": text or "1"})
    plan = small_plan(folder, told(text), **({"adapter": adapter} | lock))
    (spec,) = plan.specs
    made = Made(plan.directory, spec)
    lines = list(_lines(spec, text, settled, sealed=sealed))
    write(made, lines, sealed=sealed)
    return made


def write(made: Made, lines: Sequence[Record], *, sealed: bool) -> None:
    """Writes a trial's files."""
    digest = digest_of(made.spec)
    folder = made.directory.trials / made.spec.trial_id if sealed else made.partial
    folder.mkdir(parents=True)
    (folder / SPEC).write_bytes(canonical_json(made.spec))
    with TranscriptWriter(folder / TRANSCRIPT, start_of(digest)) as writer:
        for line in lines:
            writer.append(line)
    if not sealed:
        with (folder / TRANSCRIPT).open("ab") as file:
            file.write(TORN)
        return
    outcome = TrialOutcome(
        trial_id=made.spec.trial_id,
        spec_digest=digest,
        head=writer.chain.head,
        records=writer.chain.records,
        questions=len(QUESTIONS),
        attempts=1,
        statuses={"answered": len(QUESTIONS)},
    )
    (folder / OUTCOME).write_bytes(canonical_json(outcome))


def _lines(spec: TrialSpec, text: str, settled: int, *, sealed: bool) -> Iterator[Record]:
    scenario = spec.scenarios[0].scenario_id
    yield attempt(spec)
    yield PodRecord(start_ns=5, ready_ns=7, description={"pod": text or "fake"})
    yield CapabilitiesRecord(
        name=text or "fake",
        version=text or "1",
        contract_version="1.0",
        boot_id="b",
        search_modes=(),
        filter_fields=(),
        max_results=50,
        optional=(),
        tools=(),
        limitations=(text,) if text else (),
    )
    acks = [Ack(episode_id=e, status="stored", stored_items=1, ns=9, message=text) for e in FACTS]
    yield IngestRecord(scenario_id=scenario, acks=tuple(acks))
    yield StreamRecord(scenario_id=scenario, episodes=4, text_bytes=100, ns=2_000_000)
    yield FlushRecord(scenario_id=scenario, ns=3_000_000, total_items=4)
    for name in list(QUESTIONS)[:settled]:
        yield question(scenario, name, text)
    if sealed:
        yield UsageRecord(cpu_s=0.5, peak_memory_bytes=2**20, memory_bytes=2**20)
        yield TeardownRecord(ns=4_000_000)
        yield CloseRecord()


def attempt(spec: TrialSpec, number: int = 1) -> AttemptRecord:
    """The beginning of an attempt at a trial."""
    digest = digest_of(spec)
    return AttemptRecord(number=number, spec_digest=digest, started_at=AT, memrig_version="0.1.0")


def question(scenario: str, name: str, text: str = "") -> QuestionRecord:
    """A question whose evidence is found at rank 2, below a superseded memory."""
    asked, evidence = QUESTIONS[name]
    more = f" {text}" if text else ""
    hits = (
        _hit(stale_of(evidence), more),
        _hit(evidence, more),
        HitRecord(f"r{more}", f"no source{more}", 0.5, (None,)),
    )
    return QuestionRecord(
        scenario_id=scenario,
        question_id=name,
        outcome=Outcome(status="answered", message=text),
        ns=8_000_000,
        memory_ns=6_000_000,
        searches=(
            SearchRecord(query=asked + more, limit=3, ns=6_000_000, payload_bytes=300, hits=hits),
        ),
        answer=AnswerRecord(
            text=f"the attic{more}",
            cited=("m1",),
            reasoning=text,
            raw=text,
            memories=(Memory(handle="m1", ref_id=evidence, episodes=(evidence,), shown_tokens=9),),
        ),
        tool_uses=(ToolUseRecord(name=text, arguments_json=text, result=text, is_error=True, ns=5),)
        if text
        else (),
    )


def _hit(episode: str, more: str) -> HitRecord:
    return HitRecord(episode, FACTS[episode] + more, 1.5, (episode,), (), AT)


# ------------------------------------------------------------------------------------------ asking


@dataclass(frozen=True, slots=True)
class Reply:
    """What the viewer answered. `headers` are by their lower-case names."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode("utf-8")


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the viewer of a folder, without a socket between."""

    app: ASGIApp

    async def get(self, path: str, *hosts: str) -> Reply:
        """Reads a page, under these names of the host."""
        return await self.ask("GET", path, *hosts)

    async def ask(self, method: str, path: str, *hosts: str) -> Reply:
        """Any request."""
        bare, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(bare),
            "raw_path": bare.encode("ascii"),
            "query_string": query.encode("ascii"),
            "root_path": "",
            "headers": [(b"host", host.encode()) for host in hosts or ("127.0.0.1",)],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        body = b"".join(message.get("body", b"") for message in sent[1:])
        return Reply(sent[0]["status"], headers, body)


def client(root: Path) -> Asker:
    """Asks the viewer of a folder."""
    return Asker(make_app(Shelf(root)))


@contextmanager
def served(root: Path) -> Iterator[str]:
    """The viewer of a folder on a real port; gives its address."""
    with listening(0) as listener:
        server = server_of(make_app(Shelf(root)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)


_HREF = re.compile(r'href="([^"]*)"')


async def crawl(asker: Asker, start: str = "/") -> dict[str, Reply]:
    """Every page that links lead to, by path; each is asked once.

    So is each question, of all the narrowed lists that it is looked at from.
    """
    found: dict[str, Reply] = {}
    asked: set[str] = set()
    waiting = [start]
    while waiting:
        path = waiting.pop()
        if _plain(path) in asked:
            continue
        asked.add(_plain(path))
        found[path] = await asker.get(path)
        for href in _HREF.findall(found[path].text):
            target = urldefrag(urljoin(path, unescape(href))).url
            if target.startswith("/"):
                waiting.append(target)
    return found


def _plain(path: str) -> str:
    """The address of a question without the list that it is looked at from."""
    bare, _, query = path.partition("?")
    if not bare.endswith("/question"):
        return path
    values = parse_qs(query)
    return f"{bare}?{values['scenario']}{values['id']}"


def contents(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder, with the time of its last change."""
    return {
        str(path.relative_to(root)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
