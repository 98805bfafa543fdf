"""Building, finding and reading images on a real daemon, none of it with a network."""

import asyncio
import os
import subprocess
import time
import uuid
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from docker import APIClient

from memrig.errors import DataError, PrerequisiteError
from memrig.pod.images import (
    ensure_base,
    ensure_built,
    load_images,
    prune_images,
    resolve,
)
from memrig.pod.images.engine import Engine
from memrig.pod.images.lock import build_lock
from memrig.pod.images.sources import checkout
from memrig.pod.images.wheels import collect_local, collect_locked, local_hash

pytestmark = pytest.mark.timeout(300)

ROOT = checkout()
assert ROOT is not None
CARRY = "COPY adapter.toml /memrig/adapter.toml\n"

Write = Callable[..., Path]


@pytest.fixture
async def write(tmp_path: Path) -> AsyncIterator[Write]:
    """Writes an adapter folder with a name of its own; its images are removed at the end."""
    names = []

    def make(dockerfile: str, extra: str = "", image: str = 'build = "."') -> Path:
        name = f"imgtest-{uuid.uuid4().hex[:8]}"
        names.append(name)
        folder = tmp_path / name
        folder.mkdir()
        (folder / "Dockerfile").write_text(dockerfile)
        manifest = f'name = "{name}"\nversion = "1"\n{extra}[image]\n{image}\n'
        (folder / "adapter.toml").write_text(manifest)
        return folder

    yield make
    engine = Engine()
    for name in names:
        await prune_images(name)
        for image in engine.list_own({"io.memrig.name": name}):
            engine.remove(image.digest)
    engine.close()


@pytest.mark.docker
async def test_the_same_inputs_are_not_built_again() -> None:
    """images/none, unchanged, is found and not built the second time, in well under a second."""
    assert ROOT is not None
    first = await ensure_built(ROOT / "images" / "none")
    second = await ensure_built(ROOT / "images" / "none")
    assert not second.built
    assert (second.digest, second.inputs) == (first.digest, first.inputs)
    assert second.seconds < 2
    assert second.size_bytes < 200 * 1024**2


@pytest.mark.docker
async def test_an_image_serves_as_nobody_from_its_own_manifest() -> None:
    """The image of images/none carries its manifest, and its command is not root's."""
    assert ROOT is not None
    folder = ROOT / "images" / "none"
    built = await ensure_built(folder)
    ref = await resolve(f"memrig/none@{built.digest}", "docker")
    assert ref.manifest == (await resolve(str(folder), "docker")).manifest
    client = APIClient(version="1.41")
    config = client.inspect_image(built.digest)["Config"]  # type: ignore[no-untyped-call]
    client.close()
    assert config["User"] == "65534:65534"
    assert ref.manifest is not None
    assert ref.manifest.process is not None
    assert config["Cmd"] == list(ref.manifest.process.command)


@pytest.mark.docker
async def test_a_forced_build_has_the_same_inputs_and_another_digest(write: Write) -> None:
    """Two builds of the same inputs differ in digest; the newer one is found from then on."""
    folder = write("FROM scratch\n" + CARRY)
    first = await ensure_built(folder)
    forced = await ensure_built(folder, force=True)
    again = await ensure_built(folder)
    assert (first.built, forced.built, again.built) == (True, True, False)
    assert first.inputs == forced.inputs == again.inputs
    assert first.digest != forced.digest == again.digest


@pytest.mark.docker
async def test_pruning_keeps_the_newest_of_a_name(write: Write) -> None:
    """What older and forced builds left goes; the newest image stays as it is."""
    folder = write("FROM scratch\n" + CARRY + "COPY . /src\n")
    first = await ensure_built(folder)
    forced = await ensure_built(folder, force=True)
    (folder / "data.txt").write_text("x")
    last = await ensure_built(folder)
    assert set(await prune_images(folder.name)) == {first.digest, forced.tag}
    assert await prune_images(folder.name) == ()
    assert not (await ensure_built(folder)).built
    assert last.digest == (await ensure_built(folder)).digest


@pytest.mark.docker
async def test_a_changed_file_is_built_again(write: Write) -> None:
    """A change in the folder gives other inputs, another image and another tag."""
    folder = write("FROM scratch\n" + CARRY + "COPY . /src\n")
    first = await ensure_built(folder)
    (folder / "data.txt").write_text("x")
    second = await ensure_built(folder)
    assert second.built
    assert (second.inputs, second.digest) != (first.inputs, first.digest)
    assert first.tag != second.tag


@pytest.mark.docker
async def test_two_at_once_build_once(write: Write) -> None:
    """Whoever comes second waits for the build and takes its image."""
    folder = write("FROM scratch\n" + CARRY)
    results = await asyncio.gather(ensure_built(folder), ensure_built(folder))
    assert sorted(image.built for image in results) == [False, True]
    assert len({image.digest for image in results}) == 1


