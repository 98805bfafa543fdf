"""Generates the typed stubs and the descriptor of the contract; `make proto` runs this.

The generator is an old toolchain on purpose (grpcio-tools 1.78, protobuf 6.31): generated code
loads on newer protobuf runtimes, never on older ones, and vendors pin old ones.
"""

import shutil
import sys
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent
SOURCE = ROOT / "memrig" / "v1"
PACKAGE = "memrig_proto/v1"
PROTO = f"{PACKAGE}/memory_adapter.proto"


def generate(target: Path) -> None:
    """Writes stubs and the descriptor set below `target`, as the package `memrig_proto`.

    The wire package is `memrig.v1`, but `memrig` is the harness's import package: a mapped include
    path gives the stubs a module name of their own.

    Raises:
        RuntimeError: a plug-in is not installed, or the compiler refused the contract; its
            messages are on stderr.
    """
    out = target / PACKAGE
    out.mkdir(parents=True, exist_ok=True)
    arguments = [
        "protoc",
        f"-I{PACKAGE}={SOURCE}",
        f"-I{files('grpc_tools') / '_proto'}",
        *(f"--plugin={_plugin(name)}" for name in ("protoc-gen-mypy", "protoc-gen-mypy_grpc")),
        f"--python_out={target}",
        f"--grpc_python_out={target}",
        f"--mypy_out={target}",
        f"--mypy_grpc_out={target}",
        f"--descriptor_set_out={out / 'memory_adapter.binpb'}",
        "--include_source_info",
        PROTO,
    ]
    if protoc.main(arguments) != 0:
        raise RuntimeError(f"protoc refused {SOURCE / 'memory_adapter.proto'}")


def _plugin(name: str) -> str:
    """Beside this interpreter first: a virtual environment need not be activated."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed; run `make setup`")
    return f"{name}={found}"


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "python")
