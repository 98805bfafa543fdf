"""Lints the contract from its descriptor: Buf's STANDARD rules, and a comment on everything.

One rule of Buf's is left out on purpose: the service keeps its name, MemoryAdapter, without the
suffix "Service". ``python proto/lint.py`` names every problem and ends with 1 if there are any.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

ROOT = Path(__file__).parent
SOURCE = "memrig/v1/memory_adapter.proto"
DESCRIPTOR = ROOT / "python" / "memrig_proto" / "v1" / "memory_adapter.binpb"

_PACKAGE = re.compile(r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*\.v[1-9][0-9]*(alpha|beta)?[0-9]*$")
_UPPER_CAMEL = re.compile(r"^[A-Z][A-Za-z0-9]*$")
_LOWER_SNAKE = re.compile(r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")
_UPPER_SNAKE = re.compile(r"^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$")
#: A comment that says nothing is none.
_FEWEST_LETTERS = 3

#: Numbers of the fields of descriptor.proto that make up a source location's path.
_MESSAGE, _ENUM, _SERVICE = 4, 5, 6
_FIELD, _NESTED, _NESTED_ENUM, _ONEOF = 2, 3, 4, 8
_VALUE, _METHOD = 2, 2

SourcePath = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A rule that is broken, the element that breaks it, and how."""

    rule: str
    element: str
    message: str

    def __str__(self) -> str:
        """One line, for a terminal."""
        return f"{self.element}: {self.message} ({self.rule})"


@dataclass(frozen=True, slots=True)
class Element:
    """A named thing of a file, and where its comment would be."""

    name: str
    path: SourcePath


@dataclass(frozen=True, slots=True)
class Enum(Element):
    """An enum with its descriptor."""

    proto: EnumDescriptorProto


@dataclass(frozen=True, slots=True)
class Message(Element):
    """A message with its descriptor."""

    proto: DescriptorProto


def messages(file: FileDescriptorProto) -> Iterator[Message]:
    """Every message, nested ones too; the entry types of maps are not anybody's."""

    def below(parent: Message) -> Iterator[Message]:
        yield parent
        for index, nested in enumerate(parent.proto.nested_type):
            if not nested.options.map_entry:
                path = (*parent.path, _NESTED, index)
                yield from below(Message(f"{parent.name}.{nested.name}", path, nested))

    for index, message in enumerate(file.message_type):
        yield from below(Message(message.name, (_MESSAGE, index), message))


def enums(file: FileDescriptorProto) -> Iterator[Enum]:
    """Every enum, nested ones too."""
    for index, enum in enumerate(file.enum_type):
        yield Enum(enum.name, (_ENUM, index), enum)
    for message in messages(file):
        for index, enum in enumerate(message.proto.enum_type):
            yield Enum(f"{message.name}.{enum.name}", (*message.path, _NESTED_ENUM, index), enum)


def elements(file: FileDescriptorProto) -> Iterator[Element]:
    """Everything that a reader of the contract meets by name."""
    for message in messages(file):
        yield message
        for index, field in enumerate(message.proto.field):
            yield Element(f"{message.name}.{field.name}", (*message.path, _FIELD, index))
        for index, oneof in enumerate(message.proto.oneof_decl):
            if not _synthetic(message.proto, index):
                yield Element(f"{message.name}.{oneof.name}", (*message.path, _ONEOF, index))
    for enum in enums(file):
        yield enum
        for index, value in enumerate(enum.proto.value):
            yield Element(f"{enum.name}.{value.name}", (*enum.path, _VALUE, index))
    for number, service in enumerate(file.service):
        yield Element(service.name, (_SERVICE, number))
        for index, method in enumerate(service.method):
            yield Element(f"{service.name}.{method.name}", (_SERVICE, number, _METHOD, index))


def _synthetic(message: DescriptorProto, oneof: int) -> bool:
    """Whether a oneof is only the compiler's way to say `optional`."""
    return any(
        field.proto3_optional and field.HasField("oneof_index") and field.oneof_index == oneof
        for field in message.field
    )


def file_rules(file: FileDescriptorProto, source: str) -> Iterator[Problem]:
    """The package ends in a version and is the file's folder; the syntax is proto3."""
    if not _PACKAGE.match(file.package):
        message = f"package {file.package!r} does not end in a version such as .v1"
        yield Problem("PACKAGE_VERSION_SUFFIX", source, message)
    folder = PurePosixPath(file.package.replace(".", "/"))
    if PurePosixPath(source).parent != folder:
        message = f"lies outside the folder of its package, {folder}/"
        yield Problem("PACKAGE_DIRECTORY_MATCH", source, message)
    if not _LOWER_SNAKE.match(PurePosixPath(source).stem):
        yield Problem("FILE_LOWER_SNAKE_CASE", source, "is not lower_snake_case.proto")
    if file.syntax != "proto3":
        yield Problem("SYNTAX_SPECIFIED", source, f"has syntax {file.syntax!r}, expected 'proto3'")
    if file.public_dependency or file.weak_dependency:
        yield Problem("IMPORT_NO_PUBLIC", source, "has a public or weak import")


