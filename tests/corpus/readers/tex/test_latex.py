"""LaTeX is read as printed, on the lines of the file."""

from __future__ import annotations

from itertools import pairwise

import pytest

from corpus.readers.tex.latex import read
from corpus.text.lines import FileLines
from tests.corpus.readers.outcome import block_texts


def lines(body: str, preamble: str = "") -> list[str]:
    """Return the lines of the body, after a check that the text has as many lines as the file."""
    source = f"{preamble}\\begin{{document}}\n{body}\n"
    text = read("a.tex", source.encode()).text
    assert text.count("\n") == source.count("\n") + 1
    return text.split("\n")[preamble.count("\n") + 1 :]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        (r"17.8\,mg\,m$^{-2}$, 29\,\% of 10\;000\!.", "17.8 mg m⁻², 29 % of 10 000."),
        (r"67.2\textdegree N, $45^\circ$, 5 $\pm$ 2 $\mu$g, $\alpha\,\times\,\theta$", "67.2°N, 45°, 5 ± 2 μg, α × θ"),
        (r"$10^{-12}\,x^2 + y^{n}$ and a $^3$", "10⁻¹² x² + y^{n} and a ³"),
        (r"\SI{5}{\metre} \qty[mode=text]{7}{\kilo\gram\per\metre\squared}", "5 m 7 kg m⁻²"),
        (r"\num{1234} \unit{\kg} \SIrange{1}{2}{\percent} \ang{45} \si{m.s}", "1234 kg 1 to 2 % 45° m s"),
        (r"Grazed.\footnote{By \emph{sheep}.} Wet.", "Grazed. (By sheep.) Wet."),
        (
            r"\SI{2}{\square\kilo\metre} \SI{1}{\micro\metre\tothe{4}} \SI{9}{\kilo\hen\per\cubic\metre}",
            "2 km² 1 μm⁴ 9 kilohen m⁻³",
        ),
        (r"\SI{5}{mg\per\kilo\gram} and \SI{3}{litres\per\minute} now", "5 mg kg⁻¹ and 3 litres min⁻¹ now"),
        (r"\SI{4}{kg.m^{-3}} \SI{5}{m/s^2} \SI{6}{\percent} \si{\degreeCelsius}", "4 kg m⁻³ 5 m/s² 6 % °C"),
        (r"\caption[Short]{A heron.} Done.\todo[inline]{Check it.}", "A heron. Done. (Check it.)"),
        (r"\multirow{2}{*}{both} \cmidrule(lr){2-3} \textcolor{red}{x}", "both x"),
        (r"\paragraph{Funding} From the fund.", "Funding From the fund."),
        (r"\$5 for \textbf{adults}, $b = \$3$ and \$10", r"$5 for adults, b = \$3 and $10"),
        (r"A line\\$x^2$ and \[x\] and y\\[2pt] z\]", "A line x² and x and y z"),
        (r"r\'esum\'e by Fr\'ed\'eric, na\"\i{}ve, M\"unchen\\", "résumé by Frédéric, naïve, München"),
        (r"\href{https://a.org/a%20b}{Plan} for 5\,\% % later", "Plan (https://a.org/a%20b) for 5 %"),
        (r"\url{a.org/%7Eida} \verb|a%b| and \verb*+%c+ here% gone", "a.org/%7Eida |a%b| and +%c+ here"),
        (r"Half \verb|of % a \url{a%b}", "Half |of"),
        (r"\begin{thebibliography}{9}\bibitem{a} Author A.", "[a] Author A."),
    ],
)
def test_commands_become_the_text_they_print(source: str, shown: str) -> None:
    assert " ".join(lines(source)[0].split()) == shown


def test_what_is_never_printed_is_not_read() -> None:
    """An alternative is printed; a condition inside another one is not resolved, and everything is read."""
    comment = "\\begin{comment}\nWe saw \\emph{9}.\n\\end{comment}"
    false = "\\iffalse Draft:\n$a \\iff b$\n\\else\nFinal\n\\fi"
    zero = "  \\if0\nOld\n\\fi\n\\iffalse\n\\ifdraft Kept\\fi\n\\fi"
    assert [line for line in lines(f"Seen\n{comment}\n{false}\n{zero}\nEnd") if line] == [
        "Seen",
        "Final",
        "Kept",
        "End",
    ]


@pytest.mark.parametrize(
    ("definition", "source", "shown"),
    [
        (r"\newcommand{\meth}{PeatGP\xspace}", r"We use \meth{} and \meth.", "We use PeatGP and PeatGP."),
        (r"\def\meth{CH$_4$}", r"\section{Of \meth}", "Of CH_4"),
        (r"\newcommand*\rate[2]{#2 of #1\%}", r"\rate{12}{\emph{two}} and $\rate$", r"two of 12% and \rate"),
        (r"\newcommand{\todo}[1]{}", r"Done.\todo{Check {this}.}", "Done."),
        (r"\renewcommand{\textbf}[1]{}", r"\textbf{Bold}", "Bold"),
        (r"\newcommand{\x}[2][a]{b}", r"Kept \x{c}", "Kept c"),
    ],
)
def test_defined_commands_are_expanded(definition: str, source: str, shown: str) -> None:
    """They may be defined in the preamble or in the text; formulas do not change."""
    assert lines(source, f"{definition}\n")[0] == shown
    assert lines(f"{definition}\n{source}")[1] == shown


