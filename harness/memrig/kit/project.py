"""Makes the folder of a new adapter from a template, whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal, get_args

from memrig._version import __version__
from memrig.errors import DataError, HarnessError, UsageError
from memrig.kit.naming import Names, checked
from memrig.pod.images.sources import checkout

Language = Literal["python", "typescript", "go"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_TEMPLATES = Path(__file__).parent / "templates"
#: Dropped from a template's file name, which keeps tools from taking it for a source of memrig's.
_SUFFIX = ".tmpl"
#: Stands for the dot of a name, which packaging tools would leave out or obey.
_DOT = "dot-"
#: Where a template other than Python's keeps the contract: below it, as its package says.
_CONTRACT = Path("proto", "memrig", "v1", "memory_adapter.proto")


@dataclass(frozen=True, slots=True)
class NewAdapter:
    """What was made: the folder, and its files in order, relative to it."""

    folder: Path
    files: tuple[Path, ...]


def new_adapter(name: str, language: str, out: Path | None = None) -> NewAdapter:
    """Makes a folder that builds, conforms and can be measured as it stands.

    Args:
        name: what the memory system is called in tables.
        language: one of `LANGUAGES`.
        out: the folder to make; default: `name`, here.

    Raises:
        UsageError: no such language, or not a name.
        DataError: the folder is there already, or cannot be written.
    """
    names = checked(name)
    if language not in LANGUAGES:
        raise UsageError(
            f"there is no template for {language!r}",
            where="memrig adapter new --lang",
            fix=f"one of: {', '.join(LANGUAGES)}; for another language see docs/protocol.md",
        )
    folder = out or Path(names.name)
    if folder.exists() or folder.is_symlink():
        raise DataError(
            "is there already, and nothing in it is overwritten",
            where=str(folder),
            fix="give another folder with --out, or remove it",
        )
    made = dict(_rendered(names, language))
    try:
        _write(folder, made)
    except OSError as error:
        raise DataError(
            f"cannot be written ({error.strerror})", where=str(folder), fix="see --out"
        ) from error
    return NewAdapter(folder, tuple(sorted(made)))


def _rendered(names: Names, language: str) -> Iterator[tuple[Path, str]]:
    """Every file of the new folder: its path, its text."""
    words = {
        "@NAME@": names.name,
        "@MODULE@": names.module,
        "@CLASS@": names.class_name,
        "@MEMRIG@": __version__,
        "@UNIT_TESTS@": (_TEMPLATES / f"{language}.steps").read_text("utf-8").rstrip("\n"),
    }
    for root in (_TEMPLATES / "common", _TEMPLATES / language):
        for path in sorted(p for p in root.rglob("*") if p.is_file()):
            yield (
                _named(path.relative_to(root), words),
                _filled(path.read_text("utf-8"), words),
            )
    if language != "python":  # whose stubs come with the SDK
        yield _CONTRACT, contract()


def _named(path: Path, words: Mapping[str, str]) -> Path:
    parts = (f".{p.removeprefix(_DOT)}" if p.startswith(_DOT) else p for p in path.parts)
    return Path(_filled("/".join(parts).removesuffix(_SUFFIX), words))


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def contract() -> str:
    """The contract's source, as the installed memrig-proto has it.

    Raises:
        HarnessError: the installation lacks it.
    """
    root = checkout()  # its editable package has no copy
    source = root / _CONTRACT if root else files("memrig_proto").joinpath("v1", _CONTRACT.name)
    try:
        return source.read_text("utf-8")
    except OSError as error:
        raise HarnessError(f"the contract's source is missing: {source}") from error


def _write(folder: Path, made: Mapping[Path, str]) -> None:
    """Writes aside, then renames: a folder that is there is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for path, text in made.items():
            (aside / path).parent.mkdir(parents=True, exist_ok=True)
            (aside / path).write_text(text, "utf-8")
        aside.chmod(0o755)  # mkdtemp keeps others out
        aside.rename(folder)
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise
