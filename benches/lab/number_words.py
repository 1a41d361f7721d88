"""Finds numbers that are written in words: Chinese numerals, and English and Russian number words, from 11 on. This is a second
implementation of crates/text/src/number_words.rs; it expects normalized text in lower case.
"""

import re

DIGITS = {c: value for value, forms in enumerate(["〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"]) for c in forms}
UNITS = {"十": 10, "百": 100, "千": 1000}
GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
NUMERALS = "".join([*DIGITS, *UNITS, *GROUPS])
# A section of a Chinese number: descending units, with a zero anywhere between them; ten may have no digit before it.
DIGIT = "[一二两兩三四五六七八九]"
SECTION = re.compile(f"零?(?:{DIGIT}千)?零?(?:{DIGIT}百)?零?(?:{DIGIT}?十)?零?{DIGIT}?零?".replace("零", "[零〇]"))

ENGLISH = dict(
    zip(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(),
        range(1, 20),
    )
) | dict(zip("twenty thirty forty fifty sixty seventy eighty ninety".split(), range(20, 100, 10)))
RUSSIAN = {
    1: "один одна одно одного одной одну",
    2: "два две двух двум двумя",
    3: "три трех трем тремя",
    4: "четыре четырех четырем четырьмя",
    **{at: f"{stem}ь {stem}и {stem}ью" for at, stem in ((5, "пят"), (6, "шест"), (7, "сем"), (9, "девят"), (10, "десят"), (20, "двадцат"), (30, "тридцат"))},
    8: "восемь восьми восемью",
    **{
        11 + at: f"{stem}надцать {stem}надцати {stem}надцатью"
        for at, stem in enumerate("один две три четыр пят шест сем восем девят".split())
    },
    40: "сорок сорока",
    90: "девяносто девяноста",
    50: "пятьдесят пятидесяти",
    60: "шестьдесят шестидесяти",
    70: "семьдесят семидесяти",
    80: "восемьдесят восьмидесяти",
    100: "сто ста",
    200: "двести двухсот",
    300: "триста трехсот",
    400: "четыреста четырехсот",
    500: "пятьсот пятисот",
    600: "шестьсот шестисот",
    700: "семьсот семисот",
    800: "восемьсот восьмисот",
    900: "девятьсот девятисот",
}
SIMPLE = ENGLISH | {form: value for value, forms in RUSSIAN.items() for form in forms.split()}
MULTIPLIERS = {"thousand": 10**3, "million": 10**6, "billion": 10**9} | {
    form: 10**power
    for power, forms in ((3, "тысяча тысячи тысячу тысяч"), (6, "миллион миллиона миллионов"), (9, "миллиард миллиарда миллиардов"))
    for form in forms.split()
}
TOKEN = re.compile(rf"(?P<han>[{NUMERALS}]+)|(?P<word>(?![{NUMERALS}])[^\W\d_](?:(?![{NUMERALS}])[^\W_])*)")


def of_numerals(row):
    """Returns the value of a row of Chinese numerals, or None."""
    if all(c in DIGITS and c not in "两兩" for c in row):
        return int("".join(str(DIGITS[c]) for c in row)) if 4 <= len(row) <= 18 else None
    total, rest = 0, row
    while rest:
        section = SECTION.match(rest).group()
        value, digit = 0, None
        for c in section:
            if c in UNITS:
                value, digit = value + (digit or 1) * UNITS[c], None
            else:
                digit = DIGITS[c] or None
        value += digit or 0
        rest = rest[len(section) :]
        if not rest:
            return total + value
        if rest[0] not in GROUPS:
            return None
        group, rest = GROUPS[rest[0]], rest[1:]
        total, value = (0, total + value) if group > 10**4 else (total, value)
        if value == 0:
            return None
        total += value * group
        if total >= 2**64:
            return None
    return total


def number_words(text):
    """Yields the position at which each number begins, and its value."""
    words = [(match.start(), match.end(), match.group(), bool(match.group("han"))) for match in TOKEN.finditer(text)]
    at = 0
    while at < len(words):
        start, _, word, is_han = words[at]
        if is_han:
            value = of_numerals(word)
            if value is not None and value >= 11:
                yield start, value
            at += 1
            continue
        value, at = spoken(text, words, at)
        if value >= 11:
            yield start, value


def spoken(text, words, at):
    """Returns the value of the longest number that begins at this word, and the index of the word after it; the value is 0 if none begins here."""
    total, section, last, least = 0, 0, None, None
    first = at
    while at < len(words):
        start, _, word, is_han = words[at]
        if is_han or (at > first and text[words[at - 1][1] : start] not in (" ", "-")):
            break
        plain = word.replace("ё", "е")
        value = SIMPLE.get(plain)
        if word == "and" and last in ("hundred", "group"):
            at += 1
            continue
        kind = "group" if plain in MULTIPLIERS else "hundred" if plain == "hundred" else None
        if kind is None and value is not None:
            kind = "unit" if value < 10 else "teen" if value < 20 else "tens" if value < 100 else "hundreds"
        if kind is None:
            break
        if last is None:
            if kind in ("hundred", "group"):
                break
        elif kind == "group":
            if last == "group" or (least is not None and MULTIPLIERS[plain] >= least):
                break
        elif kind == "hundred":
            if last not in ("unit", "teen") or section >= 100:
                break
        elif kind == "hundreds":
            if last != "group":
                break
        elif last not in ("hundred", "hundreds", "group") and not (last == "tens" and kind == "unit"):
            break
        if kind == "group":
            least = MULTIPLIERS[plain]
            total, section = total + section * least, 0
        elif kind == "hundred":
            section *= 100
        else:
            section += value
        last = kind
        at += 1
    return total + section, max(at, first + 1)
