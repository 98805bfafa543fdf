"""Keys: made once, kept secret, and telling who signed."""

import stat

import pytest

from memrig.cli import key as command
from memrig.errors import DataError, PrerequisiteError, UsageError
from memrig.submission.keys import (
    default_path,
    ephemeral_key,
    fingerprint,
    load_key,
    new_key,
    verify_signature,
)
from memrig.submission.model import Signature

#: RFC 8032, section 7.1, test 3.
SEED = "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7"
PUBLIC = "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"
SIGNED = (
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
    "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
)


def test_a_key_is_read_as_it_was_made(tmp_path):
    """From a file that nobody else can read, in a folder that may be new."""
    path = tmp_path / "new" / "key"
    made = new_key(path)
    assert load_key(path) == made
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_secret_shows_nowhere(tmp_path, capsys):
    """Neither in a representation nor in what the commands print."""
    path = tmp_path / "key"
    command.new(path)
    command.show(path)
    shown = capsys.readouterr().out + repr(load_key(path)) + str(load_key(path))
    seed = path.read_text().split('"seed":"')[1][:64]
    assert seed not in shown
    assert bytes.fromhex(seed) not in shown.encode()
    assert load_key(path).public in shown


def test_it_signs_as_the_standard_says(tmp_path):
    """The third test vector of RFC 8032."""
    path = tmp_path / "key"
    path.write_text(f'{{"format":"memrig.key/1","seed":"{SEED}"}}')
    key = load_key(path)
    assert key.public == PUBLIC
    assert key.sign(b"\xaf\x82").signature == SIGNED


def test_a_key_is_never_overwritten(tmp_path):
    """Who loses a key can no longer prove to be who submitted."""
    path = tmp_path / "key"
    made = new_key(path)
    with pytest.raises(UsageError, match="already"):
        new_key(path)
    assert load_key(path) == made


def test_the_default_is_in_the_users_configuration(tmp_path, monkeypatch):
    """As the desktop's rules have it."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    made = new_key()
    assert default_path() == tmp_path / "memrig" / "key"
    assert load_key() == made


def test_a_missing_key_is_the_machines_lack(tmp_path):
    """Exit code 3, with the command that makes one."""
    with pytest.raises(PrerequisiteError) as caught:
        load_key(tmp_path / "none")
    assert "memrig key new" in caught.value.fix


@pytest.mark.parametrize(
    "text",
    ["", "{}", f'{{"seed":"{SEED}x"}}', f'{{"seed":"{SEED.upper()}"}}', f'{{"key":"{SEED}"}}'],
)
def test_what_is_no_key_is_refused_and_not_quoted(tmp_path, text):
    """A message may end up in a log; a secret with a typing error is one still."""
    path = tmp_path / "key"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        load_key(path)
    assert SEED.lower()[:16] not in str(caught.value).lower()
    assert caught.value.__cause__ is None


def test_only_the_signed_bytes_verify():
    """Other bytes, another key and another signature do not."""
    key, other = ephemeral_key(), ephemeral_key()
    good = key.sign(b"manifest")
    assert verify_signature(good, b"manifest")
    assert not verify_signature(good, b"manifest ")
    assert not verify_signature(good.model_copy(update={"key": other.public}), b"manifest")
    assert not verify_signature(good.model_copy(update={"key": "00" * 32}), b"manifest")


def test_a_key_of_small_order_signs_nothing():
    """The neutral point as key would sign any message with one signature (RFC 8032, 5.1.7)."""
    neutral = "01" + "00" * 31
    assert not verify_signature(Signature(key=neutral, signature=neutral + "00" * 32), b"any")


def test_a_fingerprint_is_short_and_of_the_public_key():
    """Four by four hex digits of its sha256."""
    assert fingerprint("00" * 32) == "6668-7aad-f862-bd77"
    assert ephemeral_key().fingerprint != ephemeral_key().fingerprint
