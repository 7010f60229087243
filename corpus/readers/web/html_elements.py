"""What the elements of HTML are: which are left out, break lines, have no end, and close one another."""

from __future__ import annotations

import re

HEADINGS = {f"h{level}": level for level in range(1, 7)}
LEFT_OUT = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "canvas",
        "iframe",
        "object",
        "audio",
        "video",
        "map",
        "nav",
        "footer",
        "aside",
        "menu",
        "dialog",
        "select",
        "button",
        "datalist",
        "head",
    ]
)
ROLES = frozenset(
    ["navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "menu", "menubar"]
)
NAMED = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|sidebar|breadcrumbs?|cookie|cookies|advert|ads|share|social|"
    r"skip-link|toc|mw-editsection|noprint|footer|masthead)(?:$|[\s_-])",
    re.IGNORECASE,
)
HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
BREAKING = frozenset(
    [
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
        "table",
        "tr",
        "td",
        "th",
        "caption",
        "blockquote",
        "pre",
        "figure",
        "figcaption",
        "address",
        "details",
        "summary",
        "hr",
        "body",
        "html",
        "fieldset",
        "center",
        "tbody",
        "thead",
        "tfoot",
    ]
)
VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
# These may be left open: another of the same kind closes them.
CLOSES = {
    "li": ({"li"}, {"ul", "ol"}),
    "p": ({"p"}, {"div", "li", "td", "th", "section", "article", "blockquote", "body"}),
    "tr": ({"tr", "td", "th"}, {"table"}),
    "td": ({"td", "th"}, {"tr", "table"}),
    "th": ({"td", "th"}, {"tr", "table"}),
    "dt": ({"dt", "dd"}, {"dl"}),
    "dd": ({"dt", "dd"}, {"dl"}),
    "option": ({"option"}, {"select"}),
}
ENDS_PARAGRAPH = BREAKING | set(HEADINGS)
NOTHING: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())


def _closing(tag: str) -> tuple[frozenset[str], frozenset[str]]:
    """What an element closes that was left open, and what it looks no further than."""
    closes, fences = CLOSES.get(tag, (set(), set()))
    if tag in ENDS_PARAGRAPH and "p" not in closes:
        closes, fences = closes | {"p"}, fences | {"div", "li", "td", "th", "section", "article", "body"}
    return frozenset(closes), frozenset(fences)


CLOSING = {tag: _closing(tag) for tag in ENDS_PARAGRAPH | CLOSES.keys()}
