"""OpenDocument slides (ODP) and drawings (ODG): each slide is a page, its title a heading; notes come last."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from corpus.readers.assemble.document_builder import DocumentBuilder
from corpus.readers.office.odt import add_content, content, text_in
from corpus.readers.office.xml_tree import each
from corpus.readers.office.zip_archive import Archive
from corpus.types import Extracted


def read(archive: Archive, media_type: str) -> Extracted:
    """Read a presentation or a drawing."""
    builder = DocumentBuilder()
    for page in each(content(archive), "page"):
        builder.page()
        builder.section(1, "")
        frames = sorted(
            each(page, "frame", "custom-shape", skip=frozenset({"notes"})), key=lambda one: not _is_title(one)
        )
        for frame in frames:
            if _is_title(frame):
                builder.heading(1, " ".join(text_in(frame).split()))
            else:
                add_content(builder, frame)
        for notes in each(page, "notes"):
            for frame in each(notes, "frame"):
                if frame.get("class") == "notes":
                    add_content(builder, frame)
    builder.title = archive.title("meta.xml")
    return builder.build(media_type)


def _is_title(frame: Element) -> bool:
    return frame.get("class") == "title"
