"""PostgreSQL as a store of passages: schema, statements, and a connection that comes back."""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias, TypeVar

import psycopg
from psycopg.rows import class_row

from memrig_adapters.passages import Passage
from memrig_adapters.types import Filter, Operator

log = logging.getLogger("memrig_adapters")

T = TypeVar("T")
Vector = Sequence[float]
Connection: TypeAlias = "psycopg.Connection[tuple[object, ...]]"

#: How long a call waits for a database that is away. Search has 10 s in all.
PATIENCE_S: Final = 8.0
_AGAIN_S: Final = 0.05

#: More than these characters of a passage are not indexed by their words: a tsvector holds 1 MB.
_INDEXED_CHARACTERS: Final = 100_000

_SCHEMA: Final = f"""
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS episodes (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" UNIQUE NOT NULL,
    items integer NOT NULL,
    call uuid NOT NULL
);
CREATE TABLE IF NOT EXISTS passages (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    episode bigint NOT NULL REFERENCES episodes ON DELETE CASCADE,
    ref text COLLATE "C" UNIQUE NOT NULL,
    turn text,
    happened timestamptz,
    body text NOT NULL,
    words tsvector NOT NULL
        GENERATED ALWAYS AS (to_tsvector('english', left(body, {_INDEXED_CHARACTERS}))) STORED,
    embedding vector(%(dimensions)s) STORAGE PLAIN NOT NULL
);
CREATE INDEX IF NOT EXISTS passages_episode ON passages (episode);
CREATE INDEX IF NOT EXISTS passages_words ON passages USING gin (words);
CREATE OR REPLACE FUNCTION any_word_of(question text) RETURNS tsquery LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        string_agg('''' || replace(replace(word, '\\', '\\\\'), '''', '''''') || '''', ' | '), ''
    )::tsquery FROM unnest(tsvector_to_array(to_tsvector('english', question))) AS word
$$;
"""  # noqa: S608  a constant of this module

_HNSW: Final = """
CREATE INDEX IF NOT EXISTS passages_embedding ON passages
    USING hnsw (embedding vector_cosine_ops) WITH (m = 16, ef_construction = 128)
"""

#: Exact: an order that no index serves, so that every passage which meets the filters is compared.
_EXACT: Final = """
SELECT number, 1 - (embedding <=> %(vector)s::vector) AS score FROM passages WHERE {condition}
ORDER BY (embedding <=> %(vector)s::vector) + 0, number LIMIT %(depth)s
"""
_BY_INDEX: Final = """
SELECT number, 1 - (embedding <=> %(vector)s::vector) AS score FROM passages
ORDER BY embedding <=> %(vector)s::vector LIMIT %(depth)s
"""
#: With OFFSET 0 the question is taken apart once, and not for every passage.
_BY_WORDS: Final = """
SELECT number, ts_rank(words, question)::float8 AS score
FROM passages, (SELECT any_word_of(%(text)s) AS question OFFSET 0) AS asked
WHERE words @@ question AND {condition}
ORDER BY score DESC, number LIMIT %(depth)s
"""
#: Reciprocal rank fusion, Cormack, Clarke and Büttcher 2009, with their k of 60.
_FUSED: Final = """
SELECT number, sum(1.0 / (60 + place))::float8 AS score FROM (
    SELECT number, row_number() OVER (ORDER BY score DESC, number) AS place FROM ({meaning}) AS a
    UNION ALL
    SELECT number, row_number() OVER (ORDER BY score DESC, number) AS place FROM ({words}) AS b
) AS places GROUP BY number
"""
_SHOWN: Final = """
SELECT p.ref, p.body, e.name AS episode, p.turn, p.happened, found.score
FROM ({found}) AS found JOIN passages AS p USING (number) JOIN episodes AS e ON e.number = p.episode
ORDER BY found.score DESC, found.number LIMIT %(limit)s
"""

_COMPARISONS: Final = {
    Operator.EQUAL: "=",
    Operator.GREATER_OR_EQUAL: ">=",
    Operator.LESS: "<",
}


