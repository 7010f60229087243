"""Office formats from before 2007 and Rich Text: files that cannot be read, and a missing extra."""

from __future__ import annotations

import sys

import pytest

from corpus.errors import Unreadable
from corpus.loading.sandbox import Sandbox
from corpus.readers import reader_for
from tests.corpus.readers.outcome import outcome
from tests.corpus.readers.samples.files import FILES

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("path", "module", "problem"),
    [
        ("rafts.doc", "office_oxide", "an Office format from before 2007; save it as .docx"),
        ("pegs.ppt", "office_oxide", "an Office format from before 2007; save it as .pptx"),
        ("winch.rtf", "striprtf.striprtf", "Rich Text; save it as .docx"),
    ],
)
def test_missing_extra_is_reported_with_install_command(
    path: str, module: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next build tries again, as the extra may be installed by then."""
    monkeypatch.setitem(sys.modules, module, None)
    name = "office.rtf" if path.endswith(".rtf") else "office.office97"
    with pytest.raises(Unreadable) as caught:
        reader_for(name)(path, FILES[path])
    reason = f'{problem}, or: pip install "qa-passages[office]"'
    assert (caught.value.reason, caught.value.unknown) == (reason, True)


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.doc", OLE, "damaged, or not a document of Word, Excel or PowerPoint"),
        ("a.docx", OLE, "damaged, or not a document of Word, Excel or PowerPoint"),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        ("a.doc", OLE + "WordDocument".encode("utf-16-le"), "encrypted or damaged: cannot be opened as a DOC file"),
        ("a.rtf", FILES["winch.rtf"][:300], "damaged: its end is missing"),
        ("a.rtf", b"just words", "content does not match its name: not a RTF file"),
    ],
)
def test_unreadable_files_are_refused_with_a_reason(path: str, data: bytes, reason: str, sandbox: Sandbox) -> None:
    assert outcome(sandbox, path, data) == reason
