"""Reruns of runs that call models: held to bounds on means, and paid anew."""

from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError
from memrig.submission.keys import new_key
from memrig.submission.pack import pack
from memrig.submission.rerun import Reran, RerunOptions, rerun
from support.llm_standin import LlmStandIn, Script, Seen
from support.model_fixtures import nobody, standin, without_models
from support.model_runs import CLAUDE, GPT, answers, judges, models

__all__ = ["nobody", "standin"]

pytestmark = pytest.mark.slow

CHOSEN = {"suite": "practical", "sample": True, "adapter": "baseline:oracle", "limit": 20}
JUDGED = CHOSEN | {"mode": "reader", "reader_model": GPT, "judge_model": CLAUDE}
ONE = RerunOptions(cells=1, fresh_seeds=True, draw=3)


@pytest.fixture
def archive(standin: LlmStandIn, tmp_path: Path) -> Path:
    """A judged run of twenty questions, packed."""
    ran = answers(tmp_path / "run", **JUDGED)
    new_key(tmp_path / "key")
    pack([ran.root], tmp_path / "x.memrig", key=tmp_path / "key")
    return tmp_path / "x.memrig"


def again(archive: Path) -> Reran:
    return rerun(archive, ONE, key=archive.parent / "key")


def wavering(seen: Seen) -> str:
    """The same models, but every so often the reader says something else."""
    said = models(seen)
    lapse = "Their tags carry the code" not in seen.text and seen.number % 19 == 0
    return "Nobody remembers." if lapse else said


def helpless(seen: Seen) -> str:
    """A reader that knows nothing, and the same judge."""
    judged = "Their tags carry the code" in seen.text
    return judges(seen) if judged else "Nobody remembers."


@pytest.mark.parametrize("script", [models, wavering])
def test_what_wavers_a_little_agrees(standin: LlmStandIn, archive: Path, script: Script) -> None:
    """Reader and judge are called anew; the archive's record answers nothing."""
    before = len(standin.seen)
    standin.script = script
    done = again(archive)
    assert done.audit.passed, done.audit.summary
    assert done.audit.tolerances[0].rule == "statistical"
    assert 0 < done.audit.cells[0].bound < 1
    assert len(standin.seen) >= before + 2 * 20


def test_what_was_never_answered_like_that_does_not(standin: LlmStandIn, archive: Path) -> None:
    """The claim came from elsewhere: the interval of the means' difference lies apart from 0."""
    standin.script = helpless
    done = again(archive)
    assert not done.audit.passed
    (run,) = done.audit.runs
    assert [metric.metric for metric in run.metrics if not metric.agrees]
    assert not run.agrees


def test_without_a_key_for_its_models_nothing_is_run(
    standin: LlmStandIn, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine lacks it; which, is said."""
    before = len(standin.seen)
    without_models(monkeypatch)
    with pytest.raises(PrerequisiteError, match="key"):
        again(archive)
    assert len(standin.seen) == before
    assert not (archive.parent / "x.audit.json").exists()
