"""The map in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from tests.browser import PROGRAM, Page, browser
from tests.qa.explore.conftest import SUBJECTS, write_subject
from tests.qa.indexes import build, opened

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium on this machine: apt-get install chromium")

EVIL = "# <img src=x onerror=window.hacked=1>\n\n</script><script>window.hacked=1</script> ☃ {{TITLE}} <b>bold</b>\n"
# The coordinates of a point in the window, by its number.
_POINT_POSITION = (
    "(() => {{ const box = canvas.getBoundingClientRect();"
    "return [box.left + screenX({0}), box.top + screenY({0})]; }})()"
)


@pytest.fixture(scope="module")
def map_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A map of three subjects and one hostile file."""
    folder = tmp_path_factory.mktemp("map")
    for subject in SUBJECTS:
        write_subject(folder, subject)
    build(folder, {"evil.md": EVIL})
    file = folder / "map.html"
    with opened(folder) as retriever:
        file.write_text(retriever.map_html(), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def shared(map_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        page.open(map_file)
        yield page


@pytest.fixture
def page(shared: Page) -> Page:
    """The page, reset to how it was opened."""
    shared.run("document.activeElement.blur(); clear(); zoom = 1; keepInside(); redraw()")
    shared.settle()
    return shared


def test_every_point_is_painted(page: Page) -> None:
    """The canvas is painted at each point, and empty at its corner."""
    painted = page.run(
        "(() => { draw(); const all = pen.getImageData(0, 0, canvas.width, canvas.height).data;"
        "const at = (x, y) => all[4 * (Math.round(y) * canvas.width + Math.round(x)) + 3];"
        "return [at(2, 2), Array.from({length: count}, (_, i) => at(screenX(i), screenY(i)))]; })()"
    )
    assert painted[0] == 0
    assert len(painted[1]) == 91
    assert min(painted[1]) > 0


def test_labels_are_legible(page: Page) -> None:
    """Each topic has a label inside the map, and none overlap."""
    boxes = page.run(
        "names.filter((label) => !label.hidden).map((label) => { const b = label.getBoundingClientRect();"
        "return [b.left, b.top, b.right, b.bottom, label.textContent]; })"
    )
    assert len(boxes) == page.run("facts.topics.length") >= 3
    width, height = page.run("[plane.getBoundingClientRect().right, plane.getBoundingClientRect().bottom]")
    for left, _, right, bottom, text in boxes:
        assert text
        assert 0 <= left < right <= width
        assert bottom <= height
    for a, b in combinations(boxes, 2):
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]


def test_a_click_shows_text_and_citation(page: Page) -> None:
    page.click(*page.run(_POINT_POSITION.format(40)))
    shown = page.run("at('shown').innerText")
    chosen = page.run("chosen")
    assert all(part in shown for part in (*page.run(f"texts[{chosen}]"), "Topic "))


def test_the_search_highlights_what_matches(page: Page) -> None:
    page.press("/")
    page.write("DOUGH")
    expected = page.run("texts.filter((text) => text.join(' ').toLowerCase().includes('dough')).length")
    assert 0 < expected < 91
    assert page.run("at('count').textContent") == f"{expected} of 91 passages"
    dimmed = page.run(
        "(() => { draw(); const all = pen.getImageData(0, 0, canvas.width, canvas.height).data;"
        "const at = (i) => all[4 * (Math.round(screenY(i)) * canvas.width + Math.round(screenX(i))) + 3];"
        "const on = [], off = []; for (let i = 0; i < count; i++) (lit(i) ? on : off).push(at(i));"
        "return [Math.min(...on), off.sort((a, b) => a - b)[off.length >> 1]]; })()"
    )
    assert dimmed[0] > 150 > dimmed[1]
    page.press("Enter")
    assert "dough" in page.run("at('shown').innerText").lower()
    page.press("Escape")
    assert page.run("at('count').textContent") == "91 passages"


def test_the_keyboard_reaches_points_and_topics(page: Page) -> None:
    """Arrow keys move between points; each topic in the list is a button."""
    page.run("canvas.focus()")
    page.press("ArrowRight")
    first = page.run("chosen")
    assert first >= 0
    reached = {first}
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        page.press(key)
        reached.add(page.run("chosen"))
    assert len(reached) >= 3
    assert page.run("texts[chosen][1]") in page.run("at('shown').innerText")
    page.press("+")
    assert page.run("zoom") > 1
    page.press("0")
    assert page.run("zoom") == 1
    page.run("document.querySelector('#topics button').focus()")
    page.press("Enter")
    assert page.run("document.querySelector('#topics button').getAttribute('aria-pressed')") == "true"
    assert page.run("at('count').textContent").endswith(" of 91 passages")


def test_dark_and_light(map_file: Path, page: Page) -> None:
    """The button switches the theme."""
    light = page.run("[getComputedStyle(document.body).backgroundColor, colourOf(0)]")
    page.run("at('theme').click()")
    page.settle()
    dark = page.run("[getComputedStyle(document.body).backgroundColor, colourOf(0)]")
    page.run("at('theme').click()")
    assert light[0] == "rgb(255, 255, 255)"
    assert dark[0] == "rgb(20, 23, 28)"
    assert light[1] != dark[1]


def test_text_never_becomes_markup(page: Page) -> None:
    """Texts are shown verbatim, and no part of them runs."""
    number = page.run("texts.findIndex((text) => text[1].startsWith('evil.md'))")
    page.run(f"show({number})")
    shown = page.run("at('shown').innerText")
    assert "</script><script>window.hacked=1</script> ☃ {{TITLE}} <b>bold</b>" in shown
    assert "<img src=x onerror=window.hacked=1>" in shown
    assert page.run("typeof window.hacked") == "undefined"
    assert page.run("document.images.length") == 0


def test_page_makes_no_errors_or_requests(map_file: Path, page: Page) -> None:
    """Only the page itself is requested, and the console stays empty."""
    assert [url for url in page.requests if not url.startswith(("about:", "data:"))] == [map_file.as_uri()]
    assert page.problems == []


def test_a_narrow_window(page: Page) -> None:
    """Nothing is wider than the window."""
    page.call("Emulation.setDeviceMetricsOverride", width=400, height=800, deviceScaleFactor=2, mobile=False)
    page.settle()
    page.settle()
    assert page.run("document.documentElement.scrollWidth") <= 400
    page.call("Emulation.setDeviceMetricsOverride", width=1200, height=800, deviceScaleFactor=1, mobile=False)
    page.settle()
