"""From a manifest to containers and volumes."""

from pathlib import Path

import pytest

from memrig.errors import UsageError
from memrig.model.manifest import AdapterManifest, AdapterRef, parse_manifest
from memrig.pod.base import PodRequest
from memrig.pod.docker.facts import ImageFacts
from memrig.pod.docker.plan import Planner, PodPlan, service_images
from memrig.pod.docker.pod import merge_logs
from memrig.pod.runtime import PodFolder

DIGEST = "sha256:" + "a" * 64

MANIFEST = """
name = "x"
version = "1"
port = 6000

[image]
build = "."
user = "1000"
environment = { MEMRIG_LISTEN = "elsewhere", MODE = "fast" }
tmpfs = [{ path = "/scratch", size = "1MiB", uid = 7 }, { path = "/cache", size = "2MiB" }]
volumes = [{ name = "shared", path = "/shared", size = "3MiB", uid = 1000 }]

[services.db]
build = "db"
after = ["queue"]
volumes = [{ name = "shared", path = "/elsewhere", size = "3MiB", uid = 1000 }]

[services.queue]
build = "queue"
"""


def image(*volumes: str, environment: tuple[str, ...] = ()) -> ImageFacts:
    return ImageFacts(id=DIGEST, volumes={key: {} for key in volumes}, environment=environment)


def request(manifest: AdapterManifest, **changes: object) -> PodRequest:
    images = dict.fromkeys(("adapter", *manifest.services), DIGEST)
    ref = AdapterRef(name="x", version="1", pod="docker", manifest=manifest, images=images)
    return PodRequest(ref, "r", "t", **changes)  # type: ignore[arg-type]


def plan(text: str = MANIFEST, adapter: ImageFacts | None = None, **changes: object) -> PodPlan:
    manifest = parse_manifest(text, "test")
    images = dict.fromkeys(("adapter", *manifest.services), image())
    images["adapter"] = adapter or image()
    planner = Planner(PodFolder(Path("/run/pods/abcd")), {"io.memrig.run": "r"}, images)
    return planner.plan(request(manifest, **changes), manifest, DIGEST)


def test_the_adapter_starts_last_and_companions_in_order() -> None:
    """A companion starts after those it waits for."""
    assert [s.service for s in plan().services] == ["queue", "db", "adapter"]


def test_the_rig_s_variables_win_over_the_manifest_s() -> None:
    """MEMRIG_LISTEN is the address that the doorman leads to."""
    environment = plan().services[-1].environment

    assert environment["MEMRIG_LISTEN"] == "127.0.0.1:6000"
    assert environment["MODE"] == "fast"


def test_without_a_gateway_there_is_no_gateway_variable() -> None:
    """An adapter can tell that no model can be called."""
    assert "MEMRIG_LLM_BASE_URL" not in plan().services[-1].environment
    assert "--gateway" not in (plan().doorman.command or ())


def test_with_a_gateway_the_adapter_gets_its_loopback_address() -> None:
    """And the doorman gets the socket, which nobody else does."""
    made = plan(gateway_socket=Path("/run/llm.sock"))

    assert made.services[-1].environment["MEMRIG_LLM_BASE_URL"] == "http://127.0.0.1:4000"
    assert "/run/llm.sock" in {m.source for m in made.doorman.mounts}
    assert not any(m.type == "bind" for s in made.services for m in s.mounts)


def test_a_home_is_given_only_where_the_image_has_none() -> None:
    """Many libraries need a writable one."""
    assert plan().services[-1].environment["HOME"] == "/tmp"
    own = plan(adapter=image(environment=("HOME=/home/app",)))
    assert "HOME" not in own.services[-1].environment


def test_a_user_without_a_group_gets_its_own_and_not_root_s() -> None:
    """Docker would run `1000` with gid 0."""
    assert plan().services[-1].user == "1000:1000"


def test_two_containers_that_name_a_volume_share_it() -> None:
    """One volume, two paths."""
    made = plan()
    shared = [m for s in made.services for m in s.mounts if m.source.endswith("volume-shared")]

    assert {m.target for m in shared} == {"/shared", "/elsewhere"}
    assert len({m.source for m in shared}) == 1


def test_a_shared_volume_must_be_declared_alike() -> None:
    """Two sizes for one volume are the manifest's mistake."""
    with pytest.raises(UsageError, match="different size"):
        plan(MANIFEST.replace('path = "/elsewhere", size = "3MiB"', 'path = "/e", size = "4MiB"'))


def test_every_volume_of_the_image_is_covered_and_held() -> None:
    """A sized tmpfs, owned by the container's user, that the doorman keeps over restarts."""
    made = plan(adapter=image("/var/lib/data", "/shared"))
    [volume] = [v for v in made.volumes if "image" in v.name]

    assert {m.target for m in made.services[-1].mounts} == {"/shared", "/var/lib/data"}
    assert (volume.size, volume.uid, volume.lasting) == (64 << 20, 1000, True)
    assert "noexec" in volume.options()["o"]
    assert volume.name in {m.source for m in made.doorman.mounts}


def test_a_tmpfs_on_a_volume_of_the_image_stays_scratch() -> None:
    """The manifest's size and owner hold, and nobody keeps it over a restart."""
    made = plan(adapter=image("/scratch"))
    [volume] = [v for v in made.volumes if "image" in v.name]

    assert (volume.size, volume.uid, volume.lasting) == (1 << 20, 7, False)
    assert set(made.services[-1].tmpfs) == {"/cache"}
    assert volume.name not in {m.source for m in made.doorman.mounts}


def test_all_but_the_doorman_join_its_network() -> None:
    """One namespace, the doorman's, which has none."""
    made = plan()

    assert made.doorman.network == "none"
    assert {s.network for s in made.joined("d00r")} == {"container:d00r"}


@pytest.mark.parametrize("digest", ["", "bm25:latest", "a" * 64])
def test_an_image_that_is_no_digest_is_refused(digest: str) -> None:
    """A tag can mean another image tomorrow."""
    manifest = parse_manifest(MANIFEST, "test")
    wanted = request(manifest)
    adapter = wanted.adapter.model_copy(update={"images": {"adapter": digest}})

    with pytest.raises(UsageError, match="not a digest"):
        service_images(PodRequest(adapter, "r", "t"))


def test_logs_are_merged_by_time() -> None:
    """Lines of several containers in the order in which they were written."""
    adapter = "2026-01-01T00:00:01.5Z one\n2026-01-01T00:00:03Z three\nrest of three"
    store = "2026-01-01T00:00:02.25Z two\n2026-01-01T00:00:04Z "

    merged = merge_logs({"adapter": adapter, "store": store}, named=True)

    assert merged.splitlines() == [
        "adapter | one",
        "store | two",
        "adapter | three",
        "adapter | rest of three",
        "store | ",
    ]
