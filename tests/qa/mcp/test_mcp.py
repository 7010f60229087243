"""`qa mcp` with the SDK's own client, and message by message over real stdio as a host sees it."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client, MCPError

from corpus.errors import NoIndexError
from index import Snapshot, StoredDocument
from qa import Retriever, build_index
from qa.collection import served as served_collection
from qa.mcp import resources
from qa.mcp.collections import NamedCollections
from qa.mcp.server import Handlers, agent_server
from qa.web.page.content import PageMaker
from tests.paths import REPOSITORY
from tests.qa.commands import qa
from tests.qa.indexes import build

pytestmark = pytest.mark.usefixtures("remembering")

AWARD = "What won the ICLR 2025 test of time award?"
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def whales(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second collection, about whales, in a folder of the same name."""
    root = tmp_path_factory.mktemp("other") / "sample"
    root.mkdir()
    (root / "my notes.md").write_text("# Whales\n\nThe keynote on Monday is about whales.\n")
    build_index(root)
    return root


@contextmanager
def connect(*folders: Path) -> Iterator[tuple[Client, Call]]:
    """Yield a client of a server in this process, and a function that calls its methods."""

    @asynccontextmanager
    async def open_client() -> AsyncIterator[Client]:
        async with Client(agent_server(NamedCollections(folders, follow=True), "1")) as client:
            yield client

    with start_blocking_portal() as portal, portal.wrap_async_context_manager(open_client()) as client:
        yield client, lambda name, *args: portal.call(getattr(client, name), *args)


@pytest.fixture(scope="module")
def served(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample, with a file that must not be served."""
    root = Path(shutil.copytree(sample, tmp_path_factory.mktemp("mcp") / "sample"))
    (root / ".hidden.md").write_text("A secret.\n")
    return root


@pytest.fixture(scope="module")
def call(served: Path) -> Iterator[Call]:
    with connect(served) as (_, call):
        yield call


def result_of(call: Call, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return its structured content, which is also its text."""
    result = call("call_tool", tool, arguments)
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content
    content: dict[str, Any] = result.structured_content
    return content


def error_of(call: Call, tool: str, **arguments: Any) -> str:
    """Call a tool and return its error message."""
    result = call("call_tool", tool, arguments)
    assert result.is_error
    message: str = result.content[0].text
    return message


def test_tools_are_described_typed_and_read_only(call: Call) -> None:
    tools = {tool.name: tool for tool in call("list_tools").tools}
    filters = ["path", "type", "since", "until", "where"]
    assert {name: list(tool.input_schema["properties"]) for name, tool in tools.items()} == {
        "ask": ["question", "k", *filters],
        "search": ["query", "k", *filters],
        "show": ["place"],
        "status": [],
        "similar": ["place", "k", *filters],
        "topics": ["n", *filters],
    }
    for tool in tools.values():
        assert tool.description
        assert all(parameter["description"] for parameter in tool.input_schema["properties"].values())
        assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        Draft202012Validator.check_schema(tool.output_schema)


def test_tools_return_what_the_command_line_prints(call: Call, sample: Path) -> None:
    """The results match the tools' schemas, which the client checks too."""
    with Retriever.open(sample) as retriever:
        expected = retriever.ask(AWARD, k=2, path="*.md").as_json()
    answer = result_of(call, "ask", question=AWARD, k=2, path="*.md")
    assert {**answer, "timings_ms": 0} == {**json.loads(json.dumps(expected)), "timings_ms": 0}
    assert answer["answer"]["text"] == "Adam: A Method for Stochastic Optimization"
    assert answer["passages"][0]["source"]["path"] == "awards.md"
    search = result_of(call, "search", query="the opening keynote", type=["md"], where="title=ICLR 2025 awards")
    assert {hit["source"]["path"] for hit in search["passages"]} == {"awards.md"}
    hits = result_of(call, "search", query="GCG suffix", k=3.0, path=["talks/", "papers/"])["passages"]
    assert {hit["source"]["path"].partition("/")[0] for hit in hits} == {"talks", "papers"}
    assert (len(hits), hits[0]["highlights"]) == (3, [])
    shown = result_of(call, "show", place="awards.md:14")
    marked = [line["text"] for line in shown["lines"] if line["marked"]]
    assert marked[0].startswith("The ICLR 2025 test of time award")
    assert result_of(call, "status")["documents"] == 27
    assert len(result_of(call, "similar", place=answer["passages"][0]["id"], k=4)["passages"]) == 4
    topics = result_of(call, "topics", n=3.0)  # an integer in JSON Schema
    assert len(topics["topics"]) == 3
    schemas = {tool.name: tool.output_schema for tool in call("list_tools").tools}
    for name, body in (("ask", answer), ("show", shown), ("topics", topics)):
        Draft202012Validator(schemas[name]).validate(body)
        assert not Draft202012Validator(schemas[name]).is_valid({**body, "version": 2})


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("ask", {}, "question is missing."),
        ("ask", {"question": " "}, "the question is empty."),
        ("ask", {"question": AWARD, "k": 0}, "k must be a number from 1 to 1,000."),
        (
            "ask",
            {"question": AWARD, "rerank": True},
            "no parameter 'rerank'. Known: question, k, path, type, since, until, where.",
        ),
        ("ask", {"question": AWARD, "path": "tlaks/"}, "no indexed file matches the path 'tlaks/'. Similar: talks/"),
        ("ask", {"question": 7}, "question must be a text of at most 10,000 characters."),
        ("ask", {"question": AWARD, "path": [7]}, "path must be a text."),
        ("ask", {"question": AWARD, "type": 7}, "type must be a text."),
        ("show", {"place": ""}, "place is empty."),
        ("show", {"place": ".hidden.md"}, ".hidden.md is not in the collection"),
        ("similar", {"place": "nothing.md"}, "nothing.md is not in the collection."),
        ("topics", {"n": 1000}, "n must be a number from 1 to 200."),
    ],
)
def test_errors_are_results_with_our_messages(call: Call, tool: str, arguments: dict[str, Any], message: str) -> None:
    """The agent can read them."""
    assert message in error_of(call, tool, **arguments)


