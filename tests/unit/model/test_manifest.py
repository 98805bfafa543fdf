"""`adapter.toml`: what is read, and how a mistake is named."""

import pytest

from memrig.errors import DataError, UsageError
from memrig.model.manifest import load_manifest, parse_manifest, split_variant

GOOD = """
name = "demo"
version = "1.2"

[image]
build = "."
"""


def refused(text: str) -> DataError:
    with pytest.raises(DataError) as caught:
        parse_manifest(text, "images/demo/adapter.toml")
    return caught.value


def test_a_short_manifest_gets_the_defaults():
    """Only a name, a version and an image are needed."""
    manifest = parse_manifest(GOOD, "adapter.toml")
    assert (manifest.port, manifest.image.user, manifest.services) == (50051, "65534:65534", {})
    assert manifest.image.resources.memory == 1024**3


def test_a_whole_manifest_is_read():
    """Companions, volumes, scratch space, health, the process command."""
    manifest = parse_manifest(
        GOOD.replace("[image]", 'models = ["small"]\n[image]')
        + """
tmpfs = [{ path = "/scratch", size = "32MiB", uid = 1000, mode = "0750" }]
[image.resources]
cpus = 2
memory = "512MiB"
[services.db]
reference = "redis@sha256:00"
volumes = [{ name = "data", path = "/data", size = "64MiB" }]
health = { command = ["redis-cli", "ping"] }
[process]
command = ["memrig-adapter", "serve"]
""",
        "adapter.toml",
    )
    assert manifest.image.tmpfs[0].size == 32 * 1024**2
    assert manifest.image.resources.memory == 512 * 1024**2
    assert manifest.services["db"].volumes[0].size == 64 * 1024**2
    assert manifest.services["db"].health.command == ("redis-cli", "ping")
    assert manifest.process.command[0] == "memrig-adapter"


@pytest.mark.parametrize(
    ("size", "count"),
    [("1024", 1024), ("1KiB", 1024), ("1.5MB", 1_500_000), ("2GiB", 2 * 1024**3)],
)
def test_sizes_are_bytes_with_or_without_a_unit(size, count):
    """Decimal and binary units mean what they say."""
    text = f'{GOOD}\n[image.resources]\nmemory = "{size}"\n'
    assert parse_manifest(text, "adapter.toml").image.resources.memory == count


