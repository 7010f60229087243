"""How a command finds its index."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpus.errors import CorpusError, NoIndexError
from qa.collection.build import build_index
from qa.locate import find_index, find_root_or_here, has_index, index_command, root_of, suggest_paths, working_directory


@pytest.fixture(autouse=True)
def _no_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QA_INDEX", raising=False)


def _corpus(folder: Path) -> Path:
    (folder / ".qa").mkdir(parents=True)
    return folder


def test_the_nearest_index_above_is_found(tmp_path: Path) -> None:
    outer, inner = _corpus(tmp_path / "a"), _corpus(tmp_path / "a" / "b")
    deep = inner / "c" / "d"
    deep.mkdir(parents=True)
    assert find_index(deep) == find_index(inner) == inner
    assert find_index(outer) == outer


@pytest.mark.parametrize("named", ["notes", "notes/.qa", "notes/", "notes/.qa/"])
def test_named_by_root_or_by_index_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """--index and QA_INDEX accept the corpus root or the .qa folder."""
    root = _corpus(tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    assert find_index(index=Path(named)) == root
    monkeypatch.setenv("QA_INDEX", named)
    assert find_index() == root


def test_a_file_in_place_of_the_index_is_named(tmp_path: Path) -> None:
    (tmp_path / ".qa").touch()
    for named in (tmp_path, tmp_path / ".qa"):
        with pytest.raises(NoIndexError, match=r"/\.qa is a file, but an index is a folder .* Delete or rename it\.$"):
            find_index(index=named)
    with pytest.raises(CorpusError, match=r"/\.qa is a file, but"):
        build_index(tmp_path)


def test_a_link_to_nowhere_in_place_of_the_index_is_named(tmp_path: Path) -> None:
    """As when its disk is not mounted."""
    (tmp_path / ".qa").symlink_to(tmp_path / "disk" / "index")
    with pytest.raises(NoIndexError, match=r"/\.qa is a link to .*/disk/index, which does not exist\. Mount"):
        find_index(index=tmp_path)
    with pytest.raises(CorpusError, match=r"is a link to"):
        build_index(tmp_path)


def test_option_beats_variable_beats_upward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    option, variable, upward = (_corpus(tmp_path / name) for name in ("option", "variable", "upward"))
    monkeypatch.setenv("QA_INDEX", str(variable))
    (upward / "deep").mkdir()
    monkeypatch.chdir(upward / "deep")
    assert find_index(index=option) == option
    assert find_index() == variable
    assert find_index(upward) == upward  # a program that opens a folder gets that one
    monkeypatch.setenv("QA_INDEX", "")
    assert find_index() == upward


def test_without_an_index_the_error_names_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It also names QA_INDEX if the folder is from there, as that is easily forgotten."""
    here = tmp_path / "my notes"
    here.mkdir()
    with pytest.raises(NoIndexError) as caught:
        find_index(here)
    assert f"qa index '{here}'" in str(caught.value)
    with pytest.raises(NoIndexError) as caught:
        find_index(index=here)
    assert str(caught.value) == f"no index in {here}. Build one with: qa index '{here}'"
    monkeypatch.setenv("QA_INDEX", str(here))
    with pytest.raises(NoIndexError, match=r"no index in .* \(from QA_INDEX\)\. Build one"):
        find_index()


def test_without_an_index_no_disk_or_home_folder_is_suggested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in (tmp_path, Path(tmp_path.anchor)):
        monkeypatch.chdir(folder)
        with pytest.raises(NoIndexError, match=r"\. Build one for a folder of documents: qa index FOLDER$"):
            find_index()


def test_folders_above_a_named_one_are_not_searched(tmp_path: Path) -> None:
    """A mistyped --index must not find some other collection."""
    root = _corpus(tmp_path / "notes")
    (root / "deep").mkdir()
    with pytest.raises(NoIndexError, match=rf"no index in .*deep; .* collection {root}: use that with --path .*deep/ "):
        find_index(index=root / "deep")


@pytest.mark.parametrize(("name", "words"), [("typo", "does not exist"), ("talk.md", "is a file")])
def test_a_wrong_named_folder_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    """As in all commands that read documents; the message says if the folder is from QA_INDEX."""
    (tmp_path / "talk.md").touch()
    with pytest.raises(CorpusError, match=rf"/{name} {words}\. Give a folder of documents\.$"):
        find_index(index=tmp_path / name)
    monkeypatch.setenv("QA_INDEX", str(tmp_path / name))
    with pytest.raises(CorpusError, match=rf"/{name} \(from QA_INDEX\) {words}\. Give a folder of documents\.$"):
        find_index()


def test_working_directory_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert working_directory() is None
    for find in (find_index, find_root_or_here):
        with pytest.raises(NoIndexError, match="working directory no longer exists"):
            find()
    monkeypatch.chdir(tmp_path)
    assert find_root_or_here() == working_directory() == tmp_path


def test_a_path_that_is_too_long_has_no_index() -> None:
    assert not has_index(Path("x" * 5000))


@pytest.mark.parametrize(
    ("wanted", "similar"),
    [("tlaks/*", "talks/"), ("travle.md", "old/travel.md"), ("2025", "b-2025.md, talks/a-2025.md"), ("xyz", "")],
)
def test_suggest_paths(wanted: str, similar: str) -> None:
    paths = ["talks/a-2025.md", "old/travel.md", "b-2025.md"]
    assert suggest_paths(wanted, paths) == (f" Similar: {similar}." if similar else "")


def test_command_survives_the_shell() -> None:
    """Blanks are quoted, and a leading dash is not taken for an option."""
    assert index_command("a b") == "qa index 'a b'"
    assert index_command("-x") == "qa index -- -x"


def test_symbolic_links_are_not_resolved(tmp_path: Path) -> None:
    """The user chose the link's name."""
    (tmp_path / "link").symlink_to(_corpus(tmp_path / "real"))
    assert root_of(tmp_path / "link" / ".qa") == tmp_path / "link"


def test_an_inaccessible_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have an index, so the message must not deny that."""
    (closed := tmp_path / "closed").mkdir()
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (closed, os.X_OK) and access(path, mode))
    with pytest.raises(CorpusError, match=f"cannot look for an index in {closed}: permission denied"):
        find_index(index=closed)
    with pytest.raises(NoIndexError, match=f"folder above \\(no permission to look into {closed}\\). Build one"):
        find_index(closed / "deep")
