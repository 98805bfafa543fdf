"""Images by reference: found, pulled, pinned, and all that are missing named at once."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memrig.cli.main import app
from memrig.errors import DataError, PrerequisiteError, UsageError
from memrig.model.manifest import parse_manifest
from memrig.pod.images import pins as pins_module
from memrig.pod.images import references
from memrig.pod.images.engine import ImageFacts
from memrig.pod.images.faults import MissingImageError
from memrig.pod.images.inputs import hash_tree
from memrig.pod.images.pins import PIN_FILE, book_of_folder, book_of_image, repository_of
from memrig.pod.images.references import PinnedImage, find_references, pin_images

OLD, NEW, OTHER = (f"sha256:{letter * 64}" for letter in "abc")
OLD_DIGEST, NEW_DIGEST = (f"sha256:{letter * 64}" for letter in "de")
SERVER, DATABASE = "team/server:latest", "team/db:16"

MANIFEST = f"""
name = "toy"
version = "1"
[image]
build = "."
[services.server]
reference = "{SERVER}"
[services.db]
reference = "{DATABASE}"
"""


class Daemon:
    """A daemon and a registry: what each has under which name, and what was asked of the latter."""

    def __init__(self, arch: str = "amd64") -> None:
        self.arch = arch
        self.here: dict[str, tuple[str, ...]] = {}
        self.registry: dict[str, tuple[str, str]] = {}
        self.asked: list[str] = []

    def have(self, image: str, *names: str) -> None:
        self.here = {i: tuple(n for n in ns if n not in names) for i, ns in self.here.items()}
        self.here[image] = (*self.here.get(image, ()), *names)

    def get(self, name: str) -> ImageFacts | None:
        for image, names in self.here.items():
            if name == image or name in names:
                return ImageFacts(image, names, {}, 1, "")
        return None

    def pull(self, reference: str) -> str:
        self.asked.append(reference)
        repository = repository_of(reference)
        for name, (digest, image) in self.registry.items():
            if reference in {name, f"{repository_of(name)}@{digest}"}:
                self.have(image, f"{repository}@{digest}")
                return image
        raise MissingImageError(reference, "no such host")

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "toy"
    made.mkdir()
    (made / "adapter.toml").write_text(MANIFEST)
    return made


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Daemon:
    made = Daemon()
    monkeypatch.setattr(references, "Engine", lambda: made)
    return made


async def find(folder: Path, daemon: Daemon) -> dict[str, PinnedImage]:
    manifest = parse_manifest((folder / "adapter.toml").read_text(), "adapter.toml")
    where = str(folder / "adapter.toml")
    return await find_references(daemon, manifest, book_of_folder(folder), where, lambda _: None)


def written(folder: Path) -> dict[str, dict[str, object]]:
    return json.loads((folder / PIN_FILE).read_text())


async def test_a_tag_is_pinned_to_what_the_registry_has_when_it_is_first_used(
    folder: Path, daemon: Daemon
) -> None:
    """The registry's digest and this architecture's id are written beside the manifest."""
    daemon.registry = {SERVER: (OLD_DIGEST, OLD), DATABASE: (NEW_DIGEST, NEW)}
    found = await find(folder, daemon)
    assert found["server"] == PinnedImage("server", SERVER, OLD, OLD_DIGEST)
    assert written(folder) == {
        SERVER: {"digest": OLD_DIGEST, "ids": {"amd64": OLD}},
        DATABASE: {"digest": NEW_DIGEST, "ids": {"amd64": NEW}},
    }
    assert await asyncio.to_thread(lambda: {path.name for path in folder.iterdir()}) == {
        "adapter.toml",
        PIN_FILE,
    }


async def test_later_runs_take_the_pinned_image_and_ask_nobody(
    folder: Path, daemon: Daemon
) -> None:
    """Also when the registry's tag has moved since."""
    daemon.registry = {SERVER: (OLD_DIGEST, OLD), DATABASE: (OLD_DIGEST, OLD)}
    first = await find(folder, daemon)
    daemon.asked.clear()
    daemon.registry = {SERVER: (NEW_DIGEST, NEW), DATABASE: (NEW_DIGEST, NEW)}
    assert await find(folder, daemon) == first
    assert daemon.asked == []


async def test_a_pinned_image_that_is_gone_is_pulled_by_digest(
    folder: Path, daemon: Daemon
) -> None:
    """Not by its tag, which may mean another one now."""
    daemon.registry = {SERVER: (OLD_DIGEST, OLD), DATABASE: (NEW_DIGEST, NEW)}
    first = await find(folder, daemon)
    daemon.here.clear()
    daemon.asked.clear()
    assert await find(folder, daemon) == first
    assert sorted(daemon.asked) == [f"team/db@{NEW_DIGEST}", f"team/server@{OLD_DIGEST}"]


