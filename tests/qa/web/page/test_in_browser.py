"""Using the page in a real browser, with a real server and the real model."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.browser import PROGRAM, Page, browser
from tests.qa.web.hostile import DOCUMENTS
from tests.qa.web.library import LONG_NAME, OTTER
from tests.qa.web.servers import RunningServer, running

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no Chromium on this machine: apt-get install chromium")

AWARD = "What won the ICLR 2025 test of time award?"
WINNER = "Adam: A Method for Stochastic Optimization"
SENTENCE = "The ICLR 2025 test of time award was won by Adam: A Method for Stochastic Optimization by Diederik (Durk) "
OTTER_QUESTION = "Where was the otter seen in two winters out of three?"


@pytest.fixture(scope="module")
def server(library: RunningServer) -> RunningServer:
    return library


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


@pytest.fixture
def page(chromium: Page) -> Iterator[Page]:
    """A browser; after each test, no foreign script has run and only the server has been contacted."""
    yield chromium
    assert [event for event in chromium.events if event["method"] == "Page.javascriptDialogOpening"] == []
    # Chromium logs error responses; every other entry is a fault of the page.
    assert [entry for entry in chromium.problems if "the server responded with a status of" not in entry] == []
    origin = chromium.run("location.origin")
    assert [url for url in chromium.requests if not url.startswith((origin, "about:"))] == []


def address(server: RunningServer, **parameters: object) -> str:
    return f"{server.url}?{urlencode(parameters)}" if parameters else server.url


def query(page: Page) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(page.run("location.href")).query).items()}


@cache
def source_address(server: RunningServer, question: str) -> str:
    """Return the address of the first passage's source, as in the page's links."""
    hit = server.api("ask", question=question, k=5).json["passages"][0]
    mark = hit["highlights"][0]["chars"]
    return address(server, q=question, open=hit["id"], mark="{}-{}".format(*mark)) + "#place"


def ask(page: Page, question: str) -> None:
    """Type a question and press Enter."""
    page.run("document.activeElement.blur()")
    page.press("/")
    page.write(question)
    page.press("Enter")
    page.wait(f"new URL(location.href).searchParams.get('q') === {question!r} && !document.body.matches('.busy')")
    page.settle()


def click(page: Page, selector: str) -> None:
    """Click in the middle of the first element that matches."""
    x, y = page.run(
        f"(() => {{ const element = document.querySelector({selector!r}); element.scrollIntoView({{block: 'nearest'}});"
        "const b = element.getClientRects()[0]; return [b.left + b.width / 2, b.top + b.height / 2]; })()"
    )
    page.click(x, y)
    page.wait("!document.body.matches('.busy')")
    page.settle()


def text(page: Page, selector: str) -> str:
    inner_text: str = page.run(f"document.querySelector({selector!r})?.innerText ?? ''")
    return " ".join(inner_text.split())


def marked(page: Page) -> str:
    """Return the text of the strong marks in the source."""
    return " ".join(page.run("[...document.querySelectorAll('#beside mark')].map((m) => m.innerText).join('')").split())


def citations_shown(page: Page) -> list[str]:
    """Return the citations of the passages shown."""
    citations: list[str] = page.run("[...document.querySelectorAll('.passages h3 bdi')].map((b) => b.innerText)")
    return citations


def is_visible(page: Page, selector: str) -> bool:
    """Return whether the first element that matches is inside the window and not covered."""
    return bool(
        page.run(
            f"(() => {{ const element = document.querySelector({selector!r}); if (!element) return false;"
            "const b = element.getClientRects()[0]; if (!b) return false;"
            "const top = document.elementFromPoint(b.left + b.width / 2, b.top + b.height / 2);"
            "return element.contains(top) || top?.contains(element) && !top.matches('.top, .top *'); })()"
        )
    )


def violations(page: Page, options: str = "") -> list[Any]:
    """Return what axe (https://github.com/dequelabs/axe-core) reports."""
    if not page.run("'axe' in window"):
        page.run(files("axe_core_python").joinpath("axe.min.js").read_text() + "; 0")
    reported: list[Any] = page.run(
        f"axe.run({{resultTypes: ['violations'], {options}}}).then((r) => r.violations"
        ".map((v) => [v.id, v.nodes.map((n) => [n.html, n.failureSummary])]))"
    )
    return reported


def test_ask_and_see_the_evidence(page: Page, server: RunningServer) -> None:
    """The start page leads to the answer, its sentence and its place; the address contains the question."""
    page.open(server.url)
    assert page.run("document.activeElement.id") == "q"
    assert "Ask library" in text(page, "#results")
    page.write(AWARD)
    page.press("Enter")
    page.wait("document.querySelector('.verdict')")
    assert "Adam" in text(page, ".verdict .text")
    assert text(page, ".verdict").startswith("Answer Adam")
    assert "The ICLR 2025 test of time award was won by" in text(page, ".verdict blockquote")
    assert "confidence (" in text(page, ".confidence")
    assert "awards.md:12-16" in text(page, ".evidence")
    assert "ICLR 2025 awards › Test of time › Winner: Adam" in text(page, ".passages li")
    assert "file unchanged" in text(page, ".passages li .state")
    assert query(page) == {"q": AWARD}
    assert page.run("document.title") == f"{AWARD} – library"


def test_open_a_source_beside_the_passages(page: Page, server: RunningServer) -> None:
    """After a click anywhere on a passage, its sentence is marked and in sight, and the passages stay in place.

    A link to this view shows the same.
    """
    page.open(address(server, q=AWARD))
    click(page, ".passages li:first-child .quote")
    assert marked(page).startswith(SENTENCE)
    assert is_visible(page, "#place")
    assert is_visible(page, ".passages li.current h3")
    assert text(page, "#source-title") == "awards.md"
    left, right = page.run("['#results', '#beside'].map((s) => document.querySelector(s).getBoundingClientRect().left)")
    assert left < right
    link, before = page.run("location.href"), (text(page, "#results"), text(page, "#beside"))
    page.open(link)
    assert (text(page, "#results"), text(page, "#beside")) == before
    assert marked(page).startswith(SENTENCE)


def test_a_pdf_opens_at_its_boxes(page: Page, server: RunningServer) -> None:
    """The page is shown as a picture with a box around each line of the sentence; a link leads to the previous page."""
    page.open(source_address(server, OTTER_QUESTION))
    page.wait("document.querySelector('#beside image')")
    assert page.run("document.querySelectorAll('#beside rect.sentence').length") == 2
    source = page.run("document.querySelector('#beside image').href.baseVal")
    size = page.run(
        f"new Promise((d) => {{ const i = new Image(); i.onload = () => d([i.width, i.height]); i.src = {source!r}; }})"
    )
    assert size == [1224, 1584]
    assert is_visible(page, "#place")
    assert "Page 2 of 2" in text(page, ".source nav")
    assert OTTER[:20] in text(page, ".verdict")
    click(page, ".source nav a[rel=prev]")
    assert "Page 1 of 2" in text(page, ".source nav")
    assert page.run("document.querySelectorAll('#beside rect').length") == 0


def test_a_row_of_a_table(page: Page, server: RunningServer) -> None:
    page.open(source_address(server, "How long is the Müglitz that rises in the Ore Mountains?"))
    assert text(page, "#beside thead") == "Row name length notes"
    assert text(page, "#beside tr.at").startswith("32 Müglitz 49 km It rises")
    assert is_visible(page, "#beside tr.at")


def test_filter_by_type_path_and_field(page: Page, server: RunningServer) -> None:
    """Filters are counted, are part of the address, and can be removed."""
    page.open(address(server, q="herons and otters at the river"))
    click(page, ".filters summary")
    assert page.run("document.querySelector('#types').options[0].label").startswith("md (")
    page.run("document.querySelector('input[name=type]').value = 'pdf, docx'")
    click(page, ".sheet button")
    assert set(citations_shown(page)) == {"weirs.pdf, p. 1", "weirs.pdf, p. 2"}
    assert query(page) == {"q": "herons and otters at the river", "type": "pdf, docx"}
    assert text(page, ".filters .count") == "1 set"
    page.go(address(server, q="What colour is the bridge?", where="author=ida", path="*.md"))
    assert sorted(citations_shown(page)) == [f"{LONG_NAME}:1-3", f"{LONG_NAME}:4-6"]  # its front matter and its text
    click(page, ".filters summary")
    click(page, ".sheet .buttons a")
    assert query(page) == {"q": "What colour is the bridge?"}


def test_a_filter_that_matches_nothing_is_reported(page: Page, server: RunningServer) -> None:
    page.open(address(server, q="anything", path="nowhere/"))
    assert "nowhere/" in text(page, ".problem")
    click(page, ".problem a")
    assert query(page) == {"q": "anything"}
    assert page.run("document.querySelectorAll('.passages li').length") == 5


def test_back_and_forward(page: Page, server: RunningServer) -> None:
    """Every view is a step in the history and is restored as it was."""
    page.open(server.url)
    ask(page, AWARD)
    click(page, ".passages li:nth-child(2) h3 a")
    second = page.run("location.href")
    ask(page, "Who gave the keynote?")
    page.run("history.back()")
    page.wait(f"location.href === {second!r} && document.querySelector('#source-title')")
    assert page.run("document.getElementById('q').value") == AWARD
    page.run("history.back()")
    page.wait("!document.querySelector('#source-title')")
    assert query(page) == {"q": AWARD}
    page.run("history.forward()")
    page.wait("document.querySelector('#source-title')")
    assert is_visible(page, "#place")


def test_without_scripts(page: Page, server: RunningServer) -> None:
    """Asking, opening and closing a source need only links and a form."""
    page.open(server.url, scripts=False)
    page.run(f"document.getElementById('q').value = {AWARD!r}")
    page.run("document.getElementById('q').focus()")
    page.press("Enter")
    page.wait("document.querySelector('.passages') && document.readyState === 'complete'")
    assert text(page, ".verdict .text") == WINNER
    click(page, ".passages li:first-child h3 a")
    page.wait("document.querySelector('#source-title') && document.readyState === 'complete'")
    assert marked(page).startswith(SENTENCE)
    assert is_visible(page, "#place")
    click(page, ".source .close")
    closed = "!document.querySelector('#source-title') && document.querySelector('.passages')"
    page.wait(f"{closed} && document.readyState === 'complete'")
    click(page, ".filters summary")
    assert is_visible(page, ".sheet button")


def test_on_a_phone(page: Page, server: RunningServer) -> None:
    """At 360 pixels nothing is wider than the window, and the source replaces the passages; dark is dark."""
    background = "getComputedStyle(document.body).backgroundColor"
    page.open(address(server, q=AWARD), width=360, height=740)
    assert page.run(background) != "rgb(20, 23, 27)"
    page.set_theme("dark")
    assert page.run(background) == "rgb(20, 23, 27)"
    assert page.run("document.documentElement.scrollWidth") <= 360
    click(page, ".passages li:first-child h3 a")
    assert page.run("document.documentElement.scrollWidth") <= 360
    assert page.run("document.getElementById('results').getClientRects().length") == 0
    assert is_visible(page, "#place")
    assert 150 < page.run("document.getElementById('place').getBoundingClientRect().top") < 500
    click(page, ".source .close")
    assert is_visible(page, ".passages li:first-child h3 a")
    page.go(address(server, q="What colour is the bridge?", open=LONG_NAME))
    assert page.run("document.documentElement.scrollWidth") <= 360


def test_on_a_wide_screen(page: Page, server: RunningServer) -> None:
    """At 2,560 pixels lines stay short enough to read."""
    page.open(source_address(server, AWARD), width=2560, height=1300)
    widths = page.run(
        "['.quote', '#beside .body p'].map((s) => document.querySelector(s).getBoundingClientRect().width)"
    )
    assert max(widths) <= 1000
    assert is_visible(page, "#place")
    page.open(address(server, q=AWARD), width=2560, height=1300)
    assert page.run("document.querySelector('.passages').getBoundingClientRect().width") <= 1000


def test_by_keyboard_alone(page: Page, server: RunningServer) -> None:
    """Go to the second passage, open it, close it, ask again."""
    page.open(address(server, q=AWARD))
    page.press("ArrowDown")
    page.press("ArrowDown")
    assert page.run("document.activeElement.dataset.open") == "2"
    page.press("Enter")
    page.wait("document.querySelector('#source-title')")
    page.settle()
    assert page.run("document.activeElement.id") == "source-title"
    page.press("Tab")
    assert page.run("document.activeElement.matches('.source nav a')")
    page.press("Escape")
    page.wait("!document.querySelector('#source-title')")
    assert page.run("document.activeElement.dataset.open") == "2"
    page.press("ArrowUp")
    page.press("ArrowUp")
    assert page.run("document.activeElement.id") == "q"
    page.run("document.activeElement.blur()")
    ask(page, "Who gave the keynote?")
    assert query(page) == {"q": "Who gave the keynote?"}
    assert page.run("document.activeElement.id") == "results"


def test_for_screen_readers(page: Page, server: RunningServer) -> None:
    """Controls and headings have their names, and new content is announced."""
    page.open(source_address(server, AWARD))
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    seen = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node.get("ignored")]
    assert ("searchbox", "Question") in seen
    assert ("button", "Ask") in seen
    assert ("heading", AWARD) in seen
    assert ("heading", "Answer") in seen
    assert ("heading", "1awards.md:12-16") in seen or ("heading", "1 awards.md:12-16") in seen
    assert ("region", "awards.md") in seen
    assert ("region", "Text of awards.md") in seen
    more = [name for role, name in seen if role == "link" and name.startswith("More like this")]
    assert [name for name in more if name.endswith(": passage 1")]
    assert {"banner", "search", "main", "status", "mark"} <= {role for role, _ in seen}
    assert text(page, "#status").startswith(f"Answer: {WINNER}. 5 passages")
    ask(page, "Who gave the keynote?")
    assert text(page, "#status").endswith("5 passages")