def test_runaway_command_expansion_is_cut_short() -> None:
    """One command contains itself, and a few others expand to 40 to the power of 5 characters."""
    bomb = "".join(
        rf"\newcommand{{{name}}}{{{below * 40}}}" for below, name in pairwise(["y", r"\a", r"\e", r"\f", r"\g", r"\i"])
    )
    for definitions in (r"\newcommand{\i}{y\i\i\i\i\i\i\i\i\i\i}", bomb):
        assert len(lines(r"Left \i out", f"{definitions}\n")[0]) < 10_020


def test_commands_that_span_lines_keep_the_line_numbers() -> None:
    definition = "\\newcommand{\\who}[2]{#2}\n"
    body_lines = lines("Wet.\\footnote{By\nsheep.} Dry.\n\\who{Ida\nA.}{Gray} came.\nLast", definition)
    assert body_lines == ["Wet. (By", "sheep.) Dry.", "Gray", "came.", "Last", "", ""]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (r"By Ida Holm\section{Catch}The cod grew.", [("By Ida Holm", ()), ("Catch The cod grew.", ("Catch",))]),
        (r"\maketitle\section{Catch}", [("Catch", ("Catch",))]),
        (
            r"\section{Catch} Cod. \subsection*{Size} Long.",
            [("Catch Cod.", ("Catch",)), ("Size Long.", ("Catch", "Size"))],
        ),
        # Code that shows a command, a word after a line break, and another command's argument
        (r"Write \verb|\section{Catch}| here.", [("Write |Catch| here.", ())]),
        (r"Cod\\section{2} here.", [("Cod section2 here.", ())]),
        (r"A \titleformat{\section}{bold} here.", [("A bold here.", ())]),
    ],
)
def test_a_section_within_a_line_is_a_heading(line: str, shown: list[tuple[str, tuple[str, ...]]]) -> None:
    """What follows it is not glued to what is before; both are cited with the line of the file."""
    extracted = read("a.tex", f"\\begin{{document}}\n{line}\n\nEnd.".encode())
    blocks = [(extracted.text[block.start : block.end], block.heading) for block in extracted.blocks]
    assert blocks[: len(shown)] == shown
    last = extracted.blocks[len(shown) - 1]
    assert FileLines(extracted).range_of(last.start, last.end) == (2, 2)


def test_the_title_page_is_text_if_it_is_printed() -> None:
    """Title, authors and date are on their lines; the title of the document has no notes."""
    preamble = "\\title[Bogs]{Wet\nbogs\\thanks{To all.}}\n\\author{A. Gray \\and B. Lund}\n\\date{3 May}\n"
    source = f"{preamble}\\begin{{document}}\n\\maketitle\nText.\n"
    extracted = read("a.tex", source.encode())
    assert extracted.title == "Wet bogs"
    assert extracted.text.split("\n")[:5] == ["Wet", "bogs (To all.)", "A. Gray, B. Lund", "3 May", ""]
    assert block_texts(extracted) == ["Wet\nbogs (To all.)", "A. Gray, B. Lund", "3 May", "Text."]
    assert read("a.tex", source.replace("\\maketitle", "").encode()).text.split() == ["Text."]


def test_a_title_page_on_one_line_keeps_its_words_apart() -> None:
    source = "\\title{Wet bogs}\\author{A. Gray}\n\\begin{document}\n\\maketitle\n"
    assert block_texts(read("a.tex", source.encode())) == ["Wet bogs A. Gray"]


TABLE = r"""Before
\begin{table}\caption{Days}
\begin{tabular}[t]{l@{}rr}
\toprule
Pond & 2023 & 2024 \\
\midrule
C01 & 11 & 5 \\ C05 & R\&D &
\textbf{22} \\[2pt]
\cmidrule(lr){2-3}
& \begin{tabular}{c}on\\land\end{tabular} & \makecell{a\\b} \\
% Nothing
\multicolumn{2}{l}{Sum} & 36 \\
\bottomrule
\end{tabular} Source: us.
\end{table}
After"""


def test_a_table_is_rows_of_cells_on_their_lines() -> None:
    """Rules are not rows, so that the column names stay with the rows; a row may have several lines."""
    extracted = read("a.tex", TABLE.encode())
    assert block_texts(extracted) == [
        "Before\nDays",
        "Pond | 2023 | 2024\nC01 | 11 | 5\nC05 | R&D | 22\n– | on land | a b\nSum | | 36",
        "Source: us.",
        "After",
    ]
    numbers = FileLines(extracted)
    shown = {"Pond": 5, "C01": 7, "C05": 7, "–": 10, "Sum": 12, "Source": 14, "After": 16}
    for word, line in shown.items():
        assert numbers.range_of(extracted.text.index(word), extracted.text.index(word) + 1) == (line, line)


def test_a_table_that_does_not_end_keeps_its_rows() -> None:
    """It ends at the next section, or with the text."""
    extracted = read(
        "a.tex", b"\\begin{longtable}{ll}\nA & B \\\\\nC & D\n\\section{Next}\nText & more.\n\\begin{tabular}{l}\nE & F"
    )
    assert block_texts(extracted) == ["A | B\nC | D", "Next", "Text & more.", "E | F"]


def test_many_tables_on_a_line_are_text_after_the_first() -> None:
    extracted = read("a.tex", rb"\begin{tabular}{l}a & b\end{tabular}" * 5000)
    assert block_texts(extracted)[0] == "a | b"
