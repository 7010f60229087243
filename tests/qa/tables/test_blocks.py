"""Whole blocks of documents as answers: commands, and lists of ingredients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from index.snapshot import Snapshot
from qa.tables.blocks import BlockAnswer, block_answer
from tests.qa.indexes import built

MANUAL = """# Puffin manual

Puffin copies tapes.

## Everyday use

Rewind the tape before you eject it:

```sh
puffin rewind
```

To label tapes:

```console
$ puffin label --all
2 tapes
$ puffin save
```

If you copy a tape twice, tell the keeper:

```sh
puffin tell keeper
```

Switch on the lamp:

```sh
puffin lamp on
```

## Erase the archive

Ask first. Nobody can bring it back.

```sh
puffin erase
puffin erase --really
```
"""
COOKING = """# Drinks

## Ginger ale (2 litres)

For a party.

- 90 g ginger
- 2 lemons
- 1 pinch of salt

Leave it for 3 days.

## Hot punch

### Ingredients

- red wine
- cloves

### Method

1. Heat it.
2. Stir it.

## Pear cider

- rinse the pears
- press them
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    texts = {"manual.md": MANUAL, "drinks.md": COOKING}
    with built(tmp_path_factory.mktemp("blocks"), texts) as opened:
        yield opened


def found(snapshot: Snapshot, question: str) -> BlockAnswer | None:
    passages = [it for path in ("manual.md", "drinks.md") for it in snapshot.passages_of(path)]
    return block_answer(snapshot, question, passages)


def answer(snapshot: Snapshot, question: str) -> str | None:
    """The text of the answer, whose highlights must be at their places in the file."""
    blocks = found(snapshot, question)
    if blocks is None:
        return None
    for passage in blocks.passages:
        for mark in blocks.extracts()[passage.id].highlights:
            assert passage.text[mark.chars[0] - passage.start : mark.chars[1] - passage.start] == mark.text
    result = blocks.answer(blocks.passages)
    assert result is not None
    return result.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which command rewinds the tape?", "puffin rewind"),
        ("how do I label tapes", "puffin label --all\npuffin save"),
        ("command for erasing the archive", "puffin erase\npuffin erase --really"),
        ("How can I switch on the lamp of puffin?", "puffin lamp on"),
        ("How do I switch off the lamp?", None),
        ("How do I copy a tape?", None),
        ("Which command erases a label?", None),
        ("Which command-line option labels tapes?", None),
        ("Why label tapes?", None),
    ],
)
def test_the_line_or_heading_above_a_command_has_the_words_of_the_question(
    snapshot: Snapshot, question: str, text: str | None
) -> None:
    """It is not about the opposite, nor about another case."""
    assert answer(snapshot, question) == text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What goes into the ginger ale?", "- 90 g ginger\n- 2 lemons\n- 1 pinch of salt"),
        ("ingredients ginger ale", "- 90 g ginger\n- 2 lemons\n- 1 pinch of salt"),
        ("What do I need for the hot punch?", "- red wine\n- cloves"),
        ("What do I need for the pear cider?", None),
        ("What is in the cherry ale?", None),
        ("How much ginger goes into the ginger ale?", None),
        ("Which ingredients are not in the ginger ale?", None),
    ],
)
def test_ingredients_are_below_the_name_of_the_dish(snapshot: Snapshot, question: str, text: str | None) -> None:
    """They have amounts, or the heading calls them that."""
    assert answer(snapshot, question) == text


def test_a_line_may_introduce_the_code_of_the_next_passage(tmp_path: Path) -> None:
    """The passage with the code is the one that is cited."""
    text = (
        "# Auk\n\n"
        + "Auks dive well. " * 100
        + "\n\nTo feed the auk:\n\n```sh\nauk feed "
        + "herring " * 300
        + "\n```\n"
    )
    with built(tmp_path, {"auk.md": text}) as snapshot:
        passages = snapshot.passages_of("auk.md")
        at = next(number for number, it in enumerate(passages) if it.text.endswith("feed the auk:"))
        blocks = block_answer(snapshot, "Which command feeds the auk?", passages[: at + 1])
        assert blocks is not None
        assert blocks.passages == [passages[at + 1]]
