"""Keeps digits apart that NFKC would join, as docs/methods/common.md describes, and finds numbers in normalized text.

A second implementation of `positions` and of the digits in crates/text/src/normal.rs, and of crates/text/src/numbers.rs.
"""

import decimal
import re
import unicodedata

# The characters that begin and that end in each position, and the mark before a character in this position.
POSITIONS = {
    "on the line": ("0-9", "", " "),
    "exponent": ("²³¹\u2070-\u207F", "\u3378\u3379\u339F-\u33A6\u33A8\u33AF", "^"),
    "index": ("\u2080-\u208E", "", "_"),
    "fraction": ("¼-¾\u2150-\u215F\u2189", "", " "),
    "enclosed": ("\u2460-\u2473\u2488-\u249B\u24EA\u3251-\u325F\u32B1-\u32BF\U0001F100-\U0001F10A", "", " "),
}
# Months, hours and days begin like a number in a circle.
WITH_WORD = "\u32C0-\u32CB\u3358-\u3370\u33E0-\u33FE"
# Digits in groups of three, separated by a space or an apostrophe, unless another number is adjacent; or a date; or digits with other single
# marks, and an exponent, a fraction or a power of ten after them.
NUMBER = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9] )[1-9][0-9]{0,2}([ '\u2019])[0-9]{3}(?:\1[0-9]{3}){0,2}(?![0-9])(?:[.,][0-9]+)?"
    r"(?![0-9\u2044]|[.,: ][0-9]|\1[0-9]{3}(?![0-9]))"
    r"|(?<![0-9A-Za-z])(?<![0-9]-)(?<![0-9]/)(?:[0-9]{4}([-/])[0-9]{1,2}\2[0-9]{1,2}|[0-9]{1,2}([-/])[0-9]{1,2}\3[0-9]{4})(?![0-9])"
    r"(?![-/][0-9])"
    r"|[0-9]+(?:[.,:][0-9]+)*(?:\^[-+\u2212]?[0-9]+|(?: [0-9]+)?\u2044[0-9]+)?"
)
POWER = re.compile(r"e[-+\u2212]?[0-9]{1,3}(?![0-9A-Za-z\u0080-\U0010FFFF])")
MINUS = "-\u2212\u2013"
COMPARISONS = "<>\u2264\u2265"
PER_MILLE = "\u2030"
OPENS = " ([{=:,;/*^~±"
MAX_EXPONENT = 30


def characters(ranges):
    """Yields the characters in ranges that are written as in a regular expression."""
    for first, last in re.findall(r"(.)(?:-(.))?", ranges):
        yield from map(chr, range(ord(first), ord(last or first) + 1))


BEGINS = {c: name for name, (both, _, _) in POSITIONS.items() for c in characters(both)} | dict.fromkeys(characters(WITH_WORD), "enclosed")
ENDS = {c: name for name, (both, end, _) in POSITIONS.items() for c in characters(both + end)}


def ascii_digits(text):
    """Returns the text with ASCII digits and separators in place of those of other scripts, and i in place of a lowercase İ."""
    marks = {"\u066B": ".", "\u066C": ","}
    digit = lambda c: str(unicodedata.decimal(c)) if unicodedata.category(c) == "Nd" else marks.get(c, c)
    return re.sub("i\u0307+", "i", "".join(map(digit, text)))


def separated(text):
    """Returns the text with a mark between two digits in different positions, and between a letter and an exponent."""
    out, before = [], None
    for c in ascii_digits(text):
        here, last = BEGINS.get(c), out[-1][-1:] if out else ""
        if before and here and (before != here or here in ("fraction", "enclosed")):
            out.append(POSITIONS[here][2])
        elif here == "exponent" and (last.isalpha() or last in (")", "]")):
            out.append("^")
        before = ENDS.get(c)
        if before == "exponent" and here != before:
            # The last character of a unit is its exponent.
            unit = unicodedata.normalize("NFKC", c)
            c = unit[:-1] + "^" + unit[-1]
        out.append(c)
    return "".join(out)


LETTERS = str.maketrans({"ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك", "ς": "σ", "\u0640": None})


def without_marks(text):
    """Returns lowercase text in NFKC without the marks on Arabic, Hebrew and Greek letters, with one form of letters that replace each other."""
    out, drops = [], False
    for c in text:
        name = unicodedata.name(c, "")
        if unicodedata.category(c) == "Mn":
            out += [] if drops else [c]
            continue
        is_greek = name.startswith("GREEK ")
        if c != "\u0640":
            drops = is_greek or name.startswith(("ARABIC ", "HEBREW "))
        out.append(unicodedata.normalize("NFD", c)[0] if is_greek else c)
    return "".join(out).translate(LETTERS)


def is_currency(c):
    return c != "" and unicodedata.category(c) == "Sc"


def numbers(text):
    """Yields the position and the text of each number, with the signs around it."""
    last = at = 0
    while match := NUMBER.search(text, at):
        digits, at = match.span()
        if not re.search("[-/^ '\u2019\u2044:]", match.group()) and not re.match("[0-9A-Za-z]", text[digits - 1 : digits] or " "):
            power = POWER.match(text, at)
            at = power.end() if power else at
        start, has_currency = prefix_start(text, last, digits)
        sign = at + (text[at : at + 1] == " ")
        c = text[sign : sign + 1]
        if c == PER_MILLE or (is_currency(c) and not has_currency and not text[sign + 1 : sign + 2].isalnum()):
            at = sign + 1
        yield start, text[start:at]
        last = at


def prefix_start(text, last, start):
    """Returns where a number begins with the signs before it, and whether these contain a currency sign."""
    before = lambda at: text[at - 1] if at > last else ""
    if start == last:
        return start, False
    if before(start) == ".":
        behind = before(start - 1)
        if start == 1 or (behind and (behind in OPENS + MINUS + COMPARISONS or is_currency(behind))):
            start -= 1
    has_currency = is_currency(before(start))
    start -= has_currency
    if before(start) and before(start) in MINUS:
        is_range = last > 0 and not text[last : start - 1].strip(" ")
        if not is_range and before(start - 1) in OPENS + COMPARISONS:
            start -= 1
    compared = text[last:start].rstrip(" ")
    if compared.endswith(("<=", ">=")):
        compared = compared[:-1]
    if compared and compared[-1] in COMPARISONS:
        sign, rest = compared[-1], compared[:-1]
        is_adjacent = " " not in text[last + len(compared) : start]
        is_tag = re.search(r"<[A-Za-z/][^<>]*\Z", rest[-200:])
        if (sign != ">" or (is_adjacent and not is_tag and not rest.endswith(("-", "=", ">")))) and not rest.endswith("<"):
            start = last + len(rest)
    return start, has_currency


def value(number):
    """Returns a number in the form that all spellings of the number share."""
    core = re.sub(r"\A[^0-9.]+|[^0-9]+\Z", "", number)
    before, after = number.split(core, 1) if core else ("", "")
    comparison = next((c for c in before if c in COMPARISONS), "")
    if "=" in before:
        comparison = {"<": "\u2264", ">": "\u2265"}.get(comparison, comparison)
    minus = "-" if any(c in MINUS for c in before) else ""
    return comparison + minus + plain_value(core) + "".join(c for c in before + after if c == PER_MILLE or is_currency(c))


def plain_value(number):
    """Returns the value of a number without signs around it."""
    if "\u2044" in number:
        whole, space, fraction = number.rpartition(" ")
        return plain_value(whole) + space + fraction if space else number
    for mark in "^e":
        if mark in number:
            number, power = number.split(mark, 1)
            return f"{plain_value(number)}^{power}" if mark == "^" else times_power(plain_value(number), power)
    if "-" in number or "/" in number:
        parts = [part.lstrip("0") for part in re.split("[-/]", number)]
        return ("-" if len(parts[0]) == 4 else "/").join(parts)
    grouped = re.sub("[ '\u2019]", "", number)
    if grouped != number:
        return decimal_value(grouped, True)
    if re.fullmatch(r"[1-9][0-9]{0,2}(,[0-9]{3})+\.[0-9]+", number):
        return decimal_value(number.replace(",", ""), True)
    if re.fullmatch(r"[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+", number) or re.fullmatch(r"[1-9][0-9]?(,[0-9]{2})+,[0-9]{3}\.[0-9]+", number):
        return decimal_value(re.sub(r"[.,](?=.*[.,])", "", number), True)
    if re.fullmatch(r"[1-9][0-9]{0,2}(,[0-9]{3})+|[1-9][0-9]?(,[0-9]{2})+,[0-9]{3}|[1-9][0-9]{0,2}(\.[0-9]{3}){2,}", number):
        return re.sub("[.,]", "", number)
    is_certain = "." in number or re.fullmatch("[0-9]*,[0-9]{1,2}|0,[0-9]+", number)
    return decimal_value(number, False) if is_certain else number


def decimal_value(number, is_grouped):
    """Returns a decimal number with a point and without zeros at its end, if the number must be read like this."""
    match = re.fullmatch("([0-9]*)[.,]([0-9]+)", number)
    if not match or (not is_grouped and re.fullmatch("[1-9][0-9]{0,2}[.,][0-9]{3}", number)):
        return number
    whole, places = match.group(1) or "0", match.group(2).rstrip("0")
    return f"{whole}.{places}" if places else whole


def times_power(number, power):
    power = power.lstrip("+").replace("\u2212", "-")
    if not re.fullmatch("[0-9]+([.][0-9]*)?", number) or abs(int(power)) > MAX_EXPONENT:
        return f"{number}e{power}"
    with decimal.localcontext(decimal.Context(prec=10_000)):
        text = f"{decimal.Decimal(number).scaleb(int(power)):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
