"""mem0 as this image configures it: its local store, an embedder in the process, no telemetry."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from importlib.metadata import version as installed_version
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from mem0 import Memory
from mem0.memory import main as mem0_main

from memrig_adapters.embedding import SentenceEmbedder

#: The one user of mem0 that everything belongs to; a pod holds one memory.
OWNER: Final = "memrig"
#: What the clock is replaced by where an episode has no time: prompts must not hang on the day.
NO_TIME: Final = "unknown"


class InProcess:
    """A sentence embedder in the place of mem0's client of an embedding service."""

    def __init__(self, model: SentenceEmbedder) -> None:
        self._model = model
        self.config = SimpleNamespace(model=model.name, embedding_dims=model.dimensions)

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        """The vector of a text. mem0 also says what for."""
        return self.embed_batch([text])[0]

    def embed_batch(
        self,
        texts: Sequence[str],
        memory_action: str | None = None,  # noqa: ARG002
    ) -> list[list[float]]:
        """The vectors of several texts."""
        return [[float(number) for number in row] for row in self._model.embed(texts)]


def version() -> str:
    """Which mem0 this is."""
    return installed_version("mem0ai")


def open_memory(store: Path, model: SentenceEmbedder, *, infer: bool) -> Memory:
    """Opens mem0 over a folder.

    Args:
        store: where its vectors and its history are kept.
        model: embeds every text, in this process.
        infer: a model will be asked, through the rig's gateway.

    Raises:
        KeyError: `infer`, and the environment names no gateway or no model.
    """
    memory = Memory.from_config(
        {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "collection_name": "memories",
                    "path": str(store / "qdrant"),
                    "embedding_model_dims": model.dimensions,
                    "on_disk": True,
                },
            },
            "history_db_path": str(store / "history.db"),
            "llm": {"provider": "openai", "config": _llm() if infer else {"api_key": "unused"}},
            "embedder": {"provider": "openai", "config": {"api_key": "unused"}},
        }
    )
    # Construction asks nobody; the client of OpenAI's embeddings is replaced before its first use.
    memory.embedding_model = InProcess(model)
    return memory


def _llm() -> dict[str, Any]:
    # Without a key the gateway is the same; OpenAI's client insists on one.
    base = os.environ["MEMRIG_LLM_BASE_URL"].rstrip("/")
    return {
        "model": os.environ["MEM0_LLM_MODEL"],
        "openai_base_url": f"{base}/v1",
        "api_key": "unused",
    }


@contextmanager
def observed_at(time: datetime | None) -> Iterator[None]:
    """Has mem0's extraction prompt say this date instead of the machine's.

    mem0's prompt takes the dates, but add() of the open-source library hands none over, and the
    prompt then says today's. Relative dates in old conversations would be resolved against it,
    and the same run on another day would send other prompts.
    """
    build = mem0_main.generate_additive_extraction_prompt
    date = NO_TIME if time is None else time.date().isoformat()
    mem0_main.generate_additive_extraction_prompt = partial(
        build, current_date=date, timestamp=date
    )
    try:
        yield
    finally:
        mem0_main.generate_additive_extraction_prompt = build