async def test_images_from_a_file_are_pinned_by_id(folder: Path, daemon: Daemon) -> None:
    """Nobody knows what a registry calls them."""
    daemon.have(OLD, SERVER)
    daemon.have(NEW, DATABASE)
    found = await find(folder, daemon)
    assert found["db"] == PinnedImage("db", DATABASE, NEW, None)
    assert written(folder)[SERVER] == {"ids": {"amd64": OLD}}
    assert daemon.asked == []


async def test_a_pinned_image_is_found_under_any_name(folder: Path, daemon: Daemon) -> None:
    """One that was pulled elsewhere and carried here in a file has its id, and no digest."""
    daemon.registry = {SERVER: (OLD_DIGEST, OLD), DATABASE: (OLD_DIGEST, OLD)}
    first = await find(folder, daemon)
    daemon.here = {OLD: ()}
    daemon.registry = {}
    assert await find(folder, daemon) == first


async def test_a_tag_that_moved_is_refused_with_both_ways_on(folder: Path, daemon: Daemon) -> None:
    """Take the new one, or go back: a run must not mix two systems under one name."""
    daemon.have(OLD, SERVER)
    daemon.have(NEW, DATABASE)
    await find(folder, daemon)
    daemon.have(OTHER, SERVER)
    with pytest.raises(UsageError, match=f"{SERVER} means {OTHER}.*pins it to {OLD}") as caught:
        await find(folder, daemon)
    assert f"memrig image pin --update {folder}" in caught.value.fix
    assert f"docker tag {OLD} {SERVER}" in caught.value.fix
    assert caught.value.exit_code == 2


async def test_update_takes_what_the_tags_mean_here(folder: Path, daemon: Daemon) -> None:
    """The refusal's own fix works, and leaves what has not moved as it was."""
    daemon.have(OLD, SERVER)
    daemon.have(NEW, DATABASE)
    before = await find(folder, daemon)
    daemon.have(OTHER, SERVER)
    pinned = await pin_images(folder, update=True)
    assert {p.service: p.id for p in pinned} == {"server": OTHER, "db": NEW}
    after = await find(folder, daemon)
    assert (after["server"].id, after["db"]) == (OTHER, before["db"])


async def test_update_asks_the_registry_for_a_tag_that_is_not_here(
    folder: Path, daemon: Daemon
) -> None:
    """What memrig pulled has no tag, so that the newest is taken."""
    daemon.registry = {SERVER: (OLD_DIGEST, OLD), DATABASE: (OLD_DIGEST, OLD)}
    await find(folder, daemon)
    daemon.registry = {SERVER: (NEW_DIGEST, NEW), DATABASE: (OLD_DIGEST, OLD)}
    pinned = await pin_images(folder, update=True)
    assert {p.service: p.digest for p in pinned} == {"server": NEW_DIGEST, "db": OLD_DIGEST}


async def test_pinning_without_update_shows_what_is_pinned(folder: Path, daemon: Daemon) -> None:
    """It changes nothing that was pinned before."""
    daemon.have(OLD, SERVER)
    daemon.have(NEW, DATABASE)
    first = await pin_images(folder)
    text = (folder / PIN_FILE).read_text()
    assert await pin_images(folder) == first
    assert (folder / PIN_FILE).read_text() == text


async def test_all_missing_images_are_named_at_once(folder: Path, daemon: Daemon) -> None:
    """With the reason of each, and the two ways to supply them; exit code 3."""
    with pytest.raises(PrerequisiteError) as caught:
        await find(folder, daemon)
    error = caught.value
    assert error.message.startswith("2 images are not on this machine")
    assert f"{SERVER} (no such host)" in error.message
    assert f"{DATABASE} (no such host)" in error.message
    assert error.where == str(folder / "adapter.toml")
    assert "registry" in error.fix
    assert f"docker pull --platform linux/amd64 {SERVER}" in error.fix
    assert f"docker save --output images.tar {DATABASE} {SERVER}" in error.fix
    assert "memrig image load images.tar" in error.fix
    assert error.exit_code == 3
    assert not (folder / PIN_FILE).exists()


async def test_one_missing_image_does_not_lose_the_other(folder: Path, daemon: Daemon) -> None:
    """What was found is pinned before the error."""
    daemon.have(OLD, SERVER)
    with pytest.raises(PrerequisiteError, match="an image is not on this machine") as caught:
        await find(folder, daemon)
    assert SERVER not in caught.value.message
    assert list(written(folder)) == [SERVER]


async def test_one_from_a_file_that_is_gone_is_named_by_its_id(
    folder: Path, daemon: Daemon
) -> None:
    """No registry can be asked for an id."""
    daemon.have(OLD, SERVER)
    daemon.have(NEW, DATABASE)
    await find(folder, daemon)
    daemon.here.pop(OLD)
    with pytest.raises(PrerequisiteError, match=f"pinned to {OLD}, which came from a file"):
        await find(folder, daemon)
    assert daemon.asked == []


