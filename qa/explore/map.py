"""A map of a collection: a self-contained HTML page, or an SVG image for print."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from index import Index, Vectors
from qa.explore.clusters import Labels, evenly_spaced
from qa.explore.grouping import Grouping
from qa.explore.items import PASSAGES, Items
from qa.explore.layout import lay_out
from qa.explore.similar import cite_passages
from qa.filters import Filter, select

# Of a larger collection, evenly spread items are drawn; more points would hide each other.
MAX_POINTS = 50_000
# Distinguishable with colour blindness too (tests/qa/explore/test_map.py), on white and on dark; grey for no topic.
LIGHT = ("#2525f4", "#da3f0b", "#72288a", "#758dd7", "#8a2828", "#a655f6", "#767676")
DARK = ("#86dcf9", "#da3f0b", "#f4c025", "#c025f4", "#a6d775", "#0981aa", "#8a8a8a")
COLOURS = len(LIGHT) - 1
SHAPES = 4
# Bytes of compressed text in a page, before base64 adds a third; texts are cut to the first of these lengths that fits.
_MAX_BYTES = 10_500_000
_LENGTHS = (4000, 1200, 600, 400, 250, 120)
_NO_TOPIC = 255
_BATCH = 2000
_SVG_SIDE, _SVG_MARGIN, _SVG_FONT = 1000, 40, 13


@dataclass(frozen=True, slots=True)
class CollectionMap:
    """A map, ready to be written.

    Attributes:
        title: The collection's name.
        unit: What a point is: passages or documents.
        total: How many of them there are; fewer may be drawn.
        labels: The label of each topic.
        sizes: How many points each topic has.
        styles: `(n, 2)`, the numbers of each topic's colour and shape.
        positions: `(p, 2) float32`, the position of each point, in [0, 1].
        topics: `(p,)`, the topic of each point, -1 for none.
        texts: The title, citation and text of each point.
    """

    title: str
    unit: str
    total: int
    labels: tuple[str, ...]
    sizes: tuple[int, ...]
    styles: Labels
    positions: Vectors
    topics: Labels
    texts: tuple[tuple[str, str, str], ...]


def make_map(snapshot: Index, title: str, grouping: Grouping, only: Filter) -> CollectionMap:
    """Lay out the grouped items of all files, or of those that pass a filter, and read their texts."""
    items = Items.read(snapshot, grouping.unit, select(snapshot, only))
    chosen = evenly_spaced(items.count, MAX_POINTS)
    passages = items.first_passages[chosen]
    positions = lay_out(snapshot, items.subset(chosen))
    topics = grouping.topics[passages]
    count = len(grouping.centroids)
    texts = tuple(_texts(snapshot, grouping.passages[passages], by_passage=grouping.unit == PASSAGES))
    sizes = np.bincount(topics[topics >= 0], minlength=count)
    labels = tuple(", ".join(terms) for terms in grouping.terms[:count])
    centres = np.stack([_centre(positions[topics == topic]) for topic in range(count)]) if count else positions[:0]
    return CollectionMap(
        title, grouping.unit, grouping.total, labels, tuple(sizes.tolist()), _styles(centres), positions, topics, texts
    )


def _texts(snapshot: Index, passages: Labels, *, by_passage: bool) -> Iterator[tuple[str, str, str]]:
    for start in range(0, len(passages), _BATCH):
        for passage in snapshot.passages(passages[start : start + _BATCH].tolist()):
            is_document = not by_passage and not passage.document.records
            citation = passage.document.path if is_document else cite_passages([passage])
            yield passage.title, citation, passage.text[passage.body :].strip()


def _centre(positions: Vectors) -> Vectors:
    median: Vectors = np.median(positions, axis=0) if len(positions) else np.zeros(2, dtype=np.float32)
    return median


def _styles(centres: Vectors) -> Labels:
    """Give each topic a colour and a shape: unused ones first, then those whose other topics are farthest away."""
    styles = np.zeros((len(centres), 2), dtype=np.int64)
    for topic, centre in enumerate(centres):
        distances = np.full((COLOURS, SHAPES), 4.0)
        for earlier in range(topic):
            colour, shape = styles[earlier]
            distance = float(np.hypot(*(centre - centres[earlier])))
            # The same colour in another shape can be distinguished, but less easily.
            distances[colour] = np.minimum(distances[colour], 1 + distance)
            distances[colour, shape] = min(distances[colour, shape], distance)
        styles[topic] = np.unravel_index(int(distances.T.argmax()), (SHAPES, COLOURS))[::-1]
    return styles


def as_html(plot: CollectionMap) -> str:
    """Return the map as an HTML page, which cannot load or send anything; no document text becomes markup."""
    page = files("qa.explore").joinpath("map.html").read_text(encoding="utf-8")
    count = len(plot.positions)
    points = np.empty(count, dtype=[("x", "<u2"), ("y", "<u2"), ("topic", "u1")])
    points["x"], points["y"] = (plot.positions * 65_535).astype(np.uint16).T
    points["topic"] = np.where(plot.topics < 0, _NO_TOPIC, plot.topics)
    topics = [
        {"label": label, "size": size, "style": style}
        for label, size, style in zip(plot.labels, plot.sizes, plot.styles.tolist(), strict=True)
    ]
    facts = {"unit": plot.unit, "total": plot.total, "topics": topics, "light": LIGHT, "dark": DARK}
    # Escape "<", so that the JSON cannot close its script element.
    values = {
        "TITLE": html.escape(plot.title),
        "FACTS": json.dumps(facts).replace("<", "\\u003c"),
        "POINTS": base64.b64encode(points.tobytes()).decode(),
        "TEXTS": base64.b64encode(_compress(plot.texts)).decode(),
    }
    for name in ("style", "script"):
        inner = re.search(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = hashlib.sha256(inner[1].encode() if inner else b"").digest()
        values[f"{name.upper()}_HASH"] = f"sha256-{base64.b64encode(digest).decode()}"
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], page)


def _compress(texts: Sequence[tuple[str, str, str]]) -> bytes:
    """Return texts as compressed JSON, each cut as far as needed to fit the page."""
    data = b""
    for length in _LENGTHS:
        cut = [(title, citation, text[:length] + "…" * (len(text) > length)) for title, citation, text in texts]
        data = zlib.compress(json.dumps(cut, ensure_ascii=False).encode("utf-8", "replace"), 6)
        if len(data) <= _MAX_BYTES:
            break
    return data


def as_svg(plot: CollectionMap) -> str:
    """Return the map as an SVG image: points by topic, and the labels that fit without overlapping."""
    side = _SVG_SIDE + 2 * _SVG_MARGIN
    positions = plot.positions * _SVG_SIDE + _SVG_MARGIN
    size = 6.0 if len(positions) <= 2000 else 3.0 if len(positions) <= 20_000 else 2.0
    groups = []
    for topic in range(-1, len(plot.labels)):
        members = positions[plot.topics == topic]
        colour, shape = (COLOURS, 0) if topic < 0 else plot.styles[topic].tolist()
        path = "".join(_shape(shape, x, y, size) for x, y in members.tolist())
        groups.append(f'<path fill="{LIGHT[colour]}" fill-opacity=".75" d="{path}"/>')
    labels = "".join(
        f'<text x="{x:.1f}" y="{y:.1f}">{html.escape(_clean(text))}</text>' for text, x, y in _labels(plot, positions)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {side} {side}" width="{side}" height="{side}">'
        f"<title>{html.escape(_clean(plot.title))}</title><rect width='100%' height='100%' fill='#ffffff'/>"
        f"{''.join(groups)}"
        f'<g font-family="sans-serif" font-size="{_SVG_FONT}" font-weight="bold" text-anchor="middle" fill="#1a1a1a" '
        f'stroke="#ffffff" stroke-width="4" paint-order="stroke">{labels}</g></svg>\n'
    )


def _clean(text: str) -> str:
    """Replace characters that XML does not allow."""
    return re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def _shape(shape: int, x: float, y: float, size: float) -> str:
    half = size / 2
    if shape == 1:
        return f"M{x - half:.1f} {y - half:.1f}h{size}v{size}h-{size}z"
    if shape == 2:
        return f"M{x:.1f} {y - size * 0.7:.1f}l{size * 0.7:.1f} {size * 1.2:.1f}h-{size * 1.4:.1f}z"
    if shape == 3:
        wide = f"{size * 0.7:.1f}"
        return f"M{x:.1f} {y - size * 0.7:.1f}l{wide} {wide}l-{wide} {wide}l-{wide}-{wide}z"
    return f"M{x - half:.1f} {y:.1f}a{half} {half} 0 1 0 {size} 0a{half} {half} 0 1 0-{size} 0z"


def _labels(plot: CollectionMap, positions: Vectors) -> Iterator[tuple[str, float, float]]:
    """Yield labels and their positions, largest topics first; if need be moved up or down to a free position."""
    taken: list[tuple[float, float, float, float]] = []
    for topic in sorted(range(len(plot.labels)), key=lambda topic: -plot.sizes[topic]):
        members = positions[plot.topics == topic]
        if not len(members):
            continue
        text = ", ".join(plot.labels[topic].split(", ")[:2])
        # An upper bound for the average width of bold sans-serif letters.
        width, height = 0.62 * _SVG_FONT * len(text), 1.3 * _SVG_FONT
        x, y = _centre(members).tolist()
        x = min(max(x, width / 2), _SVG_SIDE + 2 * _SVG_MARGIN - width / 2)
        for step in (0, 1, -1, 2, -2, 3, -3, 4, -4):
            box = (x - width / 2, y + step * height - height, x + width / 2, y + step * height)
            is_free = all(box[0] > b[2] or b[0] > box[2] or box[1] > b[3] or b[1] > box[3] for b in taken)
            if is_free and box[1] > 0 and box[3] < _SVG_SIDE + 2 * _SVG_MARGIN:
                taken.append(box)
                yield text, x, box[3] - 0.3 * _SVG_FONT
                break
