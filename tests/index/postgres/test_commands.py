"""Commands on a collection in PostgreSQL: built once, asked from anywhere, copied without embedding."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpus.errors import UsageError
from index.postgres.schema import VERSION
from index.stores import open_index, open_store, store_of
from qa import Retriever, State, build_index
from qa.cli.main import app
from qa.collection.build import model_of
from qa.retrieval import retriever
from tests.encoders import BagEncoder
from tests.index.conftest import run_sql
from tests.postgres_server import Server


@pytest.fixture(autouse=True)
def use_bag_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make commands use the bag encoder, which cannot be loaded by its name."""
    monkeypatch.setattr(retriever, "load_encoder", lambda *_, **__: BagEncoder())


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, standalone_mode=False)


def test_a_collection_is_built_once_and_asked_from_anywhere(
    root: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder remembers its store; without its files, citations are unchecked, never verified."""
    build_index(root, encoder=BagEncoder(), store=address)
    assert store_of(root / ".qa") == address
    assert {path.name for path in (root / ".qa").iterdir()} == {".gitignore", "lock", "store.json"}
    build_index(root, encoder=BagEncoder())
    with Retriever.open(root, encoder=BagEncoder(), reader=False) as local:
        expected = local.ask("Where do fish swim?")
    assert {hit.source.state for hit in expected.passages} == {State.VERIFIED}
    (elsewhere := tmp_path / "elsewhere").mkdir()
    # A file with the same name, but not the indexed one.
    (elsewhere / "cats.md").write_text("# Cats\n")
    monkeypatch.chdir(elsewhere)
    answer = json.loads(run("ask", "--store", address, "--no-reader", "--json", "Where do fish swim?").stdout)
    assert [hit["id"] for hit in answer["passages"]] == [hit.id for hit in expected.passages]
    assert [hit["score"] for hit in answer["passages"]] == [hit.score for hit in expected.passages]
    assert {hit["source"]["state"] for hit in answer["passages"]} == {"unchecked"}
    shown = run("ask", "--store", address, "--no-reader", "Where do fish swim?")
    assert "! not checked: its file is not on this machine, or cannot be read" in shown.stdout
    with Retriever.open(store=address, encoder=BagEncoder(), reader=False) as remote:
        assert {hit.source.state for hit in remote.similar("cats.md").passages or ()} == {State.UNCHECKED}
        assert remote.topics(n=1).total == 4


def test_status_and_check(root: Path, address: str) -> None:
    """For the folder, and by address alone."""
    build_index(root, encoder=BagEncoder(), store=address)
    (root / "birds.txt").unlink()
    with_files = json.loads(run("status", str(root), "--json").stdout)
    by_address = json.loads(run("status", "--store", address, "--json").stdout)
    assert with_files["index"] == by_address["index"] == address
    assert (
        (with_files["passages"], with_files["format"]) == (by_address["passages"], by_address["format"]) == (4, VERSION)
    )
    assert with_files["changes"]["removed"] == 1
    assert by_address["changes"]["problem"] == "its files were not compared"
    intact = f"{address} is intact: 3 documents, 4 passages; all checksums match\n"
    assert run("check", str(root)).stdout == run("check", "--store", address).stdout == intact


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_collection_that_moves_keeps_its_patterns_and_model(root: Path, address: str, *, is_damaged: bool) -> None:
    """Files that were left out never get into a shared database, even if the index that it replaces is damaged."""
    build_index(root, encoder=BagEncoder(), exclude=["birds.txt"])
    if is_damaged:
        run_sql(root / ".qa", "UPDATE meta SET value = '7' WHERE key = 'generation'")
    for store in (address, f"{address}-second"):
        assert model_of(root, store) == "bag"
        build_index(root, encoder=BagEncoder(), store=store)
        with open_store(store) as index:
            assert [document.path for document in index.documents()] == ["cats.md", "notes/fish.md"]


def vectors_of(root: Path) -> dict[str, bytes]:
    """Return the vectors of all passages, by key."""
    with open_index(root / ".qa") as index:
        passages = index.passages(index.columns().passages.tolist())
        return {passage.key: index.vectors([passage.vector]).tobytes() for passage in passages}


def test_copy_round_trip_embeds_nothing(root: Path, address: str, tmp_path: Path) -> None:
    """Vectors keep every bit, and the target folder is stored in its own files again."""
    build_index(root, encoder=BagEncoder())
    before = vectors_of(root)
    target = shutil.copytree(root, tmp_path / "target", ignore=shutil.ignore_patterns(".qa"))
    assert "Copied 3 documents, 4 passages to" in run("copy", str(root), address).stdout
    build_index(target, encoder=BagEncoder(), store=address)
    assert run("copy", address, str(target)).exit_code == 0
    encoder = BagEncoder()
    build_index(target, encoder=encoder)
    assert (store_of(target / ".qa"), encoder.embedded) == (None, [])
    assert vectors_of(target) == before


def test_a_collection_is_not_copied_to_itself(root: Path, server: Server, tmp_path: Path) -> None:
    """Not even under another name: a link, the address of its store, or that of a database with no other collection."""
    build_index(root, encoder=BagEncoder())
    (link := tmp_path / "link").symlink_to(root)
    server.run("CREATE DATABASE alone")
    database = server.url.removesuffix("postgres") + "alone"
    refused = [run("copy", str(root), str(link))]
    build_index(root, encoder=BagEncoder(), store=f"{database}#birds")
    refused += [run("copy", str(link), f"{database}#birds"), run("copy", database, f"{database}#birds")]
    assert [result.stderr for result in refused] == ["qa: a collection cannot be copied to itself.\n"] * 3
    assert run("copy", f"{database}#birds", str(root)).exit_code == 0
    assert store_of(root / ".qa") is None


def test_a_copy_takes_the_name_of_the_only_collection(root: Path, server: Server) -> None:
    """If neither address names a collection. The error of a second copy names the existing one."""
    source, target = (server.url.removesuffix("postgres") + name for name in ("copied", "copies"))
    server.run("CREATE DATABASE copied")
    server.run("CREATE DATABASE copies")
    build_index(root, encoder=BagEncoder(), store=f"{source}#birds")
    assert run("copy", source, target).exit_code == 0
    with open_store(f"{target}#birds") as index:
        assert index.info.passages == 4
    refused = run("copy", source, target)
    assert refused.exit_code == UsageError.exit_code
    assert f"already has a collection birds. To write to that one, name it: {target}#birds;" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [("ask", "--index", "x", "who?"), ("ask", "--corpus", "x", "who?"), ("status", "x"), ("check", "--repair")],
)
def test_store_option_cannot_be_combined_with_folders_or_repairs(arguments: tuple[str, ...]) -> None:
    refused = run(*arguments[:1], "--store", "postgresql://host/db", *arguments[1:])
    assert refused.exit_code == UsageError.exit_code
    assert "--store names the collection, without its files" in refused.stderr
