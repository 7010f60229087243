"""A collection in PostgreSQL as users meet it: built once, asked from anywhere, copied without embedding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from corpus.errors import UsageError
from index.postgres.schema import VERSION
from index.stores import open_index, store_of
from qa import Retriever, State, build_index
from qa.cli.main import app
from qa.retrieval import retriever
from tests.encoders import BagEncoder


@pytest.fixture(autouse=True)
def bag(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands load the model by its name, which for this one is nowhere."""
    monkeypatch.setattr(retriever, "load_encoder", lambda *_, **__: BagEncoder())


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words, standalone_mode=False)


def test_built_once_and_asked_from_anywhere(
    root: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder remembers its store; where the files are not, what is cited was not checked, and is never verified."""
    build_index(root, encoder=BagEncoder(), store=address)
    assert store_of(root / ".qa") == address
    assert {path.name for path in (root / ".qa").iterdir()} == {".gitignore", "lock", "store.json"}
    build_index(root, encoder=BagEncoder())
    with Retriever.open(root, encoder=BagEncoder(), reader=False) as here:
        known = here.ask("Where do fish swim?")
    assert {hit.source.state for hit in known.passages} == {State.VERIFIED}
    (elsewhere := tmp_path / "elsewhere").mkdir()
    # A file of the same name there is another one.
    (elsewhere / "cats.md").write_text("# Cats\n")
    monkeypatch.chdir(elsewhere)
    found = json.loads(run("ask", "--store", address, "--no-reader", "--json", "Where do fish swim?").stdout)
    assert [one["id"] for one in found["passages"]] == [one.id for one in known.passages]
    assert [one["score"] for one in found["passages"]] == [one.score for one in known.passages]
    assert {one["source"]["state"] for one in found["passages"]} == {"unchecked"}
    shown = run("ask", "--store", address, "--no-reader", "Where do fish swim?")
    assert "! not checked: its file is not on this machine" in shown.stdout
    with Retriever.open(store=address, encoder=BagEncoder(), reader=False) as there:
        assert {hit.source.state for hit in there.similar("cats.md").passages or ()} == {State.UNCHECKED}
        assert there.topics(n=1).total == 4


def test_a_retriever_of_a_store_reloads(root: Path, address: str) -> None:
    build_index(root, encoder=BagEncoder(), store=address)
    with Retriever.open(store=address, encoder=BagEncoder(), reader=False) as asked:
        assert not asked.reload()
        (root / "birds.txt").write_text("Birds sing at night.\n")
        build_index(root, encoder=BagEncoder())
        assert asked.reload()
        assert asked.search("night", k=1)[0].text == "Birds sing at night.\n".strip()


def test_status_and_check(root: Path, address: str) -> None:
    """With the folder, and by the address alone."""
    build_index(root, encoder=BagEncoder(), store=address)
    (root / "birds.txt").unlink()
    with_files = json.loads(run("status", str(root), "--json").stdout)
    alone = json.loads(run("status", "--store", address, "--json").stdout)
    assert with_files["index"] == alone["index"] == address
    assert (with_files["passages"], with_files["format"]) == (alone["passages"], alone["format"]) == (4, VERSION)
    assert with_files["changes"]["removed"] == 1
    assert alone["changes"]["problem"] == "its files are not looked at"
    intact = f"{address} is intact: 3 documents, 4 passages; all checksums match\n"
    assert run("check", str(root)).stdout == run("check", "--store", address).stdout == intact


def test_copied_there_and_back_nothing_is_embedded(root: Path, address: str, tmp_path: Path) -> None:
    """The same vectors to the last bit; the folder that was copied to has its own files again."""
    build_index(root, encoder=BagEncoder())
    with open_index(root / ".qa") as index:
        before = {
            one.key: index.vectors([one.vector]).tobytes() for one in index.passages(index.columns().passages.tolist())
        }
        names = [one.path for one in index.documents()]
    assert "Copied 3 documents, 4 passages to" in run("copy", str(root), address).stdout
    (back := tmp_path / "back").mkdir()
    for name in names:
        (back / name).parent.mkdir(exist_ok=True)
        (back / name).write_bytes((root / name).read_bytes())
    build_index(back, encoder=BagEncoder(), store=address)
    assert run("copy", address, str(back)).exit_code == 0
    encoder = BagEncoder()
    build_index(back, encoder=encoder)
    assert (store_of(back / ".qa"), encoder.embedded) == (None, [])
    with open_index(back / ".qa") as index:
        passages = index.passages(index.columns().passages.tolist())
        assert {one.key: index.vectors([one.vector]).tobytes() for one in passages} == before


@pytest.mark.parametrize(
    "words",
    [("ask", "--index", "x", "who?"), ("ask", "--corpus", "x", "who?"), ("status", "x"), ("check", "--repair")],
)
def test_a_store_is_named_alone(words: tuple[str, ...]) -> None:
    found = run(*words[:1], "--store", "postgresql://host/db", *words[1:])
    assert found.exit_code == UsageError.exit_code
    assert "--store names the collection, without its files" in found.stderr
