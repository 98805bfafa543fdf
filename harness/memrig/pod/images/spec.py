"""`base.toml`: what a base image is, in both of its ways."""

import tomllib
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from memrig.errors import DataError

_Package = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DebianSpec(_Strict):
    """The way without a registry: a Debian suite and what is put on top of its minimum.

    `packages` are installed by debootstrap. It takes the first of several packages that would do,
    whatever another one excludes; where that fails, `apt` names what apt installs afterwards.
    """

    suite: str = Field(pattern=r"^[a-z]+$")
    mirror: str = Field(pattern=r"^https?://[^\s]+$")
    packages: tuple[_Package, ...] = ()
    apt: tuple[_Package, ...] = ()

    @model_validator(mode="after")
    def _names_packages(self) -> Self:
        if not self.packages and not self.apt:
            raise ValueError("names no packages: packages = [...] or apt = [...]")
        return self


class BaseSpec(_Strict):
    """The whole of `base.toml`: the version of its Python, if any, and the ways to get it.

    `name` keeps bases apart. Without a `reference` no registry is asked.
    """

    name: str = Field(default="base", pattern=r"^base(-[a-z0-9]+)*$")
    python: str | None = Field(default=None, pattern=r"^3\.\d{1,2}$")
    reference: str | None = Field(default=None, min_length=1)
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
