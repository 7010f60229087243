"""Read-only disks, unreadable files, no home directory, no UTF-8 locale, and closed or full streams."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from corpus.errors import UsageError
from index.update.report import Request
from index.update.update import update_index
from qa.cli import main as command_line
from qa.cli.batch import MAX_BYTES, read_batch
from qa.reader.reader import shared_reader
from qa.retrieval.retriever import Retriever
from tests.encoders import BagEncoder
from tests.paths import REPOSITORY
from tests.qa.commands import qa
from tests.robustness.process import value_of
from tests.robustness.program import READ_ONLY, Program, command, file_stats, has_namespaces
from tests.robustness.special_files import IS_ROOT

HERON = "where does the heron wait?"
needs_namespace = pytest.mark.skipif(not has_namespaces("-rm"), reason="needs a mount namespace of its own")
NOBODY = 65534


# Read-only


@needs_namespace
def test_commands_work_on_a_read_only_disk(program: Program, indexed: Path) -> None:
    """Every command except an update works without a warning.

    SQLite cannot create the two files beside its database there, and a copied folder may not have them.
    """
    for file in (indexed / ".qa").glob("*.db-*"):
        file.unlink()
    stats = file_stats(indexed)
    index = ["--index", str(indexed)]
    before = [["ask", HERON, *index], ["show", "birds.md:3", *index], ["status", *index]]
    done = program.run("check", *index, before=before, read_only=indexed)
    assert (done.returncode, done.stderr) == (0, b"")
    for shown in (b"birds.md:1-3", b"> 3  The heron", b"since the last build", b"is intact"):
        assert shown in done.stdout
    assert file_stats(indexed) == stats


@needs_namespace
def test_changed_file_on_a_read_only_disk_is_not_indexed(program: Program, indexed: Path, tmp_path: Path) -> None:
    """The answer comes from the existing index, and a line says that it was not updated."""
    root = shutil.copytree(indexed, tmp_path / "notes")
    (root / "new.md").write_text("# New\n\nThe dipper sings in winter.\n", encoding="utf-8")
    before = file_stats(root)
    first = [["ask", HERON, "--index", str(root)]]
    done = program.run("ask", HERON, "--corpus", str(root), before=first, read_only=root)
    assert done.returncode == 0
    assert done.stdout.count(b"birds.md:1-3") == 2
    assert len(notes := done.stderr.splitlines()) == 2
    assert all(note.startswith(b"qa: index not updated: cannot write into ") for note in notes)
    assert file_stats(root) == before


@needs_namespace
def test_an_update_on_a_read_only_disk_is_refused_early(program: Program, indexed: Path) -> None:
    """The update fails before it opens a document."""
    before = file_stats(indexed)
    done = program.run("index", "--full", str(indexed), read_only=indexed)
    message = f"qa: cannot write into {indexed / '.qa'}: it is read-only. Questions still work; updates do not.\n"
    assert (done.returncode, done.stdout, done.stderr.decode()) == (74, b"", message)
    assert [*program.opened_files(".md"), *program.opened_files(".txt")] == []
    assert file_stats(indexed) == before


@needs_namespace
def test_a_first_build_on_a_read_only_disk_is_refused_early(program: Program, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Words.\n", encoding="utf-8")
    for args in (["index", str(tmp_path)], ["ask", "--corpus", str(tmp_path), "x"]):
        done = program.run(*args, read_only=tmp_path)
        assert done.returncode == 74
        assert done.stderr.startswith(f"qa: cannot create {tmp_path / '.qa'}: Read-only file system. Before".encode())
        assert done.stderr.endswith(f"make it a link to a writable folder: ln -s FOLDER {tmp_path / '.qa'}\n".encode())
        assert done.stderr.count(b"\n") == 1
        assert program.opened_files("a.md") == []


@needs_namespace
@pytest.mark.parametrize("kind", ["mount", "link"])
def test_read_only_documents_can_be_indexed(program: Program, tmp_path: Path, kind: str) -> None:
    """A build writes only into the index folder, which may be elsewhere."""
    (root := tmp_path / "notes").mkdir()
    (root / "a.md").write_text("# T\n\nThe heron waits.\n", encoding="utf-8")
    mounts = READ_ONLY
    if kind == "link":
        (tmp_path / "index").mkdir()
        (root / ".qa").symlink_to(tmp_path / "index")
    else:
        (root / ".qa").mkdir()
        writable = 'mount --bind "$0/.qa" "$0/.qa" && mount -o remount,bind,rw "$0/.qa" && exec "$@"'
        mounts = READ_ONLY.replace('exec "$@"', writable)
    first = [["index", str(root)]]
    answer = program.run("ask", "--index", str(root), HERON, before=first, read_only=root, mounts=mounts)
    assert b"a.md:1-3" in answer.stdout, answer.stderr


@needs_namespace
def test_read_only_home_is_supported(program: Program, indexed: Path) -> None:
    """A read-only cache is read; what cannot be written to it is dropped without a message."""
    before = file_stats(program.home)
    done = program.run("ask", HERON, "--index", str(indexed), read_only=program.home)
    assert (done.returncode, done.stderr) == (0, b"")
    assert file_stats(program.home) == before


# Unreadable


def _become_user(user: int) -> None:
    """Switch to another user if this is root, for whom file modes do not matter."""
    if IS_ROOT:
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)


def _build_and_ask_as_nobody(root: Path) -> dict[str, object]:
    """Build and ask as a user for whom file modes matter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "a.md").write_text("# T\n\nThe heron.\n", encoding="utf-8")
        _build_and_ask(Path(folder))  # finish lazy imports
    shared_reader().read([("heron", "T", "The heron.")])  # finish loading in the background
    _become_user(NOBODY)
    return _build_and_ask(root)


