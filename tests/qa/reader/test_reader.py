"""The reader itself, with the weights that ship."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corpus.errors import ModelError
from index import CompileError
from qa.reader import network
from qa.reader.reader import Reader, _arrays, shared_reader
from qa.reader.reading import Reading

HARBOUR = ("Harbour › Hours", "The harbour closes at dusk, in winter at five. It was built in 1874 by Jane Smith.")
FERRY = ("Notes › Boats", "The ferry to the island leaves from pier 3. Bicycles travel free.")


def read(question: str, *passages: tuple[str, str]) -> list[tuple[str, Reading]]:
    """The best answer in each passage, with its reading."""
    read_passages = []
    readings = shared_reader().read([(question, *passage) for passage in passages])
    for (_, text), reading in zip(passages, readings, strict=True):
        start, end = reading.best(0, len(text)) or (0, 0)
        read_passages.append((text[start:end], reading))
    return read_passages


def test_reader_finds_the_answer_or_detects_none() -> None:
    (year, harbour), (_, ferry) = read("When was the harbour built?", HARBOUR, FERRY)
    assert year == "1874"
    assert harbour.answered > 0 > ferry.answered
    assert harbour.relevant > ferry.relevant
    assert harbour.margin > 0 > ferry.margin
    ((who, _),) = read("who built the harbour?", HARBOUR)
    assert who == "Jane Smith"


def test_each_output_has_the_right_name() -> None:
    """For a relevant passage that does not answer the question; processors differ by some tenths."""
    ((_, reading),) = read("When was the harbour built?", ("Harbour", "It was built by Jane Smith."))
    numbers = (reading.answered, reading.relevant, reading.margin, reading.none)
    assert numbers == pytest.approx((-11.1, -7.7, -10.9, 12.0), abs=0.7)


def test_inputs_match_the_training_format() -> None:
    """[CLS] why red [SEP] notes foxes run [SEP], with masks of all tokens, of the passage, and of its text alone."""
    arrays = _arrays(shared_reader()._inputs([("why red", "Notes", "foxes run")]))
    rows = {name: "".join(map(str, arrays[name][0].tolist())) for name in ("mask", "types", "text")}
    assert rows == {"mask": "1111111100000000", "types": "0000111100000000", "text": "0000011000000000"}
    assert arrays["ids"][0].tolist() == [101, 2339, 2417, 102, 3964, 24623, 2448, 102, *[0] * 8]


def test_a_reading_does_not_depend_on_the_other_passages() -> None:
    """Nor on their order or lengths."""
    long = ("Notes", "Nothing happened on most days. " * 30)
    alone = read("When was the harbour built?", HARBOUR)[0][1]
    for passages in ([HARBOUR, FERRY], [long, FERRY, HARBOUR], [FERRY] * 7 + [HARBOUR]):
        together = read("When was the harbour built?", *passages)[passages.index(HARBOUR)][1]
        assert together.answered == pytest.approx(alone.answered, abs=0.1)
        assert np.allclose(together.start, alone.start, atol=0.2)


def test_long_inputs_are_cut() -> None:
    """Questions to 128 tokens and headings to a quarter of 320; the text gets the rest, and spans stay within it."""
    text = "harbour " * 400
    (reading,) = shared_reader().read([("why " * 200, "headings " * 200, text)])
    assert len(reading.spans) == 320 - 130 - 80 - 1
    assert text[slice(*reading.spans[-1])] == "harbour"


def test_empty_texts_have_no_answer() -> None:
    (reading,) = shared_reader().read([("", "", "")])
    assert reading.best(0, 0) is None
    assert shared_reader().read([]) == []


@pytest.mark.parametrize(
    "texts",
    [
        [HARBOUR[1], "12 x 7", ""],
        ["cell_id: C-104\ntemp_c: -10\nfailure: none", "cell_id: C-105\ntemp_c: 25\nfailure: short"],
        [],
        ["Pump replaced, leak near valve, pressure stable.", "New filter wheel installed; 7 filters. Guests: 14."],
        ["checked traps, two voles released", "pH probe recalibrated, drift 0.02; logger battery swapped"],
    ],
    ids=["prose", "fields", "nothing", "terse", "terser"],
)
def test_english_is_recognised(texts: list[str]) -> None:
    """By its commonest words, or without them by its other words; lists and code with little prose count as English."""
    assert shared_reader().is_english(texts)


@pytest.mark.parametrize(
    "text",
    [
        "Der Hafen schließt bei Einbruch der Dunkelheit, im Winter um fünf Uhr nachmittags.",
        "Hafen: schließt bei Einbruch der Dunkelheit, im Winter um fünf Uhr nachmittags.",
        "Le port ferme au crépuscule, en hiver à cinq heures.",
        "Pumpe ersetzt, undicht am Ventil, Druck stabil; neues Filterrad eingebaut, zwei Mäuse freigelassen.",
        "pompe remplacée, fuite près vanne, pression stable; nouveau filtre installé, deux campagnols relâchés",
        "bomba reemplazada, fuga cerca válvula, presión estable; nuevo filtro instalado, dos ratones liberados",
        "pompa sostituita, perdita vicino valvola, pressione stabile; nuovo filtro installato",
        "pompa wymieniona, wyciek koło zaworu, ciśnienie stabilne; nowy filtr założony",
        "насос заменён, течь у клапана, давление стабильное",
    ],
    ids=["de", "de-field", "fr", "de-terse", "fr-terse", "es-terse", "it-terse", "pl-terse", "ru-terse"],
)
def test_other_languages_are_not_english(text: str) -> None:
    assert not shared_reader().is_english([text])


def test_several_threads_get_the_same_readings() -> None:
    def answered(question: str) -> list[float]:
        return [reading.answered for _, reading in read(question, HARBOUR, FERRY)]

    questions = ["When was the harbour built?", "Where does the ferry leave?"] * 6
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answered, questions)) == list(map(answered, questions))


def test_weights_match_the_model_card() -> None:
    """They are pinned by hash and at most 22 MB."""
    data = network.WEIGHTS.read_bytes()
    assert len(data) <= 22_000_000
    assert hashlib.sha256(data).hexdigest() == network.WEIGHTS_SHA256
    assert network.WEIGHTS_SHA256 in Path(network.__file__).with_name("MODEL_CARD.md").read_text(encoding="utf-8")


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the weights, with an empty cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    weights = tmp_path / "reader.safetensors"
    weights.write_bytes(network.WEIGHTS.read_bytes())
    monkeypatch.setattr(network, "WEIGHTS", weights)
    return weights


def test_damaged_weights_are_refused(fresh: Path) -> None:
    data = bytearray(fresh.read_bytes())
    data[len(data) // 2] ^= 1
    fresh.write_bytes(data)
    with pytest.raises(ModelError, match=r"damaged: checksum mismatch\. Install qa again"):
        Reader().read([("why?", *HARBOUR)])


@pytest.mark.usefixtures("fresh")
def test_network_with_wrong_outputs_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example, one with two layers swapped."""
    tensors = network._tensors

    def swapped(*arguments: Any) -> network.Tensors:
        arrays = tensors(*arguments)
        weight, other_weight = (f"encoder.layer.{layer}.output.dense.weight" for layer in (1, 4))
        return {**arrays, weight: arrays[other_weight], other_weight: arrays[weight]}

    monkeypatch.setattr(network, "_tensors", swapped)
    with pytest.raises(CompileError, match="does not reproduce its check outputs"):
        Reader().read([("why?", *HARBOUR)])
