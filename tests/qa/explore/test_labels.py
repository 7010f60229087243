"""Labels of topics."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from qa.explore.labels import label_all


def snapshot(frequencies: dict[str, int], passages: int = 100) -> Any:
    return SimpleNamespace(
        info=SimpleNamespace(passages=passages),
        frequencies=lambda terms: {term: frequencies.get(term, 5) for term in terms},
    )


def test_labels_are_words_as_written() -> None:
    """Not stems, as terms are."""
    (found,) = label_all(snapshot({}), [["Normans ruled duchies.", "The Normans had duchies.", "Normans, duchies."]])
    assert set(found) == {"Normans", "duchies"}


def test_the_capital_letter_of_a_sentence_is_dropped() -> None:
    (found,) = label_all(snapshot({}), [["Bread soon rises.", "All bread soon rises.", "Bread soon rises."]])
    assert {*" ".join(found).split()} <= {"bread", "soon", "rises"}


def test_common_words_of_the_collection_rank_lower() -> None:
    (found,) = label_all(snapshot({"paper": 99, "zebra": 3}), [["zebra, paper"] * 3])
    assert found[0] == "zebra"


def test_a_word_of_all_topics_ranks_lower() -> None:
    found = label_all(snapshot({}), [["study, whales"] * 3, ["study, trains"] * 3])
    assert [names[0] for names in found] == ["whales", "trains"]


def test_related_words_are_one_term() -> None:
    (found,) = label_all(snapshot({}), [["Norman, Normandy, duke"] * 3])
    assert sum(name.startswith("Norman") for name in found) == 1
    assert "duke" in found


def test_two_consecutive_words_are_one_term() -> None:
    """If one of them occurs mostly together with the other."""
    texts = ["the steam engine of Watt", "a steam engine and Watt", "steam engine", "steam, coal", "coal"]
    (found,) = label_all(snapshot({}), [texts])
    assert "steam engine" in found
    assert "coal" in found


def test_labels_exclude_stop_words_contractions_and_numbers() -> None:
    (found,) = label_all(snapshot({}), [["I'm sure they aren't 1999 ox whales"] * 3])
    assert set(found) <= {"sure", "whales"}


def test_an_earlier_label_is_kept_while_it_fits() -> None:
    texts = [["zebra striped horse"] * 3]
    assert label_all(snapshot({}), texts, kept=[("striped", "zebras")]) == [("striped", "zebras")]
    assert label_all(snapshot({}), texts, kept=[("camel",)]) != [("camel",)]


def test_subtopic_labels_exclude_terms_of_their_topic() -> None:
    found = label_all(snapshot({}), [["whales sing"] * 3, ["whales dive"] * 3], without=("whales",))
    assert [names[0] for names in found] == ["sing", "dive"]


def test_text_without_spaces() -> None:
    (found,) = label_all(snapshot({}), [["鲸鱼，唱歌", "鲸鱼，唱歌"]])
    assert set(found) <= {"鲸鱼", "唱歌"}


def test_nothing_to_name() -> None:
    assert label_all(snapshot({}), [["the of and"], []]) == [(), ()]
