"""Values such as dates, amounts and addresses: keep them whole in an answer, and compare those of two texts.

An answer "31" in "by 31 March" is extended to "31 March", and "$5.00" and "5 USD" are the same value.
"""

from __future__ import annotations

import re
from decimal import Decimal

from corpus import lazy_pattern
from qa.language.spans import Span

# The canonical name of each unit, for comparison; currency codes are canonical.
UNITS = {"€": "EUR", "$": "USD", "us$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₩": "KRW", "₪": "ILS", "₺": "TRY"}
UNITS |= {"euro": "EUR", "dollar": "USD", "pound": "GBP", "yen": "JPY", "rupee": "INR", "franc": "CHF"}
UNITS |= {"percent": "%", "per cent": "%"}
_UP_TO_19 = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBER_WORDS = {word: number for number, word in enumerate(_UP_TO_19.split())}
NUMBER_WORDS |= {word: 10 * number for number, word in enumerate(_TENS.split(), start=2)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_CODES = (
    "AED|AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|ILS|INR|ISK|JPY|KRW|MXN|NOK|NZD|PLN|RON|RUB|SEK|SGD|THB|TRY|UAH"
    "|USD|ZAR"
)
CURRENCIES = frozenset(_CODES.split("|"))
_UNIT_WORDS = "(?i:(?:euro|dollar|pound|rupee|franc|cent)s?|yen|pence|kron(?:a|e|er|or)|per ?cent)"
_BLANK = "[ \u00a0\u202f]"
_NUMBER = r"\d+(?:[.,:]\d+|[\u00a0\u202f'’]\d{3}(?!\d))*"
_BEFORE = rf"(?:(?:US)?\$|[€£¥₹₩₪₺]|(?<![^\W_])(?:{_CODES}))"
_AFTER = rf"(?:[%$€£¥₹₩₪₺]|(?:{_CODES}|{_UNIT_WORDS})(?![^\W_]))"
# In "room 3 EUR 5" the unit belongs to the second number, in "14 € 28 €" to the first.
_OF_NEXT = rf"(?!{_BLANK}?(?>{_NUMBER})(?!{_BLANK}?{_AFTER}))"
_AMOUNT = (
    rf"(?:(?P<before>{_BEFORE}){_BLANK}?)?(?P<number>{_NUMBER})(?:[ -](?P<scale>(?i:{'|'.join(_SCALES)}))\b)?"
    rf"(?(before)|(?:{_BLANK}?(?P<after>{_AFTER}){_OF_NEXT})?)"
)
# Statistics that exclude each other, as a question names them and as a text does. "What does it mean?" asks for none.
_STATISTICS = [
    [(rf"(?i:\b{full})", lazy_pattern(rf"(?i:\b{full})|\b(?:{short})\b")) for full, short in group]
    for group in (
        [("median", "Mdn"), (r"mean (?!(?:by|if|that|to|when)\b)\w", "[Mm]eans?|[Aa]verage[ds]?")],
        [("odds ratio", "OR"), ("hazard ratio", "HR"), ("risk ratio|\\brelative risk", "RR")],
        [("standard deviation", "SDs?"), ("standard error", "SEM?"), ("confidence interval", "CIs?")],
    )
]
# "mar" and "may" are ordinary words unless capitalised; the names after the English ones are German.
MONTH = (
    r"(?:(?i:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|(?:jan|jän|febr)uar|jän|märz?|mrz|ju[nl]i|okt(?:ober)?|dez(?:ember)?)"
    r"|M(?:ar(?:ch)?|ay|AR(?:CH)?|AY|ai|AI))\b"
)
# A field of a record: "Date: 3 May".
FIELD = lazy_pattern(r"^[^\s:][^\n:]{0,39}:[ \t]+(?P<value>\S.*)$", re.MULTILINE)
# The most characters beside a date, as in "Wednesday, 4 June 2024".
LONGEST_WEEKDAY = 11
WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAY_NAME = rf"(?:{'|'.join(WEEKDAY_NAMES)})"
# "Tue", "Tues" or "Tuesday", or a plural; but not "thus".
WEEKDAY = rf"\b(?:{WEEKDAY_NAME}s?|mons?|tues?|weds?|thu(?:rs?)?|fris?|sats?|suns?)\b"
MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
GERMAN_MONTH_NAMES = (
    "januar", "februar", "märz", "april", "mai", "juni",
    "juli", "august", "september", "oktober", "november", "dezember",
)  # fmt: skip
_MONTHS = {name[:3]: month for names in (MONTH_NAMES, GERMAN_MONTH_NAMES) for month, name in enumerate(names, start=1)}
_MONTHS |= {"jän": 1, "mrz": 3}
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?\b"
_YEAR = r"(?:1\d|20)\d\d\b(?![.,:]\d)"
_DATE = (
    rf"\d+(?:[-/]\d+){{2,}}|(?<![\d.,:]){_DAY}(?:\s?[–-]\s?{_DAY})?(?:\.?\s|-|\sof\s){MONTH}(?:(?:\.?,?\s|-){_YEAR})?"
    rf"|\b{MONTH}\.?\s{_DAY}(?![.,:]\d)(?:,?\s{_YEAR})?"
)
DAY_AND_MONTH = rf"{_DAY}(?:\.?\s|-|\sof\s){MONTH}|{MONTH}\.?\s{_DAY}"
_ADDRESS = (
    r"\b(?:https?://|www\.)[^\s<>\"]*[\w/]|(?<![\w.+-])\w[\w.+-]*@\w[\w-]*(?:\.\w[\w-]*)+"
    r"|(?<![\w.-])(?:\w[\w-]+\.)+[a-z]{2,24}\b(?:/[^\s<>\"]*[\w/])?"
)
# Before a number: less than, about, minus; not part of an arrow, a quoted line or a range.
_SIGN = rf"(?:(?:[<≤≥±~≈]|(?<=[^\n=-])>)=?{_BLANK}?|(?<![\w.,:)\]-])[-−])"
# Such as 10.1000/182, JES-2024-1187, B2.117: begins with a letter and has a digit, so that 3-5 is none.
_IDENTIFIER = r"\b10\.\d{4,9}/[^\s<>\"]*\w|\b(?=[\w./-]{0,40}\d)[^\W\d_]\w*(?:[./-]\w+)+"
# Such as 88-2041-K, with a capital letter, or one before a digit; but not 3-May, 16GB/512GB or 2024-05-12T10:00. And
# codes for keypads and telephones: 4471#, *21*5521#.
_CODE = (
    rf"(?<![\w.,/-])(?=[\w/-]{{0,40}}(?:[A-Z]|[a-z]\d))(?!\d+-{MONTH}|\d+[^\W\d_]+(?:[/-]\d+[^\W\d_]+)+(?!\w))"
    r"\d\w*+(?:[/-]\w+)++(?!:\d)|(?<![\w#*])(?:\*#?)?\d[\d*]*+#(?![\w#])"
)
# In groups of four: GB29 NWBK 6016 1331 9268 19.
_IBAN = r"\b[A-Z]{2}\d\d(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?\b"
# A telephone number begins with + or 0, and has three or more groups.
_PHONE = r"(?<![\w.,])(?:\+\d{1,3}(?:[ /-]\(?\d+\)?){2,}|0\d{1,4}(?:[ /-]\(?\d{2,}\)?){2,})"
# Such as 4.0 g ± 0.02.
_TOLERANCE = rf"{_NUMBER}{_BLANK}?[%°]?[^\W\d_]{{0,5}}{_BLANK}?(?:±|\+/[-–−]){_BLANK}?{_NUMBER}"
_WHOLE = lazy_pattern(
    rf"{_TOLERANCE}|{_ADDRESS}|{_IBAN}|{_IDENTIFIER}|{_CODE}|{_DATE}|{_PHONE}|(?:{_SIGN}(?=\d))?{_AMOUNT}\w*|\w+(?:(?<=\d)\.\d+)*"
)
_WORD = lazy_pattern(r"\w+")
# Words before and after a number or date that make it an upper or lower bound, or an exception.
_BOUND = lazy_pattern(
    r"\b(?:(?:no|not) (?:more|less|fewer|later|earlier|longer|older|younger|sooner) than|not (?:before|after|until)"
    r"|(?:more|less|fewer|longer|older|younger|later|earlier) than|at (?:most|least)|up to|over|under|above|below"
    r"|(?:max|min)(?:\.|imum)?(?: of)?"
    r"|(?:all|each|every\w*|nobody|none|no one)(?: \w+)? (?:but|except|save)(?: for)?) (?:the |an? )?$",
    re.IGNORECASE,
)
_BOUND_BEHIND = lazy_pattern(
    r" (?:or (?:more|less|over|older|younger|later|earlier)|at (?:most|least|the (?:latest|earliest)))\b", re.IGNORECASE
)
_LONGEST_BOUND = 40
NUMBERED = lazy_pattern(rf"{_DATE}|{_AMOUNT}")
# The first half of "between 22:00 and 6:00", and the word before the second half.
_FROM = lazy_pattern(r"\b(?:between|from)\s[^.;\n]{0,25}?\d\S*(?:\s\w+)?$", re.IGNORECASE)
_TO = lazy_pattern(r"\s+(?:and|to|until|till)\s+(?=\S{0,3}\d)", re.IGNORECASE)
_COMPARED = lazy_pattern(rf"\b(?P<name>{MONTH}|(?i:{WEEKDAY}))|{_AMOUNT}")
_SPELLED = lazy_pattern(r"(?<![\w-])[a-z]+(?:-[a-z]+)?(?![\w-])", re.IGNORECASE)
_TIME_WITH_POINT = lazy_pattern(r"\b(\d\d?)\.(?=[0-5]\d ?[ap]\.?m\b)", re.IGNORECASE)
# Questions for a number or code, but not for who has it; and digits and words that tell how many or how much.
_ASKS_FOR_NUMBER = lazy_pattern(
    r"(?!.*\bwho(?:se)?\b).*\b(?:how (?:many|much (?:for|is|are|was|were)|much\b.{1,60}\b(?:charge|cost|pay|paid))"
    r"|(?:access|alarm|door|entry|gate|lock|post|safe|unlock) ?code|(?:mobile|(?:tele)?phone|pin) number|pin code)\b",
    re.IGNORECASE | re.DOTALL,
)
_HOW_MANY = lazy_pattern(
    r"\d|\b(?:all|both|couple|double|dozen|each|every|few|free|half|halves|hundred|many|million|most|nil|no|nobody|none|nothing"
    rf"|once|only|pair|quarter|several|single|third|thousand|twice|{'|'.join(NUMBER_WORDS)})\b",
    re.IGNORECASE,
)
_ORDINAL = lazy_pattern(r"(?<=\d)(?:st|nd|rd|th)\b")
_YEARS = lazy_pattern(r"(?<!\d)((?:1[5-9]|20)\d\d)(?:[01]\d[0-3]\d)?(?!\d)")

Value = Decimal | str


def extend_to_whole_values(text: str, words: Span, within: Span) -> Span:
    """Extend the words to whole words, numbers, amounts, addresses, dates and ranges."""
    start, end = words
    if _FROM.search(text[start:end]) and (to := _TO.match(text, end, within[1])):
        end = to.end() + 1
        words = start, end
    for match in _WHOLE.finditer(text, *within):
        if match.start() < words[1] and words[0] < match.end():
            start, end = min(start, match.start()), max(end, match.end())
    return start, end


def include_bound(question: str, text: str, words: Span, within: Span) -> Span:
    """Extend a number or date by "at most", "or more" and the like, unless the question has these words."""
    start, end = words
    if not NUMBERED.match(text, start):
        return words
    question_words = set(_WORD.findall(question.lower()))
    before = _BOUND.search(text[max(within[0], start - _LONGEST_BOUND) : start])
    after = _BOUND_BEHIND.match(text, end, within[1])
    if before and not question_words & set(_WORD.findall(before[0].lower())):
        start -= len(before[0])
    if after and not question_words & set(_WORD.findall(after[0].lower())):
        end = after.end()
    return start, end


def normalise_values(text: str) -> tuple[str, tuple[Value, ...]]:
    """Return the form of a text, with placeholders for its numbers, months and weekdays, and these values in order.

    "Five euros in May" gives "# eur in m" and the values 5 and "5", the number of the month.
    """
    values: list[Value] = []

    def replaced(match: re.Match[str]) -> str:
        if match["name"]:
            name = match["name"][:3].lower()
            values.append(str(_MONTHS.get(name, name)))
            return "M"
        unit = match["before"] or match["after"] or ""
        unit = UNITS.get(unit.lower().rstrip("s"), unit)
        value = _value(match["number"], is_money=bool(unit))
        scale = match["scale"] and _SCALES[match["scale"].lower()]
        values.append(value * scale if scale and isinstance(value, Decimal) else value)
        return f"# {unit}"

    in_digits = _SPELLED.sub(_in_digits, _ORDINAL.sub("", _TIME_WITH_POINT.sub(r"\1:", text)))
    return " ".join(_COMPARED.sub(replaced, in_digits).lower().split()), tuple(values)


def _in_digits(match: re.Match[str]) -> str:
    """Write a number in words in digits: "twelve", "twenty-five"."""
    tens, _, units = match[0].lower().partition("-")
    if units and (NUMBER_WORDS.get(tens, 0) < 20 or NUMBER_WORDS.get(units) not in range(1, 10)):
        return match[0]
    return str(NUMBER_WORDS[tens] + NUMBER_WORDS.get(units, 0)) if tens in NUMBER_WORDS else match[0]


def month_of(name: str) -> int:
    """Return the number of a month, from 1, by its name."""
    return _MONTHS[name[:3].lower()]


def years_in(text: str) -> set[str]:
    """Return the years in a text, from 1500 to 2099, except numbers that are amounts."""
    tokens = (match[0] for match in _WHOLE.finditer(text) if not (match["before"] or match["scale"] or match["after"]))
    return {year for token in tokens for year in _YEARS.findall(token)}


def _value(number: str, *, is_money: bool) -> Value:
    """Parse a number with English or continental separators; return times except 7:00, versions and dates as text."""
    plain = re.sub("[\u00a0\u202f'’]|(?<!:..):00$", "", number)
    marks = re.findall("[.,:]", plain)
    groups = re.split("[.,:]", plain)
    if ":" in marks:
        return plain.lstrip("0")
    are_thousands = all(len(group) == 3 for group in groups[1:]) and groups[0] not in {"0", ""}
    if marks and len(set(marks)) == 1 and are_thousands and (marks[0] == "," or is_money or len(marks) > 1):
        return Decimal("".join(groups))
    if len(marks) > 1 and (len(set(marks)) == 1 or marks.count(marks[-1]) > 1):
        return re.sub(r"\b0+(?=\d)", "", plain)
    return Decimal(f"{''.join(groups[:-1])}.{groups[-1]}" if marks else plain)


def lacks_number(question: str, sentence: str) -> bool:
    """Whether a question asks for a number or code, and a sentence has none: "the code has been changed"."""
    return _ASKS_FOR_NUMBER.match(question) is not None and _HOW_MANY.search(sentence) is None


def lacks_statistic(question: str, sentence: str, text: str) -> bool:
    """Whether a sentence gives another statistic than the one asked for, as the mean for the median, or a text none.

    Args:
        question: The question.
        sentence: The answering sentence.
        text: Its passage. Ratios and deviations have a name wherever they are given, unlike means: "aged 63".
    """
    for number, group in enumerate(_STATISTICS):
        asked = [pattern for full, pattern in group if re.search(full, question)]
        if len(asked) == 1 and not asked[0].search(sentence):
            is_other = any(pattern.search(sentence) for _, pattern in group)
            return is_other or (number > 0 and not asked[0].search(text))
    return False
