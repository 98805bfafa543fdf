"""The generated stubs are those of the contract, and load where vendors pin older runtimes."""

import subprocess
import sys

import pytest

from support.proto_tools import PROTO, script

generate = script("generate")
PACKAGE = PROTO / "python" / "memrig_proto" / "v1"

_SNIPPET = """
import sys
sys.path[:0] = {paths!r}
import google.protobuf, grpc
from memrig_proto.v1 import memory_adapter_pb2 as pb
from memrig_proto.v1 import memory_adapter_pb2_grpc as rpc
assert google.protobuf.__file__.startswith({target!r}), google.protobuf.__file__
episode = pb.Episode(episode_id="e1", text="hello", metadata={{"k": "v"}})
episode.timestamp.FromSeconds(1)
request = pb.IngestRequest(episodes=[episode])
assert pb.IngestRequest.FromString(request.SerializeToString()) == request
rpc.MemoryAdapterStub(grpc.insecure_channel("unix:/nowhere"))
print(google.protobuf.__version__)
"""


@pytest.mark.parametrize("name", sorted(p.name for p in PACKAGE.glob("memory_adapter*")))
def test_committed_stubs_are_what_the_contract_generates(name, fresh):
    """A change of the contract without `make proto` is drift."""
    assert (PACKAGE / name).read_bytes() == (fresh / name).read_bytes(), "run `make proto`"


def test_nothing_that_is_generated_is_missing_from_the_package(fresh):
    """Stubs, type stubs and the descriptor are all committed."""
    made = {p.name for p in fresh.iterdir()}
    assert made
    assert made <= {p.name for p in PACKAGE.iterdir()}


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The package as the generator writes it now."""
    target = tmp_path_factory.mktemp("stubs")
    generate.generate(target)
    return target / "memrig_proto" / "v1"


@pytest.mark.network
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("protobuf", "grpcio"),
    [("==6.31.1", "==1.78.2"), ("==6.33.*", ">=1.78.2"), ("==7.*", ">=1.78.2")],
)
def test_stubs_load_and_serialise_under_the_runtimes_that_vendors_pin(protobuf, grpcio, tmp_path):
    """The generator is old on purpose: its code loads on newer runtimes."""
    target = tmp_path / "site"
    packages = [f"protobuf{protobuf}", f"grpcio{grpcio}"]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(target), *packages], check=True)
    code = _SNIPPET.format(paths=[str(target), str(PROTO / "python")], target=str(target))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(protobuf.strip("=*."))
