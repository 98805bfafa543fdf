"""Which owner's pods may go."""

import os
import time
from dataclasses import replace

import pytest

from memrig.pod import reaper
from memrig.pod.owner import this_process


@pytest.mark.parametrize(
    ("changes", "orphaned"),
    [
        ({}, False),
        ({"lease": time.time() - 1}, False),
        ({"pid": 2**22 + 1}, True),
        ({"host": "elsewhere"}, False),
        ({"host": "elsewhere", "lease": time.time() - 1}, True),
        ({"keep": True}, False),
        ({"keep": True, "lease": time.time() - 1}, True),
    ],
)
def test_a_pod_goes_when_its_owner_is_gone_or_cannot_be_seen_and_its_lease_is_over(
    changes, orphaned
):
    """A living owner on this host keeps its pods, however long the trial takes."""
    owner = replace(this_process("run", "trial", 3600.0), **changes)
    assert os.getpid() == this_process("run", "trial", 1.0).pid
    assert bool(reaper._orphaned(owner)) is orphaned
