"""Rules that answer some questions instead of the reader, each with a question that only looks like one of these.

One folder, and questions that a rule was made for beside those on which it must stay silent, as a rule that fires on
the wrong question shows only in the whole tool.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qa import Retriever, build_index
from tests.qa.indexes import write

pytestmark = pytest.mark.usefixtures("remembering")

FILES = {
    # Sections that resolve a problem, and those of a magazine
    "heater.md": """# Heater Solva 20: the pilot flame goes out

## Problem

The pilot flame of the Solva 20 goes out after a minute, and the display shows F7.

## Resolution

Clean the thermocouple with fine wool and press the knob for thirty seconds.
""",
    "magazine.md": """# The Brook magazine

## Issue 31

The flower parade is on 9 August along the canal. Seats on the stand cost 7 euros.

## Solution of the puzzle

Top row: goose, kite, pear. Bottom row: plum, drum, coin.
""",
    # Commands
    "cluster.md": """# Cluster notes

The cluster report is on the page Status of the portal.

Restart the ingest worker:

```
wrk restart ingest
```

Erase the cluster report:

```
rpt --erase
```
""",
    # Hours
    "opening.md": """# Hours

Forge: Monday to Friday 7:00-15:00
Tea room: Saturday 9:00-17:00
""",
    "forge.md": """# Old Forge

## Opening hours of the forge office
- Monday: 9:00-12:00
- Tuesday: 14:00-17:00

On Wednesdays the yoga group meets in the loft from 10:00 to 11:30.

## What the forge provides
- aprons
- goggles
""",
    # Sections
    "skates.md": """# Prices of the ice rink

## Skates

The skates are blue and white. They are sharpened on Mondays.

## Rules of the rink

Nobody eats on the ice. Gloves are a must.

## Tickets

An hour costs 6 euros. Skates cost 3 euros more.
""",
    # Telephone numbers and hours
    "numbers.txt": """Numbers

Lookout kiosk: 01904 555 0161
Ola Brandt: 01904 555 0172
""",
    "lookout.md": """# Lookout

Climb the iron stairs behind the mill to get to the lookout; the last part is steep.
""",
    "library.md": """# Toy library

Toy library: Mon to Thu 10-16

Mrs Hale borrows from the toy library for the Wednesday club. She returns them on the same day.
""",
    # Titles of documents
    "letter-to-the-landlord.md": """# Letter to the landlord

Dear Sir, the cellar door sticks. Yours, Pia Holt
""",
    "cellar.md": """# Cellar

The letters on the cellar door are K and L. They stand for coal and for logs.
""",
    # Tables and records
    "crew.md": """# Crew

| Sailor | Works in | Radio |
|---|---|---|
| Aki Lund | Turku | yes |
| Per Moen | Vaasa | no |
| Tea Sand | Turku | yes |

Per Moen lives in Turku, Aki Lund in Pori. Moen urgently needs a radio.
""",
    "pupils.txt": """Pupil: Farah
Carpet: green
Coach phone: 0113 496 0222
Locker: 14

Pupil: Tomas
Carpet: grey
Coach phone: 0113 496 0333
Locker: 27
""",
    "coaches.md": """# Coaches

Ivo Lang is the coach of Farah. He comes on Fridays. The car of Farah is a red Saab.
""",
    # A chat
    "chat.txt": """[12/05/2024, 18:02] Nia: Who brings the drum?
[12/05/2024, 18:04] Rob: me
[12/05/2024, 18:10] Nia: When does the rehearsal begin?
[12/05/2024, 18:11] Eve: we have 12 chairs
[12/05/2024, 18:12] Sam: half past six
[12/05/2024, 18:20] Nia: Is anybody going to Selby on Friday?
[12/05/2024, 18:21] Eve: Yes please
[12/05/2024, 18:30] Sam: Which tent can Nia have for the weekend?
[12/05/2024, 18:31] Eve: No, not the old one, it leaks. Take the orange one
""",
    # Diaries, programmes and mails
    "orchard.md": """# Orchard log

4 March 2023  bought nets for the cherry trees
6 May 2023  pruned the pear
9 June 2024  pruned the pear
3 August 2024  tied up the pear, not pruned
""",
    "cherries.md": """# Cherry trees

The cherry trees were bought in 1987 from a nursery in Bath.
""",
    "fair.md": """# Craft fair of the chapel

## Day 1 - Saturday 13 June

### Talk on looms

