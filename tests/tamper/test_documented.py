"""docs/submissions.md lists the cheats as they are tested; MEMRIG_UPDATE_GOLDEN=1 writes them."""

import os
from collections.abc import Iterator

import pytest

from support.cheats import CHEATS, UNSEEN
from support.source import ROOT
from support.tampering import Cheat

pytestmark = pytest.mark.tamper
PAGE = ROOT / "docs" / "submissions.md"


def rows(cheats: tuple[Cheat, ...], *, caught: bool) -> Iterator[str]:
    """The table, a cheat a row."""
    yield "| The cheater … | to gain |" + (" Caught by |" if caught else "")
    yield "|---|---|" + ("---|" if caught else "")
    for cheat in cheats:
        yield f"| {cheat.what} | {cheat.gain} |" + (f" `{cheat.caught}` |" if caught else "")


@pytest.mark.parametrize(
    ("name", "cheats"), [("tampered", CHEATS), ("unseen", UNSEEN)], ids=["tampered", "unseen"]
)
def test_the_page_has_the_table_of_cheats(name: str, cheats: tuple[Cheat, ...]):
    """What the cheater does, what for, and what catches it."""
    text = PAGE.read_text("utf-8")
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    head, _, rest = text.partition(start)
    told, found, tail = rest.partition(end)
    assert head and found, f"docs/submissions.md needs the lines {start.strip()} and {end}"
    table = "\n".join(rows(cheats, caught=name == "tampered"))
    if os.environ.get("MEMRIG_UPDATE_GOLDEN") == "1":
        PAGE.write_text(f"{head}{start}\n{table}\n\n{end}{tail}", "utf-8")
        return
    assert told.strip() == table
