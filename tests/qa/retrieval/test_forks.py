"""Processes forked after a question: they inherit neither threads nor locks, and must not wait for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import needs_fork

QUESTION = "Who won the regatta?"

# Each child ends as a program does, running all destructors, and not by os._exit.
_CHILDREN = """
import gc, multiprocessing, os, sys, threading
from qa import Retriever, build_index

root, question = sys.argv[1:]
build_index(root)
retriever = Retriever.open(root)


def answer():
    return retriever.ask(question).answer.text


def fork(name, act):
    sys.stdout.flush()
    child = os.fork()
    if child:
        print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    else:
        act()
        sys.exit()


def drop():
    global retriever
    del retriever
    gc.collect()


def locks():
    owners = [line.split()[4] for line in open("/proc/locks")] if os.path.exists("/proc/locks") else [str(os.getpid())]
    print("own locks" if str(os.getpid()) in owners else "no locks")


def ask():
    print(answer())
    locks()
    fork("grandchild", lambda: print(answer()))


def other():
    with Retriever.open(root) as opened:
        locks()
        print(opened.ask(question).answer.text)


def write():
    with open(os.path.join(root, "new.md"), "w") as file:
        file.write("A heron was seen.")
    print(build_index(root).embedded, retriever.reload(), retriever.reload())


fork("loading", ask)
answer()
for act in (lambda: None, drop, other, write):
    fork(act.__name__, act)
asking = [threading.Thread(target=answer) for _ in range(3)]
for thread in asking:
    thread.start()
fork("threads", lambda: print(answer()))
for thread in asking:
    thread.join()
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.apply(answer))
print("parent", answer())
"""

_EXPECTED = """
Ida Borg
own locks
Ida Borg
grandchild 0
loading 0
<lambda> 0
drop 0
own locks
Ida Borg
other 0
1 True False
write 0
Ida Borg
threads 0
Ida Borg
parent Ida Borg
"""


@needs_fork
def test_forked_children_answer_and_exit(tmp_path: Path) -> None:
    """With the parent's retriever or their own, even forked while it loads or answers; the parent's stays intact."""
    (tmp_path / "notes.md").write_text("# Regatta\n\nThe regatta was won by Ida Borg in May.\n")
    program = [sys.executable, "-W", "ignore", "-c", _CHILDREN, str(tmp_path), QUESTION]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"a child hangs, after: {process.communicate()[0]}")
    assert output.split("\n") == _EXPECTED.lstrip().split("\n")
