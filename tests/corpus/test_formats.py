"""Which formats have a reader."""

from __future__ import annotations

import pytest

from corpus.formats import format_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.md", "text/markdown"),
        ("A.MARKDOWN", "text/markdown"),
        ("b.txt", "text/plain"),
        ("README", "text/plain"),
        ("c.rst", "text/x-rst"),
        ("d.org", "text/x-org"),
        ("e.adoc", "text/asciidoc"),
        ("f.log", "text/plain"),
        ("g.PDF", "application/pdf"),
        ("g.png", None),
        ("h.md.bak", None),
    ],
)
def test_the_name_decides(path: str, kind: str | None) -> None:
    found = format_of(path)
    assert (None if found is None else found.media_type) == kind
