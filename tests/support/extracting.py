"""A model that extracts facts as mem0 and graphiti ask for them: every sentence is one.

It stands in for a paid model and is no measure of either system: what it "extracts" is what it was
told, sentence by sentence and without full stops, in the JSON that each prompt wants. So facts are
not word for word what was told, as no model's are.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from support.llm_standin import Seen

_NEW_MESSAGES = re.compile(r"## New Messages\n(.*?)\n## Observation Date", re.DOTALL)
_CURRENT = re.compile(r"<(CURRENT[ _]MESSAGE|TEXT)>\n(.*?)\n\s*</\1>", re.DOTALL)
_ENTITIES = re.compile(r"<ENTITIES>\n(.*?)\n\s*</ENTITIES>", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_ROLE = re.compile(r"^(?:user|assistant): ", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]{2,}|\d+")


def sentences(text: str) -> list[str]:
    """The sentences of a text that hold a word, each once, without their full stops."""
    found = (match.group().strip().rstrip(".") for match in _SENTENCE.finditer(text))
    return list(dict.fromkeys(s for s in found if _WORD.search(s)))


def extracts(seen: Seen) -> str:
    """What the extractor of either system says."""
    form = seen.body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return json.dumps(_GRAPHITI[form["json_schema"]["name"]](seen.text))
    return json.dumps({"memory": list(_mem0(seen.text))})


def _mem0(prompt: str) -> Iterator[dict[str, str]]:
    told = _NEW_MESSAGES.findall(prompt)[-1]  # the system prompt has examples of it
    for number, fact in enumerate(sentences(_ROLE.sub("", told))):
        yield {"id": str(number), "text": fact, "attributed_to": "user"}


def _pair(sentence: str) -> tuple[str, str]:
    """Two names for a sentence to stand between: its first and its longest other word."""
    words = list(dict.fromkeys(_WORD.findall(sentence)))
    first = words[0]
    return first, max((word for word in words if word != first), key=len, default=f"{first}'s")


def _told(prompt: str) -> list[str]:
    return sentences(_CURRENT.findall(prompt)[-1][1])


def _entities(prompt: str) -> dict[str, Any]:
    names = dict.fromkeys(name for s in _told(prompt) for name in _pair(s))
    rows = [{"name": name, "entity_type_id": 0, "episode_indices": [0]} for name in names]
    return {"extracted_entities": rows}


def _edges(prompt: str) -> dict[str, Any]:
    rows = []
    for sentence in _told(prompt):
        source, target = _pair(sentence)
        names = {"source_entity_name": source, "target_entity_name": target}
        rows.append({**names, "relation_type": "TELLS", "fact": sentence})
    return {"edges": rows}


def _resolutions(prompt: str) -> dict[str, Any]:
    rows = json.loads(_ENTITIES.findall(prompt)[-1])
    same = {"duplicate_candidate_id": -1}
    return {"entity_resolutions": [{"id": r["id"], "name": r["name"], **same} for r in rows]}


_GRAPHITI: dict[str, Callable[[str], dict[str, Any]]] = {
    "ExtractedEntities": _entities,
    "ExtractedEdges": _edges,
    "NodeResolutions": _resolutions,
    "EdgeDuplicate": lambda _prompt: {"duplicate_facts": [], "contradicted_facts": []},
    "EdgeTimestamps": lambda _prompt: {"valid_at": None, "invalid_at": None},
    "SummarizedEntities": lambda _prompt: {"summaries": []},
}
