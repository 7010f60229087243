"""Renders the templates, which escape all text from documents and requests."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from markupsafe import Markup

from qa.answer.display import FLAGS, OTHER_VALUE, confidence_word, count, is_from_outdated, percent
from qa.web.page.content import PageContent
from qa.web.page.pictures import PictureView
from qa.web.page.present import citation, is_code, passage, sentence, subject, trail
from qa.web.page.state import PageState
from qa.web.service.problems import Problem

if TYPE_CHECKING:
    from jinja2 import Environment


# Bidirectional controls, which would make "gpj.exe" read as "exe.jpg", and other control characters.
_REORDERING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROLS = re.compile(f"{_REORDERING.pattern}|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415 - the API does not need it

    environment = Environment(
        loader=PackageLoader("qa.web.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: type(value)(_CONTROLS.sub("", value)) if type(value) in (str, Markup) else value,
        auto_reload=False,
    )
    functions = (citation, confidence_word, count, is_code, passage, percent, picture, sentence, subject, trail)
    environment.globals.update(
        {function.__name__: function for function in (*functions, is_from_outdated)},
        flags=FLAGS,
        other_value=OTHER_VALUE,
    )
    environment.filters["name"] = _name
    environment.tests["problem"] = lambda value: isinstance(value, Problem)
    return environment


def render(template: str, state: PageState, content: PageContent) -> str:
    """Return a whole page ("page.html"), or only its source ("source.html")."""
    values = {name: getattr(content, name) for name in content.__dataclass_fields__}
    return _environment().get_template(template).render(state=state, status=_status(content), **values)


def _status(content: PageContent) -> str:
    """Return what a screen reader announces once the page is loaded."""
    if content.problem:
        return f"{content.problem.title}. {content.problem.detail}"
    if content.similar:
        return f"{count(len(content.similar.passages or ()), 'passage')} like {_name(subject(content.similar))}"
    result = content.result
    if result is None:
        return ""
    text = result.answer.text.strip("\n") if result.answer else ""
    answer = f"Answer: {text}. " if text else ""
    return (answer if result.found else "No answer found. ") + count(len(result.passages), "passage")


def _name(text: str) -> str:
    r"""Return a file name with its bidirectional controls made visible, such as "\u202egpj.exe"."""
    return _REORDERING.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def picture(path: str, body: PictureView) -> str:
    """Return the address of a page of a PDF."""
    return "/page.png?" + urlencode({"file": path, "page": body.page, "v": body.sha256[:16]}, errors="surrogatepass")
