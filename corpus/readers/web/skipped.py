"""Which elements of a page are no part of its text: navigation, scripts, side columns and hidden text."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
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
# Parts that a page shows on demand, such as the answers of a list of questions, and where an element controls one.
_FOLDED = re.compile(
    r"(?:^|[\s_-])(?:accordion|answer|collaps(?:e|ible)|disclosure|expand(?:able|er)|faq|spoiler|tab-?(?:content|pane|panel))"
    r"(?:$|[\s_-])",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"\b(?:aria-controls|data-(?:bs-)?target)\s*=\s*[\"']?#?([^\s\"'<>]{1,200})")
_PANEL_TAGS = frozenset(["article", "dd", "div", "li", "ol", "p", "section", "table", "tr", "ul"])
_FOLDED_TAGS = _PANEL_TAGS | {"button", "dl"}
# What is no part of the text even if a button shows it.
_OVERLAY = re.compile(
    r"(?:^|[\s_-])(?:alert|consent|cookies?|dialog|drawer|dropdown|error|filters?|lang(?:uage)?s?|login|menu|modal|nav\w*"
    r"|newsletter|offcanvas|overlay|pop(?:over|up)|search|settings|share|sidebar|sign-?in|template|toc|tooltip)(?:$|[\s_-])",
    re.IGNORECASE,
)
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class State(Enum):
    """What is done with the text of an element: a main element is read inside a skipped one, but not a hidden one."""

    READ = auto()
    SKIPPED = auto()
    HIDDEN = auto()


def controlled_ids(text: str) -> frozenset[str]:
    """Return the ids of the elements that others in a page show and hide."""
    return frozenset(control[1] for control in _CONTROL.finditer(text))


def is_hidden(tag: str, attributes: Mapping[str, str], controlled: Collection[str], *, in_folded: bool) -> bool:
    """Whether nothing inside an element is read.

    Args:
        tag: Its name.
        attributes: Its attributes.
        controlled: The ids of the elements that others show and hide.
        in_folded: Whether an element around it is named like a list of parts that can be folded.
    """
    if tag in _HIDDEN_TAGS or attributes.get("role") in _HIDDEN_ROLES:
        return True
    is_shown = "hidden" not in attributes and attributes.get("aria-hidden") != "true"
    if is_shown and not _HIDDEN_STYLE.search(attributes.get("style", "")):
        return False
    if tag not in _PANEL_TAGS or _is_overlay(attributes):
        return True
    is_folded = in_folded or attributes.get("id") in controlled or is_named_like_folded(tag, attributes)
    return not (is_folded or attributes.get("role") == "tabpanel" or attributes.get("hidden") == "until-found")


def is_named_like_folded(tag: str, attributes: Mapping[str, str]) -> bool:
    """Whether an element is named like a part of a page that can be folded, or a list of these."""
    return tag in _FOLDED_TAGS and _FOLDED.search(_names(attributes)) is not None


def is_label(attributes: Mapping[str, str]) -> bool:
    """Whether a button is the label of the part of a page that it unfolds."""
    target = attributes.get("aria-controls") or attributes.get("data-bs-target") or attributes.get("data-target", "")
    if attributes.get("role") == "tab" or "aria-haspopup" in attributes or _is_overlay(attributes, target):
        return False
    return is_named_like_folded("button", attributes) or bool(target and "aria-expanded" in attributes)


def _is_overlay(attributes: Mapping[str, str], target: str = "") -> bool:
    return _OVERLAY.search(_CAMEL_CASE.sub("-", f"{_names(attributes)} {target[:200].lstrip('#')}")) is not None


def _names(attributes: Mapping[str, str]) -> str:
    return f"{attributes.get('class', '')} {attributes.get('id', '')}"[:1000]


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
