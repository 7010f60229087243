"""What the training of the reader rests on: examples that say what they claim, losses and measures by hand."""

# ruff: noqa: S311 - no secret is drawn here

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

from .articles import read_articles
from .edits import Edit, as_line, changed, changes_between, read_edits
from .notes import pages
from .pages import KEPT, PAGES, page_groups, read_pages
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
    """Names, years and numbers are found where they stand."""
    found = entities(TEXT)
    assert [(one.kind, one.text) for one in found] == [
        ("year", "1903"), ("name", "Paris"), ("year", "1891"), ("name", "Warsaw"), ("number", "12"),
    ]  # fmt: skip
    assert all(TEXT[one.start : one.end] == one.text for one in found)


def test_sentences_cover_the_text() -> None:
    """No character is lost between sentences."""
    spans = sentences(TEXT)
    assert "".join(TEXT[a:b] for a, b in spans) == TEXT
    assert len(spans) == 3


def test_a_near_miss_asks_for_what_the_passage_does_not_say() -> None:
    """The entity in the question is another one, and never the answer."""
    question = "When did she move to Paris?"
    made = {asks_for_another(question, TEXT, "1891", entities(TEXT), Random(seed)) for seed in range(20)}
    assert made - {None} == {"When did she move to Warsaw?"}
    changed = about_another(question, TEXT, "1891", entities("It began in Oslo."), Random(0))
    assert changed == TEXT.replace("Paris", "Oslo")


def test_negated_turns_a_word_or_says_not() -> None:
    """A question on the first asks for the last, or one with an auxiliary says not."""
    assert {negated("Who was first?", Random(seed)) for seed in range(20)} >= {"Who was last?", "Who wasn't first?"}


def test_without_answer_leaves_the_other_sentences() -> None:
    """The answering sentence goes, the rest stays; too little left is no passage."""
    long = TEXT + " " + TEXT.replace("1891", "1892")
    left = without_answer(long, "1891")
    assert left is not None
    assert "1891" not in left
    assert "1892" in left
    assert without_answer("Only this one says 1891.", "1891") is None


def test_answers_are_where_they_are_said_to_be() -> None:
    """Lists, swapped answers and written pages keep the answer's characters."""
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


def test_measures_are_those_of_squad() -> None:
    """Articles, case and punctuation do not count; no answer equals no answer alone."""
    pytest.importorskip("torch")
    from .evaluate import exact, f1

    assert exact("The  Normans!", "normans") == 1
    assert f1("the first oil shock", "oil shock") == pytest.approx(0.8)
    assert (f1("", ""), f1("", "x"), f1("x", "")) == (1, 0, 0)


def test_ranking_loss_and_auroc_by_hand() -> None:
    """Two passages of one question: cross-entropy of the right one; an untold one and a lone question count nothing."""
    torch = pytest.importorskip("torch")
    from .train import auroc, ranking_loss

    scores, group = torch.tensor([1.0, 0.0, 5.0, 2.0]), torch.tensor([0, 0, 0, 1])
    loss = ranking_loss(scores, group, torch.tensor([1, 0, -1, 1]))
    assert float(loss) == pytest.approx(float(np.log1p(np.exp(-1.0))))
    assert auroc(np.array([2.0, 1.0]), np.array([1.0, 0.0])) == pytest.approx(0.875)


def test_the_best_span_is_that_of_all_pairs() -> None:
    """Not longer than allowed, never before its start, never at position 0."""
    torch = pytest.importorskip("torch")
    from .model import best_spans

    start = torch.tensor([[9.0, 0.0, 3.0, 0.0, 1.0]])
    end = torch.tensor([[9.0, 5.0, 0.0, 0.0, 4.0]])
    spans, score = best_spans(start, end, longest=2)
    assert spans.tolist() == [[1, 1]]
    assert float(score) == pytest.approx(5 - 18)
    spans, _ = best_spans(start, end, longest=3)
    assert spans.tolist() == [[2, 4]]


def test_what_ships_is_read_back_to_go_on_from() -> None:
    """Its checks are no weights, and its layers have the names of the shipped file."""
    pytest.importorskip("transformers")
    from .model import load_reader, new_reader

    reader = load_reader(Path(__file__).parents[3] / "qa/reader/reader.safetensors")
    fresh = new_reader().trained()
    assert not any(value.equal(fresh[name]) for name, value in reader.trained().items())


def test_batches_are_seeded_exact_and_take_each_row_once() -> None:
    """The same seed gives the same batches, each of the same size."""
    pytest.importorskip("torch")
    from .batches import LABELS, Packed, batches

    lengths = np.random.default_rng(0).integers(5, 60, 100)
    label = np.zeros((100, len(LABELS)), np.int32)
    label[:, 0] = np.arange(100) // 2
    packed = Packed(np.zeros(lengths.sum(), np.uint16), np.concatenate([[0], np.cumsum(lengths)]), label)
    made = batches(packed, size=8, seed=1)
    assert made == batches(packed, size=8, seed=1)
    assert made != batches(packed, size=8, seed=2)
    rows = [row for batch in made for row in batch]
    assert {len(batch) for batch in made} == {8}
    assert len(rows) == len(set(rows)) == 96


