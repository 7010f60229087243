"""Documents of the browser tests' library, besides the sample."""

from __future__ import annotations

from pathlib import Path

from tests.corpus.readers.samples import pdf
from tests.qa.web.hostile import write_hostile

OTTER = "An otter was seen below the weir of Pillnitz in two winters out of three."
LONG_NAME = f"minutes of a meeting {'with everybody and ' * 8}Ida.md"


def fill(root: Path) -> None:
    """Add a PDF, a table, a right-to-left text, a long name, and hostile documents."""
    heading = pdf.Words(60, 700, "Herons", 16, bold=True)
    first = [heading, *pdf.column(60, 670, "Herons stand in the river Elbe.", room=400)]
    second = pdf.column(60, 600, OTTER.replace("winters", "win~ters"), room=280)
    (root / "weirs.pdf").write_bytes(pdf.make([first, second]))
    rows = "".join(f"Brook {i},{i} km,Nothing to report\n" for i in range(30))
    (root / "rivers.csv").write_text(f"name,length,notes\n{rows}Müglitz,49 km,It rises in the Ore Mountains\n")
    (root / "rtl.txt").write_text("הנחל זורם מערבה אל הים.\n")
    bridge = "The new bridge is painted green, as the council decided on 17 May."
    (root / LONG_NAME).write_text(f"---\nauthor: Ida\n---\n# Bridge\n\n{bridge}\n")
    (root / "gone.txt").write_text("The lighthouse keeper of Moritzburg was called Gottlieb.\n")
    write_hostile(root / "hostile")
