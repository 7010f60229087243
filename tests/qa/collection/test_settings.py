"""Settings of a collection, in `qa.toml` or `[tool.qa]`, and of the user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpus.errors import UsageError
from index import Info, Request, open_index, update_index
from index.storage.metadata import info_values
from qa.answer.results import Mode
from qa.collection import build
from qa.collection.settings import CollectionSettings, read_settings, settings_difference
from tests.encoders import BagEncoder
from tests.qa.commands import built_documents, documents
from tests.qa.indexes import write

EVERY_KEY = 'include = ["*.md"]\nexclude = ["old/"]\nk = 3\nmode = "keyword"\nrerank = false\n'
EVERY_SETTING = CollectionSettings(include=("*.md",), exclude=("old/",), k=3, mode=Mode.KEYWORD, rerank=False)


def write_settings(root: Path, text: str | bytes) -> None:
    (root / "qa.toml").write_bytes(text if isinstance(text, bytes) else text.encode())


def write_project(root: Path, text: str) -> None:
    (root / "pyproject.toml").write_text(text, encoding="utf-8")


def error_of(root: Path) -> str:
    """The message of the usage error that the settings cause."""
    with pytest.raises(UsageError) as caught:
        read_settings(root)
    return str(caught.value)


def info_of(root: Path) -> Info:
    with open_index(root / ".qa") as snapshot:
        return snapshot.info


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, {name: f"What is in {name}." for name in ("a.md", "b.txt", "old/c.md")})
    return tmp_path


def test_without_settings(tmp_path: Path) -> None:
    """There is no file, an empty one, another tool's project, or not even a folder."""
    assert read_settings(tmp_path) == read_settings(tmp_path / "gone") == CollectionSettings()
    for other in ("[tool.ruff]\nline-length = 120\n", "[tool.qa-other]\nk = 'x'\n"):
        write_project(tmp_path, other)
        assert read_settings(tmp_path) == CollectionSettings()
    write_settings(tmp_path, "")
    assert read_settings(tmp_path) == CollectionSettings()


def test_every_key(tmp_path: Path) -> None:
    write_settings(tmp_path, b"\xef\xbb\xbf" + EVERY_KEY.encode())
    assert read_settings(tmp_path) == EVERY_SETTING
    (tmp_path / "qa.toml").unlink()
    write_project(tmp_path, "[tool.ruff]\nk = 1\n[tool.qa]\n" + EVERY_KEY)
    assert read_settings(tmp_path) == EVERY_SETTING


def test_qa_toml_replaces_pyproject(tmp_path: Path) -> None:
    write_settings(tmp_path, "k = 7")
    write_project(tmp_path, "[tool.qa]\nk = 9\nmode = 'dense'\n")
    assert read_settings(tmp_path) == CollectionSettings(k=7)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("colour = 1", "unknown key 'colour'. Known keys: include, exclude, paths, formats, k, mode, rerank, reader."),
        ("include = '*.md'", "include must be a list of patterns"),
        ("exclude = [1]", "exclude must be a list of patterns"),
        ("paths = ['../x']", "paths must be a list of files and folders in it"),
        ("formats = ['.foo']", "formats must be a table"),
        ("formats = {'.foo' = 'word'}", 'formats must be a table such as {".foo" = "markdown"}, with any of text, '),
        ("formats = {'a/b' = 'text'}", "formats must be a table"),
        ("k = 0", "k must be a number from 1 to 1000"),
        ("k = true", "k must be a number"),
        ("k = 1.0", "k must be a number"),
        ("mode = 'fast'", "mode must be hybrid, dense or keyword."),
        ("rerank = 1", "rerank must be true or false"),
        ("model = 'someone/else'", "a model cannot be set here. Name it on the command line: qa index --model NAME"),
        ("rerank_model = 'someone/else'", "a model cannot be set here. Name it on the command line: qa ask --rerank-"),
    ],
)
def test_an_error_names_the_file_the_key_and_valid_values(tmp_path: Path, line: str, words: str) -> None:
    write_settings(tmp_path, line)
    error = error_of(tmp_path)
    assert str(tmp_path / "qa.toml") in error
    assert words in error
    (tmp_path / "qa.toml").unlink()
    write_project(tmp_path, "[tool.qa]\n" + line)
    assert f"[tool.qa] in {tmp_path / 'pyproject.toml'}" in error_of(tmp_path)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"k = ", "is not valid TOML: Invalid value (at end of document)"),
        (b"# caf\xe9", "is not UTF-8"),
        (b"k = " + b"[" * 60_000, "is not valid TOML: too deeply nested"),
        (b"k = " + b"9" * 60_000, "is not valid TOML"),
        (b"k" + b".k" * 30_000 + b" = 1", "a line with more than 500 dots"),
        (b"#" * 70_000, "more than 65,536 bytes"),
    ],
)
def test_a_hostile_file_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    write_settings(tmp_path, data)
    error = error_of(tmp_path)
    assert "qa.toml" in error
    assert words in error


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    """A link would read another file, a FIFO would wait for ever."""
    (tmp_path / "elsewhere").write_text("k = 3")
    file = tmp_path / "qa.toml"
    file.symlink_to(tmp_path / "elsewhere")
    assert "symbolic link, not followed" in error_of(tmp_path)
    file.unlink()
    os.mkfifo(file)
    assert "not a regular file" in error_of(tmp_path)
    file.unlink()
    file.mkdir()
    assert "not a regular file" in error_of(tmp_path)


