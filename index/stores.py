"""Open an index through the interfaces of `index.protocol`, whichever store keeps it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from corpus import INDEX_FOLDER
from corpus.errors import NoIndexError, UsageError
from index.postgres.address import (
    STORE_FILE,
    StoreAddress,
    accept_address,
    accepted_address,
    collection_name,
    forget_address,
    is_accepted,
    parse_address,
    remember_address,
    remembered_address,
)
from index.protocol import Index, IndexWriter
from index.snapshot import Snapshot
from index.storage.database import DATABASE
from index.storage.files import IGNORE_NAME, make_folder, write_atomically

if TYPE_CHECKING:
    from index.storage.metadata import Verified

# Salvaged vectors committed at once.
_BATCH = 1000


def open_index(folder: Path, store: str | None = None) -> Index:
    """Open the newest generation of an index folder, `.qa`, for reading, from `store` or the store that it names.

    Raises:
        UsageError: The folder names a server that this user has not accepted for it.
        NoIndexError: There is no index, or the first build was never finished.
        IncompatibleError: It has another format version.
        DamagedIndexError: It is damaged.
        StorageError: Its server cannot be reached, or refuses.
    """
    address = accepted_address(folder) if store is None else parse_address(store)
    return Snapshot(folder) if address is None else _open_remote(address, folder)


def open_store(url: str) -> Index:
    """Open a collection in PostgreSQL by its address, like `open_index`; its files may be on another machine."""
    return _open_remote(parse_address(url), None)


def _open_remote(address: StoreAddress, folder: Path | None) -> Index:
    from index.postgres.snapshot import PostgresSnapshot

    return PostgresSnapshot(address, folder)


def open_store_writer(url: str, source: Path | str) -> contextlib.AbstractContextManager[IndexWriter]:
    """Open or create a collection in PostgreSQL for writing; an unnamed one is named after its source."""
    address = parse_address(url)
    if not address.collection:
        address = _new_collection(address, _source_name(source))
    from index.postgres.store import PostgresStore

    return PostgresStore(address)


@contextlib.contextmanager
def open_writer(folder: Path, store: str | None = None, *, in_folder: bool = False) -> Iterator[IndexWriter]:
    """Open or create the index of a folder for writing; the caller holds the lock of the folder.

    With `store`, keep it there; the folder names that store only once the caller has succeeded, so that until then,
    even after a kill, its previous index stays in use. With `in_folder`, ignore the store that the folder names.

    Raises:
        LockedError: Another process writes this collection.
        IncompatibleError: It has another format version.
        DamagedIndexError: It cannot be read.
        StorageError: A read or write failed.
    """
    address = parse_address(store) if store is not None else None if in_folder else accepted_address(folder)
    if address is not None:
        from index.postgres.store import PostgresStore

        with PostgresStore(address) as writer:
            yield writer
            if store is not None:
                remember_address(folder, address)
        return
    # Questions never need these.
    from index.commit.store import Store
    from index.dense.faiss_segments import delete_other_segments
    from index.integrity import salvage

    salvage.resume(folder)
    with Store(folder) as writer:
        vectors = salvage.salvaged_vectors(folder)
        while rows := list(islice(vectors, _BATCH)):
            writer.adopt_vectors(rows)
        info = writer.info()
        # A process killed right after its commit left the previous generation's files.
        delete_other_segments(folder, [] if info is None else [segment.name for segment in info.segments])
        yield writer
        # Not before there is a generation: after a kill, the model and selection of the old one are still needed.
        salvage.discard(folder)


def is_built(folder: Path, store: str | None = None) -> bool:
    """Return whether a folder has an index, even unfinished, or a finished one in `store` or the store it names."""
    if store is None and remembered_address(folder) is None:
        return (folder / DATABASE).exists()
    with contextlib.suppress(NoIndexError), open_index(folder, store):
        return True
    return False


def verify_index(folder: Path) -> Verified:
    """Check everything in the index of a folder; raises like `open_index`."""
    from index.integrity.verify import verify

    address = accepted_address(folder)
    return verify(folder) if address is None else verify_store(address.url_with_name)


def verify_store(url: str) -> Verified:
    """Check everything in a collection by its address; raises like `open_index`."""
    from index.postgres.verify import verify_collection

    return verify_collection(parse_address(url))


def store_of(folder: Path) -> str | None:
    """Return the address of an index folder's store, or None if its index is in its own files."""
    address = remembered_address(folder)
    return None if address is None else address.url_with_name


def choose_store(folder: Path, url: str) -> str:
    """Return the address at which to keep an index folder's collection, and record that this user accepts it.

    A collection without a name is named after the folder of documents; raises UsageError if another collection has
    that name.
    """
    address = parse_address(url)
    if not address.collection:
        address = _address_named_after(folder, address)
    from index.postgres.connection import connect

    connect(address, reading=True).close()  # raises before an unreachable server is accepted
    accept_address(folder, address)
    return address.url_with_name


def _address_named_after(folder: Path, address: StoreAddress) -> StoreAddress:
    with contextlib.suppress(UsageError):  # an unreadable record is written again
        previous = remembered_address(folder)
        if previous is not None and previous.url == address.url:
            return previous
    named = address.named(collection_name(folder.parent))
    if is_accepted(folder, named) and not is_built(folder, named.url_with_name):
        return named  # the first build was interrupted
    return _new_collection(address, named.collection)


def _source_name(source: Path | str) -> str:
    """Return the name of a source's collection; raises like `open_store` if its address does not choose one."""
    if isinstance(source, Path):
        return collection_name(source)
    address = parse_address(source)
    if address.collection:
        return address.collection
    from index.postgres.connection import connect, translate_errors
    from index.postgres.schema import only_collection

    with connect(address, reading=True) as connection, translate_errors(address.url):
        return only_collection(connection, address.url)


def is_same_collection(source: Path | str, target: Path | str) -> bool:
    """Return whether a copy between two folders or addresses would replace a collection with itself.

    A target folder stands for the index files in it, as a copy makes it use these.
    """
    if isinstance(target, Path):
        return isinstance(source, Path) and (source / INDEX_FOLDER).resolve() == (target / INDEX_FOLDER).resolve()
    address = remembered_address(source / INDEX_FOLDER) if isinstance(source, Path) else parse_address(source)
    destination = parse_address(target)
    if address is not None and address.url == destination.url and destination.collection and not address.collection:
        address = address.named(_source_name(source))
    return address == destination


def _new_collection(address: StoreAddress, name: str) -> StoreAddress:
    """Return the address of a new collection of this name; UsageError if there already is one."""
    from index.postgres.connection import connect, translate_errors
    from index.postgres.schema import collections

    with connect(address, reading=True) as connection, translate_errors(address.url):
        names = collections(connection)
    named = address.named(name)
    if name in names:
        raise UsageError(
            f"{address.url} already has a collection {name}. To write to that one, name it: {named.url_with_name}; "
            "or give another name after the #."
        )
    return named


def use_files_in_folder(folder: Path) -> None:
    """Keep an index folder's collection in its own files from now on."""
    forget_address(folder)


def make_index_folder(folder: Path) -> None:
    """Create an index folder; one without an index gets an ignore file for version control."""
    make_folder(folder)
    # If a user deletes that file later, it is not restored.
    if not any((folder / name).exists() for name in (DATABASE, IGNORE_NAME, STORE_FILE)):
        write_atomically(folder / IGNORE_NAME, b"*\n")