def test_axe_finds_no_barrier(page: Page, server: RunningServer) -> None:
    """This holds for all kinds of views, in light and dark colours."""
    for view in (
        server.url,
        address(server, q=AWARD),
        address(server, q="Who discovered penicillin?", path="travel/"),
        source_address(server, AWARD),
        source_address(server, OTTER_QUESTION),
        source_address(server, "How long is the Müglitz that rises in the Ore Mountains?"),
        address(server, q="anything", path="nowhere/"),
        address(server, q="anything", open="nowhere.md"),
    ):
        page.open(view)
        assert violations(page) == [], view
        page.set_theme("dark")
        page.settle()
        assert violations(page, "runOnly: ['color-contrast']") == [], view


def test_no_answer_is_reported(page: Page, server: RunningServer) -> None:
    """The closest passages are shown, without a marked sentence."""
    page.open(address(server, q="Who discovered penicillin?"))
    assert text(page, ".verdict").startswith("No passage answers this with confidence These are the closest")
    assert page.run("document.querySelectorAll('.passages li').length") == 5
    assert page.run("document.querySelectorAll('.passages mark').length") == 0


def test_more_like_this_and_back(page: Page, server: RunningServer) -> None:
    page.open(address(server, q=AWARD))
    first = text(page, ".passages li h3 bdi")
    click(page, ".passages li:first-child .actions a:last-child")
    assert text(page, "#results h1") == f"More like {first}"
    assert first not in citations_shown(page)
    click(page, ".passages li:first-child h3 a")
    assert is_visible(page, "#place")
    click(page, "#results .verdict a")
    assert query(page)["q"] == AWARD
    assert text(page, ".verdict .text") == WINNER


