"""`base.toml`: what the base image is, in both of its ways."""

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from memrig.errors import DataError

_Package = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DebianSpec(_Strict):
    """The way without a registry: a Debian suite and the packages put on top of its minimum."""

    suite: str = Field(pattern=r"^[a-z]+$")
    mirror: str = Field(pattern=r"^https?://[^\s]+$")
    packages: tuple[_Package, ...] = Field(min_length=1)


class BaseSpec(_Strict):
    """The whole of `base.toml`: Python's version (``3.11``) and the two ways to get it."""

    python: str = Field(pattern=r"^3\.\d{1,2}$")
    reference: str = Field(min_length=1)
    debian: DebianSpec


def load_base_spec(path: Path) -> BaseSpec:
    """Reads `base.toml`.

    Raises:
        DataError: it cannot be read, is not TOML, or lacks or misspells a field.
    """
    try:
        return BaseSpec.model_validate(tomllib.loads(path.read_text("utf-8")))
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", where=str(path)) from error
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise DataError(f"is not a base description: {error}", where=str(path)) from error
