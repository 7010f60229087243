"""An answer in prose by llama.cpp's server, from xllamacpp, with a model of our own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa.prose import LLMEndpoint
from qa.prose.exchange import stream
from tests.paths import REPOSITORY
from tests.qa.prose.talking_model import write_model

SENTENCES = ("Soup is served at noon [1].", "It is served by 77 cooks [1].", "Everybody knows that.")
# The tokens, all different.
PIECES = (
    "Soup", " is", " served", " at", " noon", " [", "1", "].", " It is", " served by", " 77", " cooks", " [1", "]. ",
    "Everybody", " knows", " that.",
)  # fmt: skip
XLLAMACPP = """
import os, sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], 0
server = xllamacpp.Server(params)
os.write(int(sys.argv[2]), server.listening_address.encode())
os.close(int(sys.argv[2]))
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server whose model says `SENTENCES`."""
    pytest.importorskip("xllamacpp")
    model = tmp_path_factory.mktemp("llama") / "model.gguf"
    write_model(model, PIECES)
    # A pipe of its own, since the server's threads log to stdout and stderr.
    reading, writing = os.pipe()
    with (
        model.with_suffix(".log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-c", XLLAMACPP, str(model), str(writing)],
            stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=[writing],
        ) as process,
    ):  # fmt: skip
        os.close(writing)
        with open(reading) as pipe:  # noqa: PTH123 - a file descriptor
            address = pipe.read()
        try:
            assert address, model.with_suffix(".log").read_text()
            yield f"{address}/v1"
        finally:
            process.kill()


def test_generated_sentences_are_printed_and_checked(llama: str, notes: Path) -> None:
    """`qa ask --write` needs no settings in the environment."""
    done = subprocess.run(
        [sys.executable, "-m", "qa", "ask", "--index", str(notes), "--write", "--endpoint", llama, "--json",
         "When is soup served?", "--path", "lunch.md"],
        cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["writing"] == {"llm": "default", "ending": "complete", "error": "", "left_out": 0}
    fields = ("text", "citations", "state", "reason")
    assert [tuple(sentence[field] for field in fields) for sentence in result["answer"]["prose"]] == [
        ("Soup is served at noon.", [1], "supported", ""),
        ("It is served by 77 cooks.", [1], "unsupported", "77 is not in what it cites"),
        ("Everybody knows that.", [], "unsupported", "it cites no passage"),
    ]


def test_it_streams(llama: str) -> None:
    """Each token is a piece."""
    pieces = list(stream(LLMEndpoint(llama), [{"role": "user", "content": "When is soup served?"}]))
    assert [piece for piece in pieces if piece] == list(PIECES)
    assert "".join(pieces) == " ".join(SENTENCES)
