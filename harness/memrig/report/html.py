"""`report.html`: the whole report in one file that needs no network and no script."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memrig.report.model import Report
from memrig.report.text import clean
from memrig.report.view import page_of

#: Longer than anything that the rig writes: bounds what an adapter can put on a page.
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step from a site's first page to this one; without `href`, this one."""

    text: str
    href: str = ""


def render_html(report: Report, crumbs: Sequence[Crumb] = ()) -> str:
    """The report as a page. The same report gives the same bytes.

    Args:
        report: of a run.
        crumbs: where the page stands in a site; none: it stands alone.
    """
    styles = ("crumbs.css",) if crumbs else ()
    page = page_of(report)
    return render_page("report.html.j2", *styles, report=report, page=page, crumbs=crumbs)


def render_page(template: str, *styles: str, script: str = "", **values: object) -> str:
    """A page from a template, which also gets its `style` and the `policy` that goes with it.

    Args:
        template: a file of report/templates.
        styles: stylesheets of that folder, beside the one that all pages share.
        script: a script of that folder, the only one that the page may run; empty: none.
        values: what the template names.
    """
    style = "".join(_stylesheet(name) for name in ("style.css", *styles))
    own = _stylesheet(script) if script else ""
    policy = _policy(style, own)
    page = _environment().get_template(template)
    return page.render(style=style, policy=policy, script=own, **values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("memrig.report"),
        autoescape=True,
        finalize=_finalize,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _finalize(value: object) -> object:
    """Every text on its way to the page; escaping comes after it.

    Here rather than as a filter, so that no place in the template can forget it.
    """
    if isinstance(value, str) and not isinstance(value, Markup):
        return clean(value, _LONGEST)
    return value


@cache
def _stylesheet(name: str) -> str:
    return files("memrig.report").joinpath("templates", name).read_text("utf-8")


def _policy(style: str, script: str = "") -> str:
    """Forbids the page every script and every request; its own style and script go by hash."""
    rules = ["default-src 'none'", f"style-src '{_source(style)}'", "base-uri 'none'"]
    rules += [f"script-src '{_source(script)}'"] if script else []
    return "; ".join((*rules, "form-action 'none'"))


def _source(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
