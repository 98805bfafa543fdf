"""Checks of Ingest: each episode acknowledged once, whatever it is made of."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from memrig.conformance.check import Check, check
from memrig.conformance.context import Context, kept_ids
from memrig.conformance.facts import Fact, opaque_id
from memrig.conformance.verdict import NotApplicable, require
from memrig_proto.v1 import memory_adapter_pb2 as pb

_STATUSES = {pb.INGEST_STATUS_STORED, pb.INGEST_STATUS_DUPLICATE, pb.INGEST_STATUS_REJECTED}
_MEGABYTE = 1_000_000
_FILLER = "Nothing else of note was written down that day, and the page goes on about the weather. "


def require_acknowledged(episodes: Sequence[pb.Episode], acks: Sequence[pb.IngestAck]) -> None:
    """Fails unless every episode got exactly one acknowledgement with a status of its own."""
    due = Counter(episode.episode_id for episode in episodes)
    got = Counter(ack.episode_id for ack in acks)
    missing, surplus = sorted((due - got).elements()), sorted((got - due).elements())
    require(
        not missing and not surplus,
        f"{len(missing)} episodes without an acknowledgement, {len(surplus)} acknowledgements too "
        "many or for an unknown id",
        expected=f"one for each of {len(episodes)} episodes",
        got=f"{len(acks)}; missing {missing[:3]}, surplus {surplus[:3]}",
    )
    vague = [ack for ack in acks if ack.status not in _STATUSES]
    require(not vague, "an acknowledgement without a valid status", expected="1, 2 or 3", got=vague)
    mute = [a for a in acks if a.status == pb.INGEST_STATUS_REJECTED and not a.message]
    require(not mute, "REJECTED without a message", expected="the reason", got=mute)


async def _ingest_checked(
    context: Context, episodes: Sequence[pb.Episode], per_message: int = 64
) -> list[pb.IngestAck]:
    acks = await context.ingest(episodes, per_message)
    require_acknowledged(episodes, acks)
    return acks


@check(
    "ingest.one",
    reason="The smallest stream there is: many checkpoints bring a single episode.",
    spec="protocol §6.2",
)
async def one(context: Context) -> None:
    """A stream of one message with one episode is acknowledged once, and ends with OK."""
    await _ingest_checked(context, [context.fact().episode()])


@check(
    "ingest.full-message",
    reason="The rig may fill a message to its limit; an adapter with a smaller one stalls a trial.",
    spec="protocol §6.1, §6.2",
)
async def full_message(context: Context) -> None:
    """A message of 256 episodes is acknowledged, each episode once."""
    episodes = [fact.episode() for fact in context.facts(256)]
    await _ingest_checked(context, episodes, per_message=256)


@check(
    "ingest.many-messages",
    reason="A long scenario is one stream: what is left at the half-close must still be settled.",
    spec="protocol §6.1, §6.2",
)
async def many_messages(context: Context) -> None:
    """Of 100 messages in one stream all are acknowledged after the half-close, then it ends OK."""
    episodes = [fact.episode() for fact in context.facts(200)]
    await _ingest_checked(context, episodes, per_message=2)


@check(
    "ingest.empty-stream",
    reason="A checkpoint without new episodes opens and closes a stream with nothing in it.",
    spec="protocol §6.1",
)
async def empty_stream(context: Context) -> None:
    """A stream that is half-closed at once ends with OK and no acknowledgement."""
    acks = await context.ingest([])
    require(not acks, "acknowledgements for nothing", expected="none", got=acks)


@check(
    "ingest.same-id-again",
    reason="After an interruption episodes are sent again; that must not cost the first copy.",
    spec="protocol §6.4",
)
async def same_id_again(context: Context) -> None:
    """An episode sent twice is not stored a second time, and is found afterwards."""
    fact = context.fact()
    before, after = await _twice(context, fact.episode())
    require(
        after <= before,
        "the memory grew by an episode that it knew",
        expected=f"{before} items or hits that tell it, as before",
        got=after,
    )


@check(
    "ingest.same-text-other-id",
    reason="People repeat themselves: a memory may drop the copy, but never both.",
    spec="protocol §6.4",
)
async def same_text_other_id(context: Context) -> None:
    """A text that comes again under another id is DUPLICATE or STORED, and found afterwards."""
    copy = context.fact().episode()
    copy.episode_id = opaque_id("e", f"{context.purpose}/copy")
    await _twice(context, copy)


async def _twice(context: Context, second: pb.Episode) -> tuple[int, int]:
    """Ingests a fact and its copy; returns how much there was of it after each."""
    fact = context.fact()
    await context.remember([fact.episode()])
    before = await _amount(context, fact)
    (ack,) = await _ingest_checked(context, [second])
    require(
        ack.status in {pb.INGEST_STATUS_STORED, pb.INGEST_STATUS_DUPLICATE},
        "the second copy",
        expected="STORED or DUPLICATE",
        got=pb.IngestStatus.Name(ack.status),
    )
    await context.flush()
    await context.require_found(fact, "that was sent twice")
    return before, await _amount(context, fact)


async def _amount(context: Context, fact: Fact) -> int:
    hits = (await context.search(fact.query)).hits
    total = (await context.flush()).total_items
    return max(total, sum(fact.told_by(hit) for hit in hits))


@check(
    "ingest.one-character",
    reason="Real dialogues hold turns such as “k” and “😀”, which leave a tokeniser nothing.",
    spec="protocol §1.6, §6.2",
)
async def one_character(context: Context) -> None:
    """Episodes of one character are acknowledged, and Flush and Search work with them alone."""
    episodes = [
        pb.Episode(
            episode_id=opaque_id("e", f"{context.purpose}/{text}"),
            text=text,
            media_type="text/plain",
        )
        for text in ("k", "?", "😀", "م", "\u200b")
    ]
    await _ingest_checked(context, episodes)
    await context.flush()
    for query in ("k", "?", "😀", "a word"):
        await context.search(query)


@check(
    "ingest.unicode",
    reason="Names, quotes and emoji are evidence: a reader sees only what the memory gives back.",
    spec="protocol §1.6, §8.7",
)
async def unicode_text(context: Context) -> None:
    """Emoji, right-to-left, combining and zero-width characters come back as they were sent."""
    fact = context.fact()
    words = (
        "👩🏽‍🚀",
        "שלום",
        "مرحبا",
        "naïve",
        "e\u0301te\u0301",
        "東京",
        "zero\u200bwidth",
        "𝔘",
        "ß",
    )
    episode = fact.episode()
    episode.text = f"{fact.text} The label says: {' '.join(words)}."
    await context.remember([episode])
    hit = await context.require_found(fact, "with characters beyond ASCII")
    if not context.capabilities.search_modes:
        raise NotApplicable("an answer need not give back all that was told")
    text = hit.text
    if fact.text not in text and context.capabilities.supports_retrieve:
        text = (await context.retrieve(hit.ref_id)).text
    if fact.text not in text:
        raise NotApplicable("the memory does not give texts back word for word")
    lost = [word for word in words if word not in text]
    require(not lost, f"{len(lost)} of {len(words)} words changed", expected=lost, got=text)


@check(
    "ingest.megabyte",
    reason="Sessions and documents get long; too long is REJECTED with a reason, not a crash.",
    spec="protocol §16.1",
)
async def megabyte(context: Context) -> None:
    """An episode of 1 MB is stored and found, or rejected with a reason."""
    await _large(context, _MEGABYTE)


@check(
    "ingest.ten-megabytes",
    reason="The contract's limit is 16 MiB a message, so an episode of 10 MB is a valid one.",
    spec="protocol §16.1",
    slow=True,
)
async def ten_megabytes(context: Context) -> None:
    """An episode of 10 MB is stored and found, or rejected with a reason."""
    await _large(context, 10 * _MEGABYTE)


async def _large(context: Context, size: int) -> None:
    fact = context.fact()
    episode = fact.episode()
    episode.text = f"{fact.text} " + _FILLER * (size // len(_FILLER))
    acks = await _ingest_checked(context, [episode])
    total = (await context.flush()).total_items
    if fact.episode_id in kept_ids(acks, total):
        await context.require_found(fact, f"of {size:,} bytes that begins with the answer")


@check(
    "ingest.timestamps",
    reason="Some data has no times, some has old ones, and sessions of a day share one.",
    spec="protocol §1.5",
)
async def timestamps(context: Context) -> None:
    """Episodes without a time, at one and the same, and in the years 1 to 9999 are found."""
    moments = (
        None,
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(1912, 4, 14, 23, 40, tzinfo=UTC),
        datetime(2024, 5, 1, 12, tzinfo=UTC),
        datetime(2024, 5, 1, 12, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    )
    told = context.facts(len(moments))
    episodes = [fact.episode(moment) for fact, moment in zip(told, moments, strict=True)]
    acks = await _ingest_checked(context, episodes)
    kept = kept_ids(acks, (await context.flush()).total_items)
    for fact, moment in zip(told, moments, strict=True):
        if fact.episode_id in kept:
            await context.require_found(fact, f"with the time {moment}")


@check(
    "ingest.metadata",
    reason="Suites send metadata and Markdown; an adapter that cannot use them must not trip.",
    spec="protocol §6.11",
)
async def metadata(context: Context) -> None:
    """An episode with 16 metadata entries and one in Markdown are acknowledged."""
    entries = {f"key_{n}": f"value {n} — ünïcode" for n in range(16)}
    plain, rich = (fact.episode(metadata=entries) for fact in context.facts(2))
    rich.media_type = "text/markdown"
    rich.text = f"# Log\n\n- *{rich.text}*\n"
    await _ingest_checked(context, [plain, rich])
    await context.flush()


@check(
    "ingest.counts-honest",
    reason="Who says that nothing was stored is not asked to find it, so nothing may be found.",
    spec="protocol §6.3",
)
async def counts_honest(context: Context) -> None:
    """A memory that says it stored nothing finds nothing."""
    told = context.facts(3)
    acks = await context.ingest(fact.episode() for fact in told)
    if kept_ids(acks, (await context.flush()).total_items):
        raise NotApplicable("the memory says that it stores episodes")
    for fact in told:
        await context.require_gone(fact, "although nothing was stored")


@check(
    "ingest.invalid-refused",
    reason="What cannot be an episode is a defect of the caller; taking it in would hide that.",
    spec="protocol §6.7, §6.12",
)
async def invalid_refused(context: Context) -> None:
    """An episode without id or text is INVALID_ARGUMENT; what was acknowledged before stays."""
    wrongs = {
        "an episode without text": pb.Episode(episode_id=opaque_id("e", context.purpose)),
        "an episode without an id": pb.Episode(text=context.fact(9).text),
    }
    for fact, (name, wrong) in zip(context.facts(2), wrongs.items(), strict=True):
        await context.reset()
        messages = [pb.IngestRequest(episodes=[e]) for e in (fact.episode(), wrong)]
        acks, code = await context.ingest_messages(messages)
        require(code == "INVALID_ARGUMENT", name, expected="INVALID_ARGUMENT", got=code)
        if fact.episode_id in kept_ids(acks, (await context.flush()).total_items):
            await context.require_found(fact, f"acknowledged before {name}")


@check(
    "ingest.too-many-refused",
    reason="A limit that one side does not keep is none; half a message is worse than none.",
    spec="protocol §16, §16.2",
)
async def too_many_refused(context: Context) -> None:
    """A message of 257 episodes is INVALID_ARGUMENT, and none of them is there afterwards."""
    told = context.facts(257)
    message = pb.IngestRequest(episodes=[fact.episode() for fact in told])
    _, code = await context.ingest_messages([message])
    require(code == "INVALID_ARGUMENT", "257 episodes", expected="INVALID_ARGUMENT", got=code)
    await context.flush()
    await context.require_gone(told[0], "of a message that was refused")


@check(
    "ingest.out-of-order",
    reason="Some published data is not sorted by time, and is told in its own order.",
    spec="protocol §6.13",
)
async def out_of_order(context: Context) -> None:
    """Episodes whose times go back are acknowledged, and found as any others."""
    start = datetime(2031, 5, 20, 9, tzinfo=UTC)
    told = context.facts(6)
    times = [start - timedelta(days=9 * n) for n in range(len(told))]
    kept = await context.remember(
        fact.episode(time) for fact, time in zip(told, times, strict=True)
    )
    for fact in told:
        if fact.episode_id in kept:
            await context.require_found(fact, "that is older than the one before it")


CHECKS: tuple[Check, ...] = (
    one,
    full_message,
    many_messages,
    empty_stream,
    same_id_again,
    same_text_other_id,
    one_character,
    unicode_text,
    megabyte,
    ten_megabytes,
    timestamps,
    out_of_order,
    metadata,
    counts_honest,
    invalid_refused,
    too_many_refused,
)
