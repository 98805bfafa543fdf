"""The graph's file, in protobuf's wire format."""

import pytest

from memrig_adapters.embedding import wire


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "00"),
        (127, "7f"),
        (300, "ac02"),
        (-1, "ffffffffffffffffff01"),
    ],
)
def test_integers_are_varints(number: int, expected: str) -> None:
    """Seven bits a byte, the low ones first; negative ones take ten bytes (two's complement)."""
    attribute = wire.node("K", (), "o", {"axis": number})
    assert f"18{expected}a00102" in attribute.hex()


def test_a_node_has_inputs_output_kind_and_attributes() -> None:
    """In onnx.proto3's numbers: 1, 2, 4 and 5; floats and lists say their type."""
    found = wire.node("Gelu", ("a", "b"), "c", {"e": 0.5, "p": (1, 0)})
    inputs, output, kind = "0a0161 0a0162", "120163", "220447656c75"
    half, pair = "2a0b 0a0165 150000003f a00101", "2a0a 0a0170 4001 4000 a00107"
    assert found == bytes.fromhex(f"{inputs} {output} {kind} {half} {pair}")


def test_a_stored_tensor_names_its_file_and_place() -> None:
    """As external data: the numbers are not in the model."""
    found = wire.stored(wire.Stored("w", (2, 300), 4_104, 2_400), "weights.bin")
    for part in (
        b"weights.bin",
        b"offset\x12\x044104",
        b"length\x12\x042400",
        b"\x08\x02\x08\xac\x02",
    ):
        assert part in found
    assert len(found) < 120
