"""What is installed elsewhere is whole: versions, entry points, and what the wheels hold."""

import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import Distribution, distribution, entry_points, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from memrig.grading.base import load_grader
from memrig.suites.base import load_suite, suite_names
from support.source import ADAPTERS, HARNESS, ROOT

DISTRIBUTIONS = {
    "memrig": ROOT,
    "memrig-proto": ROOT / "proto",
    "memrig-adapters": ROOT / "adapters",
}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory) -> dict[str, zipfile.ZipFile]:
    """Every distribution, built as it would be published."""
    built = {}
    for name, folder in DISTRIBUTIONS.items():
        out = tmp_path_factory.mktemp(name)
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (path,) = out.glob("*.whl")
        built[name] = zipfile.ZipFile(path)
    return built


def contents(wheel: zipfile.ZipFile) -> set[str]:
    return set(wheel.namelist())


def metadata(name: str) -> dict:
    """A distribution's `[project]` table."""
    return tomllib.loads((DISTRIBUTIONS[name] / "pyproject.toml").read_text("utf-8"))["project"]


def test_every_distribution_has_the_same_version():
    """They are released together."""
    assert len({version(name) for name in DISTRIBUTIONS}) == 1
    assert {metadata(name)["version"] for name in DISTRIBUTIONS} == {version("memrig")}


def test_the_package_knows_its_own_version():
    """Locks and transcripts name it."""
    import memrig

    assert memrig.__version__ == version("memrig")


def test_distributions_depend_on_each_other_at_exactly_this_version():
    """A mixture was never tested."""
    for name in DISTRIBUTIONS:
        for line in distribution(name).requires or []:
            needed = Requirement(line)
            if needed.name in DISTRIBUTIONS:
                assert str(needed.specifier) == f"=={version(name)}", f"{name}: {line}"


def test_the_sdk_needs_grpc_and_protobuf_only():
    """What a vendor's image carries stays light; adapters bring their own as extras."""
    needed = {Requirement(line) for line in distribution("memrig-adapters").requires or []}
    plain = {r.name for r in needed if not (r.marker and "extra" in str(r.marker))}
    assert plain <= {"memrig-proto", "grpcio", "grpcio-health-checking", "protobuf"}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_distribution_says_its_licence_and_its_python(name):
    """Apache-2.0, from Python 3.11 on."""
    project = metadata(name)
    assert (project["license"], project["requires-python"]) == ("Apache-2.0", ">=3.11")


@pytest.mark.parametrize("name", suite_names())
def test_every_suite_loads_and_has_a_grader_for_each_protocol(name):
    """Names in the metadata and in the code agree."""
    suite = load_suite(name)
    assert suite.name == name
    assert suite.label_sets[0] == "true"
    for protocol in suite.protocols:
        assert load_grader(protocol).protocol == protocol


@pytest.mark.parametrize("group", ["memrig.suites", "memrig.graders"])
def test_entry_points_are_those_of_the_project_file(group):
    """What is installed is not left over from an older checkout."""
    ours = {p.name: p.value for p in entry_points(group=group) if _dist(p.dist) == "memrig"}
    assert ours == metadata("memrig")["entry-points"][group]


def _dist(found: Distribution | None) -> str:
    return found.metadata["Name"] if found else ""


@pytest.mark.parametrize(
    ("distribution_", "script"), [("memrig", "memrig"), ("memrig-adapters", "memrig-adapter")]
)
def test_commands_are_installed_and_can_be_loaded(distribution_, script):
    """The functions behind them exist."""
    assert script in metadata(distribution_)["scripts"]
    (point,) = [p for p in entry_points(group="console_scripts") if p.name == script]
    assert callable(point.load())


@pytest.mark.parametrize(
    "name",
    [
        "memrig/py.typed",
        "memrig/suites/locomo_sample.json",
        "memrig/_images/base/base.toml",
        "memrig/_images/doorman/Dockerfile",
        "memrig/_images/doorman/doorman.py",
    ],
)
def test_the_wheel_of_memrig_works_without_a_checkout(name, wheels):
    """Types, the sample, and what the doorman and the base image are built from."""
    assert name in contents(wheels["memrig"])


def test_the_wheel_of_memrig_holds_every_module_and_data_file(wheels):
    """Whatever is in the package's folder is in the package."""
    files = {
        str(path.relative_to(HARNESS.parent))
        for path in HARNESS.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not _ignored(path)
    }
    assert files - contents(wheels["memrig"]) == set()
    assert sum("practical_data" in name for name in files) >= 4


def _ignored(path: Path) -> bool:
    return path.name.startswith(".") or path.suffix == ".pyc"


def test_the_wheel_of_memrig_carries_no_adapter_and_no_test(wheels):
    """Nor anything else that is not its own."""
    tops = {name.split("/")[0] for name in contents(wheels["memrig"])}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"memrig"}


@pytest.mark.parametrize(
    "name",
    [
        "memrig_proto/py.typed",
        "memrig_proto/v1/memory_adapter.proto",
        "memrig_proto/v1/memory_adapter.binpb",
        "memrig_proto/v1/memory_adapter_pb2.py",
        "memrig_proto/v1/memory_adapter_pb2.pyi",
        "memrig_proto/v1/memory_adapter_pb2_grpc.py",
        "memrig_proto/v1/memory_adapter_pb2_grpc.pyi",
    ],
)
def test_the_wheel_of_the_contract_holds_the_contract_in_every_form(name, wheels):
    """Source, descriptor, stubs, types."""
    assert name in contents(wheels["memrig-proto"])


def test_the_contract_in_the_wheel_is_the_one_in_the_repository(wheels):
    """Byte for byte."""
    inside = wheels["memrig-proto"].read("memrig_proto/v1/memory_adapter.proto")
    assert inside == (ROOT / "proto" / "memrig" / "v1" / "memory_adapter.proto").read_bytes()


def test_the_wheel_of_the_sdk_holds_every_module(wheels):
    """And its types."""
    modules = {str(p.relative_to(ADAPTERS.parent)) for p in ADAPTERS.rglob("*.py")}
    assert modules | {"memrig_adapters/py.typed"} <= contents(wheels["memrig-adapters"])


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_every_wheel_carries_the_licence(name, wheels):
    """As the licence itself asks."""
    (inside,) = [entry for entry in contents(wheels[name]) if entry.endswith("/LICENSE")]
    assert wheels[name].read(inside) == (ROOT / "LICENSE").read_bytes()
