"""The viewer's addresses, and the page at each. Nothing here writes."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from memrig._version import __version__
from memrig.errors import MemrigError, UsageError
from memrig.report.html import Crumb, render_html, render_page
from memrig.viewer import feed, links
from memrig.viewer.cards import runs_page
from memrig.viewer.guard import Guard
from memrig.viewer.live import Live
from memrig.viewer.question import question_page
from memrig.viewer.questions import Filter, questions_page
from memrig.viewer.run_page import run_page
from memrig.viewer.scenarios import Texts
from memrig.viewer.shelf import Shelf
from memrig.viewer.timeline import timeline_page
from memrig.viewer.trial_page import trial_page, trials_page
from memrig.viewer.versus import Comparer, choice_page

_REFRESH_S = 3


def make_app(shelf: Shelf) -> ASGIApp:
    """The viewer as an ASGI application.

    Args:
        shelf: the runs.
    """
    pages = Pages(shelf, Live(shelf), Texts(), Comparer(shelf))
    one = "/runs/{run}/trials/{trial}"
    routes = [
        Route("/", pages.runs),
        Route("/runs.json", pages.runs_json),
        Route("/runs/{run}", pages.run),
        Route("/runs/{run}/progress.json", pages.progress_json),
        Route("/runs/{run}/report", pages.report),
        Route("/runs/{run}/questions", pages.questions),
        Route("/runs/{run}/trials", pages.trials),
        Route(one, pages.trial),
        Route(f"{one}/timeline", pages.timeline),
        Route(f"{one}/question", pages.question),
        Route(f"{one}/question.json", pages.question_json),
        Route("/compare/{run}", pages.choose),
        Route("/compare/{run}/{other}", pages.compare),
    ]
    handlers = {MemrigError: _failed, HTTPException: _not_found, ValueError: _unreadable}
    return Guard(Starlette(routes=routes, exception_handlers={**handlers, OSError: _unreadable}))


@dataclass(slots=True)
class Pages:
    """Makes every page. Methods are called on threads, several at a time.

    Args:
        shelf: the runs.
        live: how far they are.
        texts: the words of their questions.
        comparer: sets two of them side by side.
    """

    shelf: Shelf
    live: Live
    texts: Texts
    comparer: Comparer
    home: Crumb = field(default=Crumb("all runs", links.HOME))

    def runs(self, request: Request) -> Response:
        """Every run."""
        page = runs_page(self.shelf, self.live, request.query_params.get("suite", ""))
        return _page("view_runs.html.j2", (), request, page, running=page.running)

    def run(self, request: Request) -> Response:
        """One run."""
        key = request.path_params["run"]
        page = run_page(self.shelf, self.live, self.texts, key)
        running = page.live is not None and page.live.state == "running"
        crumbs = (self.home, Crumb(key))
        return _page("view_run.html.j2", crumbs, request, page, running=running)

    def report(self, request: Request) -> Response:
        """A run's whole report, from `report.json`."""
        key = request.path_params["run"]
        directory = self.shelf.run(key)
        report = self.shelf.report(directory)
        if report is None:
            fix = f"`memrig score {directory.root}` makes one; the viewer changes nothing"
            raise UsageError("there is no report yet", where=key, fix=fix)
        return HTMLResponse(render_html(report, (*self._at(key), Crumb("report"))))

    def questions(self, request: Request) -> Response:
        """A run's graded questions, filtered."""
        key = request.path_params["run"]
        page = questions_page(self.shelf, self.texts, key, _wanted(request), _number(request))
        crumbs = (*self._at(key), Crumb("questions"))
        return _page("view_questions.html.j2", crumbs, request, page)

    def trials(self, request: Request) -> Response:
        """A run's trials."""
        key = request.path_params["run"]
        page = trials_page(self.shelf, self.live, key, _number(request))
        running = any(line.badge.text == "running" for line in page.items)
        crumbs = (*self._at(key), Crumb("trials"))
        return _page("view_trials.html.j2", crumbs, request, page, running=running)

    def trial(self, request: Request) -> Response:
        """One trial."""
        key, trial = request.path_params["run"], request.path_params["trial"]
        page = trial_page(self.shelf, self.live, self.texts, key, trial, _number(request))
        crumbs = (*self._at(key), Crumb("trials", links.trials(key)), Crumb(page.name))
        return _page("view_trial.html.j2", crumbs, request, page, running=page.running)

    def timeline(self, request: Request) -> Response:
        """A scenario, event by event."""
        key, trial = request.path_params["run"], request.path_params["trial"]
        scenario = request.query_params.get("scenario", "")
        page = timeline_page(self.shelf, key, trial, scenario, _number(request))
        crumbs = (*self._at(key), *self._trial(key, trial), Crumb(f"timeline of {scenario}"))
        return _page("view_timeline.html.j2", crumbs, request, page)

    def question(self, request: Request) -> Response:
        """One question, from what was ingested to what it cost."""
        key, trial = request.path_params["run"], request.path_params["trial"]
        page = question_page(self.shelf, key, trial, *_asked(request), _wanted(request))
        crumbs = (*self._at(key), *self._trial(key, trial), Crumb(page.name))
        return _page("view_question.html.j2", crumbs, request, page)

    def choose(self, request: Request) -> Response:
        """What to compare a run with."""
        key = request.path_params["run"]
        page = choice_page(self.shelf, key)
        crumbs = (*self._at(key), Crumb("compare"))
        return _page("view_choice.html.j2", crumbs, request, page)

    def compare(self, request: Request) -> Response:
        """Two runs side by side."""
        page = self.comparer.page(request.path_params["run"], request.path_params["other"])
        return HTMLResponse(page)

    def runs_json(self, request: Request) -> Response:
        """Every run, for scripts."""
        page = runs_page(self.shelf, self.live, request.query_params.get("suite", ""))
        return _json(feed.cards_json(page.cards))

    def progress_json(self, request: Request) -> Response:
        """How far a run is, for scripts."""
        key = request.path_params["run"]
        return _json(feed.progress_json(key, self.live.progress(self.shelf.run(key))))

    def question_json(self, request: Request) -> Response:
        """One question, for scripts."""
        key, trial = request.path_params["run"], request.path_params["trial"]
        return _json(feed.question_json(question_page(self.shelf, key, trial, *_asked(request))))

    def _at(self, key: str) -> tuple[Crumb, Crumb]:
        return self.home, Crumb(key, links.run(key))

    @staticmethod
    def _trial(key: str, trial_id: str) -> tuple[Crumb, Crumb]:
        return Crumb("trials", links.trials(key)), Crumb(trial_id, links.trial(key, trial_id))


