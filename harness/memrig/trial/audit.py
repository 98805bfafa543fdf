"""The isolation audit: a canary is found before the border between scenarios, and not after it.

It runs in a trial of its own, never in a scored one. The canary reads like data: it is said by a
speaker of the first scenario, among other lines, about an invented thing.
"""

import random
from dataclasses import dataclass

from memrig.client import Pseudonyms
from memrig.model.canonical import derive
from memrig.model.scenario import Episode, Question
from memrig.model.transcript import AuditRecord
from memrig.model.trial import TrialSpec
from memrig.trial.session import Session

_SYLLABLES = ("bel", "cor", "dan", "fen", "gal", "hol", "kem", "lor", "mar", "nev", "ros", "tarn")
_THINGS = ("locker", "allotment", "rowing boat", "storage unit", "piano", "beehive", "caravan")
_SMALL_TALK = (
    "The weather has been all over the place this week.",
    "I finally got around to sorting the post on the kitchen table.",
    "We had soup again, and nobody complained for once.",
    "Remind me to return the ladder before the weekend.",
)


@dataclass(frozen=True, slots=True)
class Canary:
    """An invented fact, the query and the question for it, and the word that gives it away.

    A query may hold the word. A question must not: who repeats it in an answer remembers nothing.
    """

    token: str
    text: str
    query: str
    question: str


def make_canary(spec: TrialSpec, speaker: str) -> Canary:
    """A canary for one run: drawn from the seed and the scenarios, so no other data holds it."""
    random_ = random.Random(derive(spec.seed, "canary", spec.scenarios[0].digest))  # noqa: S311
    token = "".join(random_.choices(_SYLLABLES, k=3)).capitalize()
    thing = random_.choice(_THINGS)
    text = f"{speaker}: By the way, I keep the spare key to the {thing} with old Mr {token}."
    asked = f"Who keeps the spare key to the {thing}"
    return Canary(token, text, f"{asked}, is it Mr {token}?", f"{asked}?")


async def plant(session: Session, canary: Canary, speaker: str) -> bool:
    """Ingests the canary among small talk; tells whether it can be found."""
    ids = Pseudonyms(session.spec.seed, "isolation-audit")
    lines = [f"{speaker}: {line}" for line in _SMALL_TALK]
    lines.insert(2, canary.text)
    episodes = [Episode(episode_id=f"line-{n}", text=line) for n, line in enumerate(lines)]
    async for _ in session.client.ingest(episodes, ids):
        pass
    await session.client.flush("isolation-audit")
    return await found(session, canary)


async def found(session: Session, canary: Canary) -> bool:
    """Searches for the canary; true if any hit carries its token.

    A memory that cannot be searched is asked, and its answer looked at instead.
    """
    ids = Pseudonyms(session.spec.seed, "isolation-audit")
    if not session.capabilities.search_modes:
        question = Question(question_id="canary", text=canary.question)
        given = await session.adapter.answer(question, 0, ids)
        return canary.token.lower() in given.answer.lower()
    limit = min(session.spec.top_k, session.capabilities.max_results)
    search = await session.adapter.search(canary.query, limit, ids)
    return any(canary.token.lower() in hit.text.lower() for hit in search.hits)


def verdict(before: bool, after: bool, border: str) -> AuditRecord:
    """The audit's verdict; it proves nothing where the canary was never found."""
    if not before:
        detail = "the canary was not found before the border, so its absence proves nothing"
        return AuditRecord(verdict="n/a", detail=detail)
    if after:
        return AuditRecord(verdict="failed", detail=f"the canary was still found after {border}")
    return AuditRecord(verdict="passed", detail=f"found before {border}, absent after it")


async def audit_reset(session: Session, canary: Canary, speaker: str) -> AuditRecord:
    """Plants, resets, looks again, in one pod."""
    before = await plant(session, canary, speaker)
    await session.reset()
    return verdict(before, await found(session, canary), "Reset")
