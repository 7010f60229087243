"""The address of a collection in PostgreSQL, and how its folder remembers it; needs no database library."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from corpus.errors import StorageError, UsageError
from index.storage import disk
from index.storage.files import config_folder, translate_os_errors, write_atomically
from index.storage.regular import read_regular

STORE_FILE = "store.json"
# Addresses that this user has named, a JSON object per line: a folder's author must not choose its readers' server.
ACCEPTED_FILE = "stores.jsonl"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,49}")
_EXAMPLE = "postgresql://user@host/database#collection"


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A database, and the name of a collection in it.

    Attributes:
        url: The database, in libpq's syntax, without a password.
        collection: A name of a-z, 0-9, "-" and "_", or "".
    """

    url: str
    collection: str = ""

    @property
    def url_with_name(self) -> str:
        """The address as users write it."""
        return f"{self.url}#{self.collection}" if self.collection else self.url

    def named(self, collection: str) -> StoreAddress:
        """Return the address of another collection in the same database."""
        return replace(self, collection=collection)


def parse_address(text: str) -> StoreAddress:
    """Parse an address such as `postgresql://user@host/database#collection`; raises UsageError if it is invalid."""
    url, _, name = text.partition("#")
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"not an address of a store: {error}. Give one such as {_EXAMPLE}.") from error
    if ":" in parts.netloc.rpartition("@")[0] or "password" in parse_qs(parts.query):
        raise UsageError(
            "leave the password out of the address: others see it there. Put it into ~/.pgpass or PGPASSWORD."
        )
    if parts.scheme not in ("postgresql", "postgres"):
        raise UsageError(f"{url!r} is not an address of a store. Give one such as {_EXAMPLE}.")
    if name and not _NAME.fullmatch(name):
        raise UsageError(f"a collection cannot be named {name!r}: use at most 50 of a-z, 0-9, - and _.")
    return StoreAddress(url, name)


def collection_name(folder: Path) -> str:
    """Return the default name of a folder's collection."""
    return re.sub("[^a-z0-9]+", "-", folder.name.lower()).strip("-")[:50] or "documents"


def remembered_address(folder: Path) -> StoreAddress | None:
    """Return the address of an index folder's collection, or None if it is stored in the folder itself."""
    file = folder / STORE_FILE
    try:
        return parse_address(json.loads(read_regular(file))["store"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        unreadable = file if os.access(folder, os.X_OK) else folder
        raise StorageError(f"cannot read {unreadable}: {error.strerror or error}. Check its permissions.") from error
    except (ValueError, TypeError, KeyError) as error:
        raise UsageError(f"{file} cannot be read: {error}. Name the store again: qa index --store URL") from error


def remember_address(folder: Path, address: StoreAddress) -> None:
    """Record the address of an index folder's collection in that folder."""
    content = {"version": 1, "store": address.url_with_name}
    write_atomically(folder / STORE_FILE, (json.dumps(content) + "\n").encode())


def forget_address(folder: Path) -> None:
    """Remove the recorded address, so that the collection is stored in the folder itself."""
    with (
        translate_os_errors("delete", folder / STORE_FILE, "Check permissions."),
        contextlib.suppress(FileNotFoundError),
    ):
        disk.delete(folder / STORE_FILE)


def accept_address(folder: Path, address: StoreAddress) -> None:
    """Record that this user named an address for an index folder; raises StorageError if that fails."""
    if is_accepted(folder, address):
        return
    file = config_folder() / ACCEPTED_FILE
    with translate_os_errors("write", file, "Check permissions, or set XDG_CONFIG_HOME to a folder of yours."):
        disk.append_private(file, _accepted_line(folder, address) + b"\n")


def is_accepted(folder: Path, address: StoreAddress) -> bool:
    """Return whether this user named an address for an index folder on this machine."""
    try:
        accepted = (config_folder() / ACCEPTED_FILE).read_bytes()
    except OSError:
        return False
    return _accepted_line(folder, address) in accepted.splitlines()


def accepted_address(folder: Path) -> StoreAddress | None:
    """Return the address of an index folder's collection, like `remembered_address`, if this user has named it.

    Raises:
        UsageError: A stranger may have named it, whose server could see every question and send any passages.
    """
    address = remembered_address(folder)
    if address is not None and not is_accepted(folder, address):
        command = shlex.join(["qa", "index", str(folder.parent), "--store", address.url_with_name])
        raise UsageError(
            f"{folder / STORE_FILE} names a server that you have not named for this folder. If you trust it: {command}"
        )
    return address


def _accepted_line(folder: Path, address: StoreAddress) -> bytes:
    return json.dumps({"folder": os.path.realpath(folder), "store": address.url_with_name}).encode()
