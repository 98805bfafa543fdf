"""From ``--adapter`` to an AdapterRef: what is taken, and how the rest is refused."""

import importlib
from collections.abc import Callable
from pathlib import Path

import pytest

from memrig.errors import DataError, PrerequisiteError, UsageError
from memrig.model.manifest import PodKind
from memrig.pod.images import implied_pod, resolve
from memrig.pod.images.engine import ImageFacts
from memrig.pod.images.faults import MissingImageError

#: By this way, for the package has a function of the same name.
MODULE = importlib.import_module("memrig.pod.images.resolve")

DIGEST = "sha256:" + "a" * 64
OTHER = "sha256:" + "b" * 64

MANIFEST = """
name = "toy"
version = "1"
[image]
build = "."
"""
PROCESS = MANIFEST + '[process]\ncommand = ["toy"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "adapter.toml").write_text(PROCESS)
    return tmp_path


class FakeEngine:
    """A daemon that has the images it is told of, and no registry."""

    arch = "amd64"

    def __init__(self, images: dict[str, bytes | None]) -> None:
        self.images = images

    def get(self, name: str) -> ImageFacts | None:
        return ImageFacts(name, (), {}, 1, "") if name in self.images else None

    def read_file(self, image: str, path: str, limit: int) -> bytes | None:
        return self.images[image]

    def pull(self, reference: str) -> str:
        raise MissingImageError(reference, "nobody answers")

    def close(self) -> None:
        pass


@pytest.fixture
def daemon(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, bytes | None]], None]:
    def have(images: dict[str, bytes | None]) -> None:
        monkeypatch.setattr(MODULE, "Engine", lambda: FakeEngine(images))

    return have


@pytest.mark.parametrize(
    ("adapter", "pod"),
    [
        ("grpc://h:1", "endpoint"),
        (DIGEST, "docker"),
        (f"name@{DIGEST}", "docker"),
        ("images/bm25", None),
    ],
)
def test_the_form_of_an_adapter_implies_its_pod(adapter: str, pod: PodKind | None) -> None:
    """An address needs an endpoint, an image Docker; a folder leaves the choice."""
    assert implied_pod(adapter) == pod


VARIED = PROCESS + '[variants.small]\nmodels = []\nenvironment = { SIZE = "small" }\n'


async def test_a_variant_is_the_same_image_told_something_else(
    daemon: Callable[[dict[str, bytes | None]], None],
) -> None:
    """Behind a digest too; it goes by a name of its own, and no other variant is left in it."""
    daemon({DIGEST: VARIED.encode()})
    plain, small = [await resolve(f"name@{DIGEST}{v}", "docker") for v in ("", "+small")]
    assert (plain.name, small.name) == ("toy", "toy-small")
    assert plain.images == small.images == {"adapter": DIGEST}
    assert small.manifest is not None
    assert small.manifest.image.environment == {"SIZE": "small"}
    with pytest.raises(UsageError, match="toy has no variant 'large'"):
        await resolve(f"{DIGEST}+large", "docker")


async def test_a_folders_variant_runs_without_docker(folder: Path) -> None:
    """`--adapter FOLDER+VARIANT`, of the same inputs as the folder."""
    (folder / "adapter.toml").write_text(VARIED)
    plain = await resolve(str(folder), "process")
    small = await resolve(f"{folder}+small", "process")
    assert small.name == "toy-small"
    assert small.inputs == plain.inputs
    assert small.manifest is not None
    assert small.manifest.process is not None
    assert small.manifest.process.environment == {"SIZE": "small"}


async def test_a_folder_whose_name_has_a_plus_sign_is_taken(folder: Path) -> None:
    """It is there, so it is meant; a variant of it stands behind one more plus."""
    named = folder / "c+small"
    named.mkdir()
    (named / "adapter.toml").write_text(VARIED)
    assert (await resolve(str(named), "process")).name == "toy"
    assert (await resolve(f"{named}+small", "process")).name == "toy-small"


