"""Templates, in which all text of documents and of requests is escaped."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from qa.web.page.content import PageContent
from qa.web.page.pictures import PictureView
from qa.web.page.present import heading_levels
from qa.web.page.problems import PageProblem
from qa.web.page.source import SourceView
from qa.web.page.state import PageState

if TYPE_CHECKING:
    from jinja2 import Environment


# What would show a name in another order than it has: "gpj.exe" as "exe.jpg".
_REORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - no answer of the API waits for it

    found = Environment(
        loader=PackageLoader("qa.web.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.globals.update(count=_count, heading_levels=heading_levels, picture_of=_picture)
    found.filters["name"] = _name
    found.tests["problem"] = lambda value: isinstance(value, PageProblem)
    return found


def render_page(state: PageState, content: PageContent) -> str:
    """Return a whole page."""
    values = {name: getattr(content, name) for name in content.__dataclass_fields__}
    return _environment().get_template("page.html").render(state=state, status=_status(content), **values)


def render_source(state: PageState, source: SourceView | PageProblem) -> str:
    """Return a source alone, as the page has it beside the passages."""
    return _environment().get_template("source.html").render(state=state, source=source)


def _status(content: PageContent) -> str:
    """What a screen reader says when the page is there."""
    if content.problem:
        return f"{content.problem.title}. {content.problem.detail}"
    if content.similar:
        return f"{_count(len(content.similar.passages), 'passage')} like {_name(content.similar.place)}"
    result = content.result
    if result is None:
        return ""
    answer = f"Answer: {result.text}. " if result.found and result.text else "" if result.found else "No answer found. "
    return answer + _count(len(result.passages), "passage")


def _name(text: str) -> str:
    r"""A file name as it is shown, such as "\u202egpj.exe"."""
    return _REORDERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _picture(path: str, body: PictureView) -> str:
    return "/page.png?" + urlencode({"file": path, "page": body.page, "v": body.sha256[:16]}, errors="surrogatepass")
