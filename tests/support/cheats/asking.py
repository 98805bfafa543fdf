"""Cheats of a memory system that calls models by itself: what it used, and for what."""

from collections.abc import Callable

from support.submissions import Json
from support.tampering import Cheat, Rows, Tampering


def _usage(change: Callable[[Json], object]) -> Callable[[Tampering], None]:
    def forge(forgery: Tampering) -> None:
        assert forgery.edit_each("model_usage", change)

    return forge


def _usage_gone(forgery: Tampering) -> None:
    for trial in forgery.of_kind("scored"):
        records = forgery.records(trial)
        forgery.put_records(trial, [one for one in records if one["kind"] != "model_usage"])


def _phases(record: Json) -> None:
    """What ingest cost is charged to the search, of which there are fewer."""
    record["phase"] = {"ingest": "search", "search": "ingest"}.get(record["phase"], "ingest")


def _as_replay(forgery: Tampering) -> None:
    """Its calls were made in another run, it says, and nobody can count them."""
    _usage_gone(forgery)
    forgery.executions(lambda line: line.update(llm="replay"))


def _exchanges(change: Callable[[Json], object]) -> Callable[[Tampering], None]:
    """Changes the memory's own exchanges, and the attempts at them."""

    def forge(forgery: Tampering) -> None:
        def edit(lines: Rows) -> None:
            for line in lines:
                for kind in ("exchange", "attempt"):
                    if kind in line and line[kind]["purpose"] == "memory":
                        change(line[kind])

        forgery.edit_models(edit)

    return forge


def _judges(row: Json) -> None:
    row |= {"purpose": "judge", "phase": "judge"}


def _by_reader(row: Json) -> None:
    """The memory's calls are the reader's, which has none of its own in this mode."""
    row |= {"purpose": "reader", "phase": "answer"}


def _undeclared(forgery: Tampering) -> None:
    """The manifest declares no models; the record has them all the same."""
    adapter: Json = forgery.lock["adapter"]
    adapter["manifest"]["models"] = []
    forgery.relock(adapter=adapter)
    forgery.draft(adapter=type(forgery.manifest.adapter).model_validate(adapter))


CHEATS = (
    Cheat("own-calls-replayed", "asking", "likewise, and says that models were replayed",
          "a system that looks cheap", "executions.models-called", _as_replay),
    Cheat("own-calls-moved", "asking", "charges its ingest's calls to its searches",
          "an ingest that looks cheap", "models.usage", _usage(_phases)),
    Cheat("own-calls-judges", "asking", "files its own calls under the judge's name",
          "a system that looks cheap", "models.lawful", _exchanges(_judges)),
    Cheat("own-calls-readers", "asking", "files its own calls under the reader's name",
          "a system that looks cheap", "models.lawful", _exchanges(_by_reader)),
    Cheat("models-undeclared", "asking", "declares no models, and calls some",
          "a system that looks as if it needed none", "models.lawful", _undeclared),
)  # fmt: skip
