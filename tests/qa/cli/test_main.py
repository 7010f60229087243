"""`qa status`, `qa ls`, `qa rm`, `qa check`, and the program as a whole."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
import pytest

from index.stores import make_index_folder, open_writer
from qa.cli import main
from tests.qa.commands import TerminalStream, qa, run_python


def test_status(indexed: Path) -> None:
    fresh = qa("status", indexed).stdout.splitlines()
    assert fresh[1:] == [
        "Documents   2",
        "Passages    3",
        "Model       sentence-transformers/all-MiniLM-L6-v2",
        "Generation  1",
        "Changes     none since the last build",
    ]
    assert fresh[0].startswith(f"Index       {indexed / '.qa'} (")
    (indexed / "new.md").write_text("x")
    (indexed / "talks.md").write_text("y")
    (indexed / "sub" / "travel.md").unlink()
    assert qa("status").stdout.splitlines()[5:] == [
        "Changes     1 file added, 1 may have changed, 1 removed:",
        "            added     new.md",
        "            changed   talks.md",
        "            removed   sub/travel.md",
        f"To update: qa index {indexed}",
    ]


def test_status_lists_ten_changes(indexed: Path) -> None:
    for number in range(15):
        (indexed / f"n{number:02}.md").write_text("x")
    value = json.loads(qa("status", "--json").stdout)
    assert (value["files"], value["documents"]) == (2, 2)
    assert value["changes"]["added"] == 15
    assert [example["path"] for example in value["changes"]["examples"]] == [f"n{number:02}.md" for number in range(10)]
    assert value["bytes"] > 0
    assert "15 files added (the first 10):" in qa("status").stdout


@pytest.mark.parametrize("command", ["status", "check", "show x", "ask x"])
def test_index_option(indexed: Path, tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name, *rest = command.split()
    assert qa(name, *rest).exit_code == 3
    assert qa(name, *rest, "--index", tmp_path).exit_code == 3
    for where in (indexed, indexed / ".qa"):
        assert qa(name, *rest, "--index", where).exit_code != 3


@pytest.mark.parametrize("command", ["status", "ls", "check", "serve", "ask x --index"])
def test_a_missing_folder_is_a_usage_error(indexed: Path, command: str) -> None:
    """As for `qa index` and `--corpus`; only a folder without an index has another exit code."""
    done = qa(*command.split(), "gone")
    assert (done.exit_code, done.stderr) == (2, f"qa: {indexed}/gone does not exist. Give a folder of documents.\n")


def test_status_shows_remembered_patterns(notes: Path) -> None:
    """Builds apply the patterns of earlier ones and say so; an empty pattern clears them."""
    qa("index", "--include", "*.md", "--exclude", "sub/", "--exclude", "old/")
    assert qa("status").stdout.splitlines()[5:7] == ["Only        *.md", "Left out    sub/, old/"]
    value = json.loads(qa("status", "--json").stdout)
    assert (value["include"], value["exclude"], value["paths"]) == (["*.md"], ["sub/", "old/"], [])
    note = "As in earlier builds: --include *.md{} (to clear: --include ''{})\n"
    assert qa("index").stderr == note.format(" and --exclude sub/ old/", " --exclude ''")
    done = qa("index", "--exclude", "old/")
    assert done.stderr == note.format("", "") + "No longer left out: sub/\n"
    assert qa("index", "--exclude", "").stderr == note.format("", "") + "No longer left out: old/\n"
    done = qa("index", "--include", "")
    assert (done.stderr, "Only" in qa("status").stdout) == ("", False)


def test_a_build_says_what_limits_it(notes: Path) -> None:
    """Naming the folder does not widen a collection that is limited to paths; settings do."""
    assert "limited to the paths given" in qa("index", "talks.md", "sub").stderr
    assert qa("index", notes).stderr == "Limited to sub/, talks.md (for all of it: paths = [] in qa.toml)\n"
    (notes / "qa.toml").write_text("paths = []\n")
    assert (qa("index").stderr, "Only" in qa("status").stdout) == ("", False)


def test_ls(indexed: Path) -> None:
    """It lists indexed files with their passages, and marks those that have changed."""
    (indexed / "talks.md").write_text("y")
    (indexed / "sub" / "travel.md").unlink()
    (indexed / "new.md").write_text("x")
    assert qa("ls").stdout.splitlines() == [
        "Passages  Documents  File",
        "       1          1  sub/travel.md  ! missing",
        "       2          1  talks.md  ! changed",
    ]
    (file,) = json.loads(qa("ls", indexed, "--path", "talks.md", "--json").stdout)["files"]
    assert (file["path"], file["title"], file["passages"], file["state"]) == ("talks.md", "Talks", 2, "changed")
    assert qa("ls", "--path", "tlaks.md").stderr == (
        "qa: no indexed file matches the path 'tlaks.md'. Similar: talks.md.\n"
    )


def test_rm_removes_files_from_the_index(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files stay on disk, but are not indexed again until `qa rm --undo`."""
    monkeypatch.chdir(indexed / "sub")
    done = qa("rm", "travel.md")
    assert done.stdout.startswith("1 file removed (1 document, 2 passages) in ")
    assert done.stderr == "Left out from now on (undo with qa rm --undo): sub/travel.md\n"
    assert (indexed / "sub" / "travel.md").exists()
    assert qa("index", "--full").exit_code == 0
    assert "travel" not in qa("ls").stdout
    assert "Left out    /sub/travel.md" in qa("status").stdout
    assert qa("rm", "--undo", "../talks.md").stderr == "qa: ../talks.md was not left out by qa rm.\n"
    assert qa("rm", "--undo", "travel.md").stdout.startswith("1 file added (2 documents, 3 passages) in ")
    assert "Similar: sub/travel.md, " in qa("rm", "travels.md").stderr
    assert qa("rm", "..").stderr == f"qa: .. is the whole collection. Delete {indexed / '.qa'}, or name files in it.\n"
    monkeypatch.chdir(indexed.parent)
    assert "is the whole collection. Delete " in qa("rm", indexed.name).stderr
    monkeypatch.chdir(indexed / "sub")
    assert qa("rm", "../sub", "../talks.md").stdout.startswith("2 files removed (0 documents, 0 passages) in ")