@pytest.mark.parametrize(
    ("edit", "field", "value"),
    [
        ('colour = "red"', "colour", "'red'"),
        ("port = 80", "port", "80"),
        ('port = "http"', "port", "'http'"),
        ("start_timeout_s = 0", "start_timeout_s", "0"),
        ('[image.resources]\nmemory = "much"', "image.resources.memory", "'much'"),
        ("[image.resources]\ncpus = 0", "image.resources.cpus", "0"),
        ('[services.db]\nreference = "r"\nuser = "0"', "services.db.user", "'0'"),
        ('[services.db]\nreference = "r"\nuser = "root"', "services.db.user", "'root'"),
        ('[[image.tmpfs]]\npath = "tmp"', "image.tmpfs.0.path", "'tmp'"),
        ('[[image.tmpfs]]\npath = "/t"\nmode = "0999"', "image.tmpfs.0.mode", "'0999'"),
        ('[process]\ncommand = []\n[process.limits]\na = 1', "process.limits", "Extra"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_file_field_value_and_fix(edit, field, value):
    """Wherever it is in the file."""
    top = not edit.startswith("[")
    text = f"{edit}\n{GOOD}" if top else f"{GOOD}\n{edit}\n"
    error = refused(text)
    assert f"{field}:" in error.message
    assert value in error.message
    assert error.where == "images/demo/adapter.toml"
    assert "docs/adapters.md" in error.fix


@pytest.mark.parametrize("source", ["", 'build = "."\nreference = "r"'])
def test_an_image_has_exactly_one_source(source):
    """Neither and both are refused alike."""
    error = refused(GOOD.replace('build = "."', source))
    assert "image: needs exactly one of `build` (a folder) and `reference`" in error.message


def test_several_mistakes_are_named_at_once():
    """One round of mending is enough."""
    error = refused(f'port = 1\ncolour = "red"\n{GOOD}')
    assert "port:" in error.message
    assert "colour:" in error.message


def test_companions_start_after_those_they_wait_for():
    """The order is worked out from `after`."""
    text = GOOD + "".join(
        f'[services.{name}]\nreference = "r"\nafter = {after}\n'
        for name, after in (("web", ["cache", "db"]), ("cache", ["db"]), ("db", []))
    )
    assert parse_manifest(text, "adapter.toml").start_order() == ("db", "cache", "web")


@pytest.mark.parametrize(
    "services",
    [{"a": ["b"], "b": ["a"]}, {"a": ["a"]}, {"a": ["nobody"]}],
)
def test_companions_that_can_never_start_are_refused(services):
    """A circle, oneself, or one that does not exist."""
    text = GOOD + "".join(
        f'[services.{name}]\nreference = "r"\nafter = {after}\n' for name, after in services.items()
    )
    assert "wait for each other or for an unknown one" in refused(text).message


def test_a_companion_cannot_take_the_adapters_name():
    """`adapter` is the adapter."""
    error = refused(GOOD + '[services.adapter]\nreference = "r"\n')
    assert "services.adapter: this name means the adapter itself" in error.message


def test_what_is_not_toml_is_refused():
    """With the parser's own place."""
    assert "is not TOML" in refused("name = ").message


def test_a_missing_file_names_a_way_out(tmp_path):
    """The user gave the wrong folder, most likely."""
    with pytest.raises(DataError) as caught:
        load_manifest(tmp_path / "adapter.toml")
    assert caught.value.where.endswith("adapter.toml")
    assert "images/bm25" in caught.value.fix


def test_a_file_is_read_from_its_path(tmp_path):
    """The same parser."""
    path = tmp_path / "adapter.toml"
    path.write_text(GOOD)
    assert load_manifest(path) == parse_manifest(GOOD, "adapter.toml")


VARIED = """
name = "demo"
version = "1.2"
models = ["big"]
modes = ["reader"]
start_timeout_s = 10

[image]
build = "."
environment = { KEPT = "1", CHANGED = "1" }

[services.db]
reference = "r"
environment = { CHANGED = "1" }

[process]
command = ["demo"]
environment = { CHANGED = "1", OWN = "1" }

[variants.small]
description = "Smaller."
models = []
modes = ["retrieval"]
start_timeout_s = 99
environment = { CHANGED = "2", ADDED = "2" }

[variants.plain]
"""


def test_a_variant_lays_its_environment_over_the_adapters():
    """Over that of its container and of its process; a companion's stays as it is."""
    small = parse_manifest(VARIED, "adapter.toml").as_variant("small")
    assert small.image.environment == {"KEPT": "1", "CHANGED": "2", "ADDED": "2"}
    assert small.process.environment == {"OWN": "1", "CHANGED": "2", "ADDED": "2"}
    assert small.services["db"].environment == {"CHANGED": "1"}


def test_a_variant_says_what_it_says_and_keeps_the_rest():
    """Also that it wants no models, which is not the same as saying nothing of them."""
    whole = parse_manifest(VARIED, "adapter.toml")
    small, plain = whole.as_variant("small"), whole.as_variant("plain")
    assert (small.name, small.description, small.version) == ("demo-small", "Smaller.", "1.2")
    assert (small.models, small.modes, small.start_timeout_s) == ((), ("retrieval",), 99)
    assert (plain.models, plain.modes, plain.start_timeout_s) == (("big",), ("reader",), 10)
    assert plain.image == whole.image
    assert (small.variants, plain.variants) == ({}, {})


def test_an_unknown_variant_names_the_known_ones():
    """Or says that there are none."""
    with pytest.raises(UsageError, match="demo has no variant 'large'") as caught:
        parse_manifest(VARIED, "adapter.toml").as_variant("large")
    assert caught.value.fix == "one of: small, plain"
    with pytest.raises(UsageError) as caught:
        parse_manifest(GOOD, "adapter.toml").as_variant("large")
    assert "none" in caught.value.fix


def test_a_mistake_in_a_variant_is_named():
    """It may not say what its image says."""
    error = refused(GOOD + '[variants.v]\nbuild = "."\n')
    assert "variants.v.build:" in error.message


@pytest.mark.parametrize(
    ("adapter", "parts"),
    [
        ("images/mem0", ("images/mem0", "")),
        ("images/mem0+extract", ("images/mem0", "extract")),
        ("images/a+b+extract", ("images/a+b", "extract")),
        ("a+b/mem0", ("a+b/mem0", "")),
        ("name@sha256:00+v", ("name@sha256:00", "v")),
        ("sha256:00+v", ("sha256:00", "v")),
        ("grpc://host:1", ("grpc://host:1", "")),
        ("images/mem0+", ("images/mem0+", "")),
    ],
)
def test_a_variant_stands_after_the_last_plus(adapter, parts):
    """In the last part of a path, or behind a digest."""
    assert split_variant(adapter) == parts


def test_a_folder_with_a_plus_sign_is_a_folder(tmp_path):
    """What exists is taken as it is, and its variant stands after one more plus."""
    folder = tmp_path / "c+extract"
    folder.mkdir()
    assert split_variant(str(folder)) == (str(folder), "")
    assert split_variant(f"{folder}+v") == (str(folder), "v")
