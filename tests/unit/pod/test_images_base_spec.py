"""base.toml: what memrig's own images stand on."""

from pathlib import Path

import pytest

from memrig.errors import DataError
from memrig.pod.images.sources import own_image
from memrig.pod.images.spec import load_base_spec

GOOD = """
python = "3.11"
reference = "python:3.11-slim-bookworm"
[debian]
suite = "bookworm"
mirror = "http://deb.debian.org/debian"
packages = ["python3", "python3-venv"]
"""


def test_the_one_that_memrig_ships_can_be_read() -> None:
    """The committed base.toml names the same Python in both of its ways."""
    spec = load_base_spec(own_image("base") / "base.toml")
    assert spec.reference.startswith(f"python:{spec.python}-")
    assert spec.debian.suite in spec.reference
    assert {"python3", "python3-venv"} <= set(spec.debian.packages)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('suite = "bookworm"', 'suite = "--help"'),
        ('"python3-venv"', '"--arch=all"'),
        ("[debian]", '[debian]\napt = ["-o=APT::Update::Pre-Invoke::=reboot"]'),
        ('packages = ["python3", "python3-venv"]', "apt = []"),
        ("http://deb.debian.org/debian", "file:///etc"),
        ('python = "3.11"', 'python = "3"'),
        ("[debian]", 'colour = "red"\n[debian]'),
        ("[debian]", "[debian"),
    ],
)
def test_a_bad_one_is_refused(tmp_path: Path, old: str, new: str) -> None:
    """Unknown keys, options in the place of names, and broken TOML are refused with the path."""
    path = tmp_path / "base.toml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(DataError, match=r"base\.toml: is not a base description"):
        load_base_spec(path)


def test_apt_may_install_all_of_it(tmp_path: Path) -> None:
    """Then debootstrap makes the suite's minimum alone."""
    path = tmp_path / "base.toml"
    path.write_text(GOOD.replace("packages =", "apt ="))
    spec = load_base_spec(path)
    assert (spec.debian.packages, spec.debian.apt) == ((), ("python3", "python3-venv"))


def test_a_missing_one_is_named(tmp_path: Path) -> None:
    """A base.toml that is not there is named."""
    with pytest.raises(DataError, match=r"base\.toml: cannot be read"):
        load_base_spec(tmp_path / "base.toml")
