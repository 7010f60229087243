"""The command line: each command parses, makes one library call, and renders what it returns."""

# ruff: noqa: PLC0415 - numpy, faiss and torch take seconds to import; what needs them is imported inside the commands

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path
from typing import Any

import click

from corpus.errors import UsageError
from qa import locate
from qa.cli import errors, session
from qa.cli.errors import FOUND, INTERRUPTED, Boundary
from qa.cli.options import COLLECTION, DEVICE, JSON
from qa.terminal import answers, reports
from qa.terminal.text import clean_name

# How many new objects trigger a garbage collection.
_GC_THRESHOLD = 50_000


def _version(ctx: click.Context, _option: click.Parameter, value: Any) -> None:
    if value and not ctx.resilient_parsing:
        import qa

        answers.write_stdout(f"qa {qa.__version__}\n")
        ctx.exit(FOUND)


@click.group(
    cls=Boundary,
    lazy={
        "ask": "qa.cli.ask:ask",
        "eval": "qa.cli.eval:evaluate",
        "show": "qa.cli.views:show",
        "status": "qa.cli.views:status",
        "ls": "qa.cli.views:list_files",
        "check": "qa.cli.views:check",
        "similar": "qa.cli.explore:similar",
        "topics": "qa.cli.explore:topics",
        "map": "qa.cli.explore:draw_map",
        "serve": "qa.cli.serve:serve",
        "mcp": "qa.cli.serve:agents",
    },
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 found, 1 not found, 2 wrong usage, 3 no index, 4 index damaged, 5 other model or format "
    "version, 6 locked by another writer, 70 bug in qa, 74 disk error, 130 interrupted.",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
@click.pass_context
def app(ctx: click.Context) -> int:
    """Ask a folder of documents a question; get the passages that answer it, with citations.

    To begin:  qa ask --corpus FOLDER "when is the next deadline?"
    """
    if ctx.invoked_subcommand is None:
        answers.write_stdout(ctx.get_help() + "\n")
    return FOUND


@app.command()
@click.argument("path", nargs=-1, type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Read every file again, even if it looks unchanged.")
@click.option(
    "--model", metavar="NAME", help="A sentence-transformers model or its folder. Changing it embeds everything again."
)
@click.option(
    "--include",
    multiple=True,
    metavar="PATTERN",
    help="Index only matching files (as in .gitignore); '*' matches all that are not left out by default.",
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out matching files (as in .gitignore).")
@click.option("--allow-empty", is_flag=True, help="Continue even if there are no documents, or hardly any are left.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and write nothing.")
@click.option("-q", "--quiet", is_flag=True, help="Print only what went wrong, such as files that cannot be read.")
@click.option("--wait", is_flag=True, help="Wait while another process writes the index.")
@click.option(
    "--store", metavar="URL", help="Keep it in PostgreSQL from now on: postgresql://user@host/database#collection."
)
@click.option(
    "--workers", type=click.IntRange(1, 1024), metavar="N", help="Embed in N processes, which share the cores."
)
@click.option("--dask", metavar="ADDRESS", help="Embed on the workers of a Dask cluster, such as tcp://host:8786.")
@DEVICE
@JSON
@COLLECTION
def index(
    *,
    path: tuple[Path, ...],
    full: bool,
    model: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    allow_empty: bool,
    dry_run: bool,
    quiet: bool,
    wait: bool,
    workers: int | None,
    dask: str | None,
    device: str,
    as_json: bool,
    index: Path | None,
    store: str | None,
) -> int:
    """Build or update the index of a folder.

    PATH is the folder of documents; by default, the collection around the working directory, else the working
    directory itself. Several folders and files become one collection in the folder they share, limited to them.
    Inside an existing collection, folders and files update it; --index makes a folder in it a collection of its own.
    """
    from index import BuildMode, Device
    from qa.collection import build, named_files

    if path and index is not None:
        raise UsageError("name the folder once: as an argument or with --index.")
    if quiet and (as_json or dry_run):
        raise UsageError("--quiet prints no report; leave out --json and --dry-run.")
    if dry_run and (model or store):
        raise UsageError("--dry-run compares files with the index in the folder; leave out --model and --store.")
    collection = named_files.Collection(locate.root_of(index)) if index else named_files.collection_of(path)
    root, style = collection.root, session.style()
    # Without patterns, those of the last build apply; empty ones clear them.
    included, excluded = include or None, exclude or None
    answers.write_stderr("" if quiet else clean_name(collection.note))
    mode = BuildMode.FULL if full else BuildMode.INCREMENTAL
    on_empty = build.OnEmpty.ALLOW if allow_empty else build.OnEmpty.FAIL
    if dry_run:
        report = build.preview_index(
            root, include=included, exclude=excluded, paths=collection.paths, mode=mode, on_empty=on_empty
        )
        answers.write_stdout(session.json_line(report.as_json()) if as_json else reports.render_preview(report, style))
        return FOUND
    before = named_files.remembered(root) if excluded else named_files.Remembered()
    with session.progress() as progress:
        report = build.build_index(
            root,
            model=model,
            mode=mode,
            on_empty=on_empty,
            on_locked=build.OnLocked.WAIT if wait else build.OnLocked.FAIL,
            include=included,
            exclude=excluded,
            paths=collection.paths,
            progress=progress,
            device=Device(device),
            store=store,
            workers=workers or 0,
            dask=dask or "",
        )
    for place in named_files.paths_without_documents(root, collection.paths, report):
        answers.write_stderr(answers.error_line(f"nothing was indexed from {place}: it is empty, or excluded"))
    if quiet:
        answers.write_stderr(reports.render_unreadable(report, answers.TerminalStyle.of(sys.stderr)))
        return FOUND
    now, is_part = named_files.remembered(root), bool(collection.paths)
    answers.write_stderr(reports.render_choice(before, now, include=included, exclude=excluded, is_part=is_part))
    answers.write_stdout(session.json_line(report.as_json()) if as_json else reports.render_build(report, style))
    return FOUND


@app.command()
@click.argument("path", required=False, type=click.Path(path_type=Path))
@click.option(
    "--every",
    type=click.FloatRange(0.1, 86_400),
    metavar="SECONDS",
    help="Check all files this often, for network drives and other file systems without events.",
)
@DEVICE
@COLLECTION
def watch(*, path: Path | None, every: float | None, device: str, index: Path | None) -> int:
    """Keep the index of a folder up to date until Ctrl-C; print one line per update.

    PATH is the folder of documents; its default is that of `qa index`.
    """
    if path and index:
        raise UsageError("name the folder once: as an argument or with --index.")
    folder = path or index
    root = locate.root_of(folder) if folder else locate.find_root_or_here()
    from index import Device
    from qa.collection import watch as watching

    try:
        with session.progress() as progress:
            updates = watching.watch(root, every=every, progress=progress, device=Device(device))
            first = next(updates).report
        if first is not None:
            answers.write_stdout(reports.render_build(first, session.style()))
        answers.write_stderr(f"Watching {clean_name(str(root))} (Ctrl-C to stop)")
        for update in updates:
            answers.write_stdout(reports.render_update(update, session.style()))
    except KeyboardInterrupt:  # the way to stop
        return INTERRUPTED
    return FOUND


@app.command("rm")
@click.argument("path", nargs=-1, required=True, type=click.Path())
@click.option("--undo", is_flag=True, help="Index them again.")
@COLLECTION
def remove(*, path: tuple[str, ...], undo: bool, index: Path | None) -> int:
    """Remove files or folders from the index, and leave them out from now on; the files themselves stay."""
    root = session.root_around(path[0], index)
    from qa.collection import leave_out

    here = locate.working_directory()
    with session.progress() as progress:
        change = leave_out.take_back if undo else leave_out.leave_out
        removal = change(root, path, here=here, progress=progress)
    answers.write_stdout(reports.render_build(removal.report, session.style()))
    paths = clean_name(", ".join(removal.paths))
    done = "No longer left out" if undo else "Left out from now on (undo with qa rm --undo)"
    answers.write_stderr(f"{done}: {paths}")
    return FOUND


@app.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy(*, source: str, target: str) -> int:
    """Copy a collection from one store to another; nothing is read or embedded.

    FROM and TO are folders, or addresses such as postgresql://user@host/database#collection. A target folder keeps
    its index in its own files from then on.
    """
    from index import copy_index

    places = [place if "://" in place else locate.root_of(Path(place)) for place in (source, target)]
    with session.progress("Copying", unit="") as progress:
        info = copy_index(*places, progress=progress)
    answers.write_stdout(f"Copied {reports.describe_size(info.documents, info.passages)} to {clean_name(target)}\n")
    return FOUND


def main(on_interrupt: Any = None) -> None:
    """Run the command line, as the program `qa`, and end the process; first restore what Ctrl-C does, if given."""
    code = errors.BUG
    # Most objects live until the command ends: collecting garbage would take a twentieth of a question's time.
    gc.set_threshold(_GC_THRESHOLD)
    # Idle threads of NumPy's OpenBLAS should sleep at once; otherwise they keep processors busy for a while.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    try:
        if on_interrupt is not None:
            signal.signal(signal.SIGINT, on_interrupt)
        app(prog_name="qa")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else errors.BUG
    except KeyboardInterrupt:  # before or after `app` catches it
        code = INTERRUPTED
    finally:
        # A second Ctrl-C from here on would only print a traceback.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        errors.exit_now(code)
