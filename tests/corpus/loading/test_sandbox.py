"""The process that reads files: its limits, its possible deaths, and that it exists only while needed."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from corpus.errors import Unreadable
from corpus.loading.sandbox import Sandbox
from tests.corpus.readers.samples import archives
from tests.corpus.readers.samples.files import FILES
from tests.paths import REPOSITORY


def refusal(sandbox: Sandbox, path: str, data: bytes) -> tuple[str, bool]:
    """Return why a file is refused, and whether the next build should try it again."""
    with pytest.raises(Unreadable) as caught:
        sandbox.read(path, data)
    return caught.value.reason, caught.value.unknown


def output_of(program: str, *arguments: str, cwd: Path = REPOSITORY) -> str:
    """Return the output of a program, which may kill itself."""
    command = [sys.executable, "-c", program, *arguments]
    process = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600, check=False)
    return process.stdout


def child_processes() -> set[str]:
    """Return the ids of the running child processes of this process."""
    ids: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may have ended by now
            ids |= set((task / "children").read_text().split())
    return ids


def reads_a_file(sandbox: Sandbox) -> bool:
    return sandbox.read("lakes.tsv", FILES["lakes.tsv"]).text == "lake: Weiher\ndepth: 3"


def process_id(sandbox: Sandbox) -> int:
    assert reads_a_file(sandbox)
    assert sandbox._process is not None
    return sandbox._process.pid


def test_file_over_the_cpu_limit_is_skipped_and_the_next_is_read() -> None:
    with Sandbox(seconds=1) as sandbox:
        refused = refusal(sandbox, "slow.json", b"[" + b"[1]," * 1_900_000 + b"1]")
        assert refused == ("needs more than 1 s of processor time to read", True)
        assert reads_a_file(sandbox)


def test_the_processor_time_is_limited_per_file() -> None:
    """One process reads many files, which may exceed the limit in total."""
    with Sandbox(seconds=1) as sandbox:
        child = process_id(sandbox)
        used = 0.0
        while used < 2.1:
            assert sandbox.read("many.json", b"[" + b"1," * 100_000 + b"1]").text
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        assert process_id(sandbox) == child


def test_hanging_reader_is_stopped_by_the_timeout() -> None:
    with Sandbox() as sandbox:
        child = process_id(sandbox)
        os.kill(child, signal.SIGSTOP)
        sandbox._patience = 0.5
        # Without a working timeout, the test fails instead of hanging.
        killer = threading.Timer(60, os.kill, (child, signal.SIGKILL))
        killer.start()
        assert refusal(sandbox, "lakes.tsv", FILES["lakes.tsv"]) == ("took longer than 0.5 s to read", True)
        killer.cancel()


def test_waiting_for_a_cpu_does_not_count_as_reading_time() -> None:
    with Sandbox(seconds=1) as sandbox:
        child = process_id(sandbox)
        os.kill(child, signal.SIGSTOP)
        threading.Timer(1.5, os.kill, (child, signal.SIGCONT)).start()
        assert reads_a_file(sandbox)


def test_file_over_the_memory_limit_is_skipped_and_the_next_is_read() -> None:
    # Within the limit for one part, but needs more memory than the process may use: XML takes many times its size.
    large = archives.docx("<w:p/>" * 2_500_000)
    with Sandbox(memory=160 * 1024 * 1024) as sandbox:
        assert refusal(sandbox, "large.docx", large) == ("needs more than 160 MiB of memory to read", True)
        assert reads_a_file(sandbox)


def test_a_file_refused_for_its_content_is_not_tried_again() -> None:
    with Sandbox() as sandbox:
        assert refusal(sandbox, "a.json", b"{") == ("damaged: not valid JSON", False)
        assert refusal(sandbox, "a.json", b"[" * 100_000) == ("nested too deeply", False)


def test_killed_reader_process_is_replaced() -> None:
    """A system short of memory may kill it; another process reads the next file."""
    with Sandbox() as sandbox:
        child = process_id(sandbox)
        os.kill(child, signal.SIGKILL)
        assert reads_a_file(sandbox)
        assert str(child) not in child_processes()


def test_a_closed_sandbox_leaves_no_process_and_reads_nothing() -> None:
    before = child_processes()
    with Sandbox() as sandbox:
        assert reads_a_file(sandbox)
        assert len(child_processes() - before) == 1
    assert child_processes() == before
    assert refusal(sandbox, "lakes.tsv", FILES["lakes.tsv"]) == ("cancelled", True)
    assert child_processes() == before


def test_reader_process_exits_when_its_parent_is_killed() -> None:
    """No process is left waiting for files."""
    program = (
        "import os\nfrom corpus.loading.sandbox import Sandbox\nsandbox = Sandbox()\n"
        "sandbox.read('a.tsv', b'a\\tb\\n1\\t2\\n')\n"
        "print(sandbox._process.pid, flush=True)\nos.kill(os.getpid(), 9)\n"
    )
    state = Path(f"/proc/{int(output_of(program))}/stat")
    # The process may end at any time.
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for _ in range(6000):
            if ") Z" in state.read_text():
                return
            time.sleep(0.1)
        pytest.fail("it is still running")


def test_a_folder_of_text_starts_no_process(tmp_path: Path) -> None:
    """Nor are the modules of parsers imported, so that a question about notes takes no longer."""
    program = (
        "import sys\nfrom pathlib import Path\nfrom corpus import load_all, walk\n"
        "root = Path(sys.argv[1])\nprint([file.outcome.text for file in load_all(root, walk(root).files)])\n"
        "heavy = {'pypdfium2', 'pypdfium2_raw', 'charset_normalizer', 'xml', 'email', 'lxml', 'zipfile'}\n"
        "print(sorted(heavy & sys.modules.keys()))\n"
        "print(Path('/proc/self/task/%d/children' % __import__('os').getpid()).read_text())\n"
    )
    (tmp_path / "a.md").write_text("Words.\n", encoding="utf-8")
    assert output_of(program, str(tmp_path)) == "['Words.\\n']\n[]\n\n"


def test_parsers_are_imported_only_in_the_sandbox(tmp_path: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\nfrom corpus.loading.load import load\n"
        "print(len(load(Path(sys.argv[1]), 'paper.pdf').pages), 'pypdfium2' in sys.modules)\n"
    )
    (tmp_path / "paper.pdf").write_bytes(FILES["paper.pdf"])
    assert output_of(program, str(tmp_path)) == "3 False\n"


def test_foreign_modules_and_output_do_not_disturb_the_process(tmp_path: Path) -> None:
    """Files in the working folder or next to its script may be named like modules it imports; libraries may print."""
    package, elsewhere = tmp_path / "package" / "corpus", tmp_path / "elsewhere"
    shutil.copytree(REPOSITORY / "corpus", package, ignore=shutil.ignore_patterns("sample"))
    elsewhere.mkdir()
    for folder in (elsewhere, package / "loading"):
        for name in ("csv", "decimal", "gc", "pdb", "json", "contextlib"):
            (folder / f"{name}.py").write_text("import os\nos._exit(7)\n", encoding="utf-8")
    reader = package / "readers" / "records" / "csv_rows.py"
    noise = "import os\nprint('noise', flush=True)\nos.write(1, b'more noise')\n"
    reader.write_text(reader.read_text(encoding="utf-8") + noise, encoding="utf-8")
    program = (
        f"import sys\nsys.path[0] = {str(package.parent)!r}\nfrom corpus.loading.sandbox import Sandbox\n"
        "print(Sandbox().read('a.tsv', b'a\\tb\\n1\\t2\\n').text)\n"
    )
    assert output_of(program, cwd=elsewhere) == "a: 1\nb: 2\n"


def test_failure_to_start_a_process_leaves_file_state_unknown() -> None:
    """Such as without free descriptors; the index then keeps the passages of the file."""
    program = (
        "import resource, sys\nfrom corpus.errors import Unreadable\nfrom corpus.loading.sandbox import Sandbox\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))\n"
        "try:\n    Sandbox().read('a.tsv', b'a\\tb\\n1\\t2\\n')\n"
        "except Unreadable as error:\n    print(error.reason, error.unknown)\n"
    )
    assert output_of(program) == "cannot be read: no process can be started (Too many open files) True\n"
