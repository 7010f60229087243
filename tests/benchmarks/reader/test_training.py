"""Training of the reader: correct examples, and losses and measures compared with calculations by hand."""

# ruff: noqa: S311 - not for secrets

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from tests.benchmarks.common import write_lines

from . import human
from .articles import read_articles
from .edits import changed, read_edits
from .examples import Example, answered, no_answer, with_near_misses
from .human import human_groups
from .notes import pages
from .off_topic import add_off_topic
from .pages import PAGES, RESERVED, page_groups, read_pages, read_yes_no
from .paragraphs import read_questions
from .wording import (
    about_another,
    as_list,
    asks_for_another,
    entities,
    negated,
    sentences,
    with_other_answer,
    without_answer,
)

TEXT = "She won the prize in 1903. She moved to Paris in 1891. The laboratory of Warsaw offered 12 places."


def test_entities_have_kinds_and_exact_places() -> None:
    result = entities(TEXT)
    assert [(entity.kind, entity.text) for entity in result] == [
        ("year", "1903"), ("name", "Paris"), ("year", "1891"), ("name", "Warsaw"), ("number", "12"),
    ]  # fmt: skip
    assert all(TEXT[entity.start : entity.end] == entity.text for entity in result)


def test_sentences_cover_the_whole_text() -> None:
    spans = sentences(TEXT)
    assert "".join(TEXT[a:b] for a, b in spans) == TEXT
    assert len(spans) == 3


def test_near_miss_replaces_an_entity_of_the_question_or_passage() -> None:
    """The new entity is never the answer."""
    question = "When did she move to Paris?"
    questions = {asks_for_another(question, TEXT, "1891", entities(TEXT), Random(seed)) for seed in range(20)}
    assert questions - {None} == {"When did she move to Warsaw?"}
    changed = about_another(question, TEXT, "1891", entities("It began in Oslo."), Random(0))
    assert changed == TEXT.replace("Paris", "Oslo")


def test_negation_uses_an_antonym_or_not() -> None:
    assert {negated("Who was first?", Random(seed)) for seed in range(20)} >= {"Who was last?", "Who wasn't first?"}


def test_without_answer_keeps_the_other_sentences() -> None:
    """The answering sentence is removed; if too little remains, there is no passage."""
    long = TEXT + " " + TEXT.replace("1891", "1892")
    shortened = without_answer(long, "1891")
    assert shortened is not None
    assert "1891" not in shortened
    assert "1892" in shortened
    assert without_answer("Only this one says 1891.", "1891") is None


def test_answer_offsets_are_correct_in_changed_texts() -> None:
    """Lists, replaced answers and generated pages have the answer at the given characters."""
    start = TEXT.index("1891")
    text, begin, end = as_list(TEXT, start, start + 4, Random(1))
    assert text[begin:end] == "1891"
    swapped = with_other_answer(TEXT, start, start + 4, [], Random(2))
    assert swapped is not None
    assert swapped[0][swapped[1] : swapped[2]] not in TEXT
    for group in pages(50, Random(3)):
        first, *others = group
        assert first.text[first.start : first.end].strip()
        assert all(other.start == -1 for other in others)


def test_measures_match_squad() -> None:
    """Articles, case and punctuation are ignored; no answer matches only no answer."""
    pytest.importorskip("torch")
    from .evaluate import exact, f1

    assert exact("The  Normans!", "normans") == 1
    assert f1("the first oil shock", "oil shock") == pytest.approx(0.8)
    assert (f1("", ""), f1("", "x"), f1("x", "")) == (1, 0, 0)


def test_ranking_loss_matches_a_calculation_by_hand() -> None:
    """The loss ignores a passage of unknown relevance and a question with only one passage."""
    torch = pytest.importorskip("torch")
    from .train import ranking_loss

    scores, group = torch.tensor([1.0, 0.0, 5.0, 2.0]), torch.tensor([0, 0, 0, 1])
    loss = ranking_loss(scores, group, torch.tensor([1, 0, -1, 1]))
    assert float(loss) == pytest.approx(float(np.log1p(np.exp(-1.0))))


