"""Renders the templates, which escape all text from documents and requests."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from qa.answer.display import count
from qa.web.page.content import PageContent
from qa.web.page.pictures import PictureView
from qa.web.page.present import heading_levels
from qa.web.page.problems import PageProblem
from qa.web.page.source import SourceView
from qa.web.page.state import PageState

if TYPE_CHECKING:
    from jinja2 import Environment


# Bidirectional controls, which would make "gpj.exe" read as "exe.jpg".
_REORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - the API does not need it

    environment = Environment(
        loader=PackageLoader("qa.web.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals.update(count=count, heading_levels=heading_levels, picture_of=_picture)
    environment.filters["name"] = _name
    environment.tests["problem"] = lambda value: isinstance(value, PageProblem)
    return environment


def render_page(state: PageState, content: PageContent) -> str:
    """Return a whole page."""
    values = {name: getattr(content, name) for name in content.__dataclass_fields__}
    return _environment().get_template("page.html").render(state=state, status=_status(content), **values)


def render_source(state: PageState, source: SourceView | PageProblem) -> str:
    """Return only a source, as the page shows it beside the passages."""
    return _environment().get_template("source.html").render(state=state, source=source)


def _status(content: PageContent) -> str:
    """Return what a screen reader announces once the page is loaded."""
    if content.problem:
        return f"{content.problem.title}. {content.problem.detail}"
    if content.similar:
        return f"{count(len(content.similar.passages), 'passage')} like {_name(content.similar.place)}"
    result = content.result
    if result is None:
        return ""
    answer = f"Answer: {result.text}. " if result.found and result.text else "" if result.found else "No answer found. "
    return answer + count(len(result.passages), "passage")


def _name(text: str) -> str:
    r"""Return a file name with its bidirectional controls made visible, such as "\u202egpj.exe"."""
    return _REORDERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _picture(path: str, body: PictureView) -> str:
    return "/page.png?" + urlencode({"file": path, "page": body.page, "v": body.sha256[:16]}, errors="surrogatepass")
