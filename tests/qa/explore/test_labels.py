"""Labels of topics."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from qa.explore.labels import Terms, label_topics


def snapshot(frequencies: dict[str, int], passages: int = 100) -> Any:
    return SimpleNamespace(
        info=SimpleNamespace(passages=passages),
        frequencies=lambda terms: {term: frequencies.get(term, 5) for term in terms},
    )


def labels_of(
    index: Any,
    texts: Sequence[Sequence[str]],
    *,
    earlier: Sequence[tuple[str, ...]] | None = None,
    without: Sequence[str] = (),
) -> list[tuple[str, ...]]:
    return label_topics(index, texts, earlier=earlier, without=without, terms=Terms())


def test_labels_are_words_as_written() -> None:
    """The index has only their stems."""
    (label,) = labels_of(snapshot({}), [["Normans ruled duchies.", "The Normans had duchies.", "Normans, duchies."]])
    assert set(label) == {"Normans", "duchies"}


def test_the_capital_letter_of_a_sentence_is_dropped() -> None:
    (label,) = labels_of(snapshot({}), [["Bread soon rises.", "All bread soon rises.", "Bread soon rises."]])
    assert {*" ".join(label).split()} <= {"bread", "soon", "rises"}


def test_common_words_of_the_collection_rank_lower() -> None:
    (label,) = labels_of(snapshot({"paper": 99, "zebra": 3}), [["zebra, paper"] * 3])
    assert label[0] == "zebra"


def test_a_word_of_all_topics_ranks_lower() -> None:
    labels = labels_of(snapshot({}), [["study, whales"] * 3, ["study, trains"] * 3])
    assert [names[0] for names in labels] == ["whales", "trains"]


def test_related_words_are_one_term() -> None:
    (label,) = labels_of(snapshot({}), [["Norman, Normandy, duke"] * 3])
    assert sum(name.startswith("Norman") for name in label) == 1
    assert "duke" in label


def test_two_consecutive_words_are_one_term() -> None:
    """They are if one of them mostly occurs next to the other."""
    texts = ["the steam engine of Watt", "a steam engine and Watt", "steam engine", "steam, coal", "coal"]
    (label,) = labels_of(snapshot({}), [texts])
    assert "steam engine" in label
    assert "coal" in label


def test_labels_exclude_stop_words_contractions_and_numbers() -> None:
    (label,) = labels_of(snapshot({}), [["I'm sure they aren't 1999 ox whales"] * 3])
    assert set(label) <= {"sure", "whales"}


def test_an_earlier_label_is_kept_while_it_fits() -> None:
    texts = [["zebra striped horse"] * 3]
    assert labels_of(snapshot({}), texts, earlier=[("striped", "zebras")]) == [("striped", "zebras")]
    assert labels_of(snapshot({}), texts, earlier=[("camel",)]) != [("camel",)]


def test_subtopic_labels_exclude_terms_of_their_topic() -> None:
    labels = labels_of(snapshot({}), [["whales sing"] * 3, ["whales dive"] * 3], without=("whales",))
    assert [names[0] for names in labels] == ["sing", "dive"]


def test_text_without_spaces() -> None:
    (label,) = labels_of(snapshot({}), [["鲸鱼，唱歌", "鲸鱼，唱歌"]])
    assert set(label) <= {"鲸鱼", "唱歌"}


def test_nothing_to_name() -> None:
    assert labels_of(snapshot({}), [["the of and"], []]) == [(), ()]