def test_documents_and_passages_are_resources(call: Call, sample: Path) -> None:
    listed = call("list_resources").resources
    uris = {resource.uri for resource in listed}
    assert {"qa://sample/document/awards.md", "qa://sample/document/talks/kolter-keynote.txt"} <= uris
    assert not any("hidden" in uri for uri in uris)
    text = call("read_resource", "qa://sample/document/awards.md").contents[0].text
    assert text.splitlines() == (sample / "awards.md").read_text().splitlines()
    hit = result_of(call, "ask", question=AWARD)["passages"][0]
    passage = call("read_resource", f"qa://sample/passage/{hit['id']}").contents[0].text
    assert hit["text"].strip() in passage
    templates = [resource.uri_template for resource in call("list_resource_templates").resource_templates]
    assert templates == ["qa://{collection}/document/{+path}", "qa://{collection}/passage/{id}"]
    for wrong in ("sample/document/.hidden.md", "other/document/awards.md", "sample/passage/0", "", "sample/document/"):
        with pytest.raises(MCPError):
            call("read_resource", f"qa://{wrong}")


def test_documents_are_listed_page_by_page(sample: Path, whales: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each document of every collection is listed once and read once; an invalid cursor leads to the first page."""
    monkeypatch.setattr(resources, "_PAGE", 4)
    reads: list[int] = []
    documents = Snapshot.documents

    def count_reads(snapshot: Snapshot) -> tuple[StoredDocument, ...]:
        reads.append(snapshot.info.files)
        return documents(snapshot)

    monkeypatch.setattr(Snapshot, "documents", count_reads)
    collections = NamedCollections([sample, sample, whales], follow=False)
    pages = [resources.list_documents(collections, None)]
    while pages[-1].next_cursor and len(pages) < 9:
        pages.append(resources.list_documents(collections, pages[-1].next_cursor))
    uris = [resource.uri for page in pages for resource in page.resources]
    assert ([len(page.resources) for page in pages], len(set(uris))) == ([4] * 4, 16)
    assert uris[-1] == "qa://sample-2/document/my%20notes.md"
    assert reads == [15, 1]
    assert resources.list_documents(collections, "nonsense") == pages[0]


def test_an_unreadable_collection_is_left_out_of_the_list(sample: Path, whales: Path, tmp_path: Path) -> None:
    """Its error is raised only if no document can be listed."""
    collections = NamedCollections([tmp_path, whales], follow=False)
    assert [resource.name for resource in resources.list_documents(collections, None).resources] == ["my notes.md"]
    with pytest.raises(NoIndexError, match="no index in"):
        resources.list_documents(NamedCollections([tmp_path], follow=False), None)


def test_collections_are_closed_when_the_server_fails(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise an update in the background would go on."""
    closed: list[str] = []
    monkeypatch.setattr(NamedCollections, "close", lambda _: closed.append("all"))

    async def fail() -> None:
        async with Handlers(NamedCollections([sample], follow=False)).lifespan(cast("Any", None)):
            raise OSError("broken pipe")

    with pytest.raises(ExceptionGroup):
        anyio.run(fail)
    assert closed == ["all"]


def test_changed_files_are_noticed(call: Call, served: Path) -> None:
    """The index follows the files, as in `qa serve`."""
    (served / "mascot.md").write_text("# Mascot\n\nThe mascot of the conference is a quokka named Bob.\n")
    for _ in range(300):
        if result_of(call, "search", query="the mascot", k=1)["passages"][0]["source"]["path"] == "mascot.md":
            break
        time.sleep(0.2)
    else:
        pytest.fail("the new file was never found")
    (served / "mascot.md").unlink()


def test_several_collections_are_chosen_by_name(sample: Path, whales: Path) -> None:
    """Names are made unique, and tools require one."""
    with connect(sample, whales) as (client, call):
        assert "(sample, sample-2)" in str(client.instructions)
        answer = result_of(call, "ask", question="What is the keynote on Monday about?", collection="sample-2")
        assert answer["passages"][0]["source"]["path"] == "my notes.md"
        assert "collection is missing." in error_of(call, "ask", question=AWARD)
        assert "collection must be sample or sample-2." in error_of(call, "status", collection="third")
        text = call("read_resource", "qa://sample-2/document/my%20notes.md").contents[0].text
        assert text.startswith("# Whales")


def test_a_collection_that_opens_slowly_does_not_block_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_waiting, may_open = threading.Event(), threading.Event()

    class Opened:
        def __init__(self, root: Path, **_: object) -> None:
            if root.name == "slow":
                is_waiting.set()
                may_open.wait()

        reading = nullcontext

        def close(self) -> None:
            pass

    monkeypatch.setattr(served_collection, "ServedCollection", Opened)
    collections = NamedCollections([tmp_path / "slow", tmp_path / "quick"], follow=False)

    def read(name: str) -> str:
        with collections.reading(name):
            return name

    with ThreadPoolExecutor() as pool:
        pool.submit(collections.open_all)
        is_waiting.wait()
        answer = pool.submit(read, "quick")
        try:
            assert answer.result(timeout=20) == "quick"
        finally:
            may_open.set()
    collections.close()


def test_files_are_those_of_an_index_that_was_deleted_and_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Although its generation is 1 again, and its counts and vectors are the same."""

    class Opened:
        def __init__(self, root: Path, **_: object) -> None:
            self.root = root

        @contextmanager
        def reading(self) -> Iterator[SimpleNamespace]:
            with Snapshot(self.root / ".qa") as snapshot:
                yield SimpleNamespace(snapshot=snapshot)

    monkeypatch.setattr(served_collection, "ServedCollection", Opened)
    collections, pages = NamedCollections([tmp_path], follow=False), PageMaker()
    for name, types in (("old.md", (("md", 1),)), ("new.txt", (("txt", 1),))):
        build(tmp_path, {name: "Whales.\n"})
        assert [document.path for document in collections.documents(tmp_path.name)] == [name]
        with collections.reading(None) as served:
            assert pages._types_of(served.snapshot) == types
        shutil.rmtree(tmp_path / ".qa")
        (tmp_path / name).unlink()


# Messages of a host (>) and of the server (<), one per line; "=" stands for any value.
TRANSCRIPT = """
> {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}}
< {"id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": "=", "resources": "="}, "serverInfo": {"name": "qa", "title": "qa", "version": "="}, "instructions": "="}}
> {"method": "notifications/initialized"}
> {"id": 2, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "Who handed the certificate to Kingma?", "k": 1}}}
< {"id": 2, "result": {"content": [{"type": "text", "text": "="}], "isError": false, "structuredContent": {"version": 1, "id": null, "question": "Who handed the certificate to Kingma?", "found": true, "confidence": "=", "corrections": [], "answer": "=", "passages": "=", "index": "=", "rerank_model": null, "timings_ms": "="}}}
> {"id": 3, "method": "tools/call", "params": {"name": "show", "arguments": {"place": "gone.md"}}}
< {"id": 3, "result": {"content": [{"type": "text", "text": "="}], "isError": true}}
> {"id": 4, "method": "tools/call", "params": {"name": "delete", "arguments": {}}}
< {"id": 4, "error": {"code": -32602, "message": "no tool delete"}}
> {"id": 5, "method": "resources/read", "params": {"uri": "qa://sample/document/pronunciation.txt"}}
< {"id": 5, "result": {"contents": [{"uri": "qa://sample/document/pronunciation.txt", "mimeType": "text/plain", "text": "="}]}}
"""  # noqa: E501 - as they are sent
# A library prints from Python, from C, and from a process that it starts.
NOISE = """
import os, subprocess, sys
import qa.cli.serve, qa.mcp.server
models = {"numpy", "faiss", "openvino", "tokenizers", "qa.retrieval.retriever"}
print("loaded so far:", sorted(models & sys.modules.keys()), file=sys.stderr)
from qa.cli.main import main
from qa.collection import served
original = served.ServedCollection.__init__
def noisy(*args, **options):
    print("a library prints", flush=True)
    os.write(1, b"so does C\\n")
    subprocess.run(["echo", "and a process"])
    original(*args, **options)
