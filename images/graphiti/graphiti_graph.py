"""graphiti as this image configures it: Kuzu in the process, both models at the rig's gateway."""

import os
import warnings
from functools import partial
from importlib.metadata import version as installed_version
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import kuzu
from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.driver import kuzu_driver
from graphiti_core.embedder.openai import OpenAIEmbedder, OpenAIEmbedderConfig
from graphiti_core.llm_client.config import LLMConfig
from graphiti_core.llm_client.openai_generic_client import OpenAIGenericClient

#: Unless it is told otherwise, Kuzu takes four fifths of the machine's memory for its pool, however
#: little the container has, and maps 8 TiB of addresses. graphiti passes nothing on.
POOL_BYTES: Final = 256 << 20
MOST_BYTES: Final = 1 << 30
#: Kuzu was measured to hold on to 3 MB for each episode until its database is closed.
REOPEN_EVERY: Final = 50


class NoReranker(CrossEncoderClient):  # type: ignore[misc]
    """graphiti makes a reranker at OpenAI unless it is given one; this search does not rerank."""

    async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
        """Raises: it is not used."""
        raise NotImplementedError(f"no reranker for {len(passages)} passages on {query!r}")


class Graph:
    """An open graph. `library` is graphiti itself, another one after each reopening."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._taken = 0
        self.library: Graphiti

    @classmethod
    async def opened(cls, path: Path) -> "Graph":
        """Opens the graph at a path, or makes an empty one there.

        Raises:
            KeyError: the environment names no gateway or no model.
        """
        graph = cls(path)
        await graph._open()
        return graph

    async def took_episode(self) -> None:
        """Opens the graph anew every `REOPEN_EVERY` episodes, which frees what Kuzu holds on to."""
        self._taken += 1
        if self._taken >= REOPEN_EVERY:
            await self.close()
            await self._open()

    async def index(self) -> None:
        """Makes the full-text indexes anew.

        Kuzu keeps them up to date as facts come, but then scores some as if they lacked their
        rarest words; and after a kill what came last is in the graph, but not in them.
        """
        driver = self.library.driver
        found, _, _ = await driver.execute_query("CALL SHOW_INDEXES() RETURN *")
        for row in found:
            table, name = row["table_name"], row["index_name"]
            await driver.execute_query(f"CALL DROP_FTS_INDEX('{table}', '{name}')")
        await driver.graph_ops.build_indices_and_constraints(driver)

    async def facts(self) -> int:
        """How many facts the graph holds."""
        query = "MATCH (e:RelatesToNode_) RETURN count(*) AS facts"
        rows, _, _ = await self.library.driver.execute_query(query)
        return int(rows[0]["facts"])

    async def clear(self) -> None:
        """Removes the graph, and makes an empty one."""
        await self.close()
        for file in self._path.parent.glob(f"{self._path.name}*"):  # the log beside it, too
            file.unlink()
        await self._open()

    async def close(self) -> None:
        """Writes what is in memory, and closes the files."""
        await self.library.close()
        driver = self.library.driver
        driver.client.close()
        driver.db.close()

    async def _open(self) -> None:
        self.library = _library(_driver(self._path))
        self._taken = 0
        await self.index()


def _library(driver: kuzu_driver.KuzuDriver) -> Graphiti:
    base = os.environ["MEMRIG_LLM_BASE_URL"].rstrip("/") + "/v1"
    model = os.environ["GRAPHITI_LLM_MODEL"]
    vectors = os.environ["GRAPHITI_EMBEDDING_MODEL"]
    asked = LLMConfig(api_key="unused", base_url=base, model=model, small_model=model)
    embedded = OpenAIEmbedderConfig(api_key="unused", base_url=base, embedding_model=vectors)
    return Graphiti(
        graph_driver=driver,
        llm_client=OpenAIGenericClient(asked),
        embedder=OpenAIEmbedder(embedded),
        cross_encoder=NoReranker(),
    )


def version() -> str:
    """Which graphiti this is."""
    return installed_version("graphiti-core")


def _driver(path: Path) -> kuzu_driver.KuzuDriver:
    bounded = partial(
        kuzu.Database,
        buffer_pool_size=POOL_BYTES,
        max_db_size=MOST_BYTES,
        max_num_threads=1,  # several give equal scores in changing order
    )
    kuzu_driver.kuzu = SimpleNamespace(
        Database=bounded, Connection=kuzu.Connection, AsyncConnection=kuzu.AsyncConnection
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Kuzu's; said in the README
        driver = kuzu_driver.KuzuDriver(str(path))
    # add_episode() reads it, and KuzuDriver does not set it.
    driver._database = ""  # noqa: SLF001
    return driver
