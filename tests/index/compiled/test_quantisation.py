"""8-bit copies are used for questions only, on processors that gain from them, and if vectors hardly change."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index import prepare_for_questions
from index.compiled.compiled_copy import CompiledCopy, CopyCheck, Hint
from index.compiled.quantisation import GROUP, quantise
from index.compiled.runtime import CompileError, openvino
from index.encoder import load
from index.encoder.load import load_encoder
from index.encoder.model_files import DEFAULT_MODEL, find
from index.encoder.openvino_graph import encoder_copy
from qa import build_index
from qa.collection import build
from qa.reader import network

TEXTS = (
    "The harbour closes at dusk.",
    "Which of the two boats was repaired in 2019?",
    "Nachts ist es kälter als draußen; 3,704 of 11,603 (32 %).",
    "pip install --upgrade tool-kit==4.2",
)
WIDTH = 2 * GROUP
GENERATOR = np.random.default_rng(7)
WEIGHTS = GENERATOR.normal(size=(48, WIDTH)).astype(np.float32)
INPUT = GENERATOR.normal(size=(1, 5, WIDTH)).astype(np.float32)


@pytest.fixture
def library() -> Iterator[Any]:
    with openvino() as imported:
        yield imported


def has_eight_bits(graph: Any) -> bool:
    return any(node.get_element_type().get_type_name() == "i8" for node in graph.get_ops() if not node.inputs())


def graph_of(library: Any, weights: Any, *, transposed: bool) -> Any:
    op = library.opset13
    value = op.parameter([-1, -1, weights.shape[1 if transposed else 0]], np.float32)
    return library.Model([op.result(op.matmul(value, op.constant(weights), False, transposed))], [value], "one product")


def test_a_table_takes_half_the_memory(library: Any, tmp_path: Path) -> None:
    """Neither its file nor the loaded copy has it in float32, and it is looked up as before."""
    op = library.opset13
    ids = op.parameter([-1], np.int64)
    graph = library.Model(
        [op.result(op.matmul(op.gather(op.constant(WEIGHTS), ids, np.int64(0)), op.constant(WEIGHTS), False, True))],
        [ids],
        "a table and a product",
    )
    quantise(library, graph)
    library.save_model(graph, tmp_path / "graph.xml")
    assert (tmp_path / "graph.bin").stat().st_size < WEIGHTS.nbytes
    rows = np.array([3, 0, 47])
    expected = WEIGHTS[rows] @ WEIGHTS.T
    actual = library.compile_model(graph, "CPU")([rows])[0]
    assert np.abs(actual - expected).max() < 0.02 * np.abs(expected).max()


@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("first", [None, 1000, 0], ids=["noise", "one large weight", "a group of zeros"])
def test_a_quantised_product_is_nearly_exact(library: Any, transposed: bool, first: int | None) -> None:
    """Each group has its own scale, so that one large weight does not reduce the precision of other groups."""
    weights, value = WEIGHTS.copy(), INPUT.copy()
    if first is not None:
        weights[:, : GROUP if first == 0 else 1] = first
        value[..., :GROUP] = 0
    graph = graph_of(library, weights if transposed else np.ascontiguousarray(weights.T), transposed=transposed)
    with np.errstate(all="raise"):
        quantise(library, graph)
    assert has_eight_bits(graph)
    product = library.Core().compile_model(graph, "CPU", {"DYNAMIC_QUANTIZATION_GROUP_SIZE": str(GROUP)})([value])[0]
    exact = value @ weights.T
    # Each of 128 products is off by at most 1/254 of the largest in its group; the errors add up like noise.
    assert np.abs(product - exact).max() < 0.03 * np.abs(exact).max()


def test_rows_that_do_not_divide_into_groups_are_not_quantised(library: Any) -> None:
    graph = graph_of(library, WEIGHTS[:, : GROUP + 1].copy(), transposed=True)
    quantise(library, graph)
    assert not has_eight_bits(graph)


def test_a_model_that_quantisation_changes_too_much_is_copied_exactly(library: Any, cache: Path) -> None:
    """The next process does not try again, and does not load the rejected copy."""
    checked = []

    def make(library: Any) -> tuple[Any, CopyCheck]:
        def check(compiled: Any, *, quantised: bool) -> None:
            checked.append(quantised)
            if quantised:
                raise CompileError("too different")

        return graph_of(library, WEIGHTS, transposed=True), check

    for _ in range(2):  # like two processes
        product = CompiledCopy("m", "key", make, quantised=True).load(Hint.LATENCY)([INPUT])[0]
        assert np.allclose(product, INPUT @ WEIGHTS.T, rtol=1e-2, atol=0.02)
    assert checked == [True, False]


def test_only_questions_are_embedded_in_8_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = load_encoder().encode_passages(TEXTS)
    exact_copy, copies = encoder_copy(find())._folder(), tmp_path / "qa" / "compiled"
    shutil.copytree(exact_copy, copies / exact_copy.name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(load, "is_int8_faster", lambda: True)
    assert np.array_equal(load_encoder().encode_passages(TEXTS), exact)
    prepare_for_questions(DEFAULT_MODEL)
    assert sorted("-int8-" in folder.name for folder in copies.iterdir()) == [False, True]
    encoder = load_encoder(hint=Hint.LATENCY)
    vectors = np.array([encoder.encode_query(text) for text in TEXTS])
    cosines = (vectors * exact).sum(axis=1)
    assert cosines.min() > 0.99
    assert cosines.max() < 0.99999


def test_inputs_are_quantised_in_the_same_groups_as_weights(cache: Path) -> None:
    """Otherwise they would be in float32, which is as slow as without quantisation."""

    def make(library: Any) -> tuple[Any, CopyCheck]:
        return graph_of(library, WEIGHTS, transposed=True), lambda compiled, *, quantised: None

    compiled = CompiledCopy("m", "key", make, quantised=True).load(Hint.LATENCY)
    assert compiled.get_property("DYNAMIC_QUANTIZATION_GROUP_SIZE") == GROUP


@pytest.mark.parametrize("faster", [True, False])
def test_the_reader_has_its_own_8_bit_copy(monkeypatch: pytest.MonkeyPatch, faster: bool) -> None:
    monkeypatch.setattr(network, "is_int8_faster", lambda: faster)
    assert network.reader_copy(find()).quantised is faster


def test_the_first_index_prepares_for_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared: list[str] = []
    monkeypatch.setattr(build, "prepare_for_questions", prepared.append)
    (tmp_path / "note.md").write_text("The harbour closes at dusk.\n", encoding="utf-8")
    build_index(tmp_path)
    assert prepared == [DEFAULT_MODEL]


def test_no_second_copy_is_prepared_if_8_bits_are_not_faster(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "is_int8_faster", lambda: False)
    prepare_for_questions(DEFAULT_MODEL)
    assert not (cache / "qa" / "compiled").exists()