def _build_and_ask(root: Path) -> dict[str, object]:
    report = update_index(Request(root, BagEncoder()))
    with Retriever.open(root, encoder=BagEncoder()) as retriever:
        hits = retriever.search("heron otter dipper", k=9)
    return {
        "skipped": [(skip.path, skip.reason) for skip in report.skipped],
        "removed": report.removed,
        "documents": report.documents,
        "states": sorted((hit.source.path, str(hit.source.state)) for hit in hits),
    }


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that other users can enter and write."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        root = Path(folder, "notes")
        root.mkdir()
        root.chmod(0o777)
        yield root
        for path in root.rglob("*"):
            if path.is_dir():
                path.chmod(0o755)


def test_newly_unreadable_files_are_kept_and_reported(shared: Path) -> None:
    """A file or folder that lost its read permission is reported; its passages stay, but are not called verified."""
    for path, bird in (("a.md", "heron"), ("b.md", "otter"), ("sub/c.md", "dipper")):
        (shared / path).parent.mkdir(exist_ok=True)
        (shared / path).write_text(f"# T\n\nThe {bird} is here.\n", encoding="utf-8")
    ask = partial(_build_and_ask_as_nobody, shared)
    verified = [(path, "verified") for path in ("a.md", "b.md", "sub/c.md")]
    readable = {"skipped": [], "removed": 0, "documents": 3, "states": verified}
    assert value_of(ask) == readable
    (shared / "b.md").write_text("# T\n\nThe otter has moved on.\n", encoding="utf-8")
    (shared / "b.md").chmod(0)
    (shared / "sub").chmod(0)
    refused = [("b.md", "cannot be read: Permission denied"), ("sub/", "folder cannot be read: Permission denied")]
    states = [verified[0], ("b.md", "unchecked"), ("sub/c.md", "unchecked")]
    assert value_of(ask) == readable | {"skipped": refused, "states": states}
    (shared / "b.md").chmod(0o644)
    (shared / "sub").chmod(0o755)
    assert value_of(ask) == readable


def test_unmounted_folder_keeps_the_index(indexed: Path, tmp_path: Path) -> None:
    """If the folder is missing or empty, no document is dropped without a flag, and questions are still answered."""
    root = tmp_path / "notes"
    assert qa("index", root).exit_code == 2
    assert not root.exists()
    shutil.copytree(indexed / ".qa", root / ".qa")
    done = qa("index", root)
    answer = qa("ask", HERON, "--index", root)
    assert done.exit_code == 2
    assert "Is the folder mounted?" in done.stderr
    assert "all 3 files are missing (is the folder mounted?)" in answer.stderr
    assert "heron" in answer.stdout
    assert "file is missing" in answer.stdout
    shutil.copytree(indexed, root, ignore=shutil.ignore_patterns(".qa"), dirs_exist_ok=True)
    assert "Up to date: 3 documents" in qa("index", root).stdout


# Streams and surroundings


def _shell(program: Program, line: str, root: Path, **environ: str) -> subprocess.CompletedProcess[bytes]:
    command = ["bash", "-c", line.format(qa=f"{shlex.quote(sys.executable)} -m qa", root=shlex.quote(str(root)))]
    environment = program.environ() | environ
    return subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, check=False, timeout=600)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "args", ["ask heron --no-rerank --index {root}", "status --json --index {root}", "index {root}"]
)
def test_full_stdout_exits_with_74(program: Program, indexed: Path, args: str) -> None:
    """The exit code is 74, and one line says why."""
    done = _shell(program, f"{{qa}} {args} >/dev/full", indexed)
    assert (done.returncode, done.stderr) == (74, b"qa: cannot write the output: No space left on device\n")


@pytest.mark.parametrize(
    ("args", "redirection"),
    [("show birds.md:3", ">&-"), (f"ask {HERON!r} --no-update", "<&- >&- 2>&-"), ("show birds.md:3", "2>/dev/full")],
)
def test_closed_streams_are_harmless(program: Program, indexed: Path, args: str, redirection: str) -> None:
    """The command succeeds, and no output ends up in a file of the index that got the descriptor of a closed stream."""
    before = {path: path.read_bytes() for path in (indexed / ".qa").iterdir() if path.suffix in {".db", ".faiss"}}
    done = _shell(program, f"{{qa}} {args} --index {{root}} {redirection}", indexed)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (b"heron" in done.stdout) == (redirection == "2>/dev/full")
    assert {path: path.read_bytes() for path in before} == before


