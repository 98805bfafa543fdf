"""A memory that asks models for everything, with the SDKs that their providers ship, unmodified.

It embeds what it keeps, and answers with `anthropic` or `openai`. A question that begins with an
order says how it is to be asked, and is answered with a report of what came back::

    claude: What is two and two?
    claude stream: …            gpt: …            gpt stream: …
    gpt with some-other-model: …
    embed: some text
"""

import json
import math
import os
import re
import tempfile
import uuid
import zlib
from pathlib import Path
from typing import Any

import anthropic
import openai
from looking import look_for

from memrig_adapters import (
    Adapter,
    Answer,
    Capabilities,
    Document,
    Duplicate,
    Episode,
    Hit,
    JsonObject,
    NotFound,
    Query,
    Question,
    ToolResult,
    Usage,
    tool,
)

GATEWAY = "MEMRIG_LLM_BASE_URL"
MODELS = {"claude": "claude-test", "gpt": "gpt-test", "embed": "embed-test"}
BATCH = 8
USUAL_LIMIT = 5

_ORDER = re.compile(r"(claude|gpt|embed)( stream)?(?: with (\S+))?: (.*)", re.DOTALL)


class Models:
    """Both SDKs, told where the gateway is and nothing else. They insist on some key."""

    def __init__(self) -> None:
        base = os.environ[GATEWAY]
        self.claude = anthropic.Anthropic(base_url=base, api_key="unused")
        self.gpt = openai.OpenAI(base_url=f"{base}/v1", api_key="unused")

    def embed(self, texts: list[str], model: str = MODELS["embed"]) -> list[list[float]]:
        """One vector for each text."""
        reply = self.gpt.embeddings.create(model=model, input=texts)
        return [row.embedding for row in reply.data]

    def ask(self, client: str, prompt: str, model: str, *, stream: bool) -> dict[str, Any]:
        """What a chat model said, and in how many pieces."""
        if client == "claude":
            return self._ask_claude(prompt, model, stream=stream)
        return self._ask_gpt(prompt, model, stream=stream)

    def _ask_claude(self, prompt: str, model: str, *, stream: bool) -> dict[str, Any]:
        asked: dict[str, Any] = {
            "model": model,
            "max_tokens": 100,
            "messages": [{"role": "user", "content": prompt}],
        }
        pieces = None
        if stream:
            with self.claude.messages.stream(**asked) as events:
                pieces = list(events.text_stream)
                reply = events.get_final_message()
        else:
            reply = self.claude.messages.create(**asked)
        return {
            "text": "".join(block.text for block in reply.content if block.type == "text"),
            "pieces": pieces,
            "served": reply.model,
            "stop": reply.stop_reason,
            "usage": [reply.usage.input_tokens, reply.usage.output_tokens],
        }

    def _ask_gpt(self, prompt: str, model: str, *, stream: bool) -> dict[str, Any]:
        asked: dict[str, Any] = {
            "model": model,
            "max_tokens": 100,
            "messages": [{"role": "user", "content": prompt}],
        }
        if stream:
            return self._streamed(asked)
        reply = self.gpt.chat.completions.create(**asked)
        usage = reply.usage
        return {
            "text": reply.choices[0].message.content,
            "pieces": None,
            "served": reply.model,
            "stop": reply.choices[0].finish_reason,
            "usage": [usage.prompt_tokens, usage.completion_tokens] if usage else None,
        }

    def _streamed(self, asked: dict[str, Any]) -> dict[str, Any]:
        pieces, served, stop = [], "", None
        for chunk in self.gpt.chat.completions.create(**asked, stream=True):
            served = chunk.model
            # Without `include_usage`, every chunk has a choice: OpenAI's does, so ours must.
            choice = chunk.choices[0]
            stop = choice.finish_reason or stop
            if choice.delta.content:
                pieces.append(choice.delta.content)
        text = "".join(pieces)
        return {"text": text, "pieces": pieces, "served": served, "stop": stop, "usage": None}


def told(error: anthropic.APIError | openai.APIError) -> dict[str, Any]:
    """An SDK's error: its class, and what the provider's envelope says."""
    body: Any = error.body if isinstance(error.body, dict) else {}
    inner = body.get("error", body)
    return {
        "class": type(error).__name__,
        "status": getattr(error, "status_code", None),
        "type": inner.get("type"),
        "code": inner.get("code"),
        "message": inner.get("message"),
        "retries": int(error.request.headers.get("x-stainless-retry-count", "-1")),
    }