def test_pages_are_asked_what_they_tell_and_what_they_only_seem_to() -> None:
    """An answer stands in its passage; a question without one gets the passage that is most like it."""
    passages = {page.name: [{"context": "", "text": part} for part in page.text.split("\n\n")] for page in read_pages()}
    examples = [example for group in page_groups(passages, Random(1)) for example in group]
    answers = {answer for page in read_pages() for _, answer in page.asked if answer is not None}
    told = [example for example in examples if example.answered]
    assert {example.text[example.start : example.end] for example in told} <= answers
    assert len(told) > 0.9 * sum(answer is not None for page in read_pages() for _, answer in page.asked)
    assert {example.kind for example in examples} == {"page", "page-hard", "page-miss"}
    assert all(example.start == -1 for example in examples if not example.answered)


def test_pages_are_no_part_of_what_is_measured_or_fitted() -> None:
    """No page is one of the near misses' or unseen files, or kept."""
    folders = (Path(__file__).parents[1] / "near_misses", *(Path(__file__).parents[1] / "unseen").iterdir())
    measured = {file.name for folder in folders for file in (folder / "files").iterdir()}
    kept = {page.name for page in read_pages(KEPT)}
    names = {page.name for page in read_pages()}
    texts = [page.text for folder in (PAGES, KEPT) for page in read_pages(folder)]
    assert measured
    assert kept
    assert not names & kept
    assert not any(name.endswith(other) for name in names | kept for other in measured)
    assert len(set(texts)) == len(texts)


def test_questions_on_articles_are_answered_by_the_paragraph_before_them(tmp_path: Path) -> None:
    """An article may begin two paragraphs alike, and say an answer twice."""
    questions = tmp_path / "asked"
    questions.mkdir()
    (tmp_path / "Rhine.md").write_text("# Rhine\n\nIt is long.\nIt is wide, and long.\n", encoding="utf-8")
    (questions / "Rhine.txt").write_text("P: It is wide\nQ: What is the Rhine?\nA: long\n", encoding="utf-8")
    (asked,) = read_articles(tmp_path, questions)
    assert (asked.file, asked.question, asked.answer) == ("Rhine.md", "What is the Rhine?", "long")
    assert asked.paragraph == (21, 42)
    for wrong, said in (("P: It is wide\nQ: What?\nA: deep\n", "deep"), ("P: is wide\n", "is wide")):
        (questions / "Rhine.txt").write_text(wrong, encoding="utf-8")
        with pytest.raises(ValueError, match=said):
            list(read_articles(tmp_path, questions))


def test_questions_on_paragraphs_belong_to_the_paragraph_before_them(tmp_path: Path) -> None:
    blocks = "@t1-001-002\nWho?\nWhen, @home?\n= in 1903\n\n@t1-003-000\nWhere?\n"
    (tmp_path / "a.txt").write_text(blocks, encoding="utf-8")
    assert list(read_questions(tmp_path)) == [
        ("t1-001-002", [("Who?", None), ("When, @home?", "in 1903")]),
        ("t1-003-000", [("Where?", None)]),
    ]
    assert all(questions for _, questions in read_questions())


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ("When did she not move to Paris?", "t1-001-002-q0 | 3:3 not"),
        ("When did he move Paris?", "t1-001-002-q0 | 2:3 he | 4:5"),
        ("Who moved, when did she move to Paris or Rome?", "t1-001-002-q0 | 0:1 Who moved, when | 5:6 Paris or Rome?"),
        ("When did the woman move to Paris?", "t1-001-002-q0 | = | 2:3 the woman"),
    ],
)
def test_a_changed_question_is_made_of_its_changes(tmp_path: Path, other: str, line: str) -> None:
    """Words put in, taken out and replaced, several at once: places are those of the original."""
    question = "When did she move to Paris?"
    edit = Edit(changes_between(question, other), answered="=" in line)
    assert as_line("t1-001-002-q0", edit) == line
    (tmp_path / "a.txt").write_text(f"{line}\n", encoding="utf-8")
    assert read_edits(tmp_path) == {"t1-001-002-q0": [edit]}
    assert changed(question, edit.changes) == other


def test_dropout_takes_the_same_features_of_all_tokens_and_only_in_training() -> None:
    """What is kept weighs more, so that the mean stays."""
    torch = pytest.importorskip("torch")
    from .model import SharedDropout

    dropout, states = SharedDropout(0.25), torch.ones(64, 3, 64)
    dropped = dropout(states)
    assert dropped.unique().tolist() == pytest.approx([0, 1 / 0.75])
    assert torch.equal(dropped[:, 0], dropped[:, 2])
    assert not torch.equal(dropped[0], dropped[1])
    assert float(dropped.mean()) == pytest.approx(1, abs=0.05)
    assert torch.equal(dropout.eval()(states), states)


def test_a_near_miss_is_compared_with_the_questions_of_its_group() -> None:
    """Not with those of another group, nor with another passage for the same question."""
    torch = pytest.importorskip("torch")
    from .train import pair_loss

    group = torch.tensor([0, 0, 0, 1, 1])
    right = torch.tensor([True, False, False, True, False])
    near = torch.tensor([False, True, False, False, False])
    scores = torch.tensor([2.0, 1.0, 9.0, -5.0, 9.0])
    assert float(pair_loss(scores, group, right, near)) == pytest.approx(np.log1p(np.exp(-1)))
    assert float(pair_loss(scores, group, right, torch.zeros_like(near))) == 0
