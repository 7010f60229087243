"""Which elements of a page are no part of its text: navigation, scripts, side columns and hidden text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum, auto

_HIDDEN_TAGS = frozenset(
    [
        *("script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "audio", "video", "map"),
        *("nav", "footer", "menu", "dialog", "select", "button", "datalist"),
    ]
)
_HIDDEN_ROLES = frozenset(["navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar"])
# Elements that may be skipped by their class or id.
_CLASS_TAGS = frozenset(["div", "ul", "section", "span", "table"])
# Where such a name begins; "has-sidebar" is the content beside it.
_NAME_START = r"(?:^|[\s_-])(?<!\bhas-)(?<!\bno-)(?<!\bwith-)"
_NAVIGATION = r"(?:nav|navbar|navigation|breadcrumbs?|skip-link|toc|mw-editsection|noprint)"
# Words that also name content, as in "lunch-menu" and "share-price".
_BAR = (
    r"(?:(?:menu|share|social)[_-](?:bar|buttons?|icons?|links?)|cookies?[_-](?:banner|bar|consent|notice)"
    r"|(?:main|mobile|site|top)[_-]menu)"
)
_SKIPPED_CLASSES = re.compile(rf"(?:^|\s)(?:{_NAVIGATION}|{_BAR})(?:$|\s)", re.IGNORECASE)
# Skipped outside the main content; inside, it is part of the text.
_SKIPPED_OUTSIDE = re.compile(
    rf"{_NAME_START}(?:{_NAVIGATION}|advert|footer|masthead|sidebar)(?:$|[\s_-])"
    r"|(?:^|\s)(?:menu|share|social|ads|cookies?)(?:$|\s)",
    re.IGNORECASE,
)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class State(Enum):
    """What is done with the text of an element: a main element is read inside a skipped one, but not a hidden one."""

    READ = auto()
    SKIPPED = auto()
    HIDDEN = auto()


def is_hidden(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether nothing inside an element is read."""
    if tag in _HIDDEN_TAGS or attributes.get("role") in _HIDDEN_ROLES:
        return True
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    return bool(_HIDDEN_STYLE.search(attributes.get("style", "")))


def is_skipped(tag: str, attributes: Mapping[str, str], *, is_outside: bool, has_main: bool) -> bool:
    """Whether an element is read only if the main content is inside it.

    Args:
        tag: Its name.
        attributes: Its attributes.
        is_outside: Whether it is outside the main content.
        has_main: Whether the page has main content.
    """
    if is_outside and (tag == "aside" or (tag == "header" and has_main)):
        return True
    if is_outside and attributes.get("role") == "complementary":
        return True
    # Sections, and old ones in the main content, have their headings as ids, as in "Cookies".
    page_id = attributes.get("id", "") if is_outside and tag != "section" else ""
    names = f"{attributes.get('class', '')} {page_id}"[:1000]
    return tag in _CLASS_TAGS and bool(
        _SKIPPED_CLASSES.search(names) or (is_outside and _SKIPPED_OUTSIDE.search(names))
    )
