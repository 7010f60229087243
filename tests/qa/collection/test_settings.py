"""`qa.toml` and `[tool.qa]`: what is set once for a collection."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpus.errors import UsageError
from index import Info, Request, open_index, update_index
from index.storage.metadata import values_of
from qa.answer.results import Mode
from qa.collection import build
from qa.collection.settings import CollectionSettings, not_applied, read_settings
from tests.encoders import BagEncoder
from tests.qa.commands import documents

ALL = 'include = ["*.md"]\nexclude = ["old/"]\nk = 3\nmode = "keyword"\nrerank = false\n'
SET = CollectionSettings(include=("*.md",), exclude=("old/",), k=3, mode=Mode.KEYWORD, rerank=False)


def set_own(root: Path, text: str | bytes) -> None:
    (root / "qa.toml").write_bytes(text if isinstance(text, bytes) else text.encode())


def set_project(root: Path, text: str) -> None:
    (root / "pyproject.toml").write_text(text, encoding="utf-8")


def info_of(root: Path) -> Info:
    with open_index(root / ".qa") as snapshot:
        return snapshot.info


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.md", "b.txt", "old/c.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"What is in {name}.")
    return tmp_path


def test_nothing_set(tmp_path: Path) -> None:
    """No file, an empty one, another tool's project, a missing folder."""
    assert read_settings(tmp_path) == read_settings(tmp_path / "gone") == CollectionSettings()
    set_project(tmp_path, "[tool.ruff]\nline-length = 120\n")
    assert read_settings(tmp_path) == CollectionSettings()
    set_project(tmp_path, "[tool.qa-other]\nk = 'x'\n")
    assert read_settings(tmp_path) == CollectionSettings()
    set_own(tmp_path, "")
    assert read_settings(tmp_path) == CollectionSettings()


def test_every_key(tmp_path: Path) -> None:
    set_own(tmp_path, b"\xef\xbb\xbf" + ALL.encode())
    assert read_settings(tmp_path) == SET
    (tmp_path / "qa.toml").unlink()
    set_project(tmp_path, "[tool.ruff]\nk = 1\n[tool.qa]\n" + ALL)
    assert read_settings(tmp_path) == SET


def test_qa_toml_replaces_pyproject(tmp_path: Path) -> None:
    set_own(tmp_path, "k = 7")
    set_project(tmp_path, "[tool.qa]\nk = 9\nmode = 'dense'\n")
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
        ("k = 1001", "k must be a number from 1 to 1000"),
        ("k = true", "k must be a number"),
        ("k = 1.0", "k must be a number"),
        ("mode = 'fast'", 'mode must be "hybrid" or "dense" or "keyword".'),
        ("mode = []", "mode must be"),
        ("rerank = 1", "rerank must be true or false"),
        ("model = 'someone/else'", "a model cannot be set here. Name it on the command line: qa index --model NAME"),
        ("rerank_model = 'someone/else'", "a model cannot be set here. Name it on the command line: qa ask --rerank-"),
        ("[k]", "k must be a number"),
    ],
)
def test_an_error_names_file_key_and_what_is_valid(tmp_path: Path, line: str, words: str) -> None:
    set_own(tmp_path, line)
    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path)
    assert str(tmp_path / "qa.toml") in str(caught.value)
    assert words in str(caught.value)
    (tmp_path / "qa.toml").unlink()
    set_project(tmp_path, "[tool.qa]\n" + line.replace("[k]", "[tool.qa.k]"))
    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path)
    assert f"[tool.qa] in {tmp_path / 'pyproject.toml'}" in str(caught.value)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"k = ", "is not valid TOML: Invalid value (at end of document)"),
        (b"k = 1\nk = 2", "is not valid TOML"),
        (b"# caf\xe9", "is not UTF-8"),
        (b"k = 1\x00", "is not valid TOML"),
        (b"k = " + b"[" * 60_000, "is not valid TOML: too deeply nested"),
        (b"k = " + b"9" * 60_000, "is not valid TOML"),
        (b"k" + b".k" * 30_000 + b" = 1", "a line with more than 500 dots"),
        (b"#" * 70_000, "more than 65,536 bytes"),
    ],
)
def test_a_hostile_file_is_refused(tmp_path: Path, data: bytes, words: str) -> None:
    set_own(tmp_path, data)
    with pytest.raises(UsageError, match=r"qa\.toml") as caught:
        read_settings(tmp_path)
    assert words in str(caught.value)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """A link would read another file, a FIFO would wait for ever."""
    (tmp_path / "elsewhere").write_text("k = 3")
    file = tmp_path / "qa.toml"
    file.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="symbolic link, not followed"):
        read_settings(tmp_path)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(UsageError, match="not a regular file"):
        read_settings(tmp_path)
    file.unlink()
    file.mkdir()
    with pytest.raises(UsageError, match="not a regular file"):
        read_settings(tmp_path)


def test_only_our_table_of_pyproject_can_be_wrong(tmp_path: Path) -> None:
    """Its file belongs to others, so it may be a link, broken or huge."""
    os.mkfifo(tmp_path / "pyproject.toml")
    assert read_settings(tmp_path) == CollectionSettings()
    (tmp_path / "pyproject.toml").unlink()
    set_project(tmp_path, "[[[ broken")
    assert read_settings(tmp_path) == CollectionSettings()
    set_project(tmp_path, "#" * 2_000_000 + "\n[tool.qa]\nk = 3")
    assert read_settings(tmp_path) == CollectionSettings()
    set_project(tmp_path, "[[[ broken\n[tool.qa]\n")
    with pytest.raises(UsageError, match="is not valid TOML"):
        read_settings(tmp_path)
    set_project(tmp_path, "#" * 70_000 + "\n[tool.qa]\nk = 3")
    with pytest.raises(UsageError, match=r"Put the settings into qa\.toml"):
        read_settings(tmp_path)
    set_project(tmp_path, "[tool]\nqa = 1 # tool.qa")
    with pytest.raises(UsageError, match="must be a table"):
        read_settings(tmp_path)


