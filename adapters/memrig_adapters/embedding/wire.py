"""Writes the few messages of an ONNX file that the graph needs, in protobuf's wire format.

The package `onnx` could do it, but weighs 100 MB, and would have to be in every builder. Field
numbers are those of onnx.proto3 (ONNX IR version 9).
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

FLOAT: Final = 1
INT64: Final = 7

#: An attribute of a node: its type is seen from the value.
Attribute = int | float | Sequence[int]
#: A dimension: a size, or the name of one that is known at run time alone.
Dimension = int | str

_VARINT, _BYTES, _FIXED32 = 0, 2, 5
_IR_VERSION = 9
_EXTERNAL = 1


@dataclass(frozen=True, slots=True)
class Stored:
    """A tensor that lies in another file: `length` bytes of little-endian floats at `offset`."""

    name: str
    shape: tuple[int, ...]
    offset: int
    length: int


def node(
    kind: str, inputs: Sequence[str], output: str, attributes: Mapping[str, Attribute] | None = None
) -> bytes:
    """One operation (NodeProto) with one output, of ONNX's own operator set."""
    return b"".join(
        (
            *(_text(1, name) for name in inputs),
            _text(2, output),
            _text(4, kind),
            *(_bytes(5, _attribute(name, value)) for name, value in (attributes or {}).items()),
        )
    )


def stored(tensor: Stored, file: str) -> bytes:
    """A tensor (TensorProto) whose numbers lie in `file`, beside the model."""
    places = {"location": file, "offset": str(tensor.offset), "length": str(tensor.length)}
    entries = (_text(1, key) + _text(2, value) for key, value in places.items())
    return (
        b"".join(_number(1, size) for size in tensor.shape)
        + _number(2, FLOAT)
        + _text(8, tensor.name)
        + b"".join(_bytes(13, entry) for entry in entries)
        + _number(14, _EXTERNAL)
    )


def integers(name: str, values: Sequence[int]) -> bytes:
    """A tensor (TensorProto) of 64-bit integers in one dimension."""
    raw = struct.pack(f"<{len(values)}q", *values)
    return _number(1, len(values)) + _number(2, INT64) + _text(8, name) + _bytes(9, raw)


def scalar(name: str, value: float) -> bytes:
    """A tensor (TensorProto) of one 32-bit float and no dimension."""
    return _number(2, FLOAT) + _text(8, name) + _bytes(9, struct.pack("<f", value))


def value(name: str, kind: int, shape: Sequence[Dimension]) -> bytes:
    """An input or output (ValueInfoProto)."""
    sizes = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape
    )
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, sizes)))


def model(
    nodes: Iterable[bytes],
    tensors: Iterable[bytes],
    inputs: Iterable[bytes],
    outputs: Iterable[bytes],
    opset: int,
) -> bytes:
    """The whole file (ModelProto)."""
    fields = ((1, nodes), (5, tensors), (11, inputs), (12, outputs))
    parts = b"".join(_bytes(number, part) for number, group in fields for part in group)
    graph = _text(2, "graph") + parts
    return _number(1, _IR_VERSION) + _bytes(7, graph) + _bytes(8, _number(2, opset))


def _attribute(name: str, given: Attribute) -> bytes:
    if isinstance(given, int):
        body, kind = _number(3, given), 2
    elif isinstance(given, float):
        body, kind = _key(2, _FIXED32) + struct.pack("<f", given), 1
    else:
        body, kind = b"".join(_number(8, item) for item in given), 7
    return _text(1, name) + body + _number(20, kind)


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _bytes(field: int, content: bytes) -> bytes:
    return _key(field, _BYTES) + _varint(len(content)) + content


def _number(field: int, number: int) -> bytes:
    return _key(field, _VARINT) + _varint(number)


def _key(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(number: int) -> bytes:
    left = number & 0xFFFF_FFFF_FFFF_FFFF  # a negative one is written in two's complement
    found = bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    found.append(left)
    return bytes(found)
