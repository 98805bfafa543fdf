"""`report.html`: the whole report in one file that needs no network and no script."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from memrig.report.model import Report
from memrig.report.text import clean
from memrig.report.view import page_of

#: Longer than anything that the rig writes: bounds what an adapter can put on a page.
_LONGEST = 2000


def render_html(report: Report) -> str:
    """The report as a page. The same report gives the same bytes."""
    return render_page("report.html.j2", report=report, page=page_of(report))


def render_page(template: str, *styles: str, **values: object) -> str:
    """A page from a template, which also gets its `style` and the `policy` that goes with it.

    Args:
        template: a file of report/templates.
        styles: stylesheets of that folder, beside the one that all pages share.
        values: what the template names.
    """
    style = "".join(_stylesheet(name) for name in ("style.css", *styles))
    policy = _policy(style)
    return _environment().get_template(template).render(style=style, policy=policy, **values)


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


def _policy(style: str) -> str:
    """Forbids the page every script and every request; its own style goes by its hash."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    rules = ("default-src 'none'", f"style-src 'sha256-{digest}'", "base-uri 'none'")
    return "; ".join((*rules, "form-action 'none'"))