def test_problems_of_pyproject_outside_our_table_are_ignored(tmp_path: Path) -> None:
    """The file belongs to other tools, so it may be a FIFO, broken or huge."""
    os.mkfifo(tmp_path / "pyproject.toml")
    assert read_settings(tmp_path) == CollectionSettings()
    (tmp_path / "pyproject.toml").unlink()
    for text in ("[[[ broken", "#" * 2_000_000 + "\n[tool.qa]\nk = 3"):
        write_project(tmp_path, text)
        assert read_settings(tmp_path) == CollectionSettings()
    for text, words in (
        ("[[[ broken\n[tool.qa]\n", "is not valid TOML"),
        ("#" * 70_000 + "\n[tool.qa]\nk = 3", "Put the settings into qa.toml"),
        ("[tool]\nqa = 1 # tool.qa", "must be a table"),
    ):
        write_project(tmp_path, text)
        assert words in error_of(tmp_path)


def test_a_build_uses_the_settings(root: Path) -> None:
    """Arguments override the file, which overrides the last build; if the file is deleted, its settings are too."""
    write_settings(root, EVERY_KEY)
    assert build.preview_index(root).added == 1
    assert built_documents(root) == ["a.md"]
    assert built_documents(root, include=("*.txt",)) == ["b.txt"]
    assert built_documents(root) == ["a.md"]
    write_settings(root, 'include = ["*.md"]')
    assert built_documents(root) == ["a.md", "old/c.md"]
    (root / "qa.toml").unlink()
    assert build.preview_index(root).added == 1
    assert built_documents(root) == ["a.md", "b.txt", "old/c.md"]


def test_arguments_are_remembered_when_the_file_is_deleted(root: Path) -> None:
    write_settings(root, 'include = ["*.md"]\nexclude = ["a.md"]')
    built_documents(root, exclude=("old/",))
    assert info_of(root).from_file == ("include",)
    (root / "qa.toml").unlink()
    assert built_documents(root) == ["a.md", "b.txt"]


def test_the_index_records_which_settings_are_from_a_file(root: Path) -> None:
    """If none are, nothing is recorded; an update that does not read the file changes nothing."""
    built_documents(root)
    assert "from_file" not in info_values(info_of(root))
    write_settings(root, 'paths = ["old"]')
    built_documents(root)
    (root / "old" / "d.md").write_text("More.")
    update_index(Request(root, BagEncoder()))
    assert (documents(root), info_of(root).from_file) == (["old/c.md", "old/d.md"], ("paths",))


def test_settings_that_differ_from_the_index_are_reported(root: Path) -> None:
    """Changed and deleted settings of either file are reported, unless they only affect questions."""
    write_settings(root, EVERY_KEY)
    built_documents(root)
    info = info_of(root)
    assert settings_difference(root, info) == ""
    write_settings(root, 'include = ["*.md"]\nk = 9')
    assert settings_difference(root, info) == "qa.toml and the index differ in exclude"
    (root / "qa.toml").unlink()
    for project in (None, "[tool.ruff]\n", "[tool.qa-other]\n"):
        if project is not None:
            write_project(root, project)
        assert settings_difference(root, info) == "the settings and the index differ in include, exclude"
    write_project(root, '[tool.qa]\ninclude = ["*.md"]\nexclude = ["old/"]\nformats = {".foo" = "csv"}\n')
    assert settings_difference(root, info) == "pyproject.toml and the index differ in formats"


def test_include_applies_within_paths(root: Path) -> None:
    """It does not extend a limited collection."""
    built_documents(root, paths=("old/",))
    (root / "old" / "d.txt").write_text("x")
    write_settings(root, 'include = ["*.txt"]')
    assert built_documents(root) == ["old/d.txt"]
    assert built_documents(root, paths=("a.md",)) == ["a.md", "old/d.txt"]


def test_paths_limit_the_collection(root: Path) -> None:
    """Paths passed to a build are added for that build."""
    write_settings(root, 'paths = ["old"]')
    assert built_documents(root) == ["old/c.md"]
    assert built_documents(root, paths=("a.md",)) == ["a.md", "old/c.md"]
    write_settings(root, "paths = []")
    assert built_documents(root) == ["a.md", "b.txt", "old/c.md"]


def test_an_invalid_file_stops_a_build_before_it_writes(root: Path) -> None:
    write_settings(root, "include = 1")
    with pytest.raises(UsageError, match=r"qa\.toml"):
        built_documents(root)
    assert not (root / ".qa").exists()


@pytest.fixture
def user_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the user's settings, which do not exist yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "qa").mkdir(parents=True)
    return tmp_path / "home" / "qa" / "config.toml"


def test_user_settings(tmp_path: Path, user_settings: Path) -> None:
    """They apply unless the collection overrides them, and the file may be a link."""
    (tmp_path / "dotfiles.toml").write_text('k = 8\nmode = "keyword"\n')
    user_settings.symlink_to(tmp_path / "dotfiles.toml")
    assert read_settings(tmp_path) == CollectionSettings(k=8, mode=Mode.KEYWORD)
    (tmp_path / "qa.toml").write_text('k = 2\nexclude = ["x"]\n')
    assert read_settings(tmp_path) == CollectionSettings(exclude=("x",), k=2, mode=Mode.KEYWORD)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('exclude = ["x"]', "exclude can only be set for a collection, in its qa.toml."),
        ("colour = 1", "unknown key 'colour'. Known keys: k, mode, rerank."),
        ("k = 0", "k must be a number from 1 to 1000."),
    ],
)
def test_invalid_user_settings(tmp_path: Path, user_settings: Path, text: str, words: str) -> None:
    user_settings.write_text(text)
    assert error_of(tmp_path) == f"{user_settings}: {words}"