async def test_an_image_that_is_nowhere_names_both_ways_to_supply_it(
    daemon: Callable[[dict[str, bytes | None]], None],
) -> None:
    """As for a manifest's references: a registry, or a file."""
    daemon({})
    with pytest.raises(PrerequisiteError, match=rf"team/toy@{DIGEST} \(nobody answers\)") as caught:
        await resolve(f"team/toy@{DIGEST}", "docker")
    assert "docker pull" in caught.value.fix
    assert "memrig image load" in caught.value.fix


@pytest.mark.parametrize("target", ["localhost:50051", "[::1]:50051", "10.0.0.7:1"])
async def test_an_endpoint_is_taken_as_it_is(target: str) -> None:
    """An address gives an endpoint without a manifest."""
    ref = await resolve(f"grpc://{target}", "endpoint")
    assert (ref.name, ref.endpoint, ref.manifest) == ("endpoint", target, None)


@pytest.mark.parametrize(
    "address", ["grpc://", "grpc://host", "grpc://host:0", "grpc://host:65536", "grpc://a b:1"]
)
async def test_an_address_that_is_none_is_refused(address: str) -> None:
    """An endpoint needs a host and a port."""
    with pytest.raises(UsageError, match="grpc://host:port"):
        await resolve(address, "endpoint")


@pytest.mark.parametrize(
    ("adapter", "pod"),
    [("grpc://h:1", "docker"), (DIGEST, "process"), (DIGEST, "endpoint"), (".", "endpoint")],
)
async def test_a_pod_that_does_not_fit_is_refused(adapter: str, pod: PodKind) -> None:
    """The refusal says which pod would fit."""
    with pytest.raises(UsageError, match=f"a pod of kind {pod} cannot .*; it needs "):
        await resolve(adapter, pod)


@pytest.mark.parametrize("tag", ["bm25:latest", "localhost:5000/team/bm25:1.2", "memrig/bm25:ab"])
async def test_a_tag_is_refused(tag: str) -> None:
    """A tag can move, so it is refused with the command that prints its digest."""
    with pytest.raises(UsageError, match="docker image inspect .*" + tag):
        await resolve(tag, "docker")


async def test_half_a_digest_is_refused() -> None:
    """A digest is whole or none."""
    with pytest.raises(UsageError, match="64 hex digits"):
        await resolve("sha256:abc", "docker")


@pytest.mark.parametrize("pod", ["docker", "process"])
async def test_a_folder_that_is_none_is_refused(tmp_path: Path, pod: PodKind) -> None:
    """What is no folder is refused with the three forms that would do."""
    with pytest.raises(DataError, match=r"is no folder\n.*images/bm25.*sha256.*grpc://"):
        await resolve(str(tmp_path / "nope"), pod)
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="is a file"):
        await resolve(str(tmp_path / "file"), pod)


@pytest.mark.parametrize(("name", "message"), [("", "is a folder"), ("none.jsonl", "no such file")])
async def test_answers_that_are_no_file_are_called_what_they_are(
    tmp_path: Path, name: str, message: str
) -> None:
    """A folder is there; it is no file."""
    path = tmp_path / name
    with pytest.raises(DataError, match=message) as caught:
        await resolve(f"answers:{path}", "given")
    assert caught.value.where == f"--answers {path}"
    assert caught.value.fix


