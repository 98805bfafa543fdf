"""Where memrig's own image folders and Python sources are: in a checkout, or in a wheel."""

from pathlib import Path

import memrig
from memrig.errors import HarnessError

_PACKAGE = Path(memrig.__file__).parent

#: What a wheel of each local package is made of, below its folder in a checkout.
LOCAL_PACKAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "memrig-proto": ("proto", ("pyproject.toml", "README.md", "memrig", "python")),
    "memrig-adapters": ("adapters", ("pyproject.toml", "README.md", "memrig_adapters")),
}


def checkout() -> Path | None:
    """The root of the checkout that this code runs from; None where it was installed."""
    root = _PACKAGE.parents[1]
    wanted = [root / folder / "pyproject.toml" for folder, _ in LOCAL_PACKAGES.values()]
    return root if all(path.is_file() for path in wanted) else None


def own_image(name: str) -> Path:
    """The folder of an image that memrig itself needs: ``base`` or ``doorman``.

    Raises:
        HarnessError: the installation lacks it.
    """
    root = checkout()
    folder = root / "images" / name if root else _PACKAGE / "_images" / name
    if not folder.is_dir():
        raise HarnessError(f"the folder of memrig's own image {name!r} is missing: {folder}")
    return folder
