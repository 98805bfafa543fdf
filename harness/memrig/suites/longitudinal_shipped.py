"""The datasets that ship with memrig, checked by their sha256 whenever they are read."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable

from memrig.errors import PrerequisiteError, VerificationError
from memrig.model.canonical import digest_bytes

#: Of the shipped data; a changed dataset is another version.
VERSION = "v1"
VARIANTS = ("40", "120")
#: What the data of a run are called that used one of them as it is.
SHIPPED = tuple(f"longitudinal-{variant}" for variant in VARIANTS)
_SUM = re.compile(r"([0-9a-f]{64}) [ *](\S+)")


def folder() -> Traversable:
    """Where they are."""
    return files("memrig.suites") / "longitudinal_data"


def sample() -> bytes:
    """A tiny dataset, to see the suite work."""
    return (folder() / "sample.json").read_bytes()


def shipped(variant: str, place: Traversable | None = None) -> bytes:
    """A shipped dataset's file.

    Args:
        variant: one of `VARIANTS`.
        place: the folder of the version; none: the installed one.

    Raises:
        PrerequisiteError: this installation does not have it.
        VerificationError: it is not as it was shipped.
    """
    place = place or folder() / VERSION
    name = f"{variant}.json"
    expected = sums(place).get(name)
    where = f"--suite longitudinal --variant {variant}"
    if expected is None or not (place / name).is_file():
        message = f"the dataset is not part of this installation ({VERSION}/{name} is missing)"
        fix = "install memrig again, or give data of your own with --file"
        raise PrerequisiteError(message, where=where, fix=fix)
    data = (place / name).read_bytes()
    if digest_bytes(data) != expected:
        message = f"{VERSION}/{name} is not as it was shipped: its sha256 differs"
        raise VerificationError(message, where=where, fix="install memrig again")
    return data


def name_of(digest: str) -> str:
    """The name of the shipped dataset with this sha256; empty if there is none."""
    known = sums(folder() / VERSION)
    names = zip(SHIPPED, VARIANTS, strict=True)
    return next((name for name, variant in names if known.get(f"{variant}.json") == digest), "")


def sums(place: Traversable) -> dict[str, str]:
    """What SHA256SUMS of a folder says, by file name; empty without one."""
    listed = place / "SHA256SUMS"
    if not listed.is_file():
        return {}
    found = _SUM.findall(listed.read_text("utf-8"))
    return {name: f"sha256:{value}" for value, name in found}