def test_pair_loss_compares_near_misses_with_answered_questions_of_their_own_group() -> None:
    torch = pytest.importorskip("torch")
    from .train import pair_loss

    scores, group = torch.tensor([1.0, 0.0, 5.0, 2.0]), torch.tensor([0, 0, 1, 1])
    answered = torch.tensor([True, False, False, False])
    loss = pair_loss(scores, group, answered, ~answered)
    assert float(loss) == pytest.approx(float(np.log1p(np.exp(-1.0))))
    assert float(pair_loss(scores, group, answered & False, ~answered)) == 0


def test_layers_compute_what_transformers_computes_and_its_gradients() -> None:
    """Also for padded inputs, which attend to no padding."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from .batches import encode, in_batches
    from .model import new_reader

    reader = new_reader().eval()
    texts = ["The harbour closes at dusk. " * length for length in (1, 8)]
    ((_, batch),) = in_batches(encode(["When does it close?"] * 2, ["Harbour"] * 2, texts), size=2)
    gradients = []
    for own in (True, False):
        reader.zero_grad()
        if own:
            start = reader.read(batch).start
        else:
            states = reader.bert(batch.ids, batch.mask, batch.types).last_hidden_state
            start = reader.span(states)[..., 0].masked_fill(~batch.allowed, -1e4)
        start.logsumexp(1).sum().backward()
        weights = [weight for weight in reader.bert.encoder.parameters() if weight.grad is not None]
        gradients.append((start.detach(), torch.cat([weight.grad.flatten().clone() for weight in weights])))
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=2e-4, rtol=1e-3)


@pytest.mark.parametrize(
    ("expected", "line"),
    [
        ("When did she not move to Paris?", "t1-001-002-q0 | 3:3 not"),
        ("When did he move Paris?", "t1-001-002-q0 | 2:3 he | 4:5"),
        ("Who moved, when did she move to Paris or Rome?", "t1-001-002-q0 | 0:1 Who moved, when | 5:6 Paris or Rome?"),
        ("When did the woman move to Paris?", "t1-001-002-q0 | = | 2:3 the woman"),
    ],
)
def test_changes_turn_one_question_into_the_other(tmp_path: Path, expected: str, line: str) -> None:
    """Words are inserted, deleted and replaced, several at once; positions refer to the original."""
    (tmp_path / "a.txt").write_text(f"{line}\n", encoding="utf-8")
    ((edit,),) = (found := read_edits(tmp_path)).values()
    assert list(found) == ["t1-001-002-q0"]
    assert edit.is_answered is ("=" in line)
    assert changed("When did she move to Paris?", edit.changes) == expected


def test_a_question_without_an_answer_has_its_twin_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin has the passage with its answer; questions of other articles and answerable ones are left out."""
    parts = ["The mill was built in 1704 by two brothers.", "The mill burnt down in 1801."]
    monkeypatch.setattr(human, "DATA", tmp_path)
    monkeypatch.setattr(human, "trained_articles", lambda: (["Mill.md"], ["Dam.md"]))
    monkeypatch.setattr(human, "TWINS", tmp_path / "twins")
    questions = {"q1": "Who built the mill in 1801?", "q2": "Who burnt the mill?", "q3": "Why?", "q4": "Who?"}
    files = {"q1": "Mill.md", "q2": "Mill.md", "q3": "Mill.md", "q4": "Dam.md"}
    data = tmp_path / "squad-dev-v2"
    (tmp_path / "passages").mkdir()
    (tmp_path / "twins").mkdir()
    data.mkdir()
    (tmp_path / "twins/Mill.txt").write_text("q1 | two brothers | 5:6 1704?\n", encoding="utf-8")
    rows = [{"file": "Mill.md", "context": "Mill", "text": part} for part in parts]
    write_lines(tmp_path / "passages/squad-dev.jsonl", rows)
    write_lines(data / "corpus.jsonl", [{"_id": "p", "text": " ".join(parts)}])
    write_lines(data / "queries.jsonl", [{"_id": name, "text": text} for name, text in questions.items()])
    write_lines(data / "questions.jsonl", [{"id": name, "file": file} for name, file in files.items()])
    write_lines(data / "answers.jsonl", [{"_id": name, "doc": "p", "answerable": name == "q3"} for name in questions])
    (miss, twin), (alone,) = human_groups(tmp_path)
    assert (miss.question, miss.answered, miss.group) == ("Who built the mill in 1801?", False, "q1")
    assert (twin.question, twin.answered, twin.group) == ("Who built the mill in 1704?", True, "q1")
    assert twin.text[twin.start : twin.end] == "two brothers"
    assert (alone.question, alone.answered) == ("Who burnt the mill?", False)


