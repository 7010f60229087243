"""Samples of text formats: notes, subtitles, and a program in each language.

Each has a path, a text, and what is asked: a question that only it answers, words of the answer, and the citation.
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
    (
        "pumps.log",
        "2025-11-21 10:00 pump three started\n2025-11-21 10:07 pump three stopped: impeller jammed with weed\n",
        ("Why was pump three stopped: what jammed the impeller?", "weed", "pumps.log:1-2"),
    ),
    (
        "README",
        "Depth soundings\n\nThe plummet touched gravel at seventeen fathoms.\n",
        ("At how many fathoms did the plummet touch gravel?", "seventeen", "README:1-3"),
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
PROGRAMS = (
    (
        "anchor.c",
        "#include <stdio.h>\n\n/* Drops the anchor by so many links of chain. */\nint drop_anchor(int links)\n{\n"
        "  return links * 4;\n}\n",
        ("What drops the anchor by links of chain?", "links * 4", "anchor.c:3-7"),
    ),
    (
        "tiller.cpp",
        "#include <cmath>\n\n// Turns the tiller to starboard by some degrees.\ndouble turn_tiller(double degrees) {\n"
        "  return degrees / 180;\n}\n",
        ("What turns the tiller to starboard by degrees?", "degrees / 180", "tiller.cpp:3-6"),
    ),
    (
        "Cargo.cs",
        "using System;\n\nclass Hold {\n  /// Weighs crates of herring in the hold.\n  int Weigh(int crates) {\n"
        "    return crates * 25;\n  }\n}\n",
        ("What weighs crates of herring in the hold?", "crates * 25", "Cargo.cs:4-7"),
    ),
    (
        "lantern.go",
        "package lantern\n\n// Trim cuts the wick of a lantern by millimetres.\nfunc Trim(wick int) int {\n"
        "\treturn wick - 2\n}\n",
        ("What cuts the wick of a lantern?", "wick - 2", "lantern.go:3-6"),
    ),
    (
        "Capstan.java",
        "package quay;\n\nclass Capstan {\n  /** Winds hawsers around a capstan. */\n  int wind(int hawsers) {\n"
        "    return hawsers + 8;\n  }\n}\n",
        ("What winds hawsers around a capstan?", "hawsers + 8", "Capstan.java:4-7"),
    ),
    (
        "compass.kt",
        "package compass\n\n// Corrects a bearing for the iron of the hull.\nfun correct(bearing: Int): Int {\n"
        "  return bearing - 7\n}\n",
        ("What corrects a bearing for the iron of the hull?", "bearing - 7", "compass.kt:3-6"),
    ),
    (
        "toll.php",
        "<?php\n\n// Charges the toll of a raft by its logs.\nfunction charge($logs) {\n  return $logs * 3;\n}\n",
        ("What charges the toll of a raft by its logs?", "$logs * 3", "toll.php:3-6"),
    ),
    (
        "buoy.rs",
        "use std::fmt;\n\n/// Paints a buoy with coats of tar.\nfn paint(coats: u32) -> u32 {\n  coats * 9\n}\n",
        ("What paints a buoy with coats of tar?", "coats * 9", "buoy.rs:3-6"),
    ),
    (
        "Jib.scala",
        "package rig\n\nclass Jib {\n  // Reefs the jib by rows of points.\n  def reef(rows: Int): Int = {\n"
        "    rows * 6\n  }\n}\n",
        ("What reefs the jib by rows of points?", "rows * 6", "Jib.scala:4-7"),
    ),
    (
        "bilge.swift",
        "import Foundation\n\n// Bails the bilge with pails.\nfunc bail(pails: Int) -> Int {\n  return pails * 11\n}\n",
        ("What bails the bilge with pails?", "pails * 11", "bilge.swift:3-6"),
    ),
    (
        "chart.ts",
        'import { sea } from "./sea";\n\n// Folds a chart along its meridians.\n'
        "export function fold(meridians: number): number {\n  return meridians / 5;\n}\n",
        ("What folds a chart along its meridians?", "meridians / 5", "chart.ts:3-6"),
    ),
)
