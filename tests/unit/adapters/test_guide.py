"""docs/adapters.md is run: its class is served, its manifests are loaded."""

import re
import types
from pathlib import Path

import pytest

from memrig.model.manifest import AdapterManifest, Container, Resources, Service, parse_manifest
from memrig_adapters import Adapter
from memrig_adapters.adapter import tools_of
from memrig_proto.v1 import memory_adapter_pb2 as pb
from support.served import Serve

GUIDE = (Path(__file__).parents[3] / "docs" / "adapters.md").read_text("utf-8")


def blocks(language: str, holding: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
    return [block for block in found if holding in block]


def adapter_of(name: str) -> Adapter:
    """Runs the guide's block that defines a class, and makes one."""
    (source,) = blocks("python", f"class {name}(")
    module = types.ModuleType("mine")
    exec(compile(source, "docs/adapters.md", "exec"), module.__dict__)  # noqa: S102 - our own page
    made = getattr(module, name)()
    assert isinstance(made, Adapter)
    return made


def test_the_class_of_the_guide_works(serve: Serve) -> None:
    """The guide's adapter ingests, finds with its source, and forgets on Reset."""
    served = serve(adapter_of("MyMemory"))
    served.ingest(
        [pb.Episode(episode_id="e1", text="a lake"), pb.Episode(episode_id="e2", text="b")]
    )
    assert served.stub.Flush(pb.FlushRequest()).total_items == 2
    (hit,) = served.stub.Search(pb.SearchRequest(query="the lake", limit=5)).hits
    assert list(hit.source_episode_ids) == ["e1"]
    served.stub.Reset(pb.ResetRequest())
    assert served.search("lake") == []


def test_the_tool_of_the_guide_is_a_tool() -> None:
    """The guide's tool is declared with its docstring."""
    assert tools_of(adapter_of("WithTool"))["look_up_person"].description


@pytest.mark.parametrize("block", blocks("toml", "[image]"))
def test_the_manifests_of_the_guide_load(block: str) -> None:
    """Every adapter.toml of the guide is a manifest."""
    assert parse_manifest(block, "docs/adapters.md").image.build == "."


def test_the_guide_shows_two_manifests() -> None:
    """The test above has what to look at."""
    assert len(blocks("toml", "[image]")) == 2


@pytest.mark.parametrize("model", [AdapterManifest, Container, Service])
def test_every_key_of_a_manifest_is_in_the_guide(model: type[AdapterManifest]) -> None:
    """A key that adapter.toml takes is explained."""
    rows = set(re.findall(r"^\| `\[?(\w+)", GUIDE, re.MULTILINE))
    assert set(model.model_fields) - rows == set()


def test_the_defaults_of_the_guide_are_the_models() -> None:
    """The resources that the guide gives as defaults are those of the manifest."""
    default = Resources()
    text = '{{ cpus = {}, memory = "{:.0f}GiB", pids = {}, shm = "{:.0f}MiB", tmp = "{:.0f}MiB" }}'
    shown = text.format(
        default.cpus,
        default.memory / 1024**3,
        default.pids,
        default.shm / 1024**2,
        default.tmp / 1024**2,
    )
    assert shown in GUIDE
