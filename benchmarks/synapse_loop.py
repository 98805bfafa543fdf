"""Synapse's published LoCoMo protocol in a bare loop: no rig, no container, standard library alone.

Run by `benchmarks/synapse.py` with a Python that has synapse-ai-memory installed:

    python -P benchmarks/synapse_loop.py locomo10.json OUT.jsonl

(-P, since the synapse.py beside it is another one.) A fresh store in memory a dialogue, semantic
search off, every turn as ``speaker: text`` in the file's order, every question that names evidence
recalled with limit 10. One line a question goes to OUT: the dialogue, the question's index, and the
dialogue ids that were found, best first. The last line holds times and the process's peak memory.
"""

import argparse
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMIT = 10
#: Synapse 0.6 and later consolidate the whole store after every memory beyond a hundred, which
#: makes the published script run for hours; more than there are turns keeps it from starting.
NEVER = 10**9
_SESSION = re.compile(r"^session_\d+$")

Json = dict[str, Any]


def turns_of(conversation: Json) -> Iterator[tuple[str, str]]:
    """A dialogue's turns in the file's order: id and text."""
    for key, session in conversation.items():
        if _SESSION.match(key):
            for turn in session:
                yield turn["dia_id"], f"{turn['speaker']}: {turn['text']}"


def new_store() -> Any:
    """An empty store, as the published script makes it."""
    from synapse import Synapse  # noqa: PLC0415

    store = Synapse(":memory:")
    store._use_embeddings = False  # noqa: SLF001
    if hasattr(store, "sleep_runner"):
        store.sleep_runner.memory_threshold = NEVER
    return store


def dialogue(data: Json) -> Iterator[Json]:
    """Remembers one dialogue, recalls its questions, and ends with the times."""
    store, ids = new_store(), {}
    began = time.perf_counter()
    for turn_id, text in turns_of(data["conversation"]):
        ids[store.remember(text).id] = turn_id
    ingest_s, took = time.perf_counter() - began, []
    for index, asked in enumerate(data["qa"]):
        if not asked.get("evidence"):
            continue
        start = time.perf_counter()
        found = store.recall(asked["question"], limit=LIMIT)
        took.append(time.perf_counter() - start)
        hits = [ids[memory.id] for memory in found]
        yield {"dialogue": data["sample_id"], "index": index, "hits": hits}
    yield {"turns": len(ids), "ingest_s": ingest_s, "search_s": took}


def peak_bytes() -> int:
    """The most memory that this process has held; `getrusage` would count what started it, too."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    return int(found[1]) * 1024 if found else 0


def main() -> None:
    """Runs every dialogue."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    chosen = parser.parse_args()
    dialogues = json.loads(chosen.file.read_bytes())
    began, costs = time.perf_counter(), []
    with chosen.out.open("w", encoding="utf-8") as out:
        for data in dialogues:
            for row in dialogue(data):
                if "turns" in row:
                    costs.append(row)
                else:
                    out.write(json.dumps(row) + "\n")
        wall_s = time.perf_counter() - began
        last = {"wall_s": wall_s, "peak_bytes": peak_bytes(), "costs": costs}
        out.write(json.dumps(last) + "\n")


if __name__ == "__main__":
    main()
