"""What an adapter may be called, and what its files and classes are called after it."""

import re
from dataclasses import dataclass

from memrig.errors import UsageError

#: As in adapter.toml, but it begins with a letter: modules and classes are called after it.
_NAME = re.compile(r"[a-z](?:-?[a-z0-9])*")
_LONGEST = 39
#: Images of memrig itself, which `memrig image build` takes by these names.
_TAKEN = re.compile(r"base(-.*)?|doorman")


@dataclass(frozen=True, slots=True)
class Names:
    """An adapter's name, in each of the ways in which code is named after it."""

    name: str

    @property
    def module(self) -> str:
        """A module's name: ``acme-memory`` gives ``acme_memory_adapter``."""
        return f"{self.name.replace('-', '_')}_adapter"

    @property
    def class_name(self) -> str:
        """A class's name: ``acme-memory`` gives ``AcmeMemory``."""
        return "".join(part.capitalize() for part in self.name.split("-"))


def checked(name: str) -> Names:
    """Takes a name that adapter.toml, an image and a module can all have.

    Raises:
        UsageError: it cannot be one, or is an image of memrig's own.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise UsageError(
            f"{name!r} cannot be an adapter's name",
            where="memrig adapter new",
            fix=f"1 to {_LONGEST} of a-z, 0-9 and single dashes, a letter first, as in acme-memory",
        )
    if _TAKEN.fullmatch(name):
        raise UsageError(
            f"{name!r} is the name of an image of memrig's own",
            where="memrig adapter new",
            fix=f"another name, such as my-{name}",
        )
    return Names(name)