@pytest.mark.parametrize(("name", "table"), [("qa.toml", ""), ("pyproject.toml", "[tool.qa]\n")])
def test_rm_is_refused_if_settings_exclude_files(indexed: Path, name: str, table: str) -> None:
    (indexed / name).write_text(f'{table}exclude = ["drafts/"]\n')
    done = qa("rm", "talks.md")
    assert done.exit_code == 2
    assert done.stderr.endswith(f'is set in {name} and overrides qa rm. Edit it there: "/talks.md".\n')


def test_help_imports_nothing_heavy() -> None:
    program = (
        "import sys\nfrom qa.cli.main import app\n"
        "try: app(['--help'], prog_name='qa')\nexcept SystemExit as end: assert not end.code\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'numpy', 'faiss', 'torch', 'transformers', "
        "'sentence_transformers', 'tokenizers', 'tqdm', 'pathspec', 'sqlite3'}))"
    )
    done = run_python("-c", program)
    assert done.stdout.startswith("Usage: qa [OPTIONS] [COMMAND] [ARGS]...")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "[]")


def test_models_load_while_the_modules_that_answer_are_imported(tmp_path: Path) -> None:
    (tmp_path / "notes.md").touch()
    assert run_python("-m", "qa", "index", tmp_path).returncode == 0
    program = (
        "import sys\nfrom qa.cli.main import app\nfrom index.compiled.compiled_copy import CompiledCopy\n"
        "late = {'qa.retrieval.pipeline', 'qa.answer.extract', 'qa.collection.opening', 'tokenizers'}\n"
        "CompiledCopy.begin_loading = lambda *_: print(late & {*sys.modules})\n"
        "app(sys.argv[1:], prog_name='qa')"
    )
    done = run_python("-c", program, "ask", tmp_path, "Who sings tonight?")
    assert done.stdout.splitlines()[:2] == ["set()", "set()"]


def test_without_a_command_the_usage_is_shown() -> None:
    done = qa()
    assert done.exit_code == 0
    assert done.stdout.startswith("Usage: qa ")


@pytest.mark.parametrize("command", main.app.list_commands(click.Context(main.app)))
def test_every_option_is_explained(command: str) -> None:
    definition = main.app.get_command(click.Context(main.app), command)
    assert definition is not None
    assert definition.help
    for parameter in definition.params:
        assert parameter.param_type_name == "argument" or getattr(parameter, "help", None), parameter.name


