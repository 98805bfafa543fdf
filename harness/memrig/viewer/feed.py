"""What the pages show, as JSON: for scripts of the user's own."""

import json
from collections.abc import Mapping, Sequence

from memrig.report.text import clean
from memrig.viewer.cards import Card
from memrig.viewer.live import RunProgress
from memrig.viewer.question import QuestionPage

JsonValue = str | int | float | bool | None | Mapping[str, "JsonValue"] | Sequence["JsonValue"]
#: What would begin a tag, were the answer ever taken for a page.
_TAGS = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def dump(value: JsonValue) -> bytes:
    """JSON in plain ASCII; its texts are made fit to show, and hold no tag as they stand."""
    text = json.dumps(_cleaned(value), ensure_ascii=True, indent=1)
    return (text.translate(_TAGS) + "\n").encode("ascii")


def _cleaned(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, Mapping):
        return {clean(name): _cleaned(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [_cleaned(item) for item in value]
    return value


def cards_json(cards: Sequence[Card]) -> JsonValue:
    """The list of runs."""
    return {
        "runs": [
            {
                "key": card.key,
                "href": card.href,
                "adapter": card.what,
                "about": card.how,
                "planned_at": card.began.isoformat() if card.began else None,
                "state": [badge.text for badge in card.badges],
                "figures": {pair.name: pair.value for pair in card.figures},
                "problem": card.problem,
            }
            for card in cards
        ]
    }


def progress_json(key: str, progress: RunProgress) -> JsonValue:
    """How far a run is."""
    return {
        "run": key,
        "state": progress.state,
        "trials": {"sealed": progress.sealed, "planned": len(progress.trials)},
        "questions": {"settled": progress.questions, "planned": progress.of_questions},
        "episodes": {"ingested": progress.episodes, "planned": progress.of_episodes},
        "outcomes": dict(sorted(progress.statuses.items())),
        "trials_without_judge": progress.unjudged,
        "under_way": [
            {
                "trial": trial.spec.trial_id,
                "state": trial.state,
                "doing": trial.tally.doing,
                "attempt": trial.attempts,
                "questions": trial.questions,
                "episodes": trial.episodes,
                "fault": trial.tally.fault,
            }
            for trial in progress.trials
            if trial.tally is not None
        ],
    }


def question_json(page: QuestionPage) -> JsonValue:
    """One question, in short."""
    return {
        "question": page.name,
        "text": page.text,
        "asked_at": page.asked_at,
        "gold": page.gold,
        "settled": page.settled,
        "badges": [badge.text for badge in page.badges],
        "evidence": [
            {"episode": held.name, "role": held.role, "text": held.text}
            for held in page.episodes.evidence
        ],
        "searches": [
            {
                "query": search.query,
                "hits": [
                    {"rank": hit.rank, "kind": hit.kind, "text": hit.text, "note": hit.note}
                    for hit in search.hits
                ],
            }
            for search in page.searches
        ],
        "answer": "".join(page.answer.text) if page.answer else None,
        "scores": {score.head: score.value for score in page.scores},
        "cost": {pair.name: pair.value for pair in page.cost},
    }
