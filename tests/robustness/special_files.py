"""Special files, links and folders, and files with odd properties."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from tests.robustness.hostile_case import ANY, PASSAGE, Case, put


def _fifo(file: Path, _: float) -> None:
    os.mkfifo(file)


def _socket(file: Path, _: float) -> None:
    here = Path.cwd()
    os.chdir(file.parent)  # a socket's address is limited to about a hundred bytes
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(file.name)
    finally:
        os.chdir(here)


def _device(file: Path, share: float) -> None:
    try:
        os.mknod(file, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except OSError:  # needs root, and is not allowed everywhere
        _fifo(file, share)


def _folder(file: Path, _: float) -> None:
    file.mkdir()
    put(file / "inside.md", PASSAGE.format("folders").encode())


def _hard_link(file: Path, _: float) -> None:
    put(file, PASSAGE.format("hard links").encode())
    file.with_name("hard-link.md").hardlink_to(file)


def _link(target: str) -> Callable[[Path, float], None]:
    return lambda file, _: file.symlink_to(target)


def _dated(nanoseconds: int) -> Callable[[Path, float], None]:
    def make(file: Path, _: float) -> None:
        put(file, PASSAGE.format("times").encode())
        os.utime(file, ns=(nanoseconds, nanoseconds))

    return make


def _locked(file: Path, _: float) -> None:
    put(file, b"secret")
    file.chmod(0)


def _locked_folder(file: Path, share: float) -> None:
    _folder(file, share)
    file.chmod(0)


def _deep(file: Path, share: float) -> None:
    """Nest folders as deep as a path of 4,096 bytes allows, or less deep for a small share."""
    folder = str(file)
    os.mkdir(folder)  # noqa: PTH102 - Path.mkdir would recurse once per level
    while len(os.fsencode(folder)) < 4000 * max(share, 0.2):
        folder += "/deep-down"
        os.mkdir(folder)  # noqa: PTH102
    put(Path(folder, "deepest.md"), PASSAGE.format("depth").encode())


def _deeper(file: Path, _: float) -> None:
    """Nest folders deeper than the longest path, creating each relative to its parent."""
    file.mkdir()
    parent = os.open(file, os.O_RDONLY)
    for _level in range(20):
        os.mkdir("d" * 250, dir_fd=parent)
        child = os.open("d" * 250, os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        parent = child
    os.close(parent)


def _ignore_rules(file: Path, _: float) -> None:
    file.mkdir()
    stars = "\n".join(f"{'*a' * 20}*{n}" for n in range(2000))
    put(file / ".gitignore", f"!\n{stars}\n**/a/**/b/**/c/**/d\n".encode())
    put(file / ("a" * 240), b"Words under rules.\n")


IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
_LINK, _SPECIAL = "symbolic link, not followed", "not a regular file"
SPECIAL = [
    Case("special/fifo.md", _fifo, _SPECIAL),
    Case("special/socket.md", _socket, _SPECIAL),
    Case("special/device.md", _device, _SPECIAL),
    Case("special/loop.md", _link("loop.md"), _LINK),
    Case("special/circle", _link("."), _LINK),
    Case("special/out.md", _link("/etc/hostname"), _LINK),
    Case("special/out-folder", _link("/etc"), _LINK),
    Case("special/void.md", _link("nothing"), _LINK),
    Case("special/inner.md", _link("../healthy/alpha.md"), _LINK),
    Case("special/folder.md", _folder, ANY),
    Case("special/hard.md", _hard_link),
    Case("special/zero-time.md", _dated(0)),
    Case("special/before-time.md", _dated(-(10**18))),
    Case("special/future.md", _dated(4_000_000_000 * 10**9)),
    Case("special/locked.md", _locked, "" if IS_ROOT else "cannot be read"),
    Case("special/locked-folder", _locked_folder, ANY if IS_ROOT else "folder cannot be read"),
    Case("special/deep", _deep, ANY, is_scalable=True),
    Case("special/deeper", _deeper, ANY),
    Case("special/rules", _ignore_rules, ANY),
]
