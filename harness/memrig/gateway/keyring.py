"""Where keys come from: the environment, and a file that only its owner can read."""

import os
import stat
import tomllib
from collections.abc import Mapping
from pathlib import Path

from platformdirs import user_config_path
from pydantic import SecretStr, ValidationError

from memrig.errors import UsageError
from memrig.gateway.config import UpstreamSpec

KEYRING_VARIABLE = "MEMRIG_KEYRING"
OPENROUTER = "https://openrouter.ai/api/v1"


def keyring_path(environment: Mapping[str, str] | None = None) -> Path:
    """MEMRIG_KEYRING, else ``keys.toml`` in the user's configuration folder."""
    environment = os.environ if environment is None else environment
    if chosen := environment.get(KEYRING_VARIABLE):
        return Path(chosen)
    return user_config_path("memrig") / "keys.toml"


def find_upstreams(environment: Mapping[str, str] | None = None) -> tuple[UpstreamSpec, ...]:
    """The providers of the keyring file, then those of the environment.

    Raises:
        UsageError: the file is there but broken, or others can read it.
    """
    environment = os.environ if environment is None else environment
    path = keyring_path(environment)
    named = bool(environment.get(KEYRING_VARIABLE))
    if not named and not path.is_file():
        return from_environment(environment)
    return (*read_keyring(path), *from_environment(environment))


def from_environment(environment: Mapping[str, str]) -> tuple[UpstreamSpec, ...]:
    """Anthropic for ``claude-*``; OpenRouter for names with a slash; OpenAI for all others.

    With OPENAI_BASE_URL, that server takes all but ``claude-*``, and needs no key.
    """
    own = environment.get("OPENAI_BASE_URL") or None
    anthropic = UpstreamSpec(
        name="anthropic",
        kind="anthropic",
        base_url=environment.get("ANTHROPIC_BASE_URL") or None,
        key=_secret(environment, "ANTHROPIC_API_KEY"),
        key_variable="ANTHROPIC_API_KEY",
        models=("claude-*",),
    )
    openrouter = UpstreamSpec(
        name="openrouter",
        kind="openai",
        base_url=OPENROUTER,
        key=_secret(environment, "OPENROUTER_API_KEY"),
        key_variable="OPENROUTER_API_KEY",
        models=("*/*",),
    )
    openai = UpstreamSpec(
        name="openai",
        kind="openai",
        base_url=own,
        key=_secret(environment, "OPENAI_API_KEY"),
        key_variable="OPENAI_API_KEY",
        key_needed=own is None,
    )
    return (anthropic, openai) if own else (anthropic, openrouter, openai)


def _secret(environment: Mapping[str, str], name: str) -> SecretStr | None:
    value = environment.get(name, "").strip()
    return SecretStr(value) if value else None


def read_keyring(path: Path) -> tuple[UpstreamSpec, ...]:
    """The providers that a keyring file names, in its order.

    Raises:
        UsageError: it cannot be read, is not private, or says what it may not.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            _check_private(path, mode)
            content = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the keyring cannot be read: {error}",
            where=str(path),
            fix=f"mend the file, or point {KEYRING_VARIABLE} at another",
        ) from error
    sections = content.get("upstreams", {})
    if not isinstance(sections, dict) or set(content) - {"upstreams"}:
        raise UsageError(
            "a keyring holds sections [upstreams.NAME] and nothing else", where=str(path)
        )
    return tuple(_spec(path, name, section) for name, section in sections.items())


def _check_private(path: Path, mode: int) -> None:
    if stat.S_IMODE(mode) & 0o077:
        raise UsageError(
            f"the keyring can be read by others (mode {stat.S_IMODE(mode):04o}, expected 0600)",
            where=str(path),
            fix=f"chmod 600 {path}",
        )


def _spec(path: Path, name: str, section: object) -> UpstreamSpec:
    where = f"{path}: upstreams.{name}"
    if not isinstance(section, dict):
        raise UsageError("must be a section with kind, key and models", where=where)
    if not section.get("models"):
        raise UsageError(
            "a section without models serves none",
            where=where,
            fix='name the patterns of its models, such as models = ["*"]',
        )
    try:
        # Without a key only a server of one's own makes sense.
        needed = "base_url" not in section
        return UpstreamSpec(name=name, key_variable=where, key_needed=needed, **section)
    except (ValidationError, TypeError) as error:
        raise UsageError(_problems(error), where=where) from None  # its text would show the key


def _problems(error: ValidationError | TypeError) -> str:
    if isinstance(error, TypeError):
        return "a setting is not the user's to give"
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in found)