@pytest.mark.docker
async def test_a_build_has_no_network(write: Write) -> None:
    """A step that opens a connection fails, and the error names the step."""
    step = "RUN python3 -c \"import socket; socket.create_connection(('192.0.2.1', 80), 5)\""
    folder = write(f"ARG BASE\nFROM ${{BASE}}\n{step}\n{CARRY}")
    with pytest.raises(DataError) as caught:
        await ensure_built(folder)
    assert "Network is unreachable" in caught.value.message
    assert "Step 3/" in caught.value.where
    assert "socket.create_connection" in caught.value.where
    assert "without a network" in caught.value.fix


@pytest.mark.docker
async def test_a_broken_dockerfile_is_named(write: Write) -> None:
    """What the parser refuses is a DataError at the Dockerfile."""
    folder = write("FROM scratch\nCOPPY a b\n")
    with pytest.raises(DataError, match=r"Dockerfile: .*COPPY") as caught:
        await ensure_built(folder)
    assert caught.value.exit_code == 2


@pytest.mark.docker
async def test_a_base_that_no_registry_has_is_a_missing_prerequisite(write: Write) -> None:
    """FROM an image that is nowhere names the image and the ways to supply it."""
    folder = write("FROM localhost:1/nobody/nothing:1\n" + CARRY)
    with pytest.raises(PrerequisiteError, match=r"localhost:1/nobody/nothing") as caught:
        await ensure_built(folder)
    assert "memrig image load" in caught.value.fix


@pytest.mark.docker
async def test_a_reference_that_cannot_be_pulled_says_how_to_supply_it(write: Write) -> None:
    """A manifest's `reference` that is nowhere is named, with both ways to supply it."""
    folder = write("", image='reference = "localhost:1/nobody/nothing:1"')
    with pytest.raises(PrerequisiteError, match="localhost:1/nobody/nothing:1") as caught:
        await resolve(str(folder), "docker")
    assert "memrig image load" in caught.value.fix
    assert "docker load" in caught.value.fix
    assert "registry" in caught.value.fix


@pytest.mark.docker
async def test_an_image_must_carry_its_manifest(write: Write) -> None:
    """A Dockerfile that forgets the manifest is refused with the line to add."""
    folder = write("FROM scratch\nCOPY Dockerfile /\n")
    with pytest.raises(DataError, match=r"COPY adapter\.toml /memrig/adapter.toml"):
        await ensure_built(folder)


