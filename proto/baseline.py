"""Compares the contract with its committed baseline, and names every breaking change.

``python proto/baseline.py`` ends with 1 if the contract broke; with ``--update`` it moves the
baseline to the contract as it is, which wants a line in CHANGELOG.md. Contract 1.0 is frozen: what
breaks it moves no baseline (docs/adr/0019).
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorSet,
    MethodDescriptorProto,
)

ROOT = Path(__file__).parent
CURRENT = ROOT / "python" / "memrig_proto" / "v1" / "memory_adapter.binpb"
BASELINE = ROOT / "baseline" / "memory_adapter.binpb"

T = TypeVar("T")


def load(path: Path) -> FileDescriptorSet:
    """Reads a descriptor set."""
    return FileDescriptorSet.FromString(path.read_bytes())


def bare(files: FileDescriptorSet) -> FileDescriptorSet:
    """The set without comments and positions: what a baseline holds."""
    copy = FileDescriptorSet()
    copy.CopyFrom(files)
    for file in copy.file:
        file.ClearField("source_code_info")
    return copy


def breaks(old: FileDescriptorSet, new: FileDescriptorSet) -> list[str]:
    """Every change that an adapter built against `old` could notice, one sentence each."""
    return [
        *_package_breaks(old, new),
        *_compare("message", _messages(old), _messages(new), _message_breaks),
        *_compare("enum", _enums(old), _enums(new), _enum_breaks),
        *_compare("rpc", _methods(old), _methods(new), _method_breaks),
    ]


def _compare(
    kind: str,
    old: Mapping[str, T],
    new: Mapping[str, T],
    inner: Callable[[str, T, T], Iterator[str]],
) -> Iterator[str]:
    for name, before in old.items():
        if name in new:
            yield from inner(name, before, new[name])
        else:
            yield f"{kind} {name} was removed"


def _package_breaks(old: FileDescriptorSet, new: FileDescriptorSet) -> Iterator[str]:
    before = {file.name: file.package for file in old.file}
    for file in new.file:
        if before.get(file.name, file.package) != file.package:
            yield f"package of {file.name} changed: {before[file.name]} → {file.package}"


def _messages(files: FileDescriptorSet) -> dict[str, DescriptorProto]:
    found: dict[str, DescriptorProto] = {}

    def add(prefix: str, message: DescriptorProto) -> None:
        name = f"{prefix}.{message.name}"
        found[name] = message
        for nested in message.nested_type:
            add(name, nested)

    for file in files.file:
        for message in file.message_type:
            add(file.package, message)
    return found


def _enums(files: FileDescriptorSet) -> dict[str, EnumDescriptorProto]:
    found = {f"{file.package}.{e.name}": e for file in files.file for e in file.enum_type}
    for name, message in _messages(files).items():
        found |= {f"{name}.{enum.name}": enum for enum in message.enum_type}
    return found


def _methods(files: FileDescriptorSet) -> dict[str, MethodDescriptorProto]:
    return {
        f"{file.package}.{service.name}/{method.name}": method
        for file in files.file
        for service in file.service
        for method in service.method
    }


def _message_breaks(name: str, old: DescriptorProto, new: DescriptorProto) -> Iterator[str]:
    by_number = {field.number: field for field in new.field}
    numbers = {field.name: field.number for field in new.field}
    for field in old.field:
        place = f"field {name}.{field.name}"
        if field.number in by_number:
            yield from _field_breaks(
                place, _Field(field, old), _Field(by_number[field.number], new)
            )
        elif field.name in numbers:
            yield f"{place} was renumbered: {field.number} → {numbers[field.name]}"
        else:
            yield f"{place} ({field.number}) was removed"


class _Field:
    """What of a field is on the wire or in generated code."""

    def __init__(self, field: FieldDescriptorProto, parent: DescriptorProto) -> None:
        self.name = field.name
        kind = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
        self.type = field.type_name or kind
        label = FieldDescriptorProto.Label.Name(field.label).removeprefix("LABEL_").lower()
        self.label = "explicit optional" if field.proto3_optional else label
        inside = field.HasField("oneof_index") and not field.proto3_optional
        self.oneof = parent.oneof_decl[field.oneof_index].name if inside else "none"


def _field_breaks(place: str, old: _Field, new: _Field) -> Iterator[str]:
    for what, before, after in (
        ("was renamed", old.name, new.name),
        ("was retyped", old.type, new.type),
        ("changed its label", old.label, new.label),
        ("changed its oneof", old.oneof, new.oneof),
    ):
        if before != after:
            yield f"{place} {what}: {before} → {after}"


def _enum_breaks(name: str, old: EnumDescriptorProto, new: EnumDescriptorProto) -> Iterator[str]:
    now = {value.name: value.number for value in new.value}
    for value in old.value:
        place = f"enum value {name}.{value.name}"
        if value.name not in now:
            yield f"{place} ({value.number}) was removed"
        elif now[value.name] != value.number:
            yield f"{place} was renumbered: {value.number} → {now[value.name]}"


def _method_breaks(
    name: str, old: MethodDescriptorProto, new: MethodDescriptorProto
) -> Iterator[str]:
    for what, before, after in (
        ("request", old.input_type, new.input_type),
        ("response", old.output_type, new.output_type),
    ):
        if before != after:
            yield f"rpc {name} changed its {what}: {before} → {after}"
    if (old.client_streaming, old.server_streaming) != (
        new.client_streaming,
        new.server_streaming,
    ):
        yield f"rpc {name} changed its streaming: {_streaming(old)} → {_streaming(new)}"


def _streaming(method: MethodDescriptorProto) -> str:
    words = {(False, False): "unary", (True, False): "client", (False, True): "server"}
    return words.get((method.client_streaming, method.server_streaming), "bidirectional")


def main(arguments: list[str]) -> int:
    """Checks or moves the baseline; the exit code."""
    current = bare(load(CURRENT))
    if arguments not in ([], ["--update"]):
        sys.stderr.write("usage: python proto/baseline.py [--update]\n")
        return 2
    found = breaks(load(BASELINE), current) if BASELINE.exists() else []
    sys.stderr.writelines(f"{line}\n" for line in found)
    if arguments and not found:
        BASELINE.parent.mkdir(exist_ok=True)
        BASELINE.write_bytes(current.SerializeToString(deterministic=True))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
