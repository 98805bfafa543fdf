"""The isolation audit: a canary is found before the border between scenarios, and not after it.

It runs in a trial of its own, never in a scored one. The canary reads like data: it is said by a
speaker of the first scenario, among other lines, about an invented thing.
"""

from memrig.client import Pseudonyms
from memrig.model.scenario import Episode, Question
from memrig.model.transcript import AuditRecord
from memrig.model.trial import TrialSpec
from memrig.trial.audits.words import Canary, make_canaries
from memrig.trial.session import Session

_SMALL_TALK = (
    "The weather has been all over the place this week.",
    "I finally got around to sorting the post on the kitchen table.",
    "We had soup again, and nobody complained for once.",
    "Remind me to return the ladder before the weekend.",
)


def make_canary(spec: TrialSpec, speaker: str) -> Canary:
    """A canary for one run, drawn as those of the audits are: no image can know it beforehand."""
    (canary,) = make_canaries(spec, speaker, 1)
    return canary


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
    """Searches for the canary, by its word too; true if any hit carries that.

    A memory that cannot be searched is asked, without the word: who repeats a question in an
    answer remembers nothing.
    """
    ids = Pseudonyms(session.spec.seed, "isolation-audit")
    if not session.capabilities.search_modes:
        question = Question(question_id="canary", text=canary.question)
        given = await session.adapter.answer(question, 0, ids)
        return canary.token.lower() in given.answer.lower()
    limit = min(session.spec.top_k, session.capabilities.max_results)
    search = await session.adapter.search(f"{canary.question} {canary.token}", limit, ids)
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