@pytest.mark.docker
async def test_companions_are_built_from_their_own_folders(write: Write) -> None:
    """A companion with `build` becomes an image named after the adapter and itself."""
    folder = write("FROM scratch\n" + CARRY, image='build = "."\n[services.db]\nbuild = "db"')
    (folder / "db").mkdir()
    (folder / "db" / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /\n")
    ref = await resolve(str(folder), "docker")
    assert set(ref.images) == set(ref.inputs) == {"adapter", "db"}
    assert len(set(ref.images.values())) == 2
    await prune_images(f"{folder.name}-db")
    engine = Engine()
    assert engine.remove(ref.images["db"])
    engine.close()


@pytest.mark.docker
async def test_a_folder_outside_is_not_built(write: Write) -> None:
    """`build` may not lead out of the adapter's folder."""
    folder = write("FROM scratch\n", image='build = "../.."')
    with pytest.raises(DataError, match="outside the adapter's folder"):
        await ensure_built(folder)


@pytest.mark.docker
async def test_a_saved_image_is_loaded_under_the_same_digest(write: Write, tmp_path: Path) -> None:
    """An image carried over in a file can be run by the digest it had."""
    built = await ensure_built(write("FROM scratch\n" + CARRY))
    tar = tmp_path / "image.tar"
    client = APIClient(version="1.41")
    tar.write_bytes(b"".join(client.get_image(built.tag)))
    client.remove_image(built.digest, force=True)
    with pytest.raises(PrerequisiteError):
        await resolve(built.digest, "docker")
    client.close()
    assert [(i.digest, i.names) for i in await load_images(tar)] == [(built.digest, (built.tag,))]
    assert (await resolve(built.digest, "docker")).images == {"adapter": built.digest}


@pytest.mark.docker
async def test_several_images_of_one_file_are_all_loaded(write: Write, tmp_path: Path) -> None:
    """Companions come in one file with each other, and serve a manifest's references by tag."""
    built = [await ensure_built(write("FROM scratch\n" + CARRY)) for _ in range(2)]
    tar = tmp_path / "images.tar"
    tags = [image.tag for image in built]
    command = ["docker", "save", "--output", str(tar), *tags]
    await asyncio.to_thread(subprocess.run, command, check=True)
    client = APIClient(version="1.41")
    for image in built:
        client.remove_image(image.digest, force=True)
    client.close()
    db = f'[services.db]\nreference = "{tags[1]}"\n'
    folder = write("", image=f'reference = "{tags[0]}"\n{db}')
    with pytest.raises(PrerequisiteError) as caught:
        await resolve(str(folder), "docker")
    assert all(tag in caught.value.message for tag in tags)
    loaded = await load_images(tar)
    assert {name for image in loaded for name in image.names} == set(tags)
    ref = await resolve(str(folder), "docker")
    assert ref.images == {"adapter": built[0].digest, "db": built[1].digest}
    assert ref.inputs == {}


@pytest.mark.docker
async def test_a_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    """What `docker save` did not write is refused by name."""
    path = tmp_path / "x.tar"
    with pytest.raises(DataError, match=r"x\.tar: cannot be loaded"):
        await load_images(path)
    path.write_text("no tar")
    with pytest.raises(DataError, match=r"x\.tar: "):
        await load_images(path)


@pytest.mark.docker
async def test_a_cancelled_build_ends_on_the_daemon_too(write: Write) -> None:
    """Ctrl-C ends the build's container, and the next build does not wait for it."""
    mark = f"io.memrig.test={uuid.uuid4().hex}"
    running = asyncio.Event()
    loop = "RUN while true; do echo still here; sleep 0.1; done"
    folder = write(f"ARG BASE\nFROM ${{BASE}}\nLABEL {mark}\n{loop}\n")

    def seen(line: str) -> None:
        if line == "still here":
            running.set()

    task = asyncio.create_task(ensure_built(folder, progress=seen))
    await asyncio.wait_for(running.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 10)
    async with asyncio.timeout(60), build_lock(lambda _line: None):
        pass
    client = APIClient(version="1.41")
    deadline = time.monotonic() + 15
    while client.containers(all=True, filters={"label": mark}):
        assert time.monotonic() < deadline, "the build's container is still there"
        await asyncio.sleep(0.1)
    for image in client.images(filters={"label": mark}):
        client.remove_image(image["Id"], force=True)
    client.close()


@pytest.mark.docker
async def test_the_base_has_python_with_venv_and_nobody() -> None:
    """Whichever way it was made, the base runs python3 with venv, and knows the user nobody."""
    base = await ensure_base()
    check = "import venv, ensurepip, ssl, sqlite3, pwd; print(pwd.getpwuid(65534).pw_name)"
    command = ["docker", "run", "--rm", "--network=none", "--read-only", base.digest]
    done = await asyncio.to_thread(
        subprocess.run, [*command, "python3", "-c", check], capture_output=True, check=False
    )
    assert done.stdout.strip() == b"nobody", done.stderr


@pytest.mark.docker
async def test_the_base_is_found_without_asking_a_registry() -> None:
    """A base that is here is used at once; nothing is pulled."""
    await ensure_base()
    said: list[str] = []
    again = await ensure_base(progress=said.append)
    assert not again.built
    assert said == []
    assert again.seconds < 2


@pytest.mark.docker
async def test_builder_stages_do_not_pile_up(write: Write) -> None:
    """Of the stages that a Dockerfile marks, only the newest build's is kept."""
    folder = write("")
    stage = f"FROM scratch AS build\nLABEL io.memrig.stage={folder.name}\nCOPY data /\n"
    (folder / "Dockerfile").write_text(f"{stage}FROM scratch\nCOPY --from=build /data /\n{CARRY}")
    client = APIClient(version="1.41")
    for content in "abc":
        (folder / "data").write_text(content)
        await ensure_built(folder)
        label = {"label": f"io.memrig.stage={folder.name}", "dangling": True}
        stages = client.images(filters=label)
        assert len(stages) == 1
    client.remove_image(stages[0]["Id"])
    client.close()


@pytest.mark.slow
async def test_local_wheels_are_the_same_bytes_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """memrig's own wheels, built twice from the same sources, are byte-identical."""
    made = []
    for name in ("one", "two"):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        async with build_lock(lambda _line: None):
            wheels = await collect_local(local_hash(), lambda _line: None)
        made.append({wheel.name: wheel.read_bytes() for wheel in wheels})
    assert len(made[0]) == 2
    assert made[0] == made[1]


async def test_without_a_checkout_local_wheels_come_from_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Installed from wheels, memrig takes its own packages, in its own version, from the index."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "checkout"))
    async with build_lock(lambda _line: None):
        built = await collect_local(local_hash(), lambda _line: None)
    monkeypatch.setattr("memrig.pod.images.wheels.checkout", lambda: None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "installed"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(built[0].parent))
    async with build_lock(lambda _line: None):
        taken = await collect_local(local_hash(), lambda _line: None)
    assert [wheel.name for wheel in taken] == [wheel.name for wheel in built]


async def test_a_wheel_that_no_index_has_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A locked package that cannot be had stops the build with its name and a way out."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"nobody-has-this==1.0 --hash=sha256:{'0' * 64}\n")
    async with build_lock(lambda _line: None):
        with pytest.raises(PrerequisiteError, match=r"nobody-has-this==1\.0 cannot be had"):
            await collect_locked(lock, arch="amd64", python="3.11", say=lambda _line: None)
    assert not list((tmp_path / "cache").rglob("*.whl"))