async def test_a_process_pod_builds_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For a process pod, the manifest is enough: no daemon is asked."""
    monkeypatch.setattr(MODULE, "Engine", None)
    ref = await resolve(str(folder), "process")
    assert (ref.name, ref.pod, ref.images) == ("toy", "process", {})


async def test_a_process_pods_inputs_move_with_its_folder(folder: Path) -> None:
    """The lock shows that a folder changed even where no image is built from it."""
    before = (await resolve(str(folder), "process")).inputs
    assert (await resolve(str(folder), "process")).inputs == before
    (folder / "code.py").touch()
    assert (await resolve(str(folder), "process")).inputs != before


async def test_a_process_pod_needs_its_section(folder: Path) -> None:
    """Without [process], a process pod is refused."""
    (folder / "adapter.toml").write_text(MANIFEST)
    with pytest.raises(UsageError, match=r"no \[process\] section"):
        await resolve(str(folder), "process")


async def test_an_image_brings_its_own_manifest(
    daemon: Callable[[dict[str, bytes | None]], None],
) -> None:
    """An image by digest needs nothing but itself."""
    daemon({DIGEST: MANIFEST.encode()})
    ref = await resolve(DIGEST, "docker")
    assert (ref.name, ref.images, ref.inputs) == ("toy", {"adapter": DIGEST}, {})


async def test_an_image_found_by_its_id_may_carry_any_name(
    daemon: Callable[[dict[str, bytes | None]], None],
) -> None:
    """NAME@sha256:… also finds a local image by its id, as `memrig image build` prints it."""
    daemon({DIGEST: MANIFEST.encode()})
    assert (await resolve(f"memrig/toy@{DIGEST}", "docker")).images == {"adapter": DIGEST}


async def test_companions_of_an_image_are_references(
    daemon: Callable[[dict[str, bytes | None]], None],
) -> None:
    """A companion's image is looked up; one to build from a folder is refused."""
    text = MANIFEST + "[services.db]\n"
    daemon({DIGEST: f'{text}reference = "{OTHER}"\n'.encode(), OTHER: None})
    assert (await resolve(DIGEST, "docker")).images == {"adapter": DIGEST, "db": OTHER}
    daemon({DIGEST: f'{text}build = "db"\n'.encode()})
    with pytest.raises(DataError, match=r"services\.db: says build = 'db'"):
        await resolve(DIGEST, "docker")


async def test_an_image_without_a_manifest_is_refused(
    daemon: Callable[[dict[str, bytes | None]], None],
) -> None:
    """The refusal says how an image comes to carry one."""
    daemon({DIGEST: None})
    with pytest.raises(DataError, match=r"carries no manifest\n.*COPY adapter\.toml"):
        await resolve(DIGEST, "docker")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"name =", b"name = 'x'"])
async def test_a_broken_manifest_inside_an_image_is_refused(
    data: bytes, daemon: Callable[[dict[str, bytes | None]], None]
) -> None:
    """The refusal names the image and the file in it."""
    daemon({DIGEST: data})
    with pytest.raises(DataError, match=f"{DIGEST}: /memrig/adapter.toml"):
        await resolve(DIGEST, "docker")


async def test_an_unknown_image_id_says_how_to_supply_it(
    daemon: Callable[[dict[str, bytes | None]], None],
) -> None:
    """A bare id cannot be pulled, so the ways to load it are named."""
    daemon({})
    with pytest.raises(PrerequisiteError, match="memrig image load"):
        await resolve(DIGEST, "docker")


def install(site: Path, name: str, version: str) -> None:
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


async def test_a_process_pods_inputs_move_with_what_is_installed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgraded bm25s is another memory system, though the folder is the same."""
    root = tmp_path_factory.mktemp("environment")
    paths = []
    for name, version in (("old", "0.3"), ("new", "0.4")):
        site = root / name / "site-packages"
        install(site, "bm25s", version)
        install(site, "Other_Thing", "1")
        paths.append(str(site))
    seen = []
    for path in (paths[0], paths[1], paths[0]):
        monkeypatch.setattr("sys.path", [path])
        seen.append((await resolve(str(folder), "process")).inputs)
    assert seen[0] == seen[2]
    assert seen[0]["adapter"] == seen[1]["adapter"]
    assert seen[0]["environment"] != seen[1]["environment"]


def test_what_a_process_pod_can_import_is_listed_once_and_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first on the path counts; the user's own folder and PYTHONPATH are not passed on."""
    first, second = tmp_path / "a" / "site-packages", tmp_path / "b" / "dist-packages"
    users, added = tmp_path / "u" / "site-packages", tmp_path / "added"
    install(first, "Zoo_Thing", "2")
    install(second, "zoo.thing", "1")
    install(second, "ape", "3")
    install(users, "mine", "1")
    install(added, "extra", "1")
    monkeypatch.setattr("site.getusersitepackages", lambda: str(users))
    monkeypatch.setattr("sys.path", ["", str(added), str(users), str(first), str(second)])
    assert MODULE._installed() == ["ape==3", "zoo-thing==2"]