def test_right_to_left(page: Page, server: RunningServer) -> None:
    """A text has the direction of its language."""
    page.open(address(server, q="הנחל זורם", open="rtl.txt:1"))
    assert page.run("getComputedStyle(document.querySelector('#beside .line')).direction") == "rtl"
    assert page.run("getComputedStyle(document.getElementById('q')).direction") == "rtl"
    assert "הנחל זורם מערבה" in text(page, "#beside")


def test_a_changed_or_missing_file_is_reported(page: Page, server: RunningServer) -> None:
    """The passage is shown as it was indexed."""
    question = "What was the lighthouse keeper of Moritzburg called?"
    file = server.root / "gone.txt"
    link = source_address(server, question)
    before = file.read_bytes()
    try:
        file.write_bytes(b"Something else.\n")
        page.open(link)
        assert text(page, ".source .state") == "changed since it was indexed"
        assert "The file no longer has this passage." in text(page, ".notice")
        assert "was called Gottlieb" in text(page, ".notice blockquote")
        assert "Something else." in text(page, "#beside .body")
        assert "changed since it was indexed" in text(page, ".passages li")
        file.unlink()
        page.open(link)
        assert text(page, ".source .state") == "file is missing"
        assert "was called Gottlieb" in text(page, ".notice blockquote")
    finally:
        file.write_bytes(before)


