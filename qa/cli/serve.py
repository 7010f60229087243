"""The commands `qa serve` and `qa mcp`; imported when one is run."""

# ruff: noqa: PLC0415 - the server is an extra, and takes long to import

from __future__ import annotations

import os
import secrets
import signal
import sys
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path

import click

from corpus.errors import UsageError
from qa import locate
from qa.cli import session
from qa.cli.errors import FOUND, INTERRUPTED, exit_now
from qa.cli.options import COLLECTION, FOLDER, NO_UPDATE
from qa.terminal import answers
from qa.terminal.text import clean_name

TOKEN_VARIABLE = "QA_TOKEN"  # noqa: S105 - its name


@click.command()
@FOLDER
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to bind; a non-local one needs a token.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(0, 65535), help="0 picks a free port.")
@click.option("--public-url", metavar="URL", help="Address of a proxy in front, such as https://qa.example.org.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option("--log", "logs", is_flag=True, help="Log each request to stderr.")
@NO_UPDATE
@COLLECTION
def serve(
    *, folder: Path | None, host: str, port: int, public_url: str | None, opens: bool, logs: bool, no_update: bool,
    index: Path | None,
) -> int:  # fmt: skip
    """Serve a collection: a page for the browser, and an HTTP API under /api/v1.

    Runs until Ctrl-C, for this machine alone. On any other address, or behind a proxy, requests need the token in
    QA_TOKEN, or else one that is generated and printed.
    """
    root = session.named_root(folder, index)
    from qa.cli.open_file import has_display

    if missing := [name for name in ("uvicorn", "starlette", "jinja2") if find_spec(name) is None]:
        raise UsageError(f'qa serve needs {missing[0]}. Run: pip install "qa-passages[web]"')
    from qa.collection.served import ServedCollection

    log = (lambda line: answers.write_stderr(clean_name(line))) if logs else None
    with ExitStack() as open_now:
        collection = open_now.enter_context(closing(ServedCollection(root, follow=not no_update)))
        from qa.web import serve as web  # while the models load
        from qa.web.access import public_origin

        public = None if public_url is None else public_origin(public_url)
        address = open_now.enter_context(web.listening(host, port))
        token = _required_token(is_local=address.is_local and public is None)
        page = address.url if public is None else f"{public}/"
        url = f"{page}?token={token}" if token else page

        def ready() -> None:
            answers.write_stdout(f"{url}\n")
            answers.write_stderr(f"Serving {clean_name(str(root))} (Ctrl-C to stop)")
            if public is not None:
                answers.write_stderr(f"The proxy has to pass requests on to {address.url}")
            if opens and (not has_display() or click.launch(url)):
                answers.write_stderr("No browser could be opened.")

        stopped_by = web.serve(address, collection, token=token, public=public, ready=ready, log=log)
    return INTERRUPTED if stopped_by == signal.SIGINT else FOUND


@click.command("mcp")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
@NO_UPDATE
def agents(*, folders: tuple[Path, ...], no_update: bool) -> int:
    """Serve collections to an agent on stdin and stdout (Model Context Protocol).

    The default is the collection around the working directory.
    """
    roots = [locate.find_index(index=folder) for folder in folders] or [locate.find_index()]
    import qa

    try:
        from qa.mcp.server import serve_agents
    except ModuleNotFoundError as error:
        raise UsageError('qa mcp needs the package mcp. Run: pip install "qa-passages[mcp]"') from error

    # The server's own shutdown waits for stdin; an interrupted update leaves the index as it was.
    signal.signal(signal.SIGINT, lambda *_: exit_now(INTERRUPTED))
    if sys.stdin is not None and sys.stdin.isatty():
        answers.write_stderr("Waiting for an agent on stdin; agents usually start this themselves (Ctrl-C to stop)")
    serve_agents(roots, follow=not no_update, version=qa.__version__)
    return FOUND


def _required_token(*, is_local: bool) -> str:
    """Return the token that requests need: from the environment, else "" for local use, else a new one."""
    from qa.web.access import MIN_TOKEN_LENGTH

    token = os.environ.get(TOKEN_VARIABLE, "")
    if token and (len(token) < MIN_TOKEN_LENGTH or not token.isascii() or not token.isprintable() or " " in token):
        raise UsageError(f"{TOKEN_VARIABLE} needs {MIN_TOKEN_LENGTH} or more letters and digits.")
    return token or ("" if is_local else secrets.token_urlsafe())
