"""Memories that break one rule of the contract each."""

import asyncio
import math

import grpc

from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.right_adapter import Memory, OnlyAnswers


class AcknowledgesTwice(Memory):
    async def Ingest(self, requests, context):  # noqa: N802
        async for response in super().Ingest(requests, context):
            response.acks.extend(list(response.acks))
            yield response


class LosesEverySeventh(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.taken = 0

    async def Reset(self, request, context):  # noqa: N802
        self.taken = 0
        return await super().Reset(request, context)

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        ack = super().take(episode)
        self.taken += 1
        if self.taken % 7 == 0:
            del self.episodes[episode.episode_id]
        return ack


class ClaimsUnknownSources(Memory):
    def passages(self, episode: pb.Episode) -> list[pb.Hit]:
        found = super().passages(episode)
        for hit in found:
            hit.source_episode_ids.append("e_nobody_sent_this")
        return found


class IgnoresLimit(Memory):
    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        return self.ranked(request)


class KeepsAfterReset(Memory):
    async def Reset(self, request, context):  # noqa: N802
        return pb.ResetResponse(boot_id=self.boot_id)


class RemembersIdsAfterReset(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        if episode.episode_id in self.seen:
            return pb.IngestAck(episode_id=episode.episode_id, status=pb.INGEST_STATUS_DUPLICATE)
        self.seen.add(episode.episode_id)
        return super().take(episode)


class AnotherBootIdInFlush(Memory):
    async def Flush(self, request, context):  # noqa: N802
        response = await super().Flush(request, context)
        response.boot_id = "somebody-else"
        return response


class CrashesOnEmptyQuery(Memory):
    async def Search(self, request, context):  # noqa: N802
        if not request.query:
            await context.abort(grpc.StatusCode.UNKNOWN, "IndexError: list index out of range")
        return await super().Search(request, context)


class DeclaresRetrieveInVain(Memory):
    async def Retrieve(self, request, context):  # noqa: N802
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "later")


class ForgetsUndeclared(Memory):
    async def Capabilities(self, request, context):  # noqa: N802
        response = await super().Capabilities(request, context)
        response.supports_forget = False
        return response


class AnswersFromACacheAfterForget(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.cache: dict[bytes, list[pb.Hit]] = {}

    async def Reset(self, request, context):  # noqa: N802
        self.cache.clear()
        return await super().Reset(request, context)

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        self.cache.clear()
        return super().take(episode)

    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        key = request.SerializeToString(deterministic=True)
        return self.cache.setdefault(key, super().hits(request))


class IndexesOnceOnly(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.index: dict[str, pb.Episode] | None = None

    async def Reset(self, request, context):  # noqa: N802
        self.index = None
        return await super().Reset(request, context)

    def ranked(self, request: pb.SearchRequest) -> list[pb.Hit]:
        if self.index is None and self.episodes:
            self.index = dict(self.episodes)
        return [
            hit
            for hit in super().ranked(request)
            if set(hit.source_episode_ids) & set(self.index or ())
        ]


class ScoresNan(Memory):
    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        found = super().hits(request)
        for hit in found[1:]:
            hit.score = math.nan
        return found


class RanksWorstFirst(Memory):
    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        return super().hits(request)[::-1]


class LearnsFromQuestions(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    async def Reset(self, request, context):  # noqa: N802
        self.asked = 0
        return await super().Reset(request, context)

    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        self.asked += 1
        return super().hits(request)[: None if self.asked < 10 else 1]


class IgnoresFilters(Memory):
    def allows(self, request: pb.SearchRequest, episode: pb.Episode) -> bool:
        return self.in_time(request, episode)


class TakesAnyFilter(Memory):
    def problem(self, request: pb.SearchRequest) -> str:
        plain = pb.SearchRequest()
        plain.CopyFrom(request)
        plain.ClearField("filters")
        return super().problem(plain)


class IgnoresAsOf(Memory):
    def in_time(self, request: pb.SearchRequest, episode: pb.Episode) -> bool:
        return True


class LosesTurnIds(Memory):
    def passages(self, episode: pb.Episode) -> list[pb.Hit]:
        found = super().passages(episode)
        for hit in found:
            hit.ClearField("source_turn_ids")
        return found


class KeepsAsciiOnly(Memory):
    def take(self, episode: pb.Episode) -> pb.IngestAck:
        episode.text = episode.text.encode("ascii", "replace").decode("ascii")
        return super().take(episode)


class MixesUpSearchesAtOnce(Memory):
    async def Search(self, request, context):  # noqa: N802
        self.request = request
        await asyncio.sleep(0.02)
        return await super().Search(self.request, context)


class StuckAfterACancelledIngest(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.busy = False

    async def Ingest(self, requests, context):  # noqa: N802
        if self.busy:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "busy")
        self.busy = True
        try:
            async for response in super().Ingest(requests, context):
                yield response
        except grpc.aio.AbortError:
            self.busy = False
            raise
        self.busy = False


class SaysItStoresNothing(Memory):
    def take(self, episode: pb.Episode) -> pb.IngestAck:
        ack = super().take(episode)
        ack.stored_items = 0
        return ack

    async def Flush(self, request, context):  # noqa: N802
        return pb.FlushResponse(boot_id=self.boot_id)


class HasNoHealth(Memory):
    healthy_names = ("",)


class DiesOfEmoji(Memory):
    def take(self, episode: pb.Episode) -> pb.IngestAck:
        if "😀" in episode.text and self.pod is not None:
            self.pod.die()
        return super().take(episode)


class LosesSourcesOfChunks(Memory):
    """Cuts long texts into paragraphs; only the first of them knows its episode."""

    def passages(self, episode: pb.Episode) -> list[pb.Hit]:
        found = cut(super().passages(episode))
        for hit in found[1:]:
            if not hit.source_turn_ids:
                hit.ClearField("source_episode_ids")
        return found


class RetrievesTheFirstChunk(Memory):
    """Whatever chunk is asked for, the first one of its episode comes."""

    def passages(self, episode: pb.Episode) -> list[pb.Hit]:
        return cut(super().passages(episode))

    async def Retrieve(self, request, context):  # noqa: N802
        response = await super().Retrieve(request, context)
        first = self.passages(self.episodes[response.document.source_episode_ids[0]])[0]
        response.document.text = first.text
        return response


class RetrievesFromBeforeReset(Memory):
    """A cache of documents by ref outlives Reset."""

    def __init__(self) -> None:
        super().__init__()
        self.documents: dict[str, pb.RetrieveResponse] = {}

    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        found = super().hits(request)
        for hit in found:
            document = pb.Document(ref_id=hit.ref_id, text=hit.text)
            document.source_episode_ids.extend(hit.source_episode_ids)
            response = pb.RetrieveResponse(document=document, boot_id=self.boot_id)
            self.documents[hit.ref_id] = response
        return found

    async def Forget(self, request, context):  # noqa: N802
        self.documents.clear()
        return await super().Forget(request, context)

    async def Retrieve(self, request, context):  # noqa: N802
        known = self.documents.get(request.ref_id)
        return known or await super().Retrieve(request, context)


class GuessesWhatComesNext(Memory):
    """Adds to the claims of each hit the episode that came next the last time."""

    def __init__(self) -> None:
        super().__init__()
        self.after: dict[str, str] = {}
        self.last = ""

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        if episode.episode_id not in self.episodes:
            self.after.setdefault(self.last, episode.episode_id)
            self.last = episode.episode_id
        return super().take(episode)

    def hits(self, request: pb.SearchRequest) -> list[pb.Hit]:
        found = super().hits(request)
        for hit in found:
            following = self.after.get(hit.source_episode_ids[0])
            if following and following not in self.episodes:
                hit.source_episode_ids.append(following)
        return found


class KeepsTwoCheckpoints(Memory):
    """Finds only what came in since the Flush before the last one that brought anything."""

    def __init__(self) -> None:
        super().__init__()
        self.flushed: list[set[str]] = []

    async def Reset(self, request, context):  # noqa: N802
        self.flushed.clear()
        return await super().Reset(request, context)

    async def Flush(self, request, context):  # noqa: N802
        new = set(self.episodes) - set().union(*self.flushed)
        if new:
            self.flushed.append(new)
        return await super().Flush(request, context)

    def allows(self, request: pb.SearchRequest, episode: pb.Episode) -> bool:
        old = set().union(*self.flushed[:-2])
        return episode.episode_id not in old and super().allows(request, episode)


def cut(passages: list[pb.Hit]) -> list[pb.Hit]:
    """Passages cut into their paragraphs, each with a ref of its own."""
    found = []
    for passage in passages:
        paragraphs = passage.text.split("\n\n")
        for number, text in enumerate(paragraphs):
            part = pb.Hit()
            part.CopyFrom(passage)
            part.text = text
            if len(paragraphs) > 1:
                part.ref_id = f"{passage.ref_id}.{number}"
            found.append(part)
    return found


class SearchesUndeclared(OnlyAnswers):
    async def Search(self, request, context):  # noqa: N802
        return pb.SearchResponse(boot_id=self.boot_id)


class OnlyAnswersAndKeepsAfterReset(OnlyAnswers):
    async def Reset(self, request, context):  # noqa: N802
        return pb.ResetResponse(boot_id=self.boot_id)


class OnlyAnswersByChance(OnlyAnswers):
    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    def say(self, question: str) -> str:
        self.asked += 1
        return f"{super().say(question)} (answer {self.asked})"


class KeepsItsBootIdOverARestart(Memory):
    def restarted(self) -> None:
        self.episodes.clear()


class DeclaresMoreAfterARestart(Memory):
    born_again = False

    def restarted(self) -> None:
        super().restarted()
        self.born_again = True

    async def Capabilities(self, request, context):  # noqa: N802
        response = await super().Capabilities(request, context)
        response.supports_as_of = not self.born_again
        return response


class KeepsHalfOverARestart(Memory):
    def restarted(self) -> None:
        half = dict(list(self.episodes.items())[::2])
        super().restarted()
        self.episodes.update(half)


class BringsBackWhatResetRemoved(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.removed: dict[str, pb.Episode] = {}

    async def Reset(self, request, context):  # noqa: N802
        self.removed.update(self.episodes)
        return await super().Reset(request, context)

    def restarted(self) -> None:
        super().restarted()
        self.episodes.update(self.removed)


class SavesItsAcksUp(Memory):
    async def Ingest(self, requests, context):  # noqa: N802
        held = [response async for response in super().Ingest(requests, context)]
        for response in held:
            yield response


class RanksByTheClock(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.resets = 0

    async def Reset(self, request, context):  # noqa: N802
        self.resets += 1
        return await super().Reset(request, context)

    def ranked(self, request: pb.SearchRequest) -> list[pb.Hit]:
        found = super().ranked(request)
        for hit in found if self.resets % 2 else reversed(found):
            hit.score = 1.0
        return found if self.resets % 2 else found[::-1]


class TakesTimeToGoForward(Memory):
    def __init__(self) -> None:
        super().__init__()
        self.latest = 0

    async def Reset(self, request, context):  # noqa: N802
        self.latest = 0
        return await super().Reset(request, context)

    def take(self, episode: pb.Episode) -> pb.IngestAck:
        ack = super().take(episode)
        if episode.timestamp.seconds < self.latest:
            self.episodes.pop(episode.episode_id, None)
        self.latest = max(self.latest, episode.timestamp.seconds)
        return ack


class DropsAcksOfAStreamThatIsReadLate(Memory):
    async def Ingest(self, requests, context):  # noqa: N802
        given = 0
        async for response in super().Ingest(requests, context):
            given += 1
            if given != 30:
                yield response


class SaysALotOfItself(Memory):
    async def Capabilities(self, request, context):  # noqa: N802
        response = await super().Capabilities(request, context)
        response.limitations.append("It forgets.\nOften.")
        return response