def test_a_source_outside_the_collection(page: Page, server: RunningServer) -> None:
    """The error is shown in place of the source, and the answer stays."""
    page.open(address(server, q=AWARD, open="../../etc/passwd"))
    assert "../../etc/passwd is not in the collection." in text(page, "#beside")
    assert text(page, ".verdict .text") == WINNER
    click(page, ".source .close")
    assert query(page) == {"q": AWARD}


def test_documents_run_nothing(page: Page, server: RunningServer) -> None:
    """Neither the texts nor the names of hostile documents become elements, in passages or in sources."""
    page.open(address(server, q="alert script zqword", k=60, path="hostile/"))
    shown = page.run("[...document.querySelectorAll('a[data-hit]')].map((a) => a.href)")
    assert len(shown) >= len(DOCUMENTS)
    seen = set()
    for link in shown:
        page.run(f"go({link!r})")
        page.wait(
            f"location.href === {link!r} && document.querySelector('.source .body') && !document.querySelector('.busy')"
        )
        seen.add(text(page, "#source-title"))
        page.run("document.querySelectorAll('#beside *').forEach((e) => e.dispatchEvent(new Event('mouseover')))")
    assert len(seen) == len(DOCUMENTS)
    made = "script, iframe, object, form, img, video, base, style, meta, link, [onclick], [onload], [onerror], [style]"
    assert page.run(f"document.querySelectorAll('main :is({made})').length") == 0