def name_rules(file: FileDescriptorProto, source: str) -> Iterator[Problem]:
    """Messages, enums, services and RPCs are UpperCamelCase; fields and oneofs lower_snake_case."""
    del source
    for message in messages(file):
        yield from _case("MESSAGE_PASCAL_CASE", message.name, _UPPER_CAMEL)
        for field in message.proto.field:
            name = f"{message.name}.{field.name}"
            yield from _case("FIELD_LOWER_SNAKE_CASE", name, _LOWER_SNAKE)
        for oneof in message.proto.oneof_decl:
            name = f"{message.name}.{oneof.name.lstrip('_')}"
            yield from _case("ONEOF_LOWER_SNAKE_CASE", name, _LOWER_SNAKE)
    for enum in enums(file):
        yield from _case("ENUM_PASCAL_CASE", enum.name, _UPPER_CAMEL)
    for service in file.service:
        yield from _case("SERVICE_PASCAL_CASE", service.name, _UPPER_CAMEL)
        for method in service.method:
            yield from _case("RPC_PASCAL_CASE", f"{service.name}.{method.name}", _UPPER_CAMEL)


def _case(rule: str, name: str, pattern: re.Pattern[str]) -> Iterator[Problem]:
    if not pattern.match(name.rpartition(".")[2]):
        style = "lower_snake_case" if pattern is _LOWER_SNAKE else "UpperCamelCase"
        yield Problem(rule, name, f"is not {style}")


def enum_rules(file: FileDescriptorProto, source: str) -> Iterator[Problem]:
    """Zero is PREFIX_UNSPECIFIED, every value is PREFIX_UPPER_SNAKE, no two share a number."""
    del source
    for enum in enums(file):
        prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", enum.proto.name).upper() + "_"
        zero = enum.proto.value[0]
        if (zero.number, zero.name) != (0, f"{prefix}UNSPECIFIED"):
            message = f"starts with {zero.name} = {zero.number}, expected {prefix}UNSPECIFIED = 0"
            yield Problem("ENUM_ZERO_VALUE_SUFFIX", enum.name, message)
        for value in enum.proto.value:
            name = f"{enum.name}.{value.name}"
            if not value.name.startswith(prefix):
                yield Problem("ENUM_VALUE_PREFIX", name, f"does not start with {prefix}")
            if not _UPPER_SNAKE.match(value.name):
                yield Problem("ENUM_VALUE_UPPER_SNAKE_CASE", name, "is not UPPER_SNAKE_CASE")
        if enum.proto.options.allow_alias:
            yield Problem("ENUM_NO_ALLOW_ALIAS", enum.name, "allows two names for one number")


def rpc_rules(file: FileDescriptorProto, source: str) -> Iterator[Problem]:
    """Each RPC has a request and a response of its own, named after it."""
    del source
    uses: Counter[str] = Counter()
    for service in file.service:
        for method in service.method:
            name = f"{service.name}.{method.name}"
            uses.update({method.input_type, method.output_type})
            for rule, actual, suffix in (
                ("RPC_REQUEST_STANDARD_NAME", method.input_type, "Request"),
                ("RPC_RESPONSE_STANDARD_NAME", method.output_type, "Response"),
            ):
                expected = f".{file.package}.{method.name}{suffix}"
                if actual != expected:
                    yield Problem(rule, name, f"uses {actual}, expected {expected}")
    for used, count in sorted(uses.items()):
        if count > 1:
            message = f"serves {count} RPCs, expected one"
            yield Problem("RPC_REQUEST_RESPONSE_UNIQUE", used, message)


def comment_rules(file: FileDescriptorProto, source: str) -> Iterator[Problem]:
    """Everything has a comment ahead of it."""
    del source
    comments = {
        tuple(location.path): location.leading_comments.strip()
        for location in file.source_code_info.location
    }
    for element in elements(file):
        letters = sum(c.isalpha() for c in comments.get(element.path, ""))
        if letters < _FEWEST_LETTERS:
            yield Problem("COMMENT", element.name, "has no comment ahead of it")


RULES = (file_rules, name_rules, enum_rules, rpc_rules, comment_rules)


def lint(file: FileDescriptorProto, source: str) -> list[Problem]:
    """Every problem of a file.

    Args:
        file: its descriptor, with source info.
        source: its path below the folder that packages start in, such as ``memrig/v1/x.proto``.
    """
    return [problem for rule in RULES for problem in rule(file, source)]


def load(path: Path) -> FileDescriptorProto:
    """The only file of a descriptor set."""
    (file,) = FileDescriptorSet.FromString(path.read_bytes()).file
    return file


def main(problems: Iterable[Problem]) -> int:
    """Shows the problems; the exit code."""
    lines = [f"{problem}\n" for problem in problems]
    sys.stderr.writelines(lines)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(lint(load(DESCRIPTOR), SOURCE)))
