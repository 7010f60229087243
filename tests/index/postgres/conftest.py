"""A server for all tests of this folder, and folders of documents, each with its own collection."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from index.postgres import schema
from index.postgres.address import remembered_address
from tests.postgres_server import Server, running_server, use_store

_NUMBERS = count(1)


@pytest.fixture(scope="session", autouse=True)
def config_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the user's settings, which include the accepted stores."""
    home = tmp_path_factory.mktemp("config")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(home))
        yield home


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running_server() as started:
        yield started


@pytest.fixture
def address(server: Server) -> str:
    """The address of a collection that does not exist yet."""
    return f"{server.url}#c{next(_NUMBERS)}"


@pytest.fixture
def remote(root: Path, address: str) -> Path:
    """The small corpus, set up to be indexed in PostgreSQL."""
    use_store(root / ".qa", address)
    return root


def schema_of(folder: Path) -> str:
    """Return the database schema of a folder's collection."""
    address = remembered_address(folder / ".qa")
    assert address is not None
    return schema.PREFIX + address.collection
