"""Plays an agent's question again: its conversation, its tools' results, its last turn.

What Retrieve and the memory's own tools returned is on record only as the model was shown it, so
that is taken as it stands; everything else is made again by the rig's own tools.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from memrig.answering.base import Access, Trace
from memrig.answering.final import cited_answer
from memrig.answering.handles import Handles
from memrig.answering.jsonfit import CUT, LEAST, MARK, dumps
from memrig.answering.meter import Meter
from memrig.answering.prompts import agent_prompt, last_prompt
from memrig.answering.steps import (
    answer_spec,
    call_model,
    exceeded,
    hits_to_show,
    request_tokens,
    settled,
)
from memrig.answering.tools import Toolbox, sound_call
from memrig.answering.toolspecs import RETRIEVE
from memrig.model.chat import ChatReply, ChatRequest, Message, ToolCall, estimate_tokens
from memrig.model.scenario import Question
from memrig.model.transcript import HitRecord, ToolUseRecord
from memrig.model.trial import Outcome
from memrig.submission.checks.replay import Adopt, Over, RecordedChat, Say, settle
from memrig.submission.checks.walk import Settled


@dataclass(slots=True)
class AgentPlay:
    """One question's conversation, from its record.

    `lost` tells that the handles of what a memory's own tool returned cannot be known any more.
    """

    question: Question
    access: Access
    chat: RecordedChat
    record: Settled
    say: Say
    trace: Trace = field(default_factory=Trace)
    adopted: bool = False
    lost: bool = False
    used: int = 0
    _notes: list[str] = field(default_factory=list)
    _calls: int = 0
    _meter: Meter = field(init=False)
    _handles: Handles = field(init=False)
    _tools: Toolbox = field(init=False)
    _messages: list[Message] = field(init=False)
    _system: str = field(init=False)

    def __post_init__(self) -> None:
        budget = self.access.spec.budget
        self._meter = Meter(budget)
        self._handles = Handles(self.access.memory.date_of)
        self._tools = Toolbox(
            self.access.memory, hits_to_show(self.access), self._handles, self._meter, self.trace
        )
        prompt = agent_prompt(self.question, budget)
        self._system = prompt.system
        self._messages = [Message("user", prompt.user)]

    @property
    def _out_of_time(self) -> bool:
        """Whether what is left on record is the last turn that follows the end of its time."""
        outcome, answer = self.record.outcome, self.record.answer
        ended = (outcome.status, outcome.kind) == ("budget_exceeded", "wall_time")
        return ended and answer is not None and self.chat.left == 1

    def play(self) -> Outcome:
        """Turns until an answer, as far as the record goes.

        Raises:
            Over: the record ends before an answer.
        """
        while not self._out_of_time:
            request = self._request()
            reserved = self._meter.reserve_turn(request_tokens(request) + request.max_tokens)
            if reserved is None:
                return self._last_turn(self._meter.hit)
            reply = settle(call_model(request, self.access, self.trace))
            tokens = reply.input_tokens + reply.output_tokens
            self._meter.settle_turn(reserved, tokens, reply.cost_usd)
            if not reply.tool_calls:
                return self._answered(reply, "")
            try:
                self._use_tools(reply)
            except Over:
                if not self._out_of_time:
                    raise
                break
            if self._meter.hit and not self._out_of_time:
                return self._last_turn(self._meter.hit)
        return self._last_turn("wall_time")

    def _request(self) -> ChatRequest:
        spec = answer_spec(self.access)
        return ChatRequest(
            model=spec.model,
            system=self._system,
            messages=tuple(self._messages),
            max_tokens=spec.max_output_tokens,
            tools=self._tools.specs,
            stream=True,
        )

    def _last_turn(self, kind: str) -> Outcome:
        spec = answer_spec(self.access)
        notes = "\n".join(self._notes)
        prompt = last_prompt(self.question, self._handles.shown, self._tools.extra_results, notes)
        request = ChatRequest(
            model=spec.model,
            system=prompt.system,
            messages=(Message("user", prompt.user),),
            max_tokens=spec.max_output_tokens,
            stream=True,
        )
        self.chat.exact = not self.lost
        return self._answered(settle(call_model(request, self.access, self.trace)), kind)

    def _answered(self, reply: ChatReply, kind: str) -> Outcome:
        answer = cited_answer(reply.text, self._handles, reserved=bool(kind))
        self.trace.answer = answer
        return exceeded(kind, self.access.spec.budget) if kind else settled(answer.abstained)

    def _use_tools(self, reply: ChatReply) -> None:
        if reply.text.strip():
            self._notes.append(reply.text.strip())
        calls = list(self._own(reply.tool_calls))
        sound = tuple(map(sound_call, calls))
        self._messages.append(Message("assistant", reply.text, tool_calls=sound))
        for call in calls:
            if self.used >= len(self.record.tool_uses):
                raise Over
            recorded = self.record.tool_uses[self.used]
            self.used += 1
            result = self._used(call, recorded)
            self._messages.append(Message("tool", result, tool_call_id=call.call_id))

    def _own(self, calls: Sequence[ToolCall]) -> Iterator[ToolCall]:
        for call in calls:
            self._calls += 1
            yield ToolCall(f"call_{self._calls}", call.name, call.arguments_json)

    def _used(self, call: ToolCall, recorded: ToolUseRecord) -> str:
        """A call's result, made again where that can be, and held against the record."""
        asked = call.name, call.arguments_json
        if asked != (recorded.name, recorded.arguments_json):
            self.say("prompt", f"used {recorded.name} where the model called {call.name}")
        try:
            if self._meter.hit:
                self._tools.refuse(call)
            else:
                settle(self._tools.use(call))
        except Adopt:
            self._adopt(call, recorded)
            return recorded.result
        made = self.trace.tool_uses[-1]
        if made != recorded and not self.lost:
            message = f"the result of {call.name} is not what the rig makes of what was found"
            self.say("prompt", message)
        return recorded.result

    def _adopt(self, call: ToolCall, recorded: ToolUseRecord) -> None:
        self.adopted = True
        value = _object(recorded.result)
        if not recorded.is_error:
            self._weigh(call, recorded, value)
        if not recorded.is_error or recorded.payload_bytes:
            self._meter.took_payload(recorded.payload_bytes)
        self.trace.memory_ns += recorded.ns
        for item in _items(value):
            self._shown(item)
        if call.name != RETRIEVE:
            self.lost = self.lost or MARK in value
            if not recorded.is_error:
                self._tools.extra_results.append((call.name, recorded.result))
        self.trace.tool_uses.append(recorded)

    def _weigh(self, call: ToolCall, recorded: ToolUseRecord, value: Mapping[str, object]) -> None:
        """What was shown fits what the budget had left, and came over the wire."""
        room = max(LEAST, self._meter.payload_left)
        size = len(recorded.result.encode("utf-8", "surrogatepass"))
        if size > room:
            self.say("outcome", f"{call.name} showed {size} bytes, its budget had {room} left")
        texts = [str(item.get("text", "")).removesuffix(CUT) for item in _items(value)]
        told = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        if call.name == RETRIEVE and recorded.payload_bytes < told:
            message = f"{call.name} returned {recorded.payload_bytes} bytes, and showed {told}"
            self.say("outcome", message)

    def _shown(self, item: Mapping[str, object]) -> None:
        """Notes a memory that a model was shown, under the handle that it was given."""
        handle, text = str(item["handle"]), str(item.get("text", ""))
        hit = HitRecord(
            ref_id=self._ref(handle),
            text=text,
            score=0.0,
            episodes=(),
            timestamp=_moment(str(item.get("date", ""))),
        )
        if self._handles.item(hit).handle != handle:
            self.lost = True
            return
        self._handles.show(handle, text, estimate_tokens(dumps(dict(item))))

    def _ref(self, handle: str) -> str:
        """The adapter's name of a memory, or one that no adapter gives."""
        answer = self.record.answer
        known = {one.handle: one.ref_id for one in answer.memories} if answer else {}
        return self._handles.ref_of(handle) or known.get(handle, "") or f"\0{handle}"


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _items(value: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    for name in ("results", "memories"):
        found = value.get(name)
        for item in found if isinstance(found, list) else ():
            if isinstance(item, dict) and isinstance(item.get("handle"), str):
                yield item


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
