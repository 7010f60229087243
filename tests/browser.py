"""Headless Chromium, driven over a pipe (Chrome DevTools Protocol)."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_PATIENCE = 120.0
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--no-first-run", "--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe"),
    # Otherwise the browser would keep each page and draw the next in a new process.
    "--disable-features=BackForwardCache",
)


class Page:
    """A page in the browser: its content, its network requests, and user input."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = reader, writer
        self._session = ""
        self._scripts = True
        self._number = 0
        self._buffer = b""
        self.events: list[dict[str, Any]] = []

    def open(self, target: Path | str, *, width: int = 1200, height: int = 800, scripts: bool = True) -> None:
        """Open a file or an address anew in the tab, and wait until the page is ready."""
        address = target if isinstance(target, str) else target.as_uri()
        if not self._session:
            tab = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        self.events.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.set_theme("light")
        self._scripts = scripts
        self.call("Emulation.setScriptExecutionDisabled", value=not scripts)
        if self.run("location.href").partition("#")[0] == address.partition("#")[0]:  # otherwise it would only scroll
            self.call("Page.navigate", url="about:blank")
        self.go(address)

    def set_theme(self, name: str) -> None:
        """Prefer the dark or the light theme."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def go(self, address: str) -> None:
        """Navigate this tab and wait until the page reports that it is ready, or is loaded if scripts are disabled."""
        # The document that is left may be ready, too, until the next one replaces it.
        self.run("window.isLeft = true")
        self.call("Page.navigate", url=address)
        ready = (
            "document.documentElement?.dataset.ready === 'yes'"
            if self._scripts
            else "document.readyState === 'complete'"
        )
        self.wait(f"!window.isLeft && {ready}")

    def call(self, method: str, **values: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": values}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            if not select.select([self._reader], [], [], _PATIENCE)[0]:
                raise TimeoutError("the browser does not respond")
            data = os.read(self._reader, 1 << 20)
            if not data:
                raise ConnectionError("the browser has exited")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message

    def run(self, program: str) -> Any:
        """Evaluate JavaScript in the page."""
        result = self.call("Runtime.evaluate", expression=program, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until a JavaScript condition is true."""
        end = time.monotonic() + _PATIENCE
        while not self._is_true(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def _is_true(self, condition: str) -> bool:
        """Whether a JavaScript condition is true; False while the page is being replaced."""
        try:
            return bool(self.run(f"!!({condition})"))
        except AssertionError:
            return False

    def settle(self) -> None:
        """Wait until changes are drawn or the page is replaced; impossible if scripts are disabled."""
        if self._scripts:
            with suppress(AssertionError):
                self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def press(self, key: str) -> None:
        """Press a key."""
        # Without its text, Enter neither submits a form nor follows a link.
        text = {"text": "\r" if key == "Enter" else key} if len(key) == 1 or key == "Enter" else {}
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
        code = {"windowsVirtualKeyCode": codes[key]} if key in codes else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **code, **(text if kind == "keyDown" else {}))
        self.settle()

    def click(self, x: float, y: float) -> None:
        """Click at these coordinates of the window."""
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def write(self, text: str) -> None:
        """Type into the focused element."""
        self.call("Input.insertText", text=text)
        self.settle()

    @property
    def problems(self) -> list[str]:
        """Console errors and warnings, and security policy violations, except those that only the tests cause.

        They read pixels (getImageData), and type before a slow page has focused its field (Autofocus).
        """
        self.run("1")
        kinds = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        problems = [json.dumps(event["params"]) for event in self.events if event["method"] in kinds]
        by_tests = ("getImageData", "Autofocus processing was blocked")
        return [problem for problem in problems if not any(text in problem for text in by_tests)]

    @property
    def requests(self) -> list[str]:
        """Addresses that the page requested."""
        sent = [event["params"]["request"] for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [str(request["url"]) for request in sent]


@contextmanager
def browser(profile: Path) -> Iterator[Page]:
    """Start a browser with a new profile."""
    assert PROGRAM is not None
    browser_reader, writer = os.pipe()
    reader, browser_writer = os.pipe()
    script = f'exec "$@" 3<&{browser_reader} 4>&{browser_writer}'
    command = ["bash", "-c", script, "bash", PROGRAM, *_OPTIONS, f"--user-data-dir={profile}"]
    process = subprocess.Popen(
        command, pass_fds=(browser_reader, browser_writer), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    os.close(browser_reader)
    os.close(browser_writer)
    page = Page(reader, writer)
    try:
        yield page
    finally:
        page._session = ""
        with suppress(OSError, ConnectionError, TimeoutError):
            page.call("Browser.close")
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        os.close(reader)
        os.close(writer)
