"""Mode agent: a model with tools of the memory, under a budget."""

from memrig.answering.base import Access, Trace
from memrig.answering.final import cited_answer
from memrig.answering.handles import Handles
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
from memrig.model.chat import ChatReply, ChatRequest, Message, ToolCall
from memrig.model.scenario import Question
from memrig.model.trial import Outcome


async def agent(question: Question, access: Access, trace: Trace) -> Outcome:
    """Lets a model search until it answers, or until its budget is used up.

    While it runs, `trace.last_turn` is what a caller may await that ends it for another reason.

    Raises:
        AdapterError: the memory system failed.
        GatewayError: the model could not be had.
        UsageError: the trial names no model.
    """
    return await _Agent(question, access, trace).run()


class _Agent:
    """One question's conversation."""

    def __init__(self, question: Question, access: Access, trace: Trace) -> None:
        self._question = question
        self._access = access
        self._trace = trace
        self._spec = answer_spec(access)
        self._budget = access.spec.budget
        self._meter = Meter(self._budget)
        self._handles = Handles(access.memory.date_of)
        self._tools = Toolbox(
            access.memory, hits_to_show(access), self._handles, self._meter, trace
        )
        prompt = agent_prompt(question, self._budget)
        self._system = prompt.system
        self._messages = [Message("user", prompt.user)]
        self._calls = 0
        self._notes: list[str] = []

    async def run(self) -> Outcome:
        """Turns until an answer; then the reserved one where it takes that."""
        self._trace.last_turn = self.last_turn
        while True:
            request = self._request()
            most = request_tokens(request) + request.max_tokens
            reserved = self._meter.reserve_turn(most)
            if reserved is None:
                return await self.last_turn(self._meter.hit)
            reply = await call_model(request, self._access, self._trace)
            tokens = reply.input_tokens + reply.output_tokens
            self._meter.settle_turn(reserved, tokens, reply.cost_usd)
            if not reply.tool_calls:
                return self._answered(reply, kind="")
            await self._use_tools(reply)
            if self._meter.hit:
                return await self.last_turn(self._meter.hit)

    async def last_turn(self, kind: str) -> Outcome:
        """The reserved turn: no tools, and an answer from what was found.

        Args:
            kind: the budget that is used up; "wall_time" where a caller says so.

        Raises:
            GatewayError: the model could not be had.
        """
        self._trace.last_turn = None
        notes = "\n".join(self._notes)
        prompt = last_prompt(self._question, self._handles.shown, self._tools.extra_results, notes)
        request = ChatRequest(
            model=self._spec.model,
            system=prompt.system,
            messages=(Message("user", prompt.user),),
            max_tokens=self._spec.max_output_tokens,
            stream=True,
        )
        reply = await call_model(request, self._access, self._trace)
        return self._answered(reply, kind)

    def _answered(self, reply: ChatReply, kind: str) -> Outcome:
        self._trace.last_turn = None
        answer = cited_answer(reply.text, self._handles, reserved=bool(kind))
        self._trace.answer = answer
        return exceeded(kind, self._budget) if kind else settled(answer.abstained)

    def _request(self) -> ChatRequest:
        return ChatRequest(
            model=self._spec.model,
            system=self._system,
            messages=tuple(self._messages),
            max_tokens=self._spec.max_output_tokens,
            tools=self._tools.specs,
            stream=True,
        )

    async def _use_tools(self, reply: ChatReply) -> None:
        if reply.text.strip():
            self._notes.append(reply.text.strip())
        calls = [self._own(call) for call in reply.tool_calls]
        self._messages.append(
            Message("assistant", reply.text, tool_calls=tuple(map(sound_call, calls)))
        )
        for call in calls:
            result = self._tools.refuse(call) if self._meter.hit else await self._tools.use(call)
            self._messages.append(Message("tool", result, tool_call_id=call.call_id))

    def _own(self, call: ToolCall) -> ToolCall:
        """A call under an id of the rig's: a provider's are random, may be missing or double."""
        self._calls += 1
        return ToolCall(f"call_{self._calls}", call.name, call.arguments_json)