def test_a_hostile_address_is_only_text(page: Page, server: RunningServer) -> None:
    """This holds for every parameter."""
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    names = ("q", "path", "type", "where", "since", "mode", "k", "open", "mark", "at")
    page.open(address(server, **dict.fromkeys(names, evil)))
    assert page.run("document.getElementById('q').value") == evil
    assert evil in text(page, "#results")
    page.go(address(server, like=evil))
    assert evil in text(page, "#results")


def test_the_page_works_at_a_public_address(page: Page, library: RunningServer) -> None:
    """After a login with the form, questions are asked and sources are opened, as through a proxy that keeps `Host`."""
    token = "correct-horse-battery"  # noqa: S105 - of the test's own server
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    origin = f"http://qa.localhost:{port}/"
    options = ("--no-update", "--port", port, "--public-url", origin)
    with running(library.root, *options, environ={"QA_TOKEN": token}):
        page.open(f"{origin}?k=3", scripts=False)
        page.wait("document.activeElement?.name === 'token'")
        page.write(token)
        page.press("Enter")
        page.wait("document.querySelector('[name=q]')")
        page.open(origin)
        ask(page, AWARD)
        click(page, "#results h3 a")
        assert query(page)["q"] == AWARD
        assert marked(page).startswith(SENTENCE)
