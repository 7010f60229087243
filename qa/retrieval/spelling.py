"""Spelling correction: replace a word that the collection lacks by one that it has, one letter away.

On questions in which one letter of the rarest word was left out, doubled, changed or swapped with the next, this
recovers most of what the mistake cost. Questions without mistakes are left alone: a word is only replaced if no passage
has it and it is not a single token of the encoder, as the common words of its languages are. A word that the collection
has with a hyphen is replaced by that: "wi-fi" for "wifi".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from string import ascii_lowercase

from index import STOP_WORDS, Encoder, Index, Word, word_terms, words
from qa.answer.results import Correction
from qa.questions.lookup import QUOTED

# A shorter word has too many neighbours, unless only a hyphen is missing, and a longer string is not a word.
_SHORTEST, _SHORTEST_JOINED, _LONGEST = 5, 4, 30
# Shorter words in capitals are acronyms, of which others may be a letter away.
_SHORTEST_SHOUTED = 7
# At most this many words of a question are checked, since finding the neighbours of one takes about a millisecond.
_MAX_WORDS = 5
# How many candidate terms are tried, and how many passages of each are searched for the spelling of the word.
_MAX_TERMS, _MAX_PASSAGES = 3, 20
# Latin letters end here. Folding to ASCII would not do: "ø" and "ł" have no ASCII form.
_AFTER_LATIN = "\u0250"


def correct_spelling(
    question: str, question_words: Sequence[Word], snapshot: Index, encoder: Encoder
) -> tuple[str, tuple[Correction, ...]]:
    """Replace words that the collection lacks by similar ones that occur in it.

    Args:
        question: The question.
        question_words: Its words.
        snapshot: The collection.
        encoder: Its model; a word that is one of its tokens is not a mistake.

    Returns:
        The question to search for, and the corrections, each with the word as it was written.
    """
    quoted = [match.span() for match in QUOTED.finditer(question)]
    suspects = [
        part
        for word in question_words
        # Parts of contractions and of names such as O'Brien are not words of their own.
        if "'" not in word.text
        for part in word.parts or (word,)
        if _may_be_misspelt(part.text, question[part.start : part.end])
        and not any(start < part.start < end for start, end in quoted)
    ]
    missing = _missing({part.text: None for part in suspects}, snapshot)
    neighbours = _hyphenated(missing[:_MAX_WORDS], snapshot)
    unknown = _unknown([word for word in missing if word not in neighbours and len(word) >= _SHORTEST], encoder)
    for word in unknown[:_MAX_WORDS]:
        neighbour = _neighbour(word, snapshot)
        if neighbour:
            neighbours[word] = neighbour
    corrections: dict[Correction, None] = {}
    pieces, at = [], 0
    for part in suspects:
        if part.text in neighbours:
            pieces += [question[at : part.start], neighbours[part.text]]
            at = part.end
            corrections[Correction(question[part.start : part.end], neighbours[part.text])] = None
    return "".join([*pieces, question[at:]]), tuple(corrections)


def _may_be_misspelt(word: str, written: str) -> bool:
    """Whether a word consists of Latin letters, and is neither a stop word, nor too short or long, nor an acronym."""
    is_plain = max(word, default="") < _AFTER_LATIN and word.isalpha() and _SHORTEST_JOINED <= len(word) <= _LONGEST
    return is_plain and word not in STOP_WORDS and not (written.isupper() and len(word) < _SHORTEST_SHOUTED)


def _missing(candidates: Collection[str], snapshot: Index) -> list[str]:
    """Return the words that no passage has, in order."""
    terms = {word: word_terms(word) for word in candidates}
    frequency = snapshot.frequencies([term for several in terms.values() for term in several])
    return [word for word in candidates if not any(frequency[term] for term in terms[word])]


def _hyphenated(missing: Collection[str], snapshot: Index) -> dict[str, str]:
    """Return the words that the collection has with a hyphen, and this form: "wi-fi" for "wifi"."""
    forms = {f"{word[:i]}-{word[i:]}": word for word in missing for i in range(1, len(word))}
    frequency = snapshot.frequencies(tuple(forms))
    return {word: form for form, word in forms.items() if frequency[form]}


def _unknown(missing: Sequence[str], encoder: Encoder) -> list[str]:
    """Return the words that are not one token of the encoder, in order."""
    sizes = encoder.count_tokens(missing)
    return [word for word, size in zip(missing, sizes, strict=True) if size > 1]


def _neighbour(word: str, snapshot: Index) -> str:
    """Return a word of the collection that is one letter away, as it is written there; "" if there is none.

    Prefers the term in the most passages. The keyword index has only stems, so the spelling is taken from their text.
    """
    stems = word_terms(word)
    spellings: defaultdict[str, set[str]] = defaultdict(set)
    for variant in _edits(word):
        terms = word_terms(variant)
        if len(terms) == 1 and terms != stems and len(terms[0]) > 2:
            spellings[terms[0]].add(variant)
    frequency = snapshot.frequencies(tuple(spellings))
    by_frequency = sorted((term for term in spellings if frequency[term]), key=lambda term: (frequency[term], term))
    for term in by_frequency[: -_MAX_TERMS - 1 : -1]:
        written = _written(term, spellings[term], snapshot)
        if written:
            return written
    return ""


def _written(term: str, spellings: Collection[str], snapshot: Index) -> str:
    """Return the most frequent form of some spellings in passages that have a term; "" if they have none."""
    forms: Counter[str] = Counter()
    for passage in snapshot.passages([hit.passage for hit in snapshot.keyword({term: 1.0}, _MAX_PASSAGES)]):
        text = "\n".join((passage.document.path, passage.context, passage.text))
        parts = (part for word in words(text) for part in word.parts or (word,))
        forms.update(text[part.start : part.end] for part in parts if part.text in spellings)
    return max(forms, key=lambda form: (forms[form], form), default="")


def _edits(word: str) -> Iterator[str]:
    """Yield all strings one edit away that keep the first letter, which is seldom wrong."""
    for i in range(1, len(word)):
        yield word[:i] + word[i + 1 :]
    for i in range(len(word) - 1):
        yield word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    for letter in ascii_lowercase:
        for i in range(1, len(word)):
            yield word[:i] + letter + word[i + 1 :]
        for i in range(1, len(word) + 1):
            yield word[:i] + letter + word[i:]
