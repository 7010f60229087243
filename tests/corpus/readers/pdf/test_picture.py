"""A page as a picture, and the boxes of words on it."""

from __future__ import annotations

import io
import math
import struct
import zlib

import numpy as np
import pypdfium2
import pytest

from corpus.errors import Unreadable
from corpus.loading.sandbox import Sandbox
from corpus.types import PagePicture
from tests.corpus.readers.samples import pdf

WORDS = "The heron stands in shallow water"


def make_page(
    *, size: tuple[int, int] = (612, 792), rotation: int = 0, box: tuple[int, ...] = (), angle: int = 0
) -> bytes:
    """A page with one sentence at an angle, which may be rotated and cropped to a box."""
    x, y = 300 - 70 * math.cos(math.radians(angle)), 600 - 70 * math.sin(math.radians(angle))
    document = pypdfium2.PdfDocument(pdf.make([[pdf.Words(x, y, WORDS, angle=angle)]]))
    document[0].set_mediabox(0, 0, *size)
    document[0].set_rotation(rotation)
    if box:
        document[0].set_cropbox(*box)
    data = io.BytesIO()
    document.save(data)
    document.close()
    return data.getvalue()


def dark_points(picture: PagePicture) -> list[tuple[float, float]]:
    """The places where the picture is dark, in points from its upper left corner."""
    width, height, bits, color_type, size, name = struct.unpack(">16xIIBB7xI4s", picture.png[:41])
    assert picture.png.startswith(b"\x89PNG\r\n\x1a\n")
    assert (bits, color_type, name) == (8, 2, b"IDAT")
    rows = np.frombuffer(zlib.decompress(picture.png[41 : 41 + size]), np.uint8).reshape(height, 3 * width + 1)
    ys, xs = np.nonzero(rows[:, 1:].reshape(height, width, 3).min(axis=2) < 128)
    return list(zip(xs * picture.width / width, ys * picture.height / height, strict=True))


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
@pytest.mark.parametrize(
    ("rotation", "box"), [(0, (0, 0, 612, 792)), *((angle, (100, 500, 500, 700)) for angle in (0, 90, 180, 270))]
)
def test_boxes_enclose_their_words(rotation: int, box: tuple[int, int, int, int], angle: int, sandbox: Sandbox) -> None:
    """Also if the page or its text is rotated, or its corner is not at 0."""
    data = make_page(rotation=rotation, box=box, angle=angle)
    picture = sandbox.draw(data, 1)
    size = (box[2] - box[0], box[3] - box[1])
    assert (picture.width, picture.height) == (size if rotation % 180 == 0 else size[::-1])
    assert picture.pages == 1
    ((box_on_page,),) = sandbox.boxes(data, [(1, WORDS)])
    _, left, top, right, bottom = box_on_page
    dark = dark_points(picture)
    assert len(dark) > 300
    assert all(left - 1 <= x <= right + 1 and top - 1 <= y <= bottom + 1 for x, y in dark)
    assert (right - left) * (bottom - top) < 10 * 160


def test_a_huge_page_is_drawn_small(sandbox: Sandbox) -> None:
    picture = sandbox.draw(make_page(size=(14_000, 7_000)), 1)
    assert struct.unpack(">II", picture.png[16:24]) == (2400, 1200)


@pytest.mark.parametrize(
    ("number", "size", "reason"),
    [
        (2, None, "has no page 2"),
        (0, None, "has no page 0"),
        (1, 100, "damaged or truncated: cannot be opened as a PDF"),
    ],
)
def test_undrawable_page_is_refused_with_a_reason(number: int, size: int | None, reason: str, sandbox: Sandbox) -> None:
    with pytest.raises(Unreadable, match=f"^{reason}$"):
        sandbox.draw(make_page()[:size], number)