async def test_each_architecture_has_its_own_id_under_one_digest(
    folder: Path, daemon: Daemon
) -> None:
    """A lock that was committed on one machine serves another kind."""
    daemon.registry = {SERVER: (OLD_DIGEST, OLD), DATABASE: (OLD_DIGEST, OLD)}
    await find(folder, daemon)
    arm = Daemon("arm64")
    arm.registry = {SERVER: (OLD_DIGEST, NEW), DATABASE: (OLD_DIGEST, NEW)}
    assert (await find(folder, arm))["server"].id == NEW
    assert written(folder)[SERVER] == {"digest": OLD_DIGEST, "ids": {"amd64": OLD, "arm64": NEW}}


async def test_what_is_learned_later_changes_no_pin(folder: Path, daemon: Daemon) -> None:
    """An image from a file, met again with a registry's digest, is the one that locks name."""
    daemon.have(OLD, SERVER)
    daemon.have(NEW, DATABASE)
    first = await find(folder, daemon)
    daemon.have(OLD, SERVER, f"team/server@{OLD_DIGEST}")
    assert await find(folder, daemon) == first
    assert await pin_images(folder, update=True) == tuple(first.values())


def test_the_command_shows_each_reference_on_a_line(folder: Path, daemon: Daemon) -> None:
    """Service, reference, id and digest; what it pinned, it says beside it."""
    daemon.have(OLD, SERVER)
    daemon.registry = {DATABASE: (NEW_DIGEST, NEW)}
    done = CliRunner().invoke(app, ["image", "pin", str(folder)])
    assert done.exit_code == 0
    assert done.stdout.splitlines() == [
        f"server  {SERVER}  {OLD}  unknown to a registry",
        f"db  {DATABASE}  {NEW}  {NEW_DIGEST}",
    ]
    assert f"in {folder / PIN_FILE}" in done.stderr


async def test_a_folder_that_cannot_be_written_is_pinned_in_the_cache(
    folder: Path, tmp_path: Path, daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is read from there by the next run."""
    write = pins_module._write

    def refuse(path: Path, text: str) -> None:
        if path.is_relative_to(folder):
            raise PermissionError(30, "Read-only file system")
        write(path, text)

    monkeypatch.setattr(pins_module, "_write", refuse)
    daemon.have(OLD, SERVER)
    daemon.have(NEW, DATABASE)
    await find(folder, daemon)
    assert not (folder / PIN_FILE).exists()
    daemon.have(OTHER, SERVER)
    with pytest.raises(UsageError, match=f"pins it to {OLD}"):
        await find(folder, daemon)


def test_what_an_images_own_manifest_names_is_pinned_in_the_cache(tmp_path: Path) -> None:
    """It has no folder; another image's pins are others."""
    book = book_of_image(OLD)
    path = book.update({SERVER: pins_module.Pin(ids={"amd64": NEW})})
    assert path is not None
    assert path.is_relative_to(tmp_path / "cache")
    assert book_of_image(OLD).get(SERVER) is not None
    assert book_of_image(NEW).get(SERVER) is None


@pytest.mark.parametrize("text", ["{", "[]", '{"a": {"digest": "1"}}', '{"a": {"colour": "red"}}'])
def test_a_broken_file_of_pins_is_refused(folder: Path, text: str) -> None:
    """By name: what it said may not be guessed."""
    (folder / PIN_FILE).write_text(text)
    with pytest.raises(DataError, match=r"references\.lock: is no list of pinned images") as caught:
        book_of_folder(folder)
    assert "remove it" in caught.value.fix


def test_pins_are_no_input_of_a_build(folder: Path) -> None:
    """The image beside which they lie stays the same when they come."""
    before = hash_tree(folder)
    (folder / PIN_FILE).write_text("{}")
    assert hash_tree(folder) == before


async def test_a_folder_without_references_has_nothing_to_pin(folder: Path, daemon: Daemon) -> None:
    """The command says so."""
    (folder / "adapter.toml").write_text('name = "t"\nversion = "1"\n[image]\nbuild = "."\n')
    with pytest.raises(DataError, match="names no image by `reference`"):
        await pin_images(folder)


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("team/db:16", "team/db"),
        ("team/db", "team/db"),
        ("localhost:5000/team/db:16", "localhost:5000/team/db"),
        ("localhost:5000/team/db", "localhost:5000/team/db"),
        (f"team/db:16@{OLD}", "team/db"),
        ("docker.io/library/redis:7", "redis"),
    ],
)
def test_a_reference_has_a_repository(reference: str, name: str) -> None:
    """As a daemon writes it beside a digest."""
    assert repository_of(reference) == name
