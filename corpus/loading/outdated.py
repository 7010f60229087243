"""Find where a document says of itself that it is outdated, as in "Status: superseded by ADR 9".

Of its text only the opening counts, since a text about other documents says such things too. Its name may say so, too.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

# The opening: so many characters, and for lines that are not sentences so many lines that are not blank.
_CHARACTERS = 1500
_LINES = 15
# Lines about a document at its very beginning.
_BANNER_LINES = 8
_MAX_NOTICE = 160

_NO_LONGER = (
    r"no longer (?:valid|in (?:force|effect|use)|used|current|applicable|applies|apply|holds?|maintained|supported"
    r"|up[ -]to[ -]date)"
)
_OUTDATED = (
    r"(?:superseded|overtaken(?= by)|obsolete|obsoleted|deprecated|outdated|(?:way |completely )?out[ -]of[ -]date"
    r"|withdrawn|rescinded|repealed|revoked|archived|expired|lapsed|discontinued|replaced"
    rf"|{_NO_LONGER}|not (?:in force|valid) any ?more)"
)
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
# What may follow the word, unlike a noun: "expired members".
_COMPLETE = (
    r"(?=\W*$|[\"'*_~`)\]]*[.,;:!|(–—/\[]|\s+[-–—(\[]|\s+\d"
    r"|\s+(?:as|by|from|in|on|since|with|do not|see)\b"
    rf"|\s+{_MONTH}\.? \d)"
)
# A word before it that does not make it a condition, a part or a plan: "approved, superseded".
_OTHER_WORD = r"(?!(?:be|clause|never|not|part|partly|partially|section)\b)[\w-]+"
# "Status: Superseded by ADR 9", "| State | withdrawn |", "Status: ~~Accepted~~ deprecated", unlike a choice
# of states, "Status: open / deprecated", and the status of something else, "Warranty status: expired".
_STATUS_TEXT = rf"[\W_]*(?:{_OTHER_WORD}(?:[^\w/|]|_)+){{0,2}}?\b{_OUTDATED}\b{_COMPLETE}"
_DOCUMENT = (
    r"(?:adr|agreement|article|checklist|circular|contract|decision|doc|document|documentation|draft|edition|faq|file|form"
    r"|guidance|guide|guidelines?|handbook|how-?to|instructions?|leaflet|library|list|manual|memo|menu|notes?|notice"
    r"|page|plan|playbook|policy|prices|procedure|proposal|protocol|rates|readme|recipe|regulations?|release|repo"
    r"|repository|rfc|roster|rota|rules|runbook|schedule|sheet|site|sop|specification|spec|standard|statement|statutes"
    r"|tariff|timetable|tutorial|version|wiki)"
)
_STATUS = re.compile(
    rf"(?:(?:current|publication|{_DOCUMENT}) )?(?:status|state)[*_`\s]*[:=|–—-]{_STATUS_TEXT}", re.IGNORECASE
)
_BELOW_STATUS = re.compile(_STATUS_TEXT, re.IGNORECASE)
# A heading "Status", whose text is the next line.
_STATUS_HEADING = re.compile(r"\W*(?:\d[\d.]*\s+)?(?:[\w-]+ )?status\W*", re.IGNORECASE)
# "superseded_by: adr-9", "Obsoleted by: 7230", "deprecated: true", "| Withdrawn | 31 August 2024 |", unlike
# "Superseded by: none" and "Withdrawn: 34 books".
_SEPARATOR = r"[*_`\s]*[:=|][*_`\s\"'(<\[]*"
_NO_VALUE = r"(?:false|n/?a|nil|none|no|nothing|null|tbd)\b(?!\.? ?\d)"
_DATE = rf"(?:\d{{1,4}}[./-]\d{{1,2}}[./-]\d|(?:\d{{1,2}}\.? )?{_MONTH}\.? \d|(?:19|20)\d\d\b(?! \w))"
_FIELD = re.compile(
    rf"(?:superseded|replaced|obsoleted)[ _-]?by\b{_SEPARATOR}(?!{_NO_VALUE})[^\W_]"
    rf"|(?:superseded|deprecated|obsolete|outdated|archived){_SEPARATOR}(?:true|yes)\b"
    rf"|(?:superseded|withdrawn|repealed|deprecated|archived)(?: on)?{_SEPARATOR}{_DATE}",
    re.IGNORECASE,
)
# A label and its value, which are a field, unless the value is a remark: "Deprecated: use restic".
_LABEL = (
    r"(?: by| on)?[*_`\s]*[:=|](?![*_`\s]*$|\W*?"
    r"(?:(?:see|use|read|replaced|moved|please|do not|don't|this|new|now)\b|\[|https?:))"
)
# "OBSOLETE", "Deprecated since May: see vpn.md", "[Superseded by the policy of 2024]"
_BANNER = re.compile(
    r"(?:superseded|overtaken(?= by)|obsolete|deprecated|outdated|(?:way |completely )?out[ -]of[ -]date|withdrawn"
    r"|repealed|archived|lapsed|discontinued|end of life|replaced(?= by)|not (?:in force|valid) any ?more"
    rf"|{_NO_LONGER})\b(?!{_LABEL}| by\W*$){_COMPLETE}"
    rf"|(?:old|previous) (?:copy|edition|version)\b(?!{_LABEL})(?=\W*$|\s*[.,;!(\[–—]|\s+(?:-|from|of)\s)",
    re.IGNORECASE,
)
# "Kept for the auditors", "Left here for reference", "Reproduced for information only"
_KEPT = re.compile(
    r"\b(?:kept|left|reproduced|retained)\b[^.\n]{0,30}? for "
    r"(?:(?:historical |your )?reference|information|(?:the )?(?:audit|record))"
    r"|\bfor (?:historical )?(?:reference|the record) only\b|\bhistorical interest only\b",
    re.IGNORECASE,
)
# A title with it at the beginning or the end, in brackets, after a dash or in capitals.
_CAPITALS = r"(?-i:OBSOLETE|DEPRECATED|SUPERSEDED|WITHDRAWN|OUTDATED)"
_TITLE = re.compile(
    rf"^\W*[(\[]\s*{_OUTDATED}\b|\s[–—-]+\s*{_OUTDATED}\W*$|^{_OUTDATED}\s*[:–—-](?!\s*{_NO_VALUE})"
    rf"|^\W*{_CAPITALS}\b|\b{_CAPITALS}\W*$|[(\[](?:{_OTHER_WORD} ){{0,2}}?(?:(?:draft|edition|version)[\s,:–—-]+)?"
    rf"{_OUTDATED}\b{_COMPLETE}[^()\[\]]*[)\]]\W*$",
    re.IGNORECASE,
)
# "This travel policy (TP-3) has been replaced by the policy of 2024.", "None of this holds any more",
# "Do not follow this page."
_SENTENCE = re.compile(
    r"\b(?:these|this|the present) (?:(?!(?:an?|are|in|is|of|that|the|to|was|were|way)\b)[\w-]+ ){0,3}?"
    rf"{_DOCUMENT}(?: \(?[\w.#/-]*\d[\w.#/-]*\)?"
    r"| (?:for|of|on)(?: (?!(?:how|that|when|which|who|whose)\b)[\w-]+){1,4}?)?"
    r" (?:(?:is|are|was|were|ha(?:s|ve))(?: (?:already|formally|hereby|long|now|officially|since|therefore))?(?: been)?"
    rf" (?:{_OUTDATED}|history|retired|void)|ended on|ceased to apply|{_NO_LONGER}"
    r"|(?:do|does)(?: not|n't) (?:apply|hold) any ?(?:longer|more))\b"
    rf"|\b(?:none|nothing) (?:in|on) (?:these|this) {_DOCUMENT} (?:appl(?:y|ies)|holds?)\b"
    r"|\b(?:none|nothing) of (?:it|these|this) (?:appl(?:y|ies)|holds?)(?: true)? any ?(?:longer|more)\b"
    r"|\b(?:below|follows) (?:(?:does not|doesn't|do not|don't) (?:apply|hold) any ?(?:longer|more)"
    r"|no longer (?:appl(?:y|ies)|holds?)|is (?:history|obsolete|out[ -]of[ -]date|outdated))\b"
    r"|\b(?:do not|don't|never) (?:[\w-]+ ){1,3}?(?:these|this)(?: (?:old|obsolete))?"
    rf" (?:{_DOCUMENT}(?! (?:to|with|if|as|unless|until|before|in|on|at|for|without|after)\b)|one any ?more)\b",
    re.IGNORECASE,
)
# What makes such a sentence a condition: "If this policy is replaced, ..."
_CONDITION = re.compile(r"\b(?:if|when|whenever|unless|until|once|before|after|whether|while|where)\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?](?=[\s*_\")\]]|$)|\n\s*\n|\n(?=[#|\-*])")
# The end of a line within a paragraph, which may be quoted.
_LINE_BREAK = re.compile(r"(?<!\n)\n(?:> ?(?=\w))?(?![\s#|\-*>])")
# The beginning of a sentence, or of a remark after "Note:" and "Remark, 3 June 2024:".
_PART_START = re.compile(r"(?<=[.!?;])\s+(?=[A-Z(\[*_])|(?<=,)\s+(?=way out of date)")
_REMARK = re.compile(
    r"(?:attention|handwritten|heads[- ]up|important|info|nb|note|pencil|remark|stamp(?:ed)?|update|warning)\b"
    r"[^:]{0,40}::?\s*",
    re.IGNORECASE,
)
# "leave-policy-2021-OLD.md", "rota (superseded).txt", and a folder "old", unlike "old-mills.md" and "12-weeks-old.md".
_NAME_WORD = "old|superseded|obsolete|outdated|deprecated"
_NO_AGE = "(?i:(?<!day)(?<!days|week|year)(?<!month|weeks|years)(?<!months))"
_NAME = re.compile(rf"(?:^|[\W_])(?:{_NAME_WORD.upper()})(?:[\W_]|$)|{_NO_AGE}[\W_](?i:{_NAME_WORD})\W*$")
_FOLDER = re.compile(_NAME_WORD, re.IGNORECASE)
_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
_HEADING = re.compile(r"(#+)\s+")
_MARKS = " \t>*_#|[](){}!:~`\"'⚠️️–—-=+."


def outdated_notice(text: str, title: str = "") -> str:
    """Return the words of a document that say that it is outdated, on one line; "" if none do.

    Args:
        text: The document.
        title: Its title, if it has one.
    """
    opening = text[:_CHARACTERS]
    notice = _in_lines(opening) or _in_sentences(opening) or (title if _TITLE.search(title) else "")
    words = " ".join(notice.replace("**", "").split()).strip(" >#|*_-")
    return words if len(words) <= _MAX_NOTICE else f"{words[:_MAX_NOTICE].rsplit(' ', 1)[0]} …"


def outdated_name(path: str) -> str:
    """Return the name of a file or the innermost folder that says that the file is outdated; "" if none does."""
    *folders, name = PurePosixPath(path).parts
    if _NAME.search(PurePosixPath(name).stem):
        return name
    return next((f"{folder}/" for folder in reversed(folders) if _FOLDER.fullmatch(folder)), "")


def _in_lines(opening: str) -> str:
    """Return the line that states an outdated status, or begins with the word."""
    lines = [line for line in opening.splitlines() if line.strip(_MARKS)][:_LINES]
    for number, line in enumerate(lines):
        bare, heading = line.strip(_MARKS), _HEADING.match(line)
        if _STATUS.match(bare) or _FIELD.match(bare):
            return line
        if number and _STATUS_HEADING.fullmatch(lines[number - 1]) and _BELOW_STATUS.match(line):
            return line
        # Changelogs have a section "Deprecated", and lists may begin with what was replaced.
        begins_part = (heading and len(heading[1]) > 1) or _ITEM.match(line)
        if number >= _BANNER_LINES or begins_part or line.rstrip().endswith(":"):
            continue
        # A line in lower case may continue a sentence.
        parts = () if line[:1].islower() and not _REMARK.match(line) else _PART_START.split(line.lstrip(_MARKS))
        if (
            any(map(_is_banner, parts))
            or _KEPT.search(line)
            or ((heading or number == 0) and _TITLE.search(line.strip("# \t")))
        ):
            return line
    return ""


def _is_banner(part: str) -> bool:
    """Whether a sentence begins with the word, perhaps after "Note:"."""
    bare = part.lstrip(_MARKS)
    remark = _REMARK.match(bare)
    return bool(_BANNER.match(bare, remark.end() if remark else 0))


def _in_sentences(opening: str) -> str:
    """Return the first sentence that says that "this document" is outdated."""
    opening = _LINE_BREAK.sub(" ", opening)
    for match in _SENTENCE.finditer(opening):
        ends = [end.end() for end in _SENTENCE_END.finditer(opening, 0, match.start())]
        start = ends[-1] if ends else 0
        end = _SENTENCE_END.search(opening, match.end())
        if not _CONDITION.search(opening, start, match.start()):
            return opening[start : end.end() if end else len(opening)]
    return ""