class Asker(Adapter):
    """Ranks by shared words, then by the nearness of embeddings. Its refs are random."""

    capabilities = Capabilities(name="asker", version="1.0", max_results=100)

    def __init__(self) -> None:
        self.episodes: dict[str, Episode] = {}
        self.vectors: dict[str, list[float]] = {}
        self.refs: dict[str, str] = {}
        self.models: Models | None = None

    def start(self) -> None:
        """Connects, where there is something to connect to; leaves a mark where it was asked to."""
        self.models = Models() if GATEWAY in os.environ else None
        if mark := os.environ.get("ASKER_MARK"):
            Path(tempfile.gettempdir(), "mark").write_text(mark, "utf-8")

    def ingest(self, episode: Episode) -> int | Duplicate:
        """Keeps it; it is embedded at the next flush."""
        if episode.episode_id in self.episodes:
            return Duplicate()
        self.episodes[episode.episode_id] = episode
        self.refs[uuid.uuid4().hex] = episode.episode_id
        return 1

    def flush(self) -> int:
        """Embeds what is new, a batch a call."""
        new = [name for name in self.episodes if name not in self.vectors]
        for at in range(0, len(new), BATCH):
            batch = new[at : at + BATCH]
            texts = [self.episodes[name].text for name in batch]
            self.vectors.update(zip(batch, self._models.embed(texts), strict=True))
        return len(self.episodes)

    def search(self, query: Query) -> list[Hit]:
        """Embeds the query, and ranks everything."""
        [vector] = self._models.embed([query.text])
        wanted = words(query.text)

        def score(name: str) -> float:
            shared = len(wanted & words(self.episodes[name].text))
            return shared + nearness(vector, self.vectors[name])

        hits = [
            Hit(ref, self.episodes[name].text, score(name), (name,))
            for ref, name in self.refs.items()
        ]
        return sorted(hits, key=lambda hit: -hit.score)[: query.limit]

    def retrieve(self, ref_id: str) -> Document:
        """The episode behind a ref."""
        if ref_id not in self.refs:
            raise NotFound(ref_id)
        name = self.refs[ref_id]
        return Document(ref_id, self.episodes[name].text, (name,))

    def answer(self, question: Question) -> Answer:
        """Obeys an order; answers any other question from what a search finds."""
        if order := _ORDER.fullmatch(question.text):
            return Answer(json.dumps(self._obey(*order.groups())))
        hits = self.search(Query(question.text, question.limit or USUAL_LIMIT))
        memories = "\n".join(f"- {hit.text}" for hit in hits)
        prompt = f"Memories:\n{memories}\nQuestion: {question.text}"
        # Which of the four ways is the question's own, so that it is the same in every run.
        way = zlib.crc32(question.text.encode())
        client = ("claude", "gpt")[way & 1]
        reply = self._models.ask(client, prompt, MODELS[client], stream=bool(way & 2))
        sent, said = reply["usage"] or (0, 0)
        return Answer(
            reply["text"],
            cited_ref_ids=tuple(hit.ref_id for hit in hits[:1]),
            source_episode_ids=hits[0].source_episode_ids if hits else (),
            confidence=0.5,
            usage=Usage(model_calls=2, input_tokens=sent, output_tokens=said),
        )

    def _obey(self, client: str, stream: str | None, model: str | None, text: str) -> object:
        name = model or MODELS[client]
        try:
            if client == "embed":
                return {"vector": self._models.embed([text], name)[0], "error": None}
            return {**self._models.ask(client, text, name, stream=bool(stream)), "error": None}
        except (anthropic.APIError, openai.APIError) as error:
            return {"error": told(error)}

    def reset(self) -> None:
        """Empties the memory."""
        self.episodes.clear()
        self.vectors.clear()
        self.refs.clear()

    @tool(
        {
            "type": "object",
            "properties": {
                "head": {"type": "string"},
                "tail": {"type": "string"},
                "roots": {"type": "array", "items": {"type": "string"}},
                "others": {"type": "boolean"},
            },
            "required": ["head", "tail", "roots", "others"],
        }
    )
    def look_around(self, arguments: JsonObject) -> ToolResult:
        """Looks for a text, given in two halves, in all that this process can read."""
        asked: Any = arguments
        search = look_for(asked["head"], asked["tail"], asked["roots"], others=asked["others"])
        seen = {"found": search.found, "read": search.read, "environment": dict(os.environ)}
        return ToolResult(seen)

    @property
    def _models(self) -> Models:
        if self.models is None:
            raise RuntimeError(f"{GATEWAY} is not set: there is no model")
        return self.models


def words(text: str) -> set[str]:
    """The words of a text."""
    return set(re.findall(r"\w+", text.lower()))


def nearness(one: list[float], other: list[float]) -> float:
    """The cosine of two vectors, from 0 to 1."""
    lengths = math.hypot(*one) * math.hypot(*other)
    cosine = sum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0
    return max(0.0, min(1.0, cosine))
