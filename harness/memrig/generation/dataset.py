"""The files of a dataset: scopes and questions, where they come from, and their sums.

The same drafts give the same bytes: no time, no path, no machine is in them.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from memrig.errors import DataError
from memrig.generation.model import Draft, PlannedEpisode, PlannedQuestion
from memrig.generation.spec import Spec
from memrig.model.canonical import digest_of
from memrig.model.longitudinal import FORMAT, QUESTION_TYPES

PROVENANCE_FORMAT = "memrig.longitudinal-provenance/1"
#: Moves when the same spec gives other bytes.
GENERATOR = "1"
SUMS = "SHA256SUMS"
_SUM = re.compile(r"[0-9a-f]{64}")


def dataset_json(name: str, drafts: Sequence[Draft]) -> bytes:
    """The dataset itself, one scope a draft.

    Raises:
        DataError: two scopes have the same name, or an id stands twice.
    """
    _check_ids(drafts)
    return _json(
        {
            "format": FORMAT,
            "name": name,
            "version": GENERATOR,
            "scopes": [_scope(draft) for draft in drafts],
            "questions": [_question(draft, q) for draft in drafts for q in draft.plan.questions],
        }
    )


def provenance_json(
    drafts: Sequence[Draft],
    made_by: Mapping[str, str],
    limits: Callable[[Spec], Mapping[str, str]],
) -> bytes:
    """Where a dataset comes from: its specs by digest, what made and what checked it, and counts.

    Args:
        drafts: the scopes.
        made_by: planner, renderer, and whoever answers for validators.
        limits: of each validator that a scope has passed.
    """
    return _json(
        {
            "format": PROVENANCE_FORMAT,
            "generator": GENERATOR,
            **made_by,
            "scopes": [
                {**_origin(draft), "validators": dict(limits(draft.plan.spec))} for draft in drafts
            ],
        }
    )


def sums(files: Mapping[str, bytes], others: Mapping[str, str]) -> bytes:
    """The lines of `SHA256SUMS`, by name.

    Args:
        files: what is written now.
        others: sums of what is there already.
    """
    found = {**others, **{name: hashlib.sha256(data).hexdigest() for name, data in files.items()}}
    return "".join(f"{found[name]}  {name}\n" for name in sorted(found)).encode()


def read_sums(data: bytes) -> dict[str, str]:
    """Name to sum.

    Raises:
        DataError: a line is not a sum and a name.
    """
    found = {}
    for number, line in enumerate(data.decode(errors="replace").splitlines(), start=1):
        digest, _, name = line.partition("  ")
        if not (name and _SUM.fullmatch(digest)):
            where, fix = f"{SUMS}: line {number}", "repair or remove it"
            raise DataError(f"is no sum and name: {line!r:.80}", where=where, fix=fix)
        found[name] = digest
    return found


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _scope(draft: Draft) -> dict[str, object]:
    spec = draft.plan.spec
    episodes = [_episode(draft, episode) for episode in draft.plan.episodes]
    return {"scope_id": spec.name, "domain": spec.domain, "episodes": episodes}


def _episode(draft: Draft, episode: PlannedEpisode) -> dict[str, object]:
    group = "phase" if episode.kind == "signal" else "theme"
    return {
        "episode_id": episode.episode_id,
        "scope_id": draft.plan.spec.name,
        "timestamp": episode.timestamp.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "text": draft.texts[episode.episode_id],
        "meta": {"episode_type": episode.kind, group: episode.phase},
    }


def _question(draft: Draft, question: PlannedQuestion) -> dict[str, object]:
    ids = {e.number: e.episode_id for e in draft.plan.episodes if e.kind == "signal"}
    return {
        "question_id": question.question_id,
        "scope_id": draft.plan.spec.name,
        "checkpoint_after": question.checkpoint_after,
        "question_type": question.type,
        "prompt": question.prompt,
        "ground_truth": {
            "canonical_answer": question.canonical_answer,
            "required_evidence_refs": [ids[number] for number in question.evidence],
            "key_facts": [fact.text for fact in question.facts],
        },
    }


def _origin(draft: Draft) -> dict[str, object]:
    """What one scope was made from. Numbers of words are of whole documents."""
    spec, words = draft.plan.spec, sorted(len(text.split()) for text in draft.texts.values())
    types = Counter(question.type for question in draft.plan.questions)
    return {
        "scope_id": spec.name,
        "spec": {"digest": _digest(spec), "version": spec.version, "seed": spec.seed},
        "episodes": dict(sorted(Counter(e.kind for e in draft.plan.episodes).items())),
        "words": {"least": words[0], "median": words[len(words) // 2], "most": words[-1]},
        "questions": {kind: types[kind] for kind in QUESTION_TYPES if types[kind]},
    }


def _digest(spec: Spec) -> str:
    return digest_of(spec.model_dump(mode="json"))


def _check_ids(drafts: Sequence[Draft]) -> None:
    groups: dict[str, Iterable[str]] = {
        "scope_id": (draft.plan.spec.name for draft in drafts),
        "episode_id": (e.episode_id for draft in drafts for e in draft.plan.episodes),
        "question_id": (q.question_id for draft in drafts for q in draft.plan.questions),
    }
    for field, ids in groups.items():
        twice = [value for value, times in Counter(ids).items() if times > 1]
        if twice:
            fix = "give each spec a name and each question an id of its own"
            raise DataError(f"{twice[0]!r} stands twice", where=field, fix=fix)
