"""Which elements of a page are left out, which break lines, and which are headings."""

from __future__ import annotations

import re

HEADINGS = {f"h{level}": level for level in range(1, 7)}
LEFT_OUT = frozenset(
    [
        *("script", "style", "noscript", "template", "svg", "canvas", "iframe", "object", "audio", "video", "map"),
        *("nav", "footer", "menu", "dialog", "select", "button", "datalist"),
    ]
)
LEFT_OUT_ROLES = frozenset(
    ["navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar"]
)
# Elements that are left out for what their class or id says.
WITH_CLASSES = frozenset(["div", "ul", "section", "span", "table"])
LEFT_OUT_CLASSES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|breadcrumbs?|cookie|cookies|advert|ads|share|social|"
    r"skip-link|toc|mw-editsection|noprint|footer|masthead)(?:$|[\s_-])",
    re.IGNORECASE,
)
# Inside the main content it is part of the text.
SIDEBAR = re.compile(r"(?:^|[\s_-])sidebar(?:$|[\s_-])", re.IGNORECASE)
MAIN = re.compile(r"<(?:main|article)[\s>]|\brole\s*=\s*[\"']?main\b", re.IGNORECASE)
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
# The text of a link from a heading to itself.
PERMALINKS = frozenset(["¶", "§", "#", "🔗"])
BREAKING = frozenset(
    [
        *("p", "div", "section", "article", "main", "header", "aside", "ul", "ol", "li", "dl", "dt", "dd", "pre"),
        *("table", "tr", "td", "th", "caption", "tbody", "thead", "tfoot", "blockquote", "figure", "figcaption"),
        *("address", "details", "summary", "hr", "body", "html", "fieldset", "center", *HEADINGS),
    ]
)
