"""Which formats have a reader."""

from __future__ import annotations

import pytest

from corpus.readers import is_readable_name, media_type, reader_for
from corpus.readers.markdown import read_markdown
from corpus.readers.plain import read_plain


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
        ("g.pdf", None),
        ("h.md.bak", None),
    ],
)
def test_the_name_decides(path: str, kind: str | None) -> None:
    assert media_type(path) == kind
    assert is_readable_name(path) == (kind is not None)


def test_markdown_has_a_reader_of_its_own() -> None:
    assert reader_for("text/markdown") is read_markdown
    assert reader_for("text/x-rst") is read_plain
