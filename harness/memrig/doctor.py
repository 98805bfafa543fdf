"""What `memrig doctor` looks at: the machine, the pods' needs, and the data."""

import platform
import shutil
import sys
from pathlib import Path

from memrig.pod.check import Check
from memrig.pod.probe import probe_pods
from memrig.suites.datasets import DATASETS, data_folder, path_of

_FREE_BYTES = 5 * 1024**3


async def examine() -> tuple[Check, ...]:
    """Every check, the machine's own first."""
    return (_python(), _disk(), *await probe_pods(), *_data())


def _python() -> Check:
    return Check(
        "Python", sys.version_info >= (3, 11), platform.python_version(), "needs 3.11 or newer"
    )


def _disk() -> Check:
    free = shutil.disk_usage(Path.cwd()).free
    value = f"{free / 1024**3:.0f} GiB free here"
    return Check("disk", free >= _FREE_BYTES, value, "runs and images need 5 GiB")


def _data() -> tuple[Check, ...]:
    return tuple(
        Check(
            f"data: {name}",
            path_of(item).is_file(),
            str(path_of(item)) if path_of(item).is_file() else f"not in {data_folder()}",
            f"memrig data fetch {name}, or --file",
            needed=False,
        )
        for name, item in DATASETS.items()
    )
