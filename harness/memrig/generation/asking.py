"""Asks a model until its reply can be used, three times at most."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from memrig.errors import GatewayError
from memrig.generation.prompts import again_prompt
from memrig.model.chat import CallContext, Chat, ChatReply, ChatRequest, Message

T = TypeVar("T")
#: How often one thing is asked for before it is given up.
ASKED_AT_MOST = 3
#: A record's key holds numbers that every JSON reader takes as they are.
_SEEDS = 2**53
#: Whose limits count: generation has no trials.
TRIAL = "generate"


class Unusable(Exception):  # noqa: N818 - it is no fault yet: the model is asked again
    """Why a reply cannot be used, one sentence for each reason."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("; ".join(problems))


@dataclass(frozen=True, slots=True)
class Asker:
    """A model in one role.

    Args:
        chat: where it is reached.
        model: its name.
        purpose: "planner" or "renderer".
        seed: of the calls.
    """

    chat: Chat
    model: str
    purpose: str
    seed: int = 0

    async def ask(
        self,
        system: str,
        prompt: str,
        use: Callable[[str], T],
        *,
        scope: str,
        where: str,
        max_tokens: int,
    ) -> T:
        """Asks, and asks again with what was wrong.

        Args:
            system: the role's instructions.
            prompt: what is asked.
            use: makes something of the reply's text, or raises `Unusable`.
            scope: what identical requests are counted within; no model sees it.
            where: the place, for messages.
            max_tokens: the most that a reply may take.

        Raises:
            GatewayError: the model could not be had, or no reply could be used.
        """
        messages = [Message("user", prompt)]
        problems: tuple[str, ...] = ()
        for attempt in range(ASKED_AT_MOST):
            request = ChatRequest(self.model, tuple(messages), max_tokens, system=system)
            context = CallContext(
                phase="generate",
                purpose=self.purpose,
                trial_id=TRIAL,
                scope=scope,
                seed=self.seed % _SEEDS,
                attempt=attempt,
            )
            reply = await self.chat.chat(request, context)
            try:
                return use(_whole(reply))
            except Unusable as unusable:
                problems = unusable.problems
            # An empty message is one that providers refuse.
            messages += [Message("assistant", reply.text or "(nothing)")]
            messages += [Message("user", again_prompt(problems))]
        raise GatewayError(
            f"no reply of the {self.purpose} {self.model} could be used, asked {ASKED_AT_MOST} "
            f"times: {'; '.join(problems)}",
            kind="malformed",
            where=where,
            fix=f"give another model, or make the dataset with --{self.purpose} deterministic",
        )


def _whole(reply: ChatReply) -> str:
    if reply.stop_reason == "length":
        raise Unusable("the reply is cut off by its token limit; be shorter")
    if reply.stop_reason == "refusal":
        raise Unusable("the reply is a refusal")
    if not reply.text.strip():
        raise Unusable("the reply is empty")
    return reply.text.encode("utf-8", "replace").decode()