def test_closed_stderr_keeps_the_exit_code(program: Program, tmp_path: Path) -> None:
    assert _shell(program, "{qa} ask x --index {root} 2>&-", tmp_path).returncode == 3
    assert _shell(program, "{qa} ask x --index {root} 2>/dev/full", tmp_path).returncode == 3


def test_non_unicode_locale_works(program: Program, indexed: Path, tmp_path: Path) -> None:
    """Names and texts are printed, escaped if necessary, and are exact in JSON."""
    file = shutil.copytree(indexed, tmp_path / "notes") / "\u00fc\u6f22.md"
    file.write_text("# \u6f22\u5b57\n\nThe kingfisher, \u7fe1\u7fe0, dives at noon.\n", encoding="utf-8")
    args = ["ask", "when does the kingfisher dive?", "--index", str(file.parent)]
    ascii_only = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}
    done = program.run(*args, "--json", before=[args], environ=ascii_only)
    assert done.returncode == 0, done.stderr
    *shown, exact = done.stdout.decode("ascii").splitlines()
    assert any("kingfisher" in line for line in shown)
    passage = json.loads(exact)["passages"][0]
    assert passage["source"]["path"] == file.name
    assert "\u7fe1\u7fe0" in passage["text"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are UTF-8 in every locale there")
def test_file_names_survive_a_non_utf8_locale(program: Program, tmp_path: Path) -> None:
    """In a locale without UTF-8, and without coercion, names have the same bytes and text as in any other."""
    folder = tmp_path / "s\u00fcd" / "\u6f22"
    folder.mkdir(parents=True)
    text = "# Fishing\n\nThe kingfisher dives at noon.\n"
    (folder / "gr\u00f6\u00dfe.md").write_text(text, encoding="utf-8")
    (tmp_path / "s\u00fcd" / ".gitignore").write_text("geheim*\n", encoding="utf-8")
    (tmp_path / "s\u00fcd" / "geheim-\u00fc.md").write_text(text, encoding="utf-8")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/latin-\xfc.md")).write_text(text, encoding="utf-8")
    path = "s\u00fcd/\u6f22/gr\u00f6\u00dfe.md"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    index = ["--index", str(tmp_path)]
    first = [["index", "--json", str(tmp_path)], ["ask", "--json", "when does the kingfisher dive?", *index]]
    done = program.run("show", f"{path}:3", *index, before=first, environ=plain)
    assert done.returncode == 0, done.stderr
    report_line, answer_line, shown = done.stdout.split(b"\n", 2)
    report = json.loads(report_line)
    assert report["documents"] == 1
    assert [file["path"] for file in report["skipped"]] == ["latin-\\udcfc.md"]
    source = json.loads(answer_line)["passages"][0]["source"]
    assert (source["path"], source["state"]) == (path, "verified")
    assert b"The kingfisher dives" in shown
    # An update in a UTF-8 locale finds no changes.
    again = json.loads(qa("index", "--json", tmp_path).stdout)
    assert [again[name] for name in ("added", "changed", "removed", "unchanged")] == [0, 0, 0, 1]


def _exit_codes(root: Path) -> list[object]:
    """Exit codes of commands that need no model, run by this user and by one unknown to the system."""
    commands = [[*args, "--index", str(root)] for args in (["status"], ["show", "a.md:1"], ["check"])]
    codes = [_exit_code(args) for args in commands]  # finishes lazy imports too
    _become_user(4_000_000)
    for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOGNAME", "USER"):
        os.environ.pop(name, None)
    return codes + [_exit_code(args) for args in (*commands, ["index", "--dry-run", str(root)])]


def _exit_code(args: list[str]) -> object:
    with pytest.raises(SystemExit) as end:
        command_line.app(args, prog_name="qa")
    return end.value.code


@pytest.mark.skipif(not IS_ROOT, reason="needs root to become another user")
def test_user_without_a_home_folder_is_supported(shared: Path) -> None:
    """Without HOME, a user entry or a cache, commands that need no model work."""
    (shared / "a.md").write_text("# T\n\nThe heron waits.\n", encoding="utf-8")
    update_index(Request(shared, BagEncoder()))
    assert value_of(partial(_exit_codes, shared)) == [0] * 7


def test_modules_among_the_documents_are_not_imported(program: Program, tmp_path: Path) -> None:
    """`python -m qa` in a folder with modules named like its dependencies does not import them."""
    mark, notes = tmp_path / "was-run", tmp_path / "notes"
    notes.mkdir()
    for name in ("click", "json", "numpy", "openvino", "pathspec", "sqlite3", "tqdm"):
        (notes / f"{name}.py").write_text(f"open({str(mark)!r}, 'w').close()\n", encoding="utf-8")
    args = command(["index", "--dry-run", "."])
    done = subprocess.run(args, cwd=notes, env=program.environ(), capture_output=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    assert b"Dry run: 7 files added" in done.stdout
    assert not mark.exists()


# Endless input


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_endless_batch_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^the batch /dev/zero is larger than 64 MiB\. Split it\.$"):
        read_batch("/dev/zero")
    assert MAX_BYTES == 64 * 1024 * 1024