served.ServedCollection.__init__ = noisy
main()
"""


def _matches(actual: Any, expected: Any) -> bool:
    if expected == "=":
        return True
    if isinstance(expected, dict) and isinstance(actual, dict):
        return all(_matches(actual.get(name), value) for name, value in expected.items())
    if isinstance(expected, list) and isinstance(actual, list):
        return len(actual) == len(expected) and all(map(_matches, actual, expected))
    return bool(actual == expected)


def test_stdout_carries_only_the_protocol(sample: Path) -> None:
    """All other output goes to stderr; the server exits at the end of stdin, and starts without slow imports."""
    with subprocess.Popen(
        [sys.executable, "-c", NOISE, "mcp", str(sample)],
        cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for line in TRANSCRIPT.strip().splitlines():
            message = json.loads(line[2:])
            if line.startswith(">"):
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
                process.stdin.flush()
            else:
                response = process.stdout.readline()
                assert _matches(json.loads(response), {"jsonrpc": "2.0", **message}), response
        process.stdin.close()
        assert process.stdout.read() == ""
        stderr = process.stderr.read()
        assert process.wait(timeout=60) == 0
    noises = ("loaded so far: []", "a library prints", "so does C", "and a process")
    assert all(noise in stderr for noise in noises)


def test_ctrl_c_stops_it_at_once(sample: Path) -> None:
    """It does even while waiting for stdin; on a terminal it prints what it is waiting for."""
    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "qa", "mcp", str(sample)],
        cwd=REPOSITORY, stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        os.write(parent, (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n").encode())
        assert process.stdout is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr is not None
        assert process.stderr.read() == (
            "Waiting for an agent on stdin; agents usually start this themselves (Ctrl-C to stop)\n"
        )
    os.close(parent)
    os.close(child)


def test_a_server_that_cannot_start_says_why_on_stderr(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = qa("mcp", sample.parent)
    assert (done.exit_code, done.stdout, "no index in" in done.stderr) == (3, "", True)
    monkeypatch.setitem(sys.modules, "qa.mcp.server", None)
    done = qa("mcp", sample)
    assert (done.exit_code, done.stdout, 'pip install "qa-passages[mcp]"' in done.stderr) == (2, "", True)
