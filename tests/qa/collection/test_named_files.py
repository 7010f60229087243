"""Collections formed by several folders and files, and which of their files are indexed."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corpus.errors import CorpusError, UsageError
from index import BuildMode
from index.update.report import Request
from index.update.update import rebuild_index
from qa.collection import build
from qa.collection.named_files import Collection, collection_of
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.qa.commands import built_documents, documents
from tests.qa.indexes import write

FILES = ("papers/a.md", "papers/b.txt", "papers/deep/c.md", "papers [1]/d.md", "notes/e.md", "notes/f.txt", "talk.md")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Folders and files that are not in a collection."""
    root = tmp_path.resolve() / "home"
    write(root, {name: f"What is in {name}." for name in FILES})
    return root


def collection(*paths: str | Path) -> Collection:
    return collection_of([Path(path) for path in paths])


def test_a_folder_is_its_own_collection(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without paths, it is the collection that contains the working directory."""
    monkeypatch.delenv("QA_INDEX", raising=False)
    monkeypatch.chdir(home)
    assert collection("papers") == collection("papers/.qa") == Collection(home / "papers")
    (home / ".qa").mkdir()
    monkeypatch.chdir(home / "notes")
    assert collection_of([]) == Collection(home)


def test_a_folder_inside_a_collection_is_part_of_it(home: Path) -> None:
    """A folder is its own collection if it is one already, or if the one above can never contain it."""
    (home / ".qa").mkdir()
    part = collection(home / "papers" / "deep")
    assert (part.root, part.paths) == (home, ("papers/deep/",))
    assert part.note == (
        f"Part of the collection {home}; updating all of it. "
        f"For a collection of its own: qa index --index {home / 'papers' / 'deep'}"
    )
    (home / ".hidden" / "deep").mkdir(parents=True)
    (home / "link").symlink_to(home / "papers")
    (home / "notes" / ".qa").mkdir()
    for path in (".hidden/deep", "link", "notes", "none"):
        assert collection(home / path) == Collection(home / path)


def test_several_paths_form_a_collection_in_their_common_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "notes")
    common = collection("../papers", ".", "../talk.md", "../papers/deep", "../papers/a.md")
    assert (common.root, common.paths) == (home, ("notes/", "papers/", "talk.md"))
    assert common.note == f"Collection: {home}, limited to the paths given."
    assert collection(home / "papers" / "a.md", home / "papers" / "deep" / "c.md").root == home / "papers"


def test_a_folder_that_contains_the_others_is_the_collection(home: Path) -> None:
    assert collection(home, home / "papers", home / "talk.md") == Collection(home)
    assert collection(home / "notes", home / "notes") == Collection(home / "notes")


def test_a_file_forms_a_collection_or_belongs_to_the_one_above(home: Path) -> None:
    deep = home / "papers" / "deep"
    formed = collection(deep / "c.md")
    assert (formed.root, formed.paths) == (deep, ("c.md",))
    (home / ".qa").mkdir()
    assert collection(deep, home / "papers" / "a.md").paths == ("papers/a.md", "papers/deep/")
    formed = collection(deep / "c.md")
    assert (formed.root, formed.paths) == (home, ("papers/deep/c.md",))
    assert formed.note == f"Part of the collection {home}; updating all of it."


def test_links_are_resolved(home: Path, tmp_path: Path) -> None:
    """Files are searched without following links, so the collection has their targets."""
    (tmp_path / "link").symlink_to(home / "papers")
    (tmp_path / "link.md").symlink_to(home / "talk.md")
    resolved = collection(tmp_path / "link", tmp_path / "link.md")
    assert (resolved.root, resolved.paths) == (home, ("papers/", "talk.md"))


def test_paths_that_cannot_be_indexed_are_refused(home: Path) -> None:
    """Nothing is written."""
    (home / ".hidden").mkdir()
    os.mkfifo(home / "pipe.md")
    for name, words in (("gone.md", "does not exist"), ("pipe.md", "neither a file nor"), (".hidden", "is hidden in")):
        with pytest.raises(CorpusError, match=words):
            collection(home / "papers", home / name)
    odd = Path(os.fsdecode(os.fsencode(home) + b"/\xff.md"))
    odd.write_text("x")
    with pytest.raises(CorpusError, match="not valid UTF-8"):
        collection(home / "papers", odd)
    with pytest.raises(CorpusError, match="have only / in common"):
        collection("/usr", home)
    assert not (home / ".qa").exists()


def test_a_limited_collection_stays_limited(home: Path) -> None:
    """This holds for builds without paths, with further paths and with patterns, and for a rebuild."""
    first = built_documents(home, paths=("papers/", "talk.md"))
    assert first == ["papers/a.md", "papers/b.txt", "papers/deep/c.md", "talk.md"]
    (home / "papers" / "new.md").write_text("New.")
    assert built_documents(home) == sorted([*first, "papers/new.md"])
    extended = sorted([*first, "papers/new.md", "notes/e.md"])
    assert built_documents(home, paths=("notes/e.md",)) == extended
    named = ["notes/e.md", "papers/a.md", "papers/deep/c.md", "papers/new.md", "talk.md"]
    assert built_documents(home, include=("*.md",)) == named
    rebuild_index(Request(home, BagEncoder()))
    assert documents(home) == named
    assert built_documents(home, include=()) == extended


def test_paths_do_not_limit_a_collection_of_a_whole_folder(home: Path) -> None:
    assert built_documents(home) == built_documents(home, paths=("papers/",)) == sorted(FILES)
    (home / "new.md").write_text("New.")
    everywhere = sorted(["new.md", *(name for name in FILES if name.endswith(".md"))])
    assert built_documents(home, include=("*.md",), paths=("papers/",)) == everywhere


def test_a_damaged_index_is_rebuilt_with_its_limits(home: Path) -> None:
    """The whole folder, which may be a home, is not indexed."""
    before = built_documents(home, paths=("papers/", "talk.md"))
    database = home / ".qa" / "index.db"
    database.write_bytes(database.read_bytes().replace(b"What is in talk.md", b"What is on talk.md"))
    rebuild_index(Request(home, BagEncoder()))
    assert documents(home) == before
    database.write_bytes(database.read_bytes().replace(b"What is in talk.md", b"What is on talk.md"))
    again = built_documents(home, mode=BuildMode.FULL, paths=("notes/",))
    assert again == sorted([*before, "notes/e.md", "notes/f.txt"])


@pytest.mark.parametrize("paths", ["./notes", ("notes/",), Path("notes"), [Path("papers", "..", "notes")]])
def test_paths_in_python_may_be_written_in_any_way(home: Path, paths: Any) -> None:
    """Also as an absolute path, if it is in the folder, even one reached through a link."""
    link = home.parent / "link"
    link.symlink_to(home)
    expected = ["notes/e.md", "notes/f.txt"]
    assert built_documents(link, paths=paths) == built_documents(link, paths=[home / "notes"]) == expected
    assert built_documents(home, paths=[link, "talk.md"]) == expected


@pytest.mark.parametrize(
    ("paths", "error", "words"),
    [
        (["notes", "absent"], CorpusError, "/home/absent does not exist. Nothing was written."),
        (["notes", "../else.md"], CorpusError, "/else.md is not in .*/home. Index it separately."),
        ([5], TypeError, "^paths must be of type str or PathLike, not int$"),
        (None, TypeError, "^paths must be of type str or PathLike, not NoneType$"),
    ],
)
def test_paths_in_python_that_cannot_be_indexed_are_refused(
    home: Path, paths: Any, error: type[Exception], words: str
) -> None:
    """As on the command line; nothing is written."""
    (home.parent / "else.md").touch()
    with pytest.raises(error, match=words):
        build.build_index(home, paths=paths, encoder=BagEncoder())
    with pytest.raises(error, match=words):
        build.preview_index(home, paths=paths)
    assert not (home / ".qa").exists()


@pytest.mark.parametrize("call", [build.build_index, build.preview_index, Retriever.open])
def test_a_folder_is_named_by_a_string_or_a_path_object(call: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=r"^path must be of type str or PathLike, not int$"):
        call(5)


@pytest.mark.parametrize("call", [build.build_index, Retriever.open])
def test_a_model_name_is_not_an_encoder(home: Path, call: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=r"^encoder must be of type Encoder, not str$"):
        call(home, encoder="bag")


def test_a_negative_number_of_workers_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would wait for them for ever."""
    monkeypatch.setattr(build, "require_root", lambda path: pytest.fail(f"{path} was opened"))
    with pytest.raises(UsageError, match="workers must be 0 or more, not -1"):
        build.build_index(home, workers=-1)
