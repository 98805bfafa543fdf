"""Building the base from Debian packages: what the machine must have."""

import pytest

from memrig.errors import PrerequisiteError
from memrig.pod.images import debian


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine on which everything is there."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    return monkeypatch


def test_a_complete_machine_is_enough(machine: pytest.MonkeyPatch) -> None:
    """With root and the programs, nothing is asked for."""
    debian.check_possible()


def test_root_is_asked_for(machine: pytest.MonkeyPatch) -> None:
    """Without root, the command to run as root is named."""
    machine.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(PrerequisiteError, match=r"needs root\n.*sudo memrig image build base"):
        debian.check_possible()


def test_a_folders_own_base_is_built_with_the_folder(machine: pytest.MonkeyPatch) -> None:
    """Whoever may not build it learns which command does."""
    machine.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(PrerequisiteError, match="sudo memrig image build images/pgvector"):
        debian.check_possible("images/pgvector")


def test_debootstrap_is_asked_for(machine: pytest.MonkeyPatch) -> None:
    """Without debootstrap, the exact command that installs it is named."""
    machine.setattr("shutil.which", lambda name: None if name == "debootstrap" else name)
    with pytest.raises(PrerequisiteError) as caught:
        debian.check_possible()
    assert "needs debootstrap" in caught.value.message
    assert "apt-get install --no-install-recommends debootstrap" in caught.value.fix
