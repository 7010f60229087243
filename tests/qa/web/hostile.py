"""Documents that would do harm in a browser or terminal if they were treated as anything but text."""

from __future__ import annotations

from pathlib import Path

_ELEMENTS = """\
</p></div></main></body></html><script>alert(document.cookie)</script> <img src=x onerror=alert(1)>
<!--><svg onload=alert(1)>--> <iframe srcdoc="<script>alert(1)</script>"></iframe><object data="javascript:alert(1)">

<meta http-equiv="refresh" content="0;url=//evil.example"><base href="//evil.example/"><style>@import "//evil.example";

<form action="//evil.example"><button formaction="javascript:alert(1)"> <a href="#" onclick=alert(1) style="a:b">x</a>
"""
# Names and texts; `write_hostile` adds a unique word to each text, by which it is found.
DOCUMENTS: tuple[tuple[str, str], ...] = (
    ("<script>alert(1)<script>.md", "A name that is a script."),
    ('" autofocus onfocus=alert(1) x=".md', "A name that ends an attribute."),
    ("&lt;b&gt;&amp;amp;.md", "A name of entities."),
    ("a\nSet-Cookie: a=b.md", "A name of two lines."),
    ("\u202efdp.exe.txt", "A name from right to left."),
    ("%2e%2e%2fpasswd%00.md", "A name that is encoded."),
    ("{{7*7}}${7*7}#{7*7}<%= 7*7 %>.md", "{{ 7*7 }} {% include '/etc/passwd' %} ${7*7} <%= 7*7 %> #{7*7}"),
    ("elements.md", f"# <script>alert(1)</script>\n\n{_ELEMENTS}"),
    ("elements.txt", _ELEMENTS),
    ("links.md", "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>"),
    ("pictures.md", "![a](https://evil.example/pixel.png) ![b](javascript:alert(1)) ![c](//evil.example/x)"),
    ("json.txt", '"}],"answer":{"text":"forged"},"x":[{"y":"\\u003cscript\\u003e</script>'),
    ("terminal.txt", "\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b31m"),
    ("reordered.txt", "A code of \u202e4321\u202c and \x9b31m."),
    ("reordered.md", "A *code* of \u202e8765\u202c, &#x202e;\x9b31m."),
    ("formula.csv", "name,value\n=cmd|' /C calc'!A0,<script>alert(1)</script>\n"),
    ("page.html", "<html><body onload=alert(1)><p>Seen</p><script>alert(1)</script></body></html>"),
    ("mail.eml", "From: <script>alert(1)</script>\nSubject: <img src=x>\n\n<script>alert(1)</script>\n"),
)


def word_of(number: int) -> str:
    """Return the word that only this document contains."""
    return f"zq{'abcdefghij'[number // 10]}{'abcdefghij'[number % 10]}word"


def write_hostile(root: Path) -> None:
    """Write all documents into a new folder."""
    root.mkdir()
    for number, (name, text) in enumerate(DOCUMENTS):
        word = word_of(number)
        is_html = name.endswith(".html")
        content = text.replace("</body>", f"<p>{word}</p></body>") if is_html else f"{text}\n\n{word}\n"
        (root / name).write_text(content, encoding="utf-8")
