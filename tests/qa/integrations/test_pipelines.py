"""The retriever for each framework, in a pipeline of that framework, on a real collection and without a network."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import gc
import importlib
import io
import json
import pickle
import re
import shutil
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from qa import Mode, NoIndexError, Retriever, UsageError, build_index
from qa.answer.results import Hit, Source
from tests.paths import SAMPLE
from tests.test_documents import blocks

pytestmark = pytest.mark.usefixtures("remembering")

QUESTION = "What won the ICLR 2025 test of time award?"
METADATA_FIELDS = {
    *({field.name for kind in (Hit, Source) for field in fields(kind)} - {"id", "text", "source"}),
    *("citation", "found", "confidence", "generation", "answer"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that contains an indexed part of the sample."""
    folder = tmp_path_factory.mktemp("frameworks")
    root = folder / "corpus" / "sample"
    root.mkdir(parents=True)
    for name in ("awards.md", "schedule.md", "numbers.md"):
        shutil.copy(SAMPLE / name, root / name)
    build_index(root)
    return folder


@pytest.fixture(autouse=True)
def _offline_in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in that folder, without Haystack's telemetry; the test fails if it looks up a name or connects."""
    connections: list[object] = []
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HAYSTACK_TELEMETRY_ENABLED", "False")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **_: connections.append(args))
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: connections.append(address))
    yield
    assert connections == []


def run_example(number: int) -> tuple[dict[str, Any], str]:
    """Run an example of USAGE.md; return the names that it defines, and what it prints."""
    code = [text for text in blocks("qa/USAGE.md", "python") if "qa.integrations" in text][number]
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, names)  # noqa: S102 - our own
    return names, printed.getvalue()


def check_passage(text: str, metadata: dict[str, Any], *extra: str) -> None:
    """Check that a passage is the slice of its file, with all fields of a `Hit`, which survive JSON."""
    file = Path("corpus/sample", metadata["path"]).read_bytes().decode()
    assert file[slice(*metadata["chars"])] == text
    assert metadata.keys() == METADATA_FIELDS | set(extra)
    assert json.loads(json.dumps(metadata)) == metadata
    assert (metadata["state"], metadata["found"], metadata["rank"]) == ("verified", True, 1)
    assert metadata["citation"] == "awards.md:12-16"
    assert metadata["answer"].startswith("Adam: A Method")
    assert metadata["highlights"][0]["text"].startswith("The ICLR 2025 test of time award was won by *Adam")


def test_langchain_chain() -> None:
    """The passages reach the model of a runnable chain; async methods and batches give the same results."""
    names, printed = run_example(0)
    assert "test of time award was won by *Adam" in printed
    # Each training of the reader may change which passage is last.
    assert re.match(r"[a-z]+\.md:\d+-\d+", printed.splitlines()[-1])
    retriever = names["retriever"]
    documents = retriever.invoke(QUESTION)
    check_passage(documents[0].page_content, {**documents[0].metadata, "id": documents[0].id}, "id", "source")
    assert len(documents) == 3
    assert asyncio.run(retriever.ainvoke(QUESTION)) == documents
    assert retriever.batch([QUESTION] * 2) == [documents] * 2


def test_llama_index_query_engine() -> None:
    """The passages reach the model of a query engine, with only the citation and title of their metadata."""
    names, printed = run_example(1)
    assert "citation: awards.md:12-16" in printed
    assert "sha256" not in printed
    retriever = names["retriever"]
    nodes = retriever.retrieve(QUESTION)
    check_passage(nodes[0].node.text, nodes[0].metadata)
    assert nodes[0].score == nodes[0].metadata["score"]
    assert asyncio.run(names["engine"].aquery(QUESTION)).source_nodes == nodes


def test_haystack_pipeline_saved_and_loaded() -> None:
    """A saved pipeline gives the same prompt when loaded, and its async run the same passages."""
    names, printed = run_example(2)
    assert "[awards.md:12-16]" in printed
    loaded = names["loaded"]
    inputs = {"passages": {"query": QUESTION}, "prompt": {"question": QUESTION}}
    assert names["pipeline"].run(inputs)["prompt"] == names["answer"]["prompt"]
    retriever = loaded.get_component("passages")
    result = retriever.run(QUESTION)
    check_passage(result["documents"][0].content, result["documents"][0].meta)
    assert len(result["documents"]) == 3
    assert "Adam" in result["answer"]
    assert asyncio.run(retriever.run_async(QUESTION)) == result


def test_haystack_settings_survive_saving() -> None:
    """Every argument is kept, not only those in the example."""
    from haystack.core.serialization import component_from_dict, component_to_dict

    from qa.integrations.haystack import QARetriever

    filters: dict[str, Any] = {"types": "md", "since": "2001", "until": None, "where": {"title": "ICLR 2025 awards"}}
    component = QARetriever("corpus/sample", 2, Mode.KEYWORD, ["awards.md"], rerank=False, **filters)
    loaded = component_from_dict(QARetriever, component_to_dict(component, "one"), "one")
    assert loaded.to_dict() == component.to_dict()
    assert loaded.to_dict()["init_parameters"] == {
        "folder": "corpus/sample", "k": 2, "mode": "keyword", "path": ["awards.md"], "rerank": False, **filters,
    }  # fmt: skip
    assert type(loaded.to_dict()["init_parameters"]["mode"]) is str, "no other type can be written as YAML"
    assert {document.meta["path"] for document in loaded.run("award")["documents"]} == {"awards.md"}


