"""An answer in prose by llama.cpp's server, from xllamacpp, with a model of our own."""

from __future__ import annotations

import json
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
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port = sys.argv[1], 0
server = xllamacpp.Server(params)
# Another thread may not have ended its line of the log.
print("\\nlistening on", server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server whose model says `SENTENCES`."""
    pytest.importorskip("xllamacpp")
    model = tmp_path_factory.mktemp("llama") / "model.gguf"
    write_model(model, PIECES)
    with subprocess.Popen(
        [sys.executable, "-c", XLLAMACPP, str(model)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        address = next((line for line in process.stdout if line.startswith("listening on ")), "")
        try:
            yield f"{address.split()[2]}/v1"
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
