"""A folder may name the server of its collection, but only a server that this user has accepted is used."""

from __future__ import annotations

import errno
import json
import shlex
import shutil
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

import pytest

from corpus.errors import StorageError, UsageError
from index.postgres.address import ACCEPTED_FILE, STORE_FILE, parse_address, remembered_address
from index.stores import is_built, open_index, open_writer, store_of, verify_index
from qa.collection.build import build_index
from tests.encoders import BagEncoder
from tests.index.conftest import build, run_code
from tests.postgres_server import Server, use_store


@pytest.mark.parametrize("call", ["open_store(url)", "verify_store(url)", "open_store_writer(url, Path('notes'))"])
def test_without_the_extra_the_error_names_it(call: str) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nsys.modules['psycopg'] = None\nfrom corpus.errors import UsageError\n"
        "from index.stores import open_store, open_store_writer, verify_store\nurl = 'postgresql://127.0.0.1:1/x#y'\n"
        f"try:\n    {call}\nexcept UsageError as error:\n    print(error)"
    )
    done = run_code(code, check=False)
    assert done.stdout == "a store in PostgreSQL needs: pip install 'qa-passages[postgres]'\n", done.stderr


def test_a_folder_that_cannot_be_entered_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a file in it, which may not exist."""

    def refuse(_: Path) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("index.postgres.address.read_regular", refuse)
    for accessible, named in ((True, tmp_path / STORE_FILE), (False, tmp_path)):
        monkeypatch.setattr("os.access", lambda *_, accessible=accessible: accessible)
        with pytest.raises(StorageError, match=rf"cannot read {named}: .*\. Check its permissions"):
            remembered_address(tmp_path)


@pytest.mark.parametrize("access", [open_index, is_built, verify_index, lambda folder: open_writer(folder).__enter__()])
def test_a_server_that_only_the_folder_names_is_not_used(tmp_path: Path, access: Callable[[Path], object]) -> None:
    """There is not even a connection to it, and the suggested command can be pasted."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"postgresql://127.0.0.1:{listener.getsockname()[1]}/$(touch x)?a='b'\x1b[2J#c"
        folder = tmp_path / "$(touch x)"
        (folder / ".qa").mkdir(parents=True)
        (folder / ".qa" / STORE_FILE).write_text(json.dumps({"version": 1, "store": url}))
        with pytest.raises(UsageError, match="names a server that you have not named for this folder") as error:
            access(folder / ".qa")
        listener.settimeout(0.05)
        with pytest.raises(TimeoutError):
            listener.accept()
    command = shlex.split(str(error.value).rpartition("If you trust it: ")[2])
    assert command == ["qa", "index", str(folder), "--store", url]


def test_naming_an_address_accepts_it_for_that_folder(
    remote: Path, address: str, server: Server, config_home: Path, tmp_path: Path
) -> None:
    """But not for a copy of the folder, nor for another address that is written there later."""
    build(remote)
    assert (config_home / "qa" / ACCEPTED_FILE).stat().st_mode & 0o777 == 0o600
    with open_index(remote / ".qa") as index:
        assert index.info.passages == 4
    copied = tmp_path / "copied"
    shutil.copytree(remote, copied)
    with pytest.raises(UsageError, match="have not named"):
        open_index(copied / ".qa")
    use_store(copied / ".qa", server.url)  # the folder knows the collection's name
    assert store_of(copied / ".qa") == address
    with open_index(copied / ".qa") as index:
        assert index.info.passages == 4
    (copied / ".qa" / STORE_FILE).write_text(json.dumps({"store": address + "x"}))
    with pytest.raises(UsageError, match="have not named"):
        open_index(copied / ".qa")


def test_an_address_that_cannot_be_recorded_as_accepted_is_not_remembered(
    root: Path, address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="set XDG_CONFIG_HOME to a folder of yours"):
        use_store(root / ".qa", address)
    assert store_of(root / ".qa") is None


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://host/db", "is not an address of a store"),
        ("postgresql://user:secret@host/db", "leave the password out"),
        ("postgresql://host/db?password=secret", "leave the password out"),
        ("postgresql://host/db#Bad Name", "cannot be named 'Bad Name'"),
    ],
)
def test_invalid_addresses_are_refused(tmp_path: Path, url: str, message: str) -> None:
    """They are not recorded, and messages do not repeat passwords."""
    with pytest.raises(UsageError, match=message) as error:
        use_store(tmp_path / ".qa", url)
    assert "secret" not in str(error.value)
    assert not (tmp_path / ".qa").exists()


def test_two_folders_of_the_same_name_do_not_overwrite_each_other(tmp_path: Path, server: Server, address: str) -> None:
    name = parse_address(address).collection
    for parent in ("a", "b"):
        (tmp_path / parent / name).mkdir(parents=True)
        (tmp_path / parent / name / "x.txt").write_text(f"Folder {parent}.\n")
    use_store(tmp_path / "a" / name / ".qa", server.url)
    build(tmp_path / "a" / name)
    use_store(tmp_path / "a" / name / ".qa", server.url)
    with pytest.raises(UsageError, match=f"already has a collection {name}. To write to that one, name it: .*#{name};"):
        use_store(tmp_path / "b" / name / ".qa", server.url)


class InterruptedEncoder(BagEncoder):
    """Is interrupted by Ctrl-C when it begins to embed."""

    def encode_passages(self, texts: Sequence[str]) -> NoReturn:
        raise KeyboardInterrupt


def test_a_folder_keeps_its_index_until_the_store_has_one(root: Path, server: Server, tmp_path: Path) -> None:
    """If the build is interrupted, the same command continues it, without the name of the collection."""
    (folder := root.rename(tmp_path / "moving")).joinpath("more.txt").write_text("A word.\n")
    build(folder)
    with pytest.raises(KeyboardInterrupt):
        build_index(folder, encoder=InterruptedEncoder(), store=server.url)
    assert store_of(folder / ".qa") is None
    assert build(folder).unchanged == 4
    assert build_index(folder, encoder=BagEncoder(), store=server.url).added == 4
    assert store_of(folder / ".qa") == f"{server.url}#moving"


def test_naming_a_store_again_replaces_a_damaged_record(root: Path, address: str) -> None:
    """As its error message says."""
    build_index(root, encoder=BagEncoder(), store=address)
    (root / ".qa" / STORE_FILE).write_text("{")
    with pytest.raises(UsageError, match="Name the store again: qa index --store URL"):
        build(root)
    build_index(root, encoder=BagEncoder(), store=address)
    assert store_of(root / ".qa") == address
