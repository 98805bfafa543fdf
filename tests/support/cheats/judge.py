"""Cheats with what a judge was asked, and with what it said."""

import json
from collections.abc import Callable

from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering, canonical


def _path(forgery: Tampering) -> str:
    name = forgery.first.rpartition("/")[2]
    return f"{forgery.run}/verdicts/{name}.jsonl"


def edit_verdicts(change: Callable[[Rows], object]) -> Callable[[Tampering], None]:
    """Changes the verdicts of the first scored trial."""

    def forge(forgery: Tampering) -> None:
        lines = forgery.lines(_path(forgery))
        change(lines)
        forgery.put_lines(_path(forgery), lines)

    return forge


def _lost(lines: Rows) -> Json:
    """The first verdict that is against the system."""
    return next(line for line in lines if line["score"] == 0)


def _score(lines: Rows) -> None:
    _lost(lines).update(score=1.0)


def _votes(lines: Rows) -> None:
    """Every vote is turned round, and counted."""
    verdict = _lost(lines)
    for vote in verdict["votes"]:
        vote["score"] = 1.0
    verdict["score"] = 1.0


def _replies(lines: Rows) -> None:
    """So is what the judge is quoted with."""
    _votes(lines)
    for vote in lines[0]["votes"]:
        vote["reply"] = vote["reply"].replace("false", "true")


def _vote_dropped(lines: Rows) -> None:
    """The vote that was against it is not there; two agree."""
    verdict = _lost(lines)
    del verdict["votes"][1:]


def _quorum(lines: Rows) -> None:
    verdict = lines[0]
    verdict["quorum"] = 1


def _verdict_dropped(lines: Rows) -> None:
    lines.remove(_lost(lines))


def _verdict_twice(lines: Rows) -> None:
    lines.append(dict(lines[0]))


def _kinder_judge(lines: Rows) -> None:
    lines[0]["model"] = "gpt-4o-mini"


def _older_terms(lines: Rows) -> None:
    lines[0]["grader"] = "answer-judge/0-00000000"


def _unanimous(lines: Rows) -> None:
    lines[0]["agreement"] = 0.5


def _cheaper(lines: Rows) -> None:
    lines[0]["votes"][0] |= {"cost_usd": 0.0, "input_tokens": 1}


def _asked_once(lines: Rows) -> None:
    lines[0]["votes"][0]["asked"] = 2


def _own_reply(lines: Rows) -> None:
    """One question's vote is shown as another's."""
    lines[0]["votes"] = [dict(vote) for vote in lines[1]["votes"]]
    lines[0]["score"], lines[0]["agreement"] = lines[1]["score"], lines[1]["agreement"]


def _no_verdicts(forgery: Tampering) -> None:
    forgery.remove(_path(forgery))


def _another_judge(forgery: Tampering) -> None:
    """In lock and verdicts; the record has the one that was asked."""
    forgery.relock(judge="gpt-4o")
    edit_verdicts(lambda lines: [line.update(model="gpt-4o") for line in lines])(forgery)


def _put_before(old: str, new: str) -> Callable[[Tampering], None]:
    """The judge was shown something else: its recorded prompts say so."""

    def forge(forgery: Tampering) -> None:
        def edit(lines: Rows) -> None:
            bodies = [line["request"] for line in lines if "request" in line]
            for request in bodies:
                body = json.loads(request["body"])
                text = canonical(body)
                if "You check an answer" in text:
                    request["body"] = text.replace(old, new, 1)

        forgery.edit_models(edit)

    return forge


def _judged_twice(forgery: Tampering) -> None:
    """Votes that were against it stay in the record, and are not used."""

    def edit(lines: Rows) -> None:
        rows = [line["exchange"] for line in lines if "exchange" in line]
        row = next(row for row in rows if row["purpose"] == "judge")
        attempts = [
            line["attempt"] for line in lines if line.get("attempt", {}).get("key") == row["key"]
        ]
        lines.append({"exchange": row | {"key": "spare", "attempt": 5}})
        lines += [{"attempt": attempt | {"key": "spare"}} for attempt in attempts]

    forgery.edit_models(edit)


def _denied(forgery: Tampering) -> None:
    """The judge was never asked, say lock, record and verdicts."""
    forgery.remove(_path(forgery))
    forgery.relock(judge="")

    def edit(lines: Rows) -> None:
        rows = [line["exchange"] for line in lines if "exchange" in line]
        gone = {row["key"] for row in rows if row["purpose"] == "judge"}
        lines[:] = [line for line in lines if next(iter(line.values())).get("key") not in gone]

    forgery.edit_models(edit)


CHEATS = (
    Cheat("verdict-flipped", "judged", "turns a verdict round",
          "a higher score", "verdicts.counted", edit_verdicts(_score)),
    Cheat("votes-flipped", "judged", "turns its votes round with it",
          "a higher score", "verdicts.read", edit_verdicts(_votes)),
    Cheat("votes-quoted", "judged", "and the replies that the votes quote",
          "a higher score", "verdicts.read", edit_verdicts(_replies)),
    Cheat("votes-dropped", "judged", "leaves out votes that were against it",
          "a higher score", "verdicts.terms", edit_verdicts(_vote_dropped)),
    Cheat("quorum-one", "judged", "has one vote decide",
          "a verdict where there is none", "verdicts.terms", edit_verdicts(_quorum)),
    Cheat("verdict-dropped", "judged", "leaves out a verdict that was against it",
          "a question that no mean has", "verdicts.complete", edit_verdicts(_verdict_dropped)),
    Cheat("verdict-twice", "judged", "has a question judged twice",
          "the better of two", "verdicts.complete", edit_verdicts(_verdict_twice)),
    Cheat("verdicts-none", "judged", "leaves out all verdicts",
          "a run without bad ones", "cells.verdicts", _no_verdicts),
    Cheat("judge-denied", "judged", "says that no judge was asked at all",
          "a run without bad verdicts", "config.grader", _denied),
    Cheat("judge-kinder", "judged", "has another judge give a verdict",
          "a kinder judge", "verdicts.terms", edit_verdicts(_kinder_judge)),
    Cheat("judge-claimed", "judged", "names a better judge than the one that was asked",
          "a judge that is trusted", "models.lawful", _another_judge),
    Cheat("terms-older", "judged", "has a verdict on older terms",
          "kinder prompts", "verdicts.terms", edit_verdicts(_older_terms)),
    Cheat("agreement-other", "judged", "states another agreement than the votes have",
          "a judge that looks sure", "verdicts.counted", edit_verdicts(_unanimous)),
    Cheat("vote-cheaper", "judged", "counts less money and fewer tokens for a vote",
          "a run that looks cheap", "verdicts.read", edit_verdicts(_cheaper)),
    Cheat("vote-asked", "judged", "says that the judge had to be asked twice",
          "a first verdict that does not count", "verdicts.asked", edit_verdicts(_asked_once)),
    Cheat("vote-of-another", "judged", "shows the votes on one question as another's",
          "a higher score", "verdicts.asked", edit_verdicts(_own_reply)),
    Cheat("gold-other", "judged", "puts another gold answer before the judge",
          "a higher score", "verdicts.asked", _put_before("<reference", "<reference as-answered")),
    Cheat("judge-told", "judged", "tells the judge what to say",
          "a higher score", "verdicts.asked", _put_before("wrong if", "right even if")),
    Cheat("judged-again", "judged", "has the judge vote until it agrees",
          "a higher score", "models.accounted", _judged_twice),
)  # fmt: skip
