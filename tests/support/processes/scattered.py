"""A memory with everything optional, whose refs are random: no two starts name an item alike."""

import re
import uuid

from memrig_adapters import (
    Adapter,
    Answer,
    Capabilities,
    Document,
    Episode,
    Hit,
    JsonObject,
    NotFound,
    Query,
    Question,
    ToolResult,
    ToolUse,
    tool,
)

_WORD = re.compile(r"\w{4,}")


def words(text: str) -> set[str]:
    """The longer words of a text."""
    return set(_WORD.findall(text.lower()))


class Scattered(Adapter):
    """Ranks by words in common; what came first wins a tie."""

    capabilities = Capabilities(name="scattered", version="1.0", max_results=20)

    def __init__(self) -> None:
        self._items: dict[str, Episode] = {}

    def ingest(self, episode: Episode) -> int:
        self._items[uuid.uuid4().hex] = episode
        return 1

    def flush(self) -> int:
        return len(self._items)

    def reset(self) -> None:
        self._items.clear()

    def search(self, query: Query) -> list[Hit]:
        wanted = words(query.text)
        hits = [
            Hit(
                ref,
                episode.text,
                float(len(wanted & words(episode.text))),
                (episode.episode_id,),
                timestamp=episode.timestamp,
            )
            for ref, episode in self._items.items()
        ]
        hits.sort(key=lambda hit: -hit.score)
        return [hit for hit in hits if hit.score > 0]

    def retrieve(self, ref_id: str) -> Document:
        if ref_id not in self._items:
            raise NotFound(f"no item {ref_id!r}")
        episode = self._items[ref_id]
        return Document(ref_id, episode.text, (episode.episode_id,), timestamp=episode.timestamp)

    def answer(self, question: Question) -> Answer:
        """What of the best hit shares most with the question."""
        hits = self.search(Query(question.text, 1))
        if not hits:
            return Answer("", abstained=True, confidence=0.9)
        lines = hits[0].text.splitlines()
        said = max(lines, key=lambda line: len(words(line) & words(question.text)))
        return Answer(
            said,
            cited_ref_ids=(hits[0].ref_id,),
            source_episode_ids=hits[0].source_episode_ids,
            confidence=0.75,
            tool_uses=(ToolUse("look", {"for": question.text}, said),),
            reasoning_trace="the best hit says so",
        )

    @tool({"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]})
    def count_items(self, arguments: JsonObject) -> ToolResult:
        """Counts the items that hold a word, and names the first of them."""
        word = str(arguments["word"]).lower()
        found = [ref for ref, episode in self._items.items() if word in episode.text.lower()]
        hits = tuple(
            Hit(ref, self._items[ref].text, 1.0, (self._items[ref].episode_id,))
            for ref in found[:1]
        )
        return ToolResult({"count": len(found), "first": found[:1]}, hits)