class Row(NamedTuple):
    """A passage as it was found, or fetched with score 0."""

    ref: str
    body: str
    episode: str
    turn: str | None
    happened: datetime | None
    score: float

    def passage(self) -> Passage:
        """As the SDK's passage."""
        return Passage(self.ref, self.body, self.episode, self.turn, self.happened)


class Store:
    """Passages in PostgreSQL, by one connection that is made again when it breaks.

    Args:
        address: of the database, as libpq takes it.
        dimensions: of the vectors.
        index_from: the number of passages from which on a flush makes the HNSW index.
        ef_search: how many candidates the HNSW index keeps while it searches (pgvector's default
            is 40).
    """

    def __init__(self, address: str, dimensions: int, *, index_from: int, ef_search: int) -> None:
        self._address = address
        self._dimensions = dimensions
        self._index_from = index_from
        self._ef_search = ef_search
        self._connection: Connection | None = None
        self._indexed = False

    def open(self) -> str:
        """Makes the schema where it is missing; returns the versions of PostgreSQL and pgvector."""

        def make(connection: Connection) -> tuple[str, str, bool]:
            connection.execute(_SCHEMA.replace("%(dimensions)s", str(self._dimensions)))
            found: tuple[str, str, bool] | None = connection.execute(
                "SELECT extversion, current_setting('server_version'),"
                " to_regclass('passages_embedding') IS NOT NULL"
                " FROM pg_extension WHERE extname = 'vector'"
            ).fetchone()
            assert found is not None  # noqa: S101  the extension was just made
            return found

        vector, server, self._indexed = self._run(make)
        if self._index_from == 0:
            self._make_index()
        return f"pgvector {vector}, PostgreSQL {server.split()[0]}"

    def close(self) -> None:
        """Lets go of the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def add(
        self, episode: str, passages: Sequence[Passage], vectors: Sequence[Vector]
    ) -> int | None:
        """Stores an episode whole; returns its items, or None for one that is known already."""
        call = uuid.uuid4()
        rows = [
            (p.ref_id, p.turn_id, p.timestamp, p.text, _literal(v))
            for p, v in zip(passages, vectors, strict=True)
        ]

        def insert(connection: Connection) -> int | None:
            made = connection.execute(
                "INSERT INTO episodes (name, items, call) VALUES (%s, %s, %s)"
                " ON CONFLICT (name) DO NOTHING RETURNING number",
                (episode, len(rows), call),
            ).fetchone()
            if made is None:
                # Ours, if the connection broke after the commit and before its answer.
                mine = "SELECT items FROM episodes WHERE name = %s AND call = %s"
                found = connection.execute(mine, (episode, call)).fetchone()
                return None if found is None else len(rows)
            with connection.cursor() as cursor:
                cursor.executemany(
                    "INSERT INTO passages (episode, ref, turn, happened, body, embedding)"
                    " VALUES (%s, %s, %s, %s, %s, %s::vector)",
                    [(made[0], *row) for row in rows],
                )
            return len(rows)

        return self._run(insert)

    def knows(self, episode: str) -> bool:
        """Whether an episode is stored: saves the embedding of a known one."""
        query = "SELECT FROM episodes WHERE name = %s"
        return self._run(lambda c: c.execute(query, (episode,)).fetchone() is not None)

    def settle(self) -> int:
        """Counts the passages, and makes the HNSW index once there are enough of them."""

        def count(connection: Connection) -> int:
            found: tuple[int] | None = connection.execute(
                "SELECT count(*) FROM passages"
            ).fetchone()
            return found[0] if found else 0

        items = self._run(count)
        if items >= self._index_from and not self._indexed:
            self._make_index()
        return items

    def by_words(self, text: str, limit: int, filters: Sequence[Filter]) -> list[Row]:
        """Full-text search: any word of the text, ranked by ts_rank."""
        condition, values = _condition(filters)
        found = _BY_WORDS.format(condition=condition)
        return self._find(found, {"text": text, "depth": limit, "limit": limit, **values})

    def by_meaning(self, vector: Vector, limit: int, filters: Sequence[Filter]) -> list[Row]:
        """The nearest by cosine: exact, or by the HNSW index where there is one and no filter."""
        found, values = self._meaning(filters)
        values |= {"vector": _literal(vector), "depth": limit, "limit": limit}
        return self._find(found, values)

    def by_both(
        self, text: str, vector: Vector, limit: int, depth: int, filters: Sequence[Filter]
    ) -> list[Row]:
        """Both rankings, `depth` deep, fused by reciprocal ranks."""
        meaning, values = self._meaning(filters)
        words = _BY_WORDS.format(condition=_condition(filters)[0])
        values |= {"text": text, "vector": _literal(vector), "depth": depth, "limit": limit}
        return self._find(_FUSED.format(meaning=meaning, words=words), values)

    def fetch(self, ref: str) -> Row | None:
        """One passage by its name."""
        query = (
            "SELECT p.ref, p.body, e.name AS episode, p.turn, p.happened, 0::float8 AS score"
            " FROM passages AS p JOIN episodes AS e ON e.number = p.episode WHERE p.ref = %(ref)s"
        )
        rows = self._rows(query, {"ref": ref})
        return rows[0] if rows else None

    def forget(self, episodes: Sequence[str]) -> int:
        """Removes episodes with their passages; returns how many there were."""

        def delete(connection: Connection) -> int:
            query = "DELETE FROM episodes WHERE name = ANY(%s)"
            count: int = connection.execute(query, (list(episodes),)).rowcount
            return count

        return self._run(delete)

    def empty(self) -> None:
        """Removes everything, and an index that a small memory would not have."""
        drop = "DROP INDEX IF EXISTS passages_embedding;" if self._index_from else ""
        self._run(lambda c: c.execute(f"TRUNCATE passages, episodes RESTART IDENTITY; {drop}"))
        self._indexed = self._indexed and not drop

    def _make_index(self) -> None:
        log.info("making the HNSW index")
        self._run(lambda c: c.execute(_HNSW))
        self._indexed = True

    def _meaning(self, filters: Sequence[Filter]) -> tuple[str, dict[str, object]]:
        if self._indexed and not filters:
            return _BY_INDEX, {}
        condition, values = _condition(filters)
        return _EXACT.format(condition=condition), values

    def _find(self, found: str, values: dict[str, object]) -> list[Row]:
        return self._rows(_SHOWN.format(found=found), values)

    def _rows(self, query: str, values: dict[str, object]) -> list[Row]:
        def ask(connection: Connection) -> list[Row]:
            if self._indexed:
                # What the planner takes for cheaper moves with its statistics; results must not.
                connection.execute("SET LOCAL enable_seqscan = off")
            cursor = connection.cursor(row_factory=class_row(Row))
            rows: list[Row] = cursor.execute(query, values).fetchall()
            return rows

        return self._run(ask)

    def _run(self, work: Callable[[Connection], T]) -> T:
        """Does something in a transaction; again, on a new connection, if the database went away.

        Raises:
            MemoryError: the database's volume is full.
            psycopg.Error: the database did not come back, or refuses.
        """
        give_up = time.monotonic() + PATIENCE_S
        while True:
            try:
                connection = self._connected()
                with connection.transaction():
                    return work(connection)
            except psycopg.errors.DiskFull as error:
                raise MemoryError(f"the database's volume is full: {error}") from error
            except psycopg.OperationalError as error:
                broken = self._connection is None or self._connection.closed
                if not broken or time.monotonic() > give_up:
                    raise
                log.warning("the database is away: %s", str(error).strip().replace("\n", "; "))
                self.close()
                time.sleep(_AGAIN_S)

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = psycopg.connect(self._address, autocommit=True, connect_timeout=3)
            self._connection.execute(
                f"SET hnsw.ef_search = {self._ef_search};"
                " SET hnsw.iterative_scan = strict_order; SET hnsw.max_scan_tuples = 2147483647"
            )
        return self._connection


def _condition(filters: Sequence[Filter]) -> tuple[str, dict[str, object]]:
    """The filters as SQL over `happened`; a passage without a time meets none."""
    terms = [f"happened {_COMPARISONS[f.operator]} %(bound{i})s" for i, f in enumerate(filters)]
    return " AND ".join(terms) or "true", {f"bound{i}": f.value for i, f in enumerate(filters)}


def _literal(vector: Vector) -> str:
    return "[" + ",".join(map(repr, vector)) + "]"