def _on_a_terminal(monkeypatch: pytest.MonkeyPatch, *args: str) -> str:
    """What a command prints on a terminal."""
    monkeypatch.setattr(sys, "stdout", shown := TerminalStream())
    with pytest.raises(SystemExit, match="0"):
        main.app(args, prog_name="qa")
    return shown.getvalue()


def test_colour_on_a_terminal_only(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[2mIndex" in _on_a_terminal(monkeypatch, "status")
    (indexed / "talks.md").unlink()
    assert "\x1b[33m! missing" in _on_a_terminal(monkeypatch, "ls")
    monkeypatch.setenv("NO_COLOR", "1")
    plain = _on_a_terminal(monkeypatch, "ls")
    assert "\x1b[33m" not in plain
    assert "\x1b[1mPassages" in plain
    assert "\x1b" not in qa("status").stdout


def test_exit_code_after_an_interrupt(indexed: Path) -> None:
    program = (
        "import os, signal, time\nfrom qa.cli import main as cli\nfrom qa.retrieval.retriever import Retriever\n"
        # Tests may run where interrupts are ignored, and another thread may receive the signal first.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "Retriever.open = lambda *_, **__: (os.kill(os.getpid(), signal.SIGINT), time.sleep(20))\ncli.main()"
    )
    done = run_python("-c", program, "ask", "soup", "--index", indexed)
    assert (done.returncode, done.stderr) == (130, "qa: interrupted\n")


@pytest.mark.parametrize("module", ["qa.cli.main", "click", "qa.cli.ask"])
def test_exit_code_after_an_interrupt_while_importing(indexed: Path, module: str) -> None:
    program = f"""
import os, runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Interrupting:
    def find_spec(name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting)
runpy.run_module("qa", run_name="__main__", alter_sys=True)
"""
    done = run_python("-c", program, "ask", "soup", "--index", indexed)
    assert (done.returncode, done.stderr) == (130, "qa: interrupted\n")


def test_check_and_repair(indexed: Path) -> None:
    """A changed byte in the database or in the FAISS file gives exit code 4, and --repair repairs both."""
    intact = f"{indexed / '.qa'} is intact: 2 documents, 3 passages; all checksums match\n"
    assert qa("check").stdout == intact
    database = indexed / ".qa" / "index.db"
    database.write_bytes(database.read_bytes().replace(b"Soup is served", b"Salt is served"))
    for file in ("database", "vectors"):
        if file == "vectors":
            (vectors,) = (indexed / ".qa").glob("vectors-*.faiss")
            vectors.write_bytes(vectors.read_bytes()[:-1] + b"\x55")
        broken = qa("check")
        assert (broken.exit_code, broken.stdout) == (4, "")
        assert "is damaged" in broken.stderr
        mended = qa("check", "--repair")
        assert mended.exit_code == 0
        assert mended.stdout.startswith("Found damage:\n- ")
        assert "Run `qa check" not in mended.stdout
        again = "all files were read again" if file == "database" else "derived data was rebuilt"
        assert f"\nRepaired: {again}" in mended.stdout
        assert mended.stdout.endswith(intact)
    assert qa("check").stdout == qa("check", "--repair").stdout == intact


def test_check_after_an_interrupted_first_build(notes: Path) -> None:
    """It is no damage, and --repair finishes the build."""
    make_index_folder(notes / ".qa")
    with open_writer(notes / ".qa"):
        pass
    unfinished = qa("check")
    assert (unfinished.exit_code, unfinished.stdout) == (3, "")
    assert unfinished.stderr == f"qa: the index in {notes / '.qa'} was never finished. Run `qa index` again.\n"
    finished = qa("check", "--repair").stdout.splitlines()
    assert finished[0].startswith("Indexed 2 files (2 documents, 3 passages) in ")
    assert finished[1:] == [f"{notes / '.qa'} is intact: 2 documents, 3 passages; all checksums match"]


@pytest.mark.parametrize(
    ("command", "library", "extra"),
    [("watch notes", "watchfiles", "watch"), ("eval gone.jsonl --corpus notes", "ir_measures", "eval")],
)
def test_a_command_without_its_library_names_the_extra(notes: Path, command: str, library: str, extra: str) -> None:
    program = f"import sys; sys.modules[{library!r}] = None\nfrom qa.cli.main import main\nmain()"
    done = run_python("-c", program, *command.replace("notes", str(notes)).split())
    assert (done.returncode, done.stdout) == (2, "")
    assert f"pip install 'qa-passages[{extra}]'" in done.stderr
    assert not (notes / ".qa").exists()
