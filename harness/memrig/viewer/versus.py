"""Two runs side by side: the choice of the second one, and the comparison."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from memrig.errors import MemrigError, UsageError
from memrig.report.compare import compare_runs
from memrig.report.compare_html import render_comparison
from memrig.report.compare_runs import load_run
from memrig.report.html import Crumb
from memrig.report.model import Report
from memrig.runs.directory import RunDirectory
from memrig.viewer import links
from memrig.viewer.cards import headline_figures, how_words
from memrig.viewer.parts import Badge
from memrig.viewer.shelf import Shelf, ask_the_same

#: Comparisons that are kept: each takes a second or so.
_MOST = 16


@dataclass(frozen=True, slots=True)
class Other:
    """A run that the first one can be compared with; `worse` and `better` list questions."""

    name: str
    href: str
    worse: str
    better: str
    how: str
    figures: str
    badges: tuple[Badge, ...]


@dataclass(frozen=True, slots=True)
class ChoicePage:
    """Which run to compare with. `unlike` counts the runs that ask something else."""

    key: str
    graded: bool
    others: tuple[Other, ...]
    unlike: int


def choice_page(shelf: Shelf, key: str) -> ChoicePage:
    """The graded runs of the same suite and protocol.

    Raises:
        UsageError: there is no such run.
    """
    base = shelf.run(key)
    lock = shelf.lock(base)
    others = []
    runs = {name: found for name, found in shelf.runs().items() if name != key}
    for name, directory in runs.items():
        try:
            theirs, report = shelf.lock(directory), shelf.report(directory)
        except (MemrigError, OSError, ValueError):
            continue  # the list of runs says what is wrong with it
        if report is None or (theirs.suite, theirs.protocol) != (lock.suite, lock.protocol):
            continue
        if not ask_the_same(lock, theirs):
            continue
        badges = () if report.complete else (Badge("incomplete", "bad"),)
        same = () if theirs.data.sha256 == lock.data.sha256 else (Badge("other data", "warn"),)
        figures = " · ".join(f"{pair.name} {pair.value}" for pair in headline_figures(report))
        href = links.versus(key, name)
        worse, better = (
            links.questions(key, against=name, than=than) for than in ("worse", "better")
        )
        how = how_words(theirs)
        others.append(Other(name, href, worse, better, how, figures, (*badges, *same)))
    return ChoicePage(key, _graded(base), tuple(others), len(runs) - len(others))


def _graded(directory: RunDirectory) -> bool:
    return directory.grades.is_file() and directory.report_json.is_file()


@dataclass(slots=True)
class Comparer:
    """Compares runs as they stand on disk; grades none, since that would write.

    Args:
        shelf: the runs.
    """

    shelf: Shelf
    _kept: OrderedDict[tuple[object, ...], str] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def page(self, base: str, other: str) -> str:
        """The comparison of two runs, as `memrig compare --html` writes it.

        Raises:
            UsageError: a run is not there or not graded, or the two cannot be compared.
        """
        found = [self._graded(key) for key in (base, other)]
        name = (base, other, *(stamp for directory, _ in found for stamp in _stamps(directory)))
        with self._lock:
            if name in self._kept:
                return self._kept[name]
        page = _page(base, other, found)
        with self._lock:
            self._kept[name] = page
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)
        return page

    def _graded(self, key: str) -> tuple[RunDirectory, Report]:
        directory = self.shelf.run(key)
        report = self.shelf.report(directory)
        if report is None or not directory.grades.is_file():
            fix = f"`memrig score {directory.root}` grades it; the viewer changes nothing"
            raise UsageError("this run was not graded yet", where=key, fix=fix)
        return directory, report


def _page(base: str, other: str, found: Sequence[tuple[RunDirectory, Report]]) -> str:
    loaded = [load_run(directory.root, report) for directory, report in found]
    crumbs = [Crumb("all runs", links.HOME), Crumb(base, links.run(base))]
    crumbs += [Crumb("compare", links.versus(base)), Crumb(other, links.run(other))]
    return render_comparison(compare_runs(loaded), crumbs)


def _stamps(directory: RunDirectory) -> tuple[int, int]:
    """What changes whenever a run is graded anew."""
    return directory.grades.stat().st_mtime_ns, directory.report_json.stat().st_mtime_ns
