"""Public datasets that are not part of the repository, where a machine has them."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def data_file(name: str) -> Path:
    """A file of MEMRIG_DATA_DIR, or of the folder that is shared beside the checkout.

    Skips the test where there is none.
    """
    folder = Path(os.environ.get("MEMRIG_DATA_DIR", ROOT.parent / "shared" / "data"))
    path = folder / name
    if not path.is_file():
        pytest.skip(f"{name} is not here; MEMRIG_DATA_DIR names its folder")
    return path
