"""The map as a file: self-contained, deterministic, in colours that everybody can distinguish."""

from __future__ import annotations

import itertools
import json
import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from qa.explore import layout
from qa.explore import map as drawing
from qa.explore.items import Items
from qa.retrieval.retriever import Retriever
from tests.qa.indexes import build, opened

# Linear RGB as seen by everybody and by the three kinds of dichromats (Machado, Oliveira and Fernandes 2009).
VISION = {
    "all": np.eye(3),
    "no red": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]),
    "no green": np.array([[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
    "no blue": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}
XYZ = np.array([[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]])


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """Convert linear RGB to CIELAB."""
    xyz = XYZ @ np.clip(rgb, 0, 1) / np.array([0.9505, 1, 1.0888])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def facts_of(page: str) -> dict[str, Any]:
    """Return the facts embedded in a map's page."""
    facts: dict[str, Any] = json.loads(re.findall(r'id="facts">(.*?)</script>', page)[0])
    return facts


@pytest.mark.parametrize(("palette", "background"), [(drawing.LIGHT, "#ffffff"), (drawing.DARK, "#14171c")])
@pytest.mark.parametrize("vision", VISION)
def test_the_colours_can_be_distinguished(palette: tuple[str, ...], background: str, vision: str) -> None:
    """Any two differ by 24 in CIELAB (2.3 is just noticeable), and each from the background by 3 to 1 (WCAG)."""
    perceived = [lab(VISION[vision] @ linear(colour)) for colour in palette]
    assert min(float(np.linalg.norm(colour - other)) for colour, other in itertools.combinations(perceived, 2)) >= 24
    for colour in palette:
        light, dark = sorted((float(XYZ[1] @ linear(colour)), float(XYZ[1] @ linear(background))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3


def test_the_page_is_self_contained(retriever: Retriever) -> None:
    """It has no addresses or inline event handlers, and its policy allows only its one script and one style."""
    page = retriever.map_html()
    assert not re.search(r"https?://|//\w+\.\w|\bsrc=|\bhref=|url\(|@import|\bon\w+=", page.partition('id="points"')[0])
    assert page.count("<script>") == page.count("<style>") == 1
    allowed = (
        "default-src 'none'; style-src 'sha256-[^ ]*'; script-src 'sha256-[^ ]*'; base-uri 'none'; form-action 'none'"
    )
    assert re.search(f'Content-Security-Policy" content="{allowed}"', page)
    assert "{{" not in page


@pytest.mark.parametrize(("most", "is_single"), [(40, True), (39, False)])
def test_small_maps_are_laid_out_in_one_thread(most: int, *, is_single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine, threads that wait for each other take several times as long."""
    from sklearn.manifold import TSNE

    limits: list[int | None] = []

    def limit(threads: int | None) -> AbstractContextManager[None]:
        limits.append(threads)
        return nullcontext()

    monkeypatch.setattr("threadpoolctl.threadpool_limits", limit)
    monkeypatch.setattr(TSNE, "fit_transform", lambda self, vectors: (self.n_jobs, vectors))
    monkeypatch.setattr(layout, "_MAX_SINGLE_THREADED", most)
    jobs, _ = layout._embed(np.eye(40, dtype=np.float32))
    assert (limits, int(jobs)) == (([1], 1) if is_single else ([None], -1))


def test_the_map_is_the_same_every_time(folder: Path) -> None:
    """Opening the index again makes no difference."""
    with opened(folder) as retriever:
        first = retriever.map_html(), retriever.map_svg()
    with opened(folder) as retriever:
        assert (retriever.map_html(), retriever.map_svg()) == first


@pytest.mark.parametrize("landmarks", [layout.LANDMARKS, 45])
def test_similar_passages_are_close(landmarks: int, retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most points have their nearest neighbour in their own file, even those beyond the landmarks."""
    monkeypatch.setattr(layout, "LANDMARKS", landmarks)
    items = Items.read(retriever.snapshot, "passages")
    positions = layout.lay_out(retriever.snapshot, items)
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    files = np.repeat(np.arange(3), 30)
    assert (files[distances.argmin(axis=1)] == files).mean() > 0.95
    assert positions.min() == 0
    assert positions.max() == 1


def test_the_number_of_points_is_limited(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MAX_POINTS", 40)
    facts = facts_of(retriever.map_html())
    assert (facts["total"], sum(topic["size"] for topic in facts["topics"])) == (90, pytest.approx(40, abs=3))


def test_long_texts_are_cut_until_the_page_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [("title", "a.md:1", " ".join(str(number * 7919 + at) for at in range(500))) for number in range(50)]
    limit = len(drawing._compress(texts)) // 4
    monkeypatch.setattr(drawing, "_MAX_BYTES", limit)
    assert len(drawing._compress(texts)) <= limit


def test_a_map_of_documents_or_matching_files(retriever: Retriever) -> None:
    facts = facts_of(retriever.map_html(unit="documents"))
    assert (facts["unit"], facts["total"]) == ("documents", 3)
    assert facts_of(retriever.map_html(path="bread.md"))["total"] == 30


@pytest.mark.parametrize("count", [0, 1, 9])
def test_small_collections(tmp_path: Path, count: int) -> None:
    texts = {f"{number}.txt": f"Number {number} of whales.\n" for number in range(count)}
    build(tmp_path, {"empty.txt": "", **texts})
    with opened(tmp_path) as retriever:
        assert f'"total": {count}' in retriever.map_html()
        ET.fromstring(retriever.map_svg())  # noqa: S314 - our own


def test_the_svg(folder: Path) -> None:
    """It is valid XML even if a title is not, has every point, and no label overlaps another."""
    build(folder, {"bread.md": "# A & B <c> \x0b\n\nBakers knead dough & yeast <oven>.\n"})
    with opened(folder) as retriever:
        picture = ET.fromstring(retriever.map_svg())  # noqa: S314 - our own
    space = "{http://www.w3.org/2000/svg}"
    assert sum(path.get("d", "").count("M") for path in picture.iter(f"{space}path")) == 61
    labels = [(float(tag.get("x", 0)), float(tag.get("y", 0)), tag.text or "") for tag in picture.iter(f"{space}text")]
    assert labels
    for (x, y, text), (a, b, other_text) in itertools.combinations(labels, 2):
        assert abs(y - b) >= 13 or abs(x - a) >= 4 * (len(text) + len(other_text)) / 2


def test_neighbouring_topics_differ_in_colour() -> None:
    """Colours differ until all are used; after that, shapes do."""
    centres = np.random.default_rng(1).random((30, 2), dtype=np.float32)
    styles = drawing._styles(centres)
    assert len(set(styles[:6, 0].tolist())) == 6
    assert len({tuple(style) for style in styles[:24].tolist()}) == 24
