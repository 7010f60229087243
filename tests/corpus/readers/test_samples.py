"""Every format: what is extracted from a file, how an answer is cited, and that a damaged copy does no harm."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from corpus.formats import SUFFIXES, format_of
from corpus.loading.load import load, parse
from corpus.loading.sandbox import Sandbox
from qa import Retriever, build_index
from qa.collection.show import show
from tests.corpus.readers.samples.files import FILES, SAMPLES, Sample
from tests.corpus.readers.samples.listing import EXPECTED, listing
from tests.corpus.readers.samples.texts import NOTES, PROGRAMS
from tests.documents import check_passages, count_words
from tests.encoders import BagEncoder


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each format and a damaged copy of it."""
    folder = tmp_path_factory.mktemp("formats")
    for sample in SAMPLES:
        (folder / sample.path).write_bytes(sample.data)
        (folder / f"damaged-{sample.path}").write_bytes(damaged(sample))
    return folder


def damaged(sample: Sample) -> bytes:
    """The first half of a file; of a text, the beginning with a picture after it."""
    half = sample.data[: len(sample.data) // 2]
    kind = format_of(sample.path)
    return half if kind is not None and kind.magic else half[:1000] + b"\0" * 300 + b"\x89PNG\xff\xfe" * 300


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_a_sample_is_extracted_as_expected(sample: Sample, sandbox: Sandbox) -> None:
    """After an intended change run `python -m tests.corpus.readers.samples.listing`.

    Passages are as for any document, and each has the page of its first words.
    """
    found = parse(sample.path, sample.data, sandbox=sandbox)
    assert listing(found) == (EXPECTED / f"{sample.path}.txt").read_text(encoding="utf-8")
    for passage in check_passages(found, count_tokens=count_words, max_tokens=40):
        assert passage.page == found.page_of(passage.start + passage.body)


def test_every_format_has_a_sample() -> None:
    """Suffixes with the same media type have the same reader, so one sample is enough."""
    suffixes = [f"a{suffix}" for suffix in SUFFIXES]
    types, sampled = ({kind.media_type for kind in map(format_of, paths) if kind} for paths in (suffixes, FILES))
    assert types == sampled


@pytest.mark.parametrize("path", ["gauges.py", *PROGRAMS, *(path for path, *_ in NOTES)])
def test_text_formats_are_not_changed(path: str, sandbox: Sandbox) -> None:
    assert parse(path, FILES[path], sandbox=sandbox).text == FILES[path].decode()


def test_every_format_can_be_indexed_and_cited(root: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file answers its question and is cited at the right place; each damaged copy is left out and reported."""
    encoder = BagEncoder()
    report = build_index(root, encoder=encoder)
    # Seven of them hold two records each.
    assert (report.added, report.documents) == (len(SAMPLES), len(SAMPLES) + 7)
    assert {skip.path for skip in report.skipped} == {f"damaged-{sample.path}" for sample in SAMPLES}
    expected = ("damaged", "binary", "encrypted", "content does not match", "no text")
    assert all(skip.reason.startswith(expected) for skip in report.skipped)
    again = build_index(root, encoder=encoder)
    assert (again.added, again.changed, again.embedded) == (0, 0, 0)
    with Retriever.open(root, encoder=encoder) as retriever:
        found = {}
        for sample in SAMPLES:
            first = retriever.search(sample.question, k=1)[0]
            assert sample.answer in first.text, sample.path
            assert first.source.state == "verified"
            found[sample.path] = first.citation
    assert found == {sample.path: sample.citation for sample in SAMPLES}
    monkeypatch.setattr("qa.collection.show.load", partial(load, sandbox=sandbox))  # one process for all
    for sample in SAMPLES:
        shown = show(root, sample.citation, context=0)
        assert sample.answer in "\n".join(text for _, text in shown.lines), sample.path
