"""An endpoint's address."""

import pytest

from memrig.errors import UsageError
from memrig.pod.endpoint import parse_endpoint


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("grpc://127.0.0.1:50051", "127.0.0.1:50051"),
        ("grpc://memory.example.org:443/", "memory.example.org:443"),
        ("grpc://[::1]:50051", "[::1]:50051"),
        ("localhost:50051", "localhost:50051"),
    ],
)
def test_an_address_becomes_a_target(url: str, target: str) -> None:
    """Host and port, without the scheme."""
    assert parse_endpoint(url) == target


@pytest.mark.parametrize(
    "url",
    ["", "grpc://", "grpc://host", "http://host:1", "grpc://host:0", "grpc://host:65536",
     "grpc://a b:1", "grpc://host:1/path", "unix:/tmp/x"],
)  # fmt: skip
def test_anything_else_is_refused_with_an_example(url: str) -> None:
    """The error shows what was given."""
    with pytest.raises(UsageError, match="expected grpc://host:port") as failure:
        parse_endpoint(url)
    assert repr(url) in str(failure.value)
