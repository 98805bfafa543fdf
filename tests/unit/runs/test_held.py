"""A run's folder is held until the run has its report."""

import pytest

import memrig
import memrig.api
from memrig.errors import UsageError
from memrig.runs.config import RunConfig
from memrig.trial.directory import hold


def test_nobody_else_works_in_a_folder_while_its_run_is_graded(tmp_path, monkeypatch):
    """Who packs or resumes it then would meet half of a report."""
    asked = []
    build = memrig.api.build_report

    def watched(directory):
        with pytest.raises(UsageError, match="another memrig"), hold(directory.root):
            pass
        asked.append(directory.root)
        return build(directory)

    monkeypatch.setattr(memrig.api, "build_report", watched)
    out = tmp_path / "run"
    memrig.run(RunConfig(adapter="baseline:oracle", suite="practical", sample=True, out=out))
    assert asked == [out]
    with hold(out):
        pass