def test_near_misses_are_beside_the_answered_question_most_like_them() -> None:
    """One that resembles none, or only another near miss, stays alone."""
    passage = {"context": "", "text": TEXT}
    first = answered("a", "When did she win the prize?", passage, "1903", "page")
    second = answered("b", "When did she move to Paris?", passage, "1891", "page")
    asked = ("When did he move to Paris?", "Why is there no laboratory in Oslo?", "Why is there no laboratory in Rome?")
    misses = [no_answer(name, question, passage, "page-miss") for name, question in zip("cde", asked, strict=True)]
    groups = with_near_misses([[first], *([miss] for miss in misses), [second]])
    expected = [["a"], ["b", "b"], ["d"], ["e"]]
    assert [[example.group for example in group] for group in groups] == expected
    assert groups[1][1].question == asked[0]


def test_off_topic_examples_have_a_passage_of_another_file_that_is_not_relevant() -> None:
    example = Example("a", "Who?", "", TEXT, 0, 3, answered=True, relevant=1, kind="squad")
    groups = [[example] for _ in range(50)]
    other = {"file": "b.md", "context": "Harbour", "text": "It closes\nat dusk."}
    add_off_topic(groups, {"a.md": [{"context": "", "text": TEXT}], "b.md": [other]}, 1.0, Random(1))
    added = [examples[1] for examples in groups if len(examples) > 1]
    assert {row.text for row in added} == {other["text"], "It closes", "at dusk."}
    assert all((row.start, row.answered, row.relevant, row.context) == (-1, False, 0, "Harbour") for row in added)


def test_best_span_has_the_highest_score_of_all_allowed_spans() -> None:
    """Spans are no longer than allowed, do not end before they start, and do not start at position 0."""
    torch = pytest.importorskip("torch")
    from .model import best_spans

    start = torch.tensor([[9.0, 0.0, 3.0, 0.0, 1.0]])
    end = torch.tensor([[9.0, 5.0, 0.0, 0.0, 3.5]])
    spans, score = best_spans(start, end, longest=2, count=2)
    assert spans.tolist() == [[[1, 1], [4, 4]]]  # not (2, 4) with 6.5
    assert score.tolist() == [[5 - 18, 4.5 - 18]]
    spans, _ = best_spans(start, end, longest=3, count=1)
    assert spans.tolist() == [[[2, 4]]]


def test_spans_of_the_same_answer_add_up() -> None:
    """With and without its article an answer is the same, and an uncertain answer counts as less."""
    torch = pytest.importorskip("torch")
    from .batches import encode
    from .evaluate import Reading, _likeliest

    text = "The harbour or the market"
    encoded = encode(["Where?"], ["Notes"], [text])[0]
    words = [[at, at] for at in range(encoded.text, encoded.text + 5)]
    spans = [words[4], [words[0][0], words[1][0]], words[1]]
    answer, chars, share = _likeliest(text, encoded, spans, torch.tensor([2.0, 1.8, 1.8]))
    assert (answer, chars) == ("The harbour", (0, 11))
    assert 0.6 < share < 0.7
    assert Reading("a", (0, 1), 0.5, 1, 1, 1).decision < Reading("a", (0, 1), 0.9, 1, 1, 1).decision


def test_exported_weights_can_be_loaded_to_resume_training() -> None:
    """Checks in the file are skipped, and the names of the layers are mapped."""
    pytest.importorskip("transformers")
    from .model import load_reader, new_reader

    reader = load_reader(Path(__file__).parents[3] / "qa/reader/reader.safetensors")
    fresh = new_reader().trained()
    assert not any(value.equal(fresh[name]) for name, value in reader.trained().items())


