"""Keys: from the environment or a private file, never shown; and who serves which model."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from memrig.errors import GatewayError, UsageError
from memrig.gateway.keyring import OPENROUTER, find_upstreams, from_environment, read_keyring
from memrig.gateway.routing import check_key, spec_for
from memrig.gateway.scrub import Scrubber

KEYS = {"ANTHROPIC_API_KEY": "sk-a", "OPENAI_API_KEY": "sk-o", "OPENROUTER_API_KEY": "sk-r"}
OWN = {"OPENAI_BASE_URL": "http://127.0.0.1:8000/v1"}
RING = """
[upstreams.lab]
kind = "openai"
base_url = "http://lab:8000/v1"
key = "sk-lab-secret"
models = ["qwen*", "claude-tuned"]
concurrency = 4
requests_per_minute = 60
"""


@pytest.fixture
def ring(tmp_path: Path) -> Path:
    """A private keyring."""
    path = tmp_path / "keys.toml"
    path.write_text(RING)
    path.chmod(0o600)
    return path


@pytest.mark.parametrize(
    ("environment", "model", "name"),
    [
        (KEYS, "claude-sonnet-4-5", "anthropic"),
        (KEYS, "gpt-4o", "openai"),
        (KEYS, "meta/llama-3", "openrouter"),
        (KEYS, "anthropic/claude-x", "openrouter"),
        (KEYS | OWN, "meta/llama-3", "openai"),
        (KEYS | OWN, "claude-sonnet-4-5", "anthropic"),
        (OWN, "anything", "openai"),
        ({}, "local/extractive", "local"),
        (OWN, "local/extractive", "local"),
    ],
)
def test_a_models_name_says_who_serves_it(environment, model, name):
    """The same for the rig and for pods."""
    spec = spec_for(model, from_environment(environment))
    assert spec.name == name
    check_key(model, spec)


def test_base_urls_come_from_the_environment():
    """The names that users of the SDKs know."""
    environment = KEYS | OWN | {"ANTHROPIC_BASE_URL": "http://a"}
    anthropic, openai = from_environment(environment)
    assert (anthropic.base_url, openai.base_url) == ("http://a", OWN["OPENAI_BASE_URL"])
    assert [spec.base_url for spec in from_environment(KEYS)] == [None, OPENROUTER, None]


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("claude-x", "ANTHROPIC_API_KEY"),
        ("gpt-4o", "OPENAI_API_KEY"),
        ("meta/llama-3", "OPENROUTER_API_KEY"),
    ],
)
def test_a_missing_key_is_named(model, variable):
    """As the variable that would hold it; an empty one is none."""
    for environment in ({}, {variable: " "}):
        spec = spec_for(model, from_environment(environment))
        with pytest.raises(GatewayError, match=variable) as caught:
            check_key(model, spec)
        assert caught.value.kind == "missing_key"


def test_a_keyring_comes_before_the_environment(ring):
    """Its patterns are tried first; what it does not name is served as ever."""
    specs = find_upstreams(KEYS | {"MEMRIG_KEYRING": str(ring)})
    assert spec_for("claude-tuned", specs).name == "lab"
    assert spec_for("claude-other", specs).name == "anthropic"
    lab = spec_for("qwen3", specs)
    assert (lab.kind, lab.concurrency, lab.requests_per_minute) == ("openai", 4, 60)
    assert lab.key == SecretStr("sk-lab-secret")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_keyring_that_others_can_read_is_refused(ring, mode):
    """With the command that mends it."""
    ring.chmod(mode)
    with pytest.raises(UsageError, match=f"{mode:04o}") as caught:
        read_keyring(ring)
    assert caught.value.fix == f"chmod 600 {ring}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[upstreams.x", "cannot be read"),
        ("[others.x]\n", "nothing else"),
        ("[upstreams]\nx = 1\n", "section"),
        ('[upstreams.x]\nkind = "openai"\nkey = "sk-hidden"\n', "without models"),
        ('[upstreams.x]\nkind = "openai"\nkey = "sk-hidden"\nmodels = []\n', "without models"),
        ('[upstreams.x]\nkind = "azure"\nkey = "sk-hidden"\nmodels = ["*"]\n', "kind"),
        ('[upstreams.x]\nkind = "openai"\nkey = "sk-hidden"\nkeys = 1\nmodels = ["*"]\n', "keys"),
        ('[upstreams.x]\nkind = "openai"\nkey = ["sk-hidden"]\nmodels = ["*"]\n', "key"),
        (
            '[upstreams.x]\nkind = "openai"\nname = "sk-hidden"\nmodels = ["*"]\n',
            "not the user's to give",
        ),
    ],
)
def test_a_keyring_that_says_nonsense_is_refused_without_showing_it(ring, text, message):
    """A key in the wrong place is still a key."""
    ring.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_keyring(ring)
    assert "sk-hidden" not in str(caught.value)


def test_a_keyring_that_was_named_must_be_there(tmp_path):
    """A mistyped path is not taken for no keyring."""
    with pytest.raises(UsageError, match="cannot be read"):
        find_upstreams({"MEMRIG_KEYRING": str(tmp_path / "none.toml")})


def test_keys_never_show():
    """Not in a spec's repr, str, or JSON."""
    (spec, *_) = from_environment({"ANTHROPIC_API_KEY": "sk-ant-0123456789"})
    assert "0123456789" not in f"{spec!r}{spec}{spec.model_dump_json()}{spec.model_dump()}"


def test_texts_are_scrubbed_of_keys_ours_and_likely_ones():
    """The longest of ours first; replies only of ours."""
    scrub = Scrubber([SecretStr("planted-key-1"), SecretStr("planted-key-1-longer")])
    text = "a planted-key-1-longer, a planted-key-1, sk-proj-abc12345"
    assert scrub.text(text) == "a [key], a [key], [key]"
    assert scrub.data(b"a planted-key-1, sk-proj-abc12345") == b"a [key], sk-proj-abc12345"
    same = b"nothing to hide"
    assert scrub.data(same) is same


def test_a_dummy_key_is_no_secret():
    """Under 12 characters it is a word like any other, and a reply that says it stays as it is."""
    dummies = ("none", "EMPTY", "ollama", "test", "x", "elevenchars")
    scrub = Scrubber([SecretStr(dummy) for dummy in (*dummies, "twelve-chars")])
    said = '{"answer": null, "text": "none of the tests, x: elevenchars, EMPTY ollama"}'
    assert scrub.text(said) == said
    assert scrub.data(said.encode()) == said.encode()
    assert scrub.text("twelve-chars") == "[key]"


def test_an_empty_variable_names_no_keyring(monkeypatch, tmp_path):
    """As a shell script leaves it that unsets by assigning nothing."""
    monkeypatch.setattr("memrig.gateway.keyring.user_config_path", lambda _: tmp_path)
    assert find_upstreams({"MEMRIG_KEYRING": ""}) == from_environment({})
