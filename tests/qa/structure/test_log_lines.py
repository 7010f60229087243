"""Where the reader needs a full stop before a line with a date."""

from __future__ import annotations

import pytest

from qa.reader.readable import readable
from qa.structure.log_lines import missing_stops


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("3 Feb  skip came\n5 Feb  wall down", "3 Feb  skip came.\n5 Feb  wall down"),
        ("Mon 2 Mar  sowed peas\n\nTue 3 Mar  rain", "Mon 2 Mar  sowed peas.\n\nTue 3 Mar  rain"),
        ("2026-02-01 fed (2 kg)\n2026-02-09 fed", "2026-02-01 fed (2 kg).\n2026-02-09 fed"),
        ("04.05.26: mast up\n09.05.26: oil", "04.05.26: mast up.\n09.05.26: oil"),
        ("07:30 off\n08:15 back", "07:30 off.\n08:15 back"),
        # The lines of a list without bullets
        (
            "Rules\nBeds 32\nBoats 2, the Teal\nVisits 90\n\nCome by\nbus.\n",
            "Rules.\nBeds 32.\nBoats 2, the Teal.\nVisits 90\n\nCome by\nbus.\n",
        ),
        ("Beds 32\nBoats 2\nthe Teal\nVisits 90", None),
        ("Beds 32\nBoats 2\nVisits 90", None),
        # A mark ends the line, the marker of a list begins the next one, or that is no date.
        ("3 Feb  skip came.\n5 Feb  wall down", None),
        ("- 3 Feb: skip came\n- 5 Feb: wall down", None),
        ("wall, 3.2 Masonry\n3.3 Roof", None),
        ("200 g flour\n3 eggs", None),
    ],
)
def test_missing_stops(text: str, read: str | None) -> None:
    assert readable(text, "").text == (read or text)
    assert bool(list(missing_stops(text, 0, len(text)))) is (read is not None)
