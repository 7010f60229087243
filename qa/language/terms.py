"""The terms of a text: stems of its words without stop words, and forms of irregular verbs."""

from __future__ import annotations

from corpus import lazy_pattern, path_words
from index import STOP_WORDS, StoredPassage, word_terms

_WORD = lazy_pattern(r"\w+")
# Other forms of a verb, by stem: "fed" for "feed".
_IRREGULAR = [
    set(forms.split())
    for forms in (
        "break broke broken", "bring brought", "bui bought", "catch caught", "come came", "drive drove driven",
        "eat at eaten", "fall fell fallen", "feed fed", "find found", "fly flew flown", "get got gotten",
        "give gave given", "go went gone", "grow grew grown", "leav left", "lend lent", "lose lost", "make made",
        "meet met", "pai paid", "ride rode ridden", "ring rang rung", "see saw seen", "sell sold", "send sent",
        "shoot shot", "sow sown", "speak spoke spoken", "steal stole stolen", "swim swam swum", "take took taken",
        "teach taught", "tear tore torn", "write wrote written",
    )
]  # fmt: skip


def terms(text: str) -> set[str]:
    """Return the stems of a text's words, without stop words."""
    return set(ordered_terms(text))


def ordered_terms(text: str) -> list[str]:
    """Return them in the order of the text."""
    words = (word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS)
    # The stem of "s", as in "Ann's", is empty.
    return [term for word in words for term in word_terms(word) if term]


def surroundings(passage: StoredPassage) -> str:
    """Return what is said about a passage above it: its headings, and the title and path of its document."""
    return "\n".join((*passage.heading, passage.context, passage.title, path_words(passage.document.path)))


def has_form_of(term: str, among: set[str]) -> bool:
    """Whether some terms have a form of another: "fed" of "feed"."""
    forms = next((forms for forms in _IRREGULAR if term in forms), {term})
    return not forms.isdisjoint(among)