We meet in the loft. Bring a cushion.

## Day 2 - Sunday 14 June

### Carving the eagle

The eagle was given to the chapel in 1911. Tools are lent.
""",
    "mail.eml": """From: Uwe Falk <uwe@example.org>
To: Pia Holt <pia@example.org>
Date: Mon, 06 May 2024 10:00:00 +0000
Subject: News

Hi Pia,

the parish sold the organ. I repaired the fence of the paddock.

Uwe
""",
    # Changes of values
    "minutes-2025-01-14.md": """# Minutes of the bell ringers, 14 January 2025

The fee of the bell ringers is 20 pounds.
""",
    "minutes-2025-03-11.md": """# Minutes of the bell ringers, 11 March 2025

The fee of the bell ringers is now 25 pounds.
""",
    "updates.md": """# Updates from the park

The maze opens on Sundays. Residents pay 4 euros instead of 9 euros at the maze.
""",
    "maze.md": """# Maze

Entry to the maze is 9 euros. The hedge is two metres high.
""",
    # Notes with arrows and boxes
    "trips.md": """# Trips

- Price of a trip: 12 -> 15 pounds
""",
    "boathouse.md": """# Boathouse

Nell has the keys of the boathouse. She lives next door.

- [ ] Kai: varnish the oars
- [ ] Liv: order rope
- [x] sweep the floor
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, remembering: None) -> Iterator[Retriever]:
    root = tmp_path_factory.mktemp("silent")
    write(root, FILES)
    build_index(root)
    with Retriever.open(root) as retriever:
        yield retriever


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "The pilot flame of our Solva 20 goes out after a minute, and F7 is on the display. How do we mend it?",
            "thermocouple",
        ),
        ("How do I restart the ingest worker?", "wrk restart ingest"),
        ("What are the rules of the rink?", "Nobody eats on the ice. Gloves are a must."),
        ("How do I reach Ola Brandt?", "01904 555 0172"),
        ("When is the toy library open on Wednesday?", "Mon to Thu 10-16"),
        ("What are the hours of the forge office on Tuesday?", "14:00-17:00"),
        ("Which letters are about the cellar?", "Letter to the landlord"),
        ("Which sailors work in Turku?", "- Aki Lund\n- Tea Sand"),
        ("What is the locker of Tomas?", "27"),
        ("Who brings the drum?", "Rob"),
        ("When does the rehearsal begin?", "half past six"),
        ("When was the pear last pruned?", "9 June 2024"),
        ("When is the talk on looms?", "Saturday 13 June"),
        ("When did Uwe repair the fence?", "2024-05-06"),
        ("What is the fee of the bell ringers?", "25 pounds"),
        ("What is the price of a trip?", "15 pounds"),
        ("What is still to do in the boathouse?", "[ ] Kai: varnish the oars\n[ ] Liv: order rope"),
    ],
)
def test_questions_that_rules_were_made_for(folder: Retriever, question: str, answer: str) -> None:
    result = folder.ask(question)
    assert result.answer is not None
    assert answer in result.answer.text


@pytest.mark.parametrize(
    ("question", "wrong"),
    [
        ("When is the flower parade?", "Top row"),
        ("How much are seats on the stand?", "plum"),
        ("How do I see the cluster report?", "rpt --erase"),
        ("What is the price of the skates?", "blue"),
        ("How can I reach the lookout?", "0161"),
        ("Who borrows from the toy library on Wednesday?", "10-16"),
        ("When is the forge open on Saturday?", "7:00"),
        ("What letters are on the cellar door?", "landlord"),
        ("Which sailors live in Turku?", "Tea Sand"),
        ("Which sailors need a radio?", "Tea Sand"),
        ("What is the car of Farah?", "green"),
        ("Who is the coach of Farah?", "0113"),
        ("When does the rehearsal begin?", "chairs"),
        ("Who is going to Selby on Friday?", "Eve"),
        ("When were the cherry trees bought?", "March"),
        ("When was the eagle given to the chapel?", "June"),
        ("When did Uwe sell the organ?", "2024-05-06"),
        ("How much is entry to the maze?", "4 euros"),
        ("Who still has the keys of the boathouse?", "Kai"),
    ],
)
def test_questions_that_only_look_like_these(folder: Retriever, question: str, wrong: str) -> None:
    """What the rule would answer is not in the answer."""
    result = folder.ask(question)
    assert result.answer is None or not result.found or wrong not in result.answer.text
