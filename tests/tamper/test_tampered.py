"""Every way to cheat is caught by the check that is made for it, and not by a broken hash.

Each cheat changes one meaning of a good archive; all that follows from it is sealed, hashed and
signed anew by the cheater (`support.tampering`). What no check can catch is here as well: it
passes, so that docs/submissions.md says no more than is so.
"""

import subprocess
from pathlib import Path

import pytest

from memrig.submission.model import Verification
from memrig.submission.runcheck import ALL
from memrig.submission.verify import verify
from support.cheats import CHEATS, UNSEEN
from support.command import MEMRIG
from support.forged_runs import KINDS, Archives, archives
from support.tampering import Cheat, tampered

__all__ = ["archives"]
pytestmark = pytest.mark.tamper

#: What costs most to make: models at a stand-in, or many pods. Their tests are slow.
DEAR = frozenset(
    {
        "agent",
        "asking",
        "failing",
        "judged",
        "longhorizon",
        "native",
        "probed",
        "retrieving",
        "several",
        "tight",
    }
)
#: What only a broken seal would show.
SEALS = ("archive.", "chain.", "parse.")


def failures(found: Verification) -> dict[str, int]:
    """The checks that object, and how often; warnings are left out."""
    return {
        check.id: check.count for check in found.checks if check.count and check.severity == "error"
    }


def chosen(cheats: tuple[Cheat, ...]) -> list[object]:
    """The cheats as parameters. In the fast lane is one for each check, if it is not dear."""
    seen: set[str] = set()
    parameters = []
    for cheat in cheats:
        slow = cheat.kind in DEAR or cheat.caught in seen
        seen |= set() if slow else {cheat.caught}
        marks = [pytest.mark.slow] if slow else []
        parameters.append(pytest.param(cheat, id=cheat.name, marks=marks))
    return parameters


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.slow] if kind in DEAR else [])
        for kind in [*KINDS, "docker"]
    ],
)
def test_what_nobody_changed_is_good(archives: Archives, tmp_path: Path, kind: str):
    """The archives that are forged pass every check, also when they are sealed anew."""
    same = Cheat("none", kind, "nothing", "nothing", "", lambda forgery: forgery.reseal_all())
    for file in (archives(kind), tampered(archives(kind), tmp_path / "same.memrig", same)):
        found = verify(file)
        assert {c.id: c.found or c.skipped for c in found.checks if not c.passed} == {}
        assert found.tier == "recomputed"


@pytest.mark.parametrize("cheat", chosen(CHEATS))
def test_a_cheat_is_caught(archives: Archives, tmp_path: Path, cheat: Cheat):
    """By its check at least, whose objection says where; and by no broken seal."""
    found = verify(tampered(archives(cheat.kind), tmp_path / "forged.memrig", cheat))
    failed = failures(found)
    assert cheat.caught in failed, failed
    assert [name for name in failed if name.startswith(SEALS) and name != cheat.caught] == []
    check = next(check for check in found.checks if check.id == cheat.caught)
    assert all(item.where and item.message for item in check.found)
    assert not found.passed
    assert (found.tier, found.division) == ("self-reported", "open")


@pytest.mark.parametrize("cheat", chosen(UNSEEN))
def test_what_cannot_be_seen_is_not_seen(archives: Archives, tmp_path: Path, cheat: Cheat):
    """Once a check catches it, it belongs into the other list."""
    found = verify(tampered(archives(cheat.kind), tmp_path / "forged.memrig", cheat))
    assert failures(found) == {}
    assert found.passed


def test_a_cheat_ends_with_exit_code_6(archives: Archives, tmp_path: Path):
    """The command names the check, and where it objects."""
    cheat = next(cheat for cheat in CHEATS if cheat.name == "answer-gold")
    file = tampered(archives(cheat.kind), tmp_path / "forged.memrig", cheat)
    command = [MEMRIG, "submission", "verify", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=110)
    assert done.returncode == 6
    assert cheat.caught in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_every_cheat_has_a_name_and_a_check_of_its_own():
    """A check that is not there catches nothing."""
    names = [cheat.name for cheat in (*CHEATS, *UNSEEN)]
    assert len(set(names)) == len(names)
    opening = {"archive.paths"}
    assert {cheat.caught for cheat in CHEATS} <= {check.id for check in ALL} | opening
    assert {cheat.caught for cheat in UNSEEN} == {""}
    assert len(CHEATS) > 100


#: Checks that no cheat of the list is for, and why.
WITHOUT_A_CHEAT = {
    "chain.intact": "byte flips and broken chains: test_flipped.py, test_verify.py",
    "cells.spec": "a spec of one's own has another name: cells.only-planned",
    "chain.name": "a cheater names folder, spec and seal alike",
    "chain.spec": "likewise",
    "chain.head": "a cheater chains anew",
    "chain.counts": "a cheater counts anew",
    "parse.trials": "test_verify.py",
    "data.respooled": "test_verify.py",
    "grades.made": "test_verify.py",
}


def test_hardly_a_check_is_without_a_cheat():
    """What no cheat needs is listed with its reason, or is a warning."""
    errors = {check.id for check in ALL if check.severity == "error"}
    caught = {cheat.caught for cheat in CHEATS}
    assert sorted(errors - caught - WITHOUT_A_CHEAT.keys()) == []
    assert sorted(WITHOUT_A_CHEAT.keys() & caught) == []
