"""Images from a registry: by digest, by a manifest's reference, and the base's first way."""

import importlib
import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from memrig.errors import PrerequisiteError
from memrig.pod.images import ensure_base, resolve
from memrig.pod.images.base import ensure_base_on
from memrig.pod.images.engine import Engine
from support.registry import Published, registry

pytestmark = [pytest.mark.docker, pytest.mark.timeout(120)]

#: By this way, for the package has functions of the same names.
BASE = importlib.import_module("memrig.pod.images.base")


@pytest.fixture
def engine() -> Iterator[Engine]:
    engine = Engine()
    yield engine
    engine.close()


@pytest.fixture
def published(engine: Engine) -> Iterator[Published]:
    """A vendor's image in a registry; what was pulled of it is removed at the end."""
    manifest = f'name = "toy"\nversion = "{uuid.uuid4()}"\n[image]\nbuild = "."\n'
    with registry({"memrig/adapter.toml": manifest.encode()}, engine.arch) as served:
        yield served
        repository = served.reference.rpartition(":")[0]
        engine.remove(f"{repository}@{served.digest}")


async def test_an_image_by_digest_is_pulled_and_read(published: Published) -> None:
    """A vendor's image runs by reference alone: pulled, its manifest read, named by its id."""
    repository = published.reference.rpartition(":")[0]
    ref = await resolve(f"{repository}@{published.digest}", "docker")
    assert ref.name == "toy"
    assert ref.images["adapter"].startswith("sha256:")
    before = len(published.requests)
    assert await resolve(f"{repository}@{published.digest}", "docker") == ref
    assert len(published.requests) == before


async def test_a_digest_that_the_registry_lacks_is_refused(published: Published) -> None:
    """Another digest of the same name is not replaced by what the registry has."""
    repository = published.reference.rpartition(":")[0]
    with pytest.raises(PrerequisiteError, match=repository):
        await resolve(f"{repository}@sha256:{'0' * 64}", "docker")


async def test_a_manifests_reference_is_pulled(published: Published, tmp_path: Path) -> None:
    """A tag in a manifest becomes the digest that the registry has for it now, and is pinned."""
    text = f'name = "x"\nversion = "1"\n[image]\nreference = "{published.reference}"\n'
    (tmp_path / "adapter.toml").write_text(text)
    ref = await resolve(str(tmp_path), "docker")
    assert ref.images["adapter"].startswith("sha256:")
    assert ref.inputs == {"adapter": published.digest}
    pins = json.loads((tmp_path / "references.lock").read_text())
    (pin,) = pins.values()
    assert (pin["digest"], list(pin["ids"].values())) == (published.digest, [ref.images["adapter"]])


async def test_what_is_pinned_is_pulled_whatever_the_tag_means(
    published: Published, tmp_path: Path, engine: Engine
) -> None:
    """Gone from the daemon, the pinned image is asked for by digest, not by its tag."""
    text = f'name = "x"\nversion = "1"\n[image]\nreference = "{published.reference}"\n'
    (tmp_path / "adapter.toml").write_text(text)
    first = await resolve(str(tmp_path), "docker")
    engine.remove(f"{published.reference.rpartition(':')[0]}@{published.digest}")
    before = len(published.requests)
    assert await resolve(str(tmp_path), "docker") == first
    manifests = [p for p in published.requests[before:] if "/manifests/" in p]
    assert manifests
    assert all(p.endswith(published.digest) for p in manifests)


async def test_folders_of_one_base_toml_share_one_base(
    published: Published, tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte-identical copy of base.toml is the same base; a base has the name that it says."""
    text = (
        f'name = "base-shared"\nreference = "{published.reference}"\n[debian]\n'
        'suite = "trixie"\nmirror = "http://localhost:1/nowhere"\npackages = ["tini"]\n'
    )
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = []
    for name, change in (("a", ""), ("b", ""), ("c", "# another\n")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "base.toml").write_text(text + change)
        made.append(await ensure_base_on(engine, lambda _line: None, folder=folder))
    for tag in {base.tag for base in made}:
        engine.remove(tag)
    first, copy, other = made
    assert (first.built, copy.built, other.built) == (True, False, True)
    assert first.digest == copy.digest
    assert first.tag.startswith("memrig/base-shared:")
    assert other.tag != first.tag


async def test_the_base_comes_from_a_registry_that_answers(
    published: Published, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Engine
) -> None:
    """Where a registry answers, the base is what it has; the second time nobody is asked."""
    (tmp_path / "base.toml").write_text(
        f'python = "3.11"\nreference = "{published.reference}"\n[debian]\nsuite = "bookworm"\n'
        'mirror = "http://localhost:1/nowhere"\npackages = ["python3"]\n'
    )
    monkeypatch.setattr(BASE, "own_image", lambda _name: tmp_path)
    first = await ensure_base()
    asked = len(published.requests)
    again = await ensure_base()
    engine.remove(first.tag)
    assert (first.built, again.built) == (True, False)
    assert first.digest == again.digest
    assert asked > 0
    assert len(published.requests) == asked
