"""Samples of text formats: notes, subtitles, and a program in each language.

Each note has a path, a text, and a question that only it answers, with words of the answer and the citation.
"""

from __future__ import annotations

NOTES = (
    (
        "geese.md",
        "---\ntitle: Geese at Pieschen\n---\n\n# Geese\n\nGrey geese graze on the *northern* bank.\n\n## Rings\n\n"
        "- red rings: hatched here\n- blue rings: hatched at Moritzburg\n\n| Year | Geese |\n|------|-------|\n"
        "| 2024 | 311 |\n",
        ("Where were geese with blue rings hatched?", "Moritzburg", "geese.md:9-16"),
    ),
    (
        "toads.txt",
        "TOAD FENCES\n\nThe fence along the Mordgrund is forty\npaces long. Übrigens: volunteers carry\nthe toads.\n\n"
        "Buckets\n-------\n\n* one every five metres\n* emptied at dawn\n",
        ("How many paces long is the fence along the Mordgrund?", "forty", "toads.txt:1-5"),
    ),
    (
        "mill.org",
        "Mill\n\nThe mill wheel has thirty-six paddles of larch.\n",
        ("How many paddles has the mill wheel?", "thirty-six", "mill.org:1-3"),
    ),
    (
        "quay.adoc",
        "Quay\n====\n\nBargemen moor at the bollards of granite.\n",
        ("What do bargemen moor at?", "granite", "quay.adoc:1-4"),
    ),
)
MARKED_UP = (
    (
        "oxbow.vtt",
        "WEBVTT\n\n00:01.000 --> 00:04.000\nThe oxbow was cut off\n\n00:04.000 --> 00:06.000\nby the flood of 1784.\n",
        ("Which flood cut off the oxbow?", "1784", "oxbow.vtt:4-7"),
    ),
    (
        "reeds.srt",
        "1\n00:00:01,000 --> 00:00:03,000\n<i>Thatchers mow reeds</i>\n\n"
        "2\n00:00:03,000 --> 00:00:05,000\nin Februaries.\n",
        ("When do thatchers mow reeds?", "Februaries", "reeds.srt:3-7"),
    ),
    (
        "regatta.ics",
        "BEGIN:VCALENDAR\nX-WR-CALNAME:Club\nBEGIN:VEVENT\nSUMMARY:Regatta on the Elbe\nLOCATION:Pier 4\\, Pillnitz"
        "\nDTSTART;TZID=Europe/Berlin:20240601T100000\nDTEND;TZID=Europe/Berlin:20240601T173000\nEND:VEVENT\nBEGIN:VTODO"
        "\nSUMMARY:Varnish the sculls\nDUE;VALUE=DATE:20240525\nEND:VTODO\nEND:VCALENDAR\n",
        ("Where is the regatta on the Elbe: at which pier?", "Pillnitz", "regatta.ics:3-8"),
    ),
    (
        "crew.vcf",
        "BEGIN:VCARD\nVERSION:3.0\nN:Lindqvist;Maja;;;\nFN:Maja Lindqvist\nORG:Boats;Repairs\nTEL;TYPE=CELL:+49 351 77"
        "\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nFN:Otto Kern\nNOTE:Steers the eight.\nEND:VCARD\n",
        ("Who steers the eight?", "Otto Kern", "crew.vcf:8-12"),
    ),
)
# A file in each language, and the names and line ranges of its definitions.
PROGRAMS = {
    "a.c": (
        "#include <x.h>\n\n// Rows.\n// Fast.\nstatic int *row(int n)\n{\n  return 0;\n}\n\n"
        "typedef struct {\n  int oars;\n} Boat;\n\nint later(void);\nstruct Boat *lent(struct Boat *b);\n"
        "struct Dog {\n  int legs;\n};\n",
        {"row": (3, 8), "Boat": (10, 12), "Dog": (16, 18)},
    ),
    "a.h": (
        "namespace river {\nclass Boat {\n public:\n  int oars() const;\n\n  /** Sinks. */\n  ~Boat() {\n  }\n};\n}\n",
        {"river": (1, 10), "river/Boat": (2, 9), "river/Boat/~Boat": (6, 8)},
    ),
    "a.cpp": (
        "template <class T>\nT Boat<T>::row(int n) {\n  return n;\n}\n\n"
        "bool operator==(Boat a, Boat b) {\n  return true;\n}\n",
        {"Boat<T>::row": (1, 4), "operator==": (6, 8)},
    ),
    "a.cs": (
        "namespace River {\n  /// <summary>A boat.</summary>\n  [Wet]\n  class Boat : Thing {\n"
        "    Boat() {\n      row();\n"
        "    }\n    int Oars { get; set; }\n    int Row() {\n      return 1;\n    }\n  }\n}\n",
        {"River": (1, 13), "River/Boat": (2, 12), "River/Boat/Boat": (5, 7), "River/Boat/Row": (9, 11)},
    ),
    "a.go": (
        "package river\n\n// Boat floats.\ntype Boat struct {\n\toars int\n}\n\n"
        "func (b *Boat) Row(n int) {\n\tb.oars++\n}\n",
        {"Boat": (3, 6), "Boat.Row": (8, 10)},
    ),
    "A.java": (
        "/** A boat. */\n@Wet\npublic class Boat<T> {\n  int oars; // two\n\n  /** Rows. */\n  @Override\n"
        "  public int row(int n) {\n    return n;\n  }\n}\n",
        {"Boat": (1, 11), "Boat/row": (6, 10)},
    ),
    "a.js": (
        "// Rows.\nexport const row = async (n) => {\n  await n;\n};\n\nexports.sink = function () {\n"
        "  return 1;\n};\n\n"
        "class Boat {\n  #leak() {\n    return 2;\n  }\n}\n",
        {"row": (1, 4), "exports.sink": (6, 8), "Boat": (10, 14), "Boat/#leak": (11, 13)},
    ),
    "a.kt": (
        "// Floats.\nclass Boat(val oars: Int) {\n  val wet = true\n  fun row(): Int {\n    return oars\n  }\n}\n",
        {"Boat": (1, 7), "Boat/row": (4, 6)},
    ),
    "a.php": (
        "<?php\n/** A boat. */\nclass Boat {\n  public $oars;\n  public function row() {\n    return 1;\n  }\n}\n",
        {"Boat": (2, 8), "Boat/row": (5, 7)},
    ),
    "a.rs": (
        "/// Floats.\n#[derive(Wet)]\npub struct Boat<T> {\n    oars: T,\n}\n\n"
        "impl<T> Thing for Boat<T> {\n    // Rows.\n"
        "    fn row(&self) {\n    }\n    fn sink(&self);\n}\n",
        {"Boat": (1, 5), "Thing for Boat<T>": (7, 12), "Thing for Boat<T>/row": (8, 10)},
    ),
    "a.scala": (
        "// Floats.\nclass Boat {\n  def row(n: Int) = {\n    n\n  }\n}\n",
        {"Boat": (1, 6), "Boat/row": (3, 5)},
    ),
    "a.swift": (
        "/// Floats.\nstruct Boat {\n  let oars = 2\n  init() {\n    row()\n  }\n}\n",
        {"Boat": (1, 7), "Boat/init": (4, 6)},
    ),
    "a.ts": (
        "// Floats.\nexport interface Boat {\n  row(): void;\n}\n\n"
        "export function sink<T>(b: T): b is Boat {\n  return true;\n}\n",
        {"Boat": (1, 4), "sink": (6, 8)},
    ),
    "a.tsx": ("export const Boat = (props: Oars) => {\n  return <div>{props.n}</div>;\n};\n", {"Boat": (1, 3)}),
}