def test_one_index_is_opened_for_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four simultaneous questions open it once, and none is asked in the thread of an event loop."""
    threads: set[int] = set()
    original_ask = Retriever.ask

    def ask(self: Retriever, *args: Any, **options: Any) -> Any:
        threads.add(threading.get_ident())
        return original_ask(self, *args, **options)

    open_index = Mock(side_effect=Retriever.open)
    monkeypatch.setattr(Retriever, "open", open_index)
    monkeypatch.setattr(Retriever, "ask", ask)
    from qa.integrations.llama_index import QARetriever

    retriever = QARetriever("corpus/sample", k=1)
    with ThreadPoolExecutor(4) as pool:
        nodes = list(pool.map(retriever.retrieve, [QUESTION] * 4))
    asyncio.run(retriever.aretrieve(QUESTION))
    assert nodes == [nodes[0]] * 4
    open_index.assert_called_once_with("corpus/sample")
    assert threading.get_ident() not in threads


def test_newest_generation_is_used(tmp_path: Path) -> None:
    """A retriever follows the index, even one that is built later, and closes it when it is garbage-collected."""
    from qa.integrations.langchain import QARetriever

    retriever = QARetriever(folder=str(tmp_path), k=1)
    with pytest.raises(NoIndexError):
        retriever.invoke("When is soup served?")
    for time in ("noon", "five"):
        (tmp_path / "a.md").write_text(f"# Soup\n\nSoup is served at {time}.\n")
        build_index(tmp_path)
        assert time in retriever.invoke("When is soup served?")[0].page_content
    index = retriever._retrievers[str(tmp_path)].open()
    del retriever
    gc.collect()
    with pytest.raises(UsageError, match="closed"):
        index.ask("When is soup served?")


def test_every_framework_supports_the_filters() -> None:
    """Misspelt filters are refused; a filter that matches nothing raises a UsageError."""
    from qa.integrations import langchain, llama_index

    chain = langchain.QARetriever(folder="corpus/sample", where="title=ICLR 2025 awards", since="2001")
    assert {document.metadata["path"] for document in chain.invoke("who gave the keynote")} == {"awards.md"}
    engine = llama_index.QARetriever("corpus/sample", types="md", path="schedule.md")
    assert {document.metadata["path"] for document in engine.retrieve("award")} == {"schedule.md"}
    with pytest.raises(ValueError, match="paht"):
        langchain.QARetriever(folder="corpus/sample", paht="awards.md")
    with pytest.raises(TypeError, match="paht"):
        llama_index.QARetriever("corpus/sample", paht="awards.md")
    with pytest.raises(UsageError, match="no indexed file is of type pdf"):
        langchain.QARetriever(folder="corpus/sample", types="pdf").invoke(QUESTION)


def test_changed_settings_take_effect() -> None:
    """Each question uses the current settings, also in a copy of a retriever that was used before."""
    from qa.integrations.langchain import QARetriever

    first = QARetriever(folder="corpus/sample", path="awards.md")
    assert {document.metadata["path"] for document in first.invoke("award")} == {"awards.md"}
    second = first.model_copy(update={"path": "schedule.md"})
    assert {document.metadata["path"] for document in second.invoke("award")} == {"schedule.md"}
    first.path, first.k = "numbers.md", 1
    assert [document.metadata["path"] for document in first.invoke("award")] == ["numbers.md"]


@pytest.mark.parametrize("framework", ["langchain", "llama_index", "haystack"])
def test_used_retrievers_can_be_copied(framework: str) -> None:
    """A deep copy or an unpickled retriever gives the same passages and opens the index itself."""
    module = importlib.import_module(f"qa.integrations.{framework}")
    ask = {"langchain": "invoke", "llama_index": "retrieve", "haystack": "run"}[framework]
    retriever = module.QARetriever(folder=Path("corpus/sample"), k=1)
    result = getattr(retriever, ask)(QUESTION)
    for copied in (copy.deepcopy(retriever), pickle.loads(pickle.dumps(retriever))):  # noqa: S301 - our own
        assert getattr(copied, ask)(QUESTION) == result


@pytest.mark.parametrize("framework", ["langchain", "llama_index", "haystack"])
def test_invalid_settings_are_our_errors(framework: str) -> None:
    """The errors are those of `Retriever.ask`, but raised before there is a question."""
    module = importlib.import_module(f"qa.integrations.{framework}")
    with pytest.raises(UsageError, match="mode must be hybrid, dense or keyword, not 'zzz'"):
        module.QARetriever(folder="corpus/sample", mode="zzz")
    with pytest.raises(UsageError, match="k must be from 1 to 1,000, not 0"):
        module.QARetriever(folder="corpus/sample", k=0)


def test_a_question_may_ask_for_another_number_of_passages() -> None:
    from qa.integrations import haystack, langchain

    chain, component = langchain.QARetriever(folder="corpus/sample"), haystack.QARetriever("corpus/sample")
    assert len(chain.invoke(QUESTION, k=1)) == 1
    assert len(asyncio.run(chain.ainvoke(QUESTION, k=2))) == 2
    assert len(asyncio.run(component.run_async(QUESTION, top_k=2))["documents"]) == 2
