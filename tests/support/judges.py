"""Judges for tests: scripted models behind the real seam, which read a prompt as it is fenced."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from memrig.grading.base import Asked
from memrig.model.chat import CallContext, ChatReply, ChatRequest
from memrig.model.gold import Gold, GoldAnswer, TextGold
from memrig.model.scenario import Question
from memrig.model.transcript import AnswerRecord, HitRecord, QuestionRecord, SearchRecord
from memrig.model.trial import Outcome

_CODE = re.compile(r"Their tags carry the code ([0-9a-f]{8});")
_TAG = re.compile(r"<(/?)([a-z_]+) ([0-9a-f]{8})>")


def blocks_of(prompt: str) -> dict[str, str]:
    """The blocks of a prompt, read strictly by the code that the notice announces."""
    code = _CODE.findall(prompt)[0]
    tags = list(_TAG.finditer(prompt))
    assert [tag[3] for tag in tags] == [code] * len(tags)
    opened, closed = tags[::2], tags[1::2]
    assert [tag[1] for tag in opened] == [""] * len(opened)
    assert [(tag[1], tag[2]) for tag in closed] == [("/", tag[2]) for tag in opened]
    blocks = {}
    for first, last in zip(opened, closed, strict=True):
        text = prompt[first.end() + 1 : last.start() - 1]
        assert "<" not in text
        assert ">" not in text
        blocks[first[2]] = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    assert len(blocks) == len(opened)
    return blocks


def honest(prompt: str) -> bool:
    """The verdict of one who reads the blocks: right is the gold, and nothing else."""
    blocks = blocks_of(prompt)
    gold = next(blocks[name] for name in ("reference", "rubric", "explanation") if name in blocks)
    return blocks["answer"].casefold() == gold.casefold()


def honest_yes(prompt: str) -> str:
    """`honest` in the form of the compatible protocol."""
    return "Yes." if honest(prompt) else "No."


def honest_json(prompt: str) -> str:
    """`honest` in the form of the strict protocols."""
    return json.dumps({"correct": honest(prompt), "reason": "as it stands"})


Says = Callable[[str, CallContext], str | ChatReply | Exception]


@dataclass
class ScriptedJudge:
    """A chat whose model answers by a function; an exception that it returns is raised."""

    says: Says
    calls: list[tuple[ChatRequest, CallContext]] = field(default_factory=list)
    busy: int = 0
    busiest: int = 0

    async def chat(self, request: ChatRequest, context: CallContext) -> ChatReply:
        self.calls.append((request, context))
        self.busy += 1
        self.busiest = max(self.busiest, self.busy)
        await asyncio.sleep(0)
        self.busy -= 1
        said = self.says(request.messages[0].text, context)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, ChatReply):
            return said
        return ChatReply(
            said,
            served_model="judge-1",
            input_tokens=100,
            output_tokens=5,
            cost_usd=0.01,
            ns=7,
            key=f"k{context.vote}.{context.attempt}",
        )


def text_gold(value: str = "the attic") -> TextGold:
    return TextGold(type="text", value=value)


def asked(
    answer: str | AnswerRecord | None = "the attic",
    *,
    gold: GoldAnswer | None = None,
    category: str = "single-session-user",
    question_id: str = "q1",
    outcome: Outcome | None = None,
    hits: tuple[str, ...] = (),
    **fields: object,
) -> Asked:
    """A settled question; `hits` name the episodes of its search. `fields` go to gold or Asked."""
    record = AnswerRecord(text=answer) if isinstance(answer, str) else answer
    found = tuple(HitRecord(f"r{n}", "text", 1.0, (episode,)) for n, episode in enumerate(hits))
    search = SearchRecord(query="q", limit=10, ns=1, payload_bytes=1, hits=found)
    of_gold = {key: fields.pop(key) for key in ("tags", "evidence", "scorable") if key in fields}
    kept = {"texts": {}, "limit": 10, "mode": "reader"} | fields
    return Asked(
        question=Question(question_id=question_id, text="Where is the kettle?"),
        record=QuestionRecord(
            scenario_id="s1",
            question_id=question_id,
            outcome=outcome or Outcome(status="answered"),
            ns=1,
            searches=(search,) if hits else (),
            answer=record,
        ),
        gold=Gold(
            question_id=question_id, category=category, answer=gold or text_gold(), **of_gold
        ),
        **kept,
    )