def _asked(request: Request) -> tuple[str, str]:
    return request.query_params.get("scenario", ""), request.query_params.get("id", "")


def _wanted(request: Request) -> Filter:
    """The filter of a list of questions."""
    names = [one.name for one in fields(Filter)]
    return Filter(**{name: request.query_params.get(name, "") for name in names})


def _number(request: Request) -> int:
    """The page that is asked for; the first where that is no number."""
    text = request.query_params.get("page", "1")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 1


@dataclass(frozen=True, slots=True)
class Again:
    """Whether a page loads itself again, and the address that stops or resumes it.

    `going` tells that it is of something that goes on; `seconds` is 0 where it stands still.
    """

    going: bool
    seconds: int
    href: str


def _again(request: Request, *, running: bool) -> Again:
    still = "still" in request.query_params
    url = request.url
    other = url.remove_query_params("still") if still else url.include_query_params(still="1")
    href = f"{url.path}?{other.query}" if other.query else url.path
    return Again(running, _REFRESH_S if running and not still else 0, href)


def _page(
    template: str,
    crumbs: Sequence[Crumb],
    request: Request,
    page: object,
    *,
    running: bool = False,
    status: int = 200,
) -> Response:
    """A page; one of something that goes on loads itself again, unless it is asked not to."""
    text = render_page(
        template,
        "crumbs.css",
        "viewer.css",
        crumbs=crumbs,
        again=_again(request, running=running),
        version=__version__,
        page=page,
    )
    return HTMLResponse(text, status)


def _json(value: feed.JsonValue) -> Response:
    return Response(feed.dump(value), media_type="application/json")


# ----------------------------------------------------------------------------------------- errors


def _failed(request: Request, error: Exception) -> Response:
    """An error of the rig's tree, as a page: what happened, where, and what to do."""
    status = 404 if isinstance(error, UsageError) else 500  # none such; or there, and not readable
    known = error if isinstance(error, MemrigError) else MemrigError(str(error))
    return _error(request, known.message, known.where, known.fix, status)


def _not_found(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _error(request, "there is no such page", request.url.path, "see the list", status)


def _unreadable(request: Request, error: Exception) -> Response:
    """A file that is gone meanwhile, or holds what no version of the rig writes."""
    message = f"a file of this run cannot be read: {type(error).__name__}: {error}"
    fix = "load the page again; if that does not help, see the run's folder"
    return _error(request, message, request.url.path, fix, 500)


@dataclass(frozen=True, slots=True)
class ErrorPage:
    """What went wrong, where, and the next step."""

    message: str
    where: str
    fix: str


def _error(request: Request, message: str, where: str, fix: str, status: int) -> Response:
    crumbs = (Crumb("all runs", links.HOME), Crumb("error"))
    page = ErrorPage(message, where, fix)
    return _page("view_error.html.j2", crumbs, request, page, status=status)