def test_a_build_uses_the_settings(root: Path) -> None:
    """Arguments override the file, the file overrides the last build; what was from it goes with it."""
    encoder = BagEncoder()
    set_own(root, ALL)
    assert build.preview_index(root).added == 1
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["a.md"]
    build.build_index(root, include=("*.txt",), encoder=encoder)
    assert documents(root) == ["b.txt"]
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["a.md"]
    set_own(root, 'include = ["*.md"]')
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["a.md", "old/c.md"]
    (root / "qa.toml").unlink()
    assert build.preview_index(root).added == 1
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["a.md", "b.txt", "old/c.md"]


def test_what_the_command_line_said_outlives_the_file(root: Path) -> None:
    encoder = BagEncoder()
    set_own(root, 'include = ["*.md"]\nexclude = ["a.md"]')
    build.build_index(root, exclude=("old/",), encoder=encoder)
    assert info_of(root).from_file == ("include",)
    (root / "qa.toml").unlink()
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["a.md", "b.txt"]


def test_the_index_notes_only_what_is_from_a_file(root: Path) -> None:
    """Others are the same bytes as before this was noted; an update without a look at the file leaves all as it is."""
    encoder = BagEncoder()
    build.build_index(root, encoder=encoder)
    assert "from_file" not in values_of(info_of(root))
    set_own(root, 'paths = ["old"]')
    build.build_index(root, encoder=encoder)
    (root / "old" / "d.md").write_text("More.")
    update_index(Request(root, encoder))
    assert (documents(root), info_of(root).from_file) == (["old/c.md", "old/d.md"], ("paths",))


def test_settings_that_the_index_does_not_have_are_told(root: Path) -> None:
    """Of the file as of the project, those that are gone as well; of what only asks nothing."""
    set_own(root, ALL)
    build.build_index(root, encoder=BagEncoder())
    info = info_of(root)
    assert not_applied(root, info) == ""
    set_own(root, 'include = ["*.md"]\nk = 9')
    assert not_applied(root, info) == "qa.toml and the index differ in exclude"
    (root / "qa.toml").unlink()
    assert not_applied(root, info) == "qa.toml and the index differ in include, exclude"
    set_project(root, '[tool.qa]\ninclude = ["*.md"]\nexclude = ["old/"]\nformats = {".foo" = "csv"}\n')
    assert not_applied(root, info) == "pyproject.toml and the index differ in formats"


def test_include_applies_within_paths(root: Path) -> None:
    """It does not widen a limited collection."""
    encoder = BagEncoder()
    build.build_index(root, paths=("old/",), encoder=encoder)
    (root / "old" / "d.txt").write_text("x")
    set_own(root, 'include = ["*.txt"]')
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["old/d.txt"]
    build.build_index(root, paths=("a.md",), encoder=encoder)
    assert documents(root) == ["a.md", "old/d.txt"]


def test_paths_limit_the_collection(root: Path) -> None:
    """Until they are changed; paths of the command line are added for that build."""
    encoder = BagEncoder()
    set_own(root, 'paths = ["old"]')
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["old/c.md"]
    build.build_index(root, paths=("a.md",), encoder=encoder)
    assert documents(root) == ["a.md", "old/c.md"]
    set_own(root, "paths = []")
    build.build_index(root, encoder=encoder)
    assert documents(root) == ["a.md", "b.txt", "old/c.md"]


def test_an_invalid_file_stops_a_build_before_it_writes(root: Path) -> None:
    set_own(root, "include = 1")
    with pytest.raises(UsageError, match=r"qa\.toml"):
        build.build_index(root, encoder=BagEncoder())
    assert not (root / ".qa").exists()


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the user's settings, which does not exist yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "home" / "qa").mkdir(parents=True)
    return tmp_path / "home" / "qa" / "config.toml"


def test_settings_of_the_user(tmp_path: Path, own_file: Path) -> None:
    """They hold where those of the collection say nothing, and may be a link."""
    (tmp_path / "dotfiles.toml").write_text('k = 8\nmode = "keyword"\n')
    own_file.symlink_to(tmp_path / "dotfiles.toml")
    assert read_settings(tmp_path) == CollectionSettings(k=8, mode=Mode.KEYWORD)
    (tmp_path / "qa.toml").write_text('k = 2\nexclude = ["x"]\n')
    assert read_settings(tmp_path) == CollectionSettings(exclude=("x",), k=2, mode=Mode.KEYWORD)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('exclude = ["x"]', "exclude is set for a collection, in its qa.toml."),
        ("colour = 1", "unknown key 'colour'. Known keys: k, mode, rerank."),
        ("k = 0", "k must be a number from 1 to 1000."),
    ],
)
def test_wrong_settings_of_the_user(tmp_path: Path, own_file: Path, text: str, words: str) -> None:
    own_file.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_settings(tmp_path)
    assert str(caught.value) == f"{own_file}: {words}"