def test_batches_are_reproducible_full_and_use_each_row_at_most_once() -> None:
    pytest.importorskip("torch")
    from .batches import LABELS, Packed, batches

    lengths = np.random.default_rng(0).integers(5, 60, 100)
    label = np.zeros((100, len(LABELS)), np.int32)
    label[:, 0] = np.arange(100) // 2
    packed = Packed(np.zeros(lengths.sum(), np.uint16), np.concatenate([[0], np.cumsum(lengths)]), label)
    result = batches(packed, size=8, seed=1)
    assert result == batches(packed, size=8, seed=1)
    assert result != batches(packed, size=8, seed=2)
    rows = [row for batch in result for row in batch]
    assert {len(batch) for batch in result} == {8}
    assert len(rows) == len(set(rows)) == 96


@pytest.mark.parametrize("yes_no", [False, True])
def test_pages_have_answered_and_unanswered_questions(yes_no: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer is in its passage; a question without an answer has the most similar passage."""
    written = list(read_pages())
    if not yes_no:  # thirty collections of several pages, and pages without one
        written = [*written[:150], *written[-150:]]
        monkeypatch.setattr(f"{page_groups.__module__}.read_pages", lambda: written)
    passages = {page.name: [{"context": "", "text": part} for part in page.text.split("\n\n")] for page in written}
    examples = [example for group in page_groups(passages, Random(1), yes_no=yes_no) for example in group]
    tested = read_yes_no() if yes_no else written
    answers = [answer for page in tested for _, answer in page.questions if answer is not None]
    answered = [example for example in examples if example.answered]
    assert {example.text[example.start : example.end] for example in answered} <= set(answers)
    assert len(answered) > 0.9 * len(answers)
    assert {example.kind for example in examples} == {"page", "page-hard", "page-miss"}
    assert all(example.start == -1 for example in examples if not example.answered)


def test_training_pages_are_not_used_for_measuring_or_fitting() -> None:
    """No page is among the files of `near_misses` or `unseen`, or among the kept pages."""
    folders = (Path(__file__).parents[1] / "near_misses", *(Path(__file__).parents[1] / "unseen").iterdir())
    measured = {file.name for folder in folders for file in (folder / "files").iterdir()}
    reserved = {page.name for page in read_pages(RESERVED)}
    names = {page.name for page in read_pages()}
    texts = [page.text for folder in (PAGES, RESERVED) for page in read_pages(folder)]
    assert measured
    assert reserved
    assert not names & reserved
    assert not any(name.endswith(measured_name) for name in names | reserved for measured_name in measured)
    assert len(set(texts)) == len(texts)


def test_article_questions_belong_to_the_paragraph_above_them(tmp_path: Path) -> None:
    """Two paragraphs may begin alike, and both may contain the answer."""
    questions = tmp_path / "asked"
    questions.mkdir()
    (tmp_path / "Rhine.md").write_text("# Rhine\n\nIt is long.\nIt is wide, and long.\n", encoding="utf-8")
    (questions / "Rhine.txt").write_text("P: It is wide\nQ: What is the Rhine?\nA: long\n", encoding="utf-8")
    (question,) = read_articles(tmp_path, questions)
    assert (question.file, question.question, question.answer) == ("Rhine.md", "What is the Rhine?", "long")
    assert question.paragraph == (21, 42)
    for content, message in (("P: It is wide\nQ: What?\nA: deep\n", "deep"), ("P: is wide\n", "is wide")):
        (questions / "Rhine.txt").write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=message):
            list(read_articles(tmp_path, questions))


def test_paragraph_questions_belong_to_the_paragraph_above_them(tmp_path: Path) -> None:
    blocks = "@t1-001-002\nWho?\nWhen, @home?\n= in 1903\n\n@t1-003-000\nWhere?\n"
    (tmp_path / "a.txt").write_text(blocks, encoding="utf-8")
    assert list(read_questions(tmp_path)) == [
        ("t1-001-002", [("Who?", None), ("When, @home?", "in 1903")]),
        ("t1-003-000", [("Where?", None)]),
    ]
    assert all(questions for _, questions in read_questions())
