"""Makes the folder of a leaderboard's repository from a template, whole or not at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memrig._version import __version__
from memrig.errors import UsageError
from memrig.leaderboard.folders import whole_folder

_TEMPLATES = Path(__file__).parent / "templates"
#: Stands for the dot of a name, which packaging tools would leave out.
_DOT = "dot-"
_PROGRAM = ".sh"
#: What a title may not hold, since it stands in a shell script between double quotes.
_UNSAFE = frozenset('"$`\\\n\r')


@dataclass(frozen=True, slots=True)
class NewLeaderboard:
    """What was made: the folder, and its files in order, relative to it."""

    folder: Path
    files: tuple[Path, ...]


def new_leaderboard(folder: Path, title: str) -> NewLeaderboard:
    """Makes a folder to begin a repository with: workflows, scripts, and how to submit.

    Raises:
        UsageError: the title cannot stand in a script.
        DataError: there is something in the folder already.
    """
    if not title.strip() or _UNSAFE & set(title):
        raise UsageError(
            f"{title!r} cannot be a title here",
            where="--title",
            fix="leave out quotes, backslashes, dollar signs and line ends",
        )
    words = {"@MEMRIG@": __version__, "@TITLE@": title}
    made = []
    with whole_folder(folder) as aside:
        for path, text in _rendered(words):
            target = aside / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, "utf-8")
            target.chmod(0o755 if path.suffix == _PROGRAM else 0o644)
            made.append(path)
    return NewLeaderboard(folder, tuple(sorted(made)))


def _rendered(words: dict[str, str]) -> Iterator[tuple[Path, str]]:
    for source in sorted(path for path in _TEMPLATES.rglob("*") if path.is_file()):
        text = source.read_text("utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        parts = source.relative_to(_TEMPLATES).parts
        dotted = (f".{p.removeprefix(_DOT)}" if p.startswith(_DOT) else p for p in parts)
        yield Path(*dotted), text
