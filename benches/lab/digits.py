"""Keeps digits apart that NFKC would join, as docs/methods/common.md describes, and finds numbers in normalized text.

A second implementation of `positions` in crates/text/src/normal.rs and of crates/text/src/numbers.rs.
"""

import re

# The characters that begin and that end in each position, and the mark before a character in this position.
POSITIONS = {
    "on the line": ("0-9\uFF10-\uFF19\U0001D7CE-\U0001D7FF\U0001FBF0-\U0001FBF9", "", " "),
    "exponent": ("²³¹\u2070-\u207F", "\u3378\u3379\u339F-\u33A6\u33A8\u33AF", "^"),
    "index": ("\u2080-\u208E", "", "_"),
    "fraction": ("¼-¾\u2150-\u215F\u2189", "", " "),
    "enclosed": ("\u2460-\u2473\u2488-\u249B\u24EA\u3251-\u325F\u32B1-\u32BF\U0001F100-\U0001F10A", "", " "),
}
# Months, hours and days begin like a number in a circle.
WITH_WORD = "\u32C0-\u32CB\u3358-\u3370\u33E0-\u33FE"
# Digits in groups of three, separated by a space or an apostrophe, unless another number is adjacent; or digits with other single marks, and
# an exponent or a fraction after them.
NUMBER = re.compile(
    r"(?<![0-9A-Za-z])(?<![0-9] )[1-9][0-9]{0,2}([ '\u2019])[0-9]{3}(?:\1[0-9]{3}){0,2}(?![0-9])(?:[.,][0-9]+)?"
    r"(?![0-9\u2044]|[.,: ][0-9]|\1[0-9]{3}(?![0-9]))"
    r"|[0-9]+(?:[.,:][0-9]+)*(?:\^[-+\u2212]?[0-9]+|(?: [0-9]+)?\u2044[0-9]+)?"
)
GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")


def characters(ranges):
    """Yields the characters in ranges that are written as in a regular expression."""
    for first, last in re.findall(r"(.)(?:-(.))?", ranges):
        yield from map(chr, range(ord(first), ord(last or first) + 1))


BEGINS = {c: name for name, (both, _, _) in POSITIONS.items() for c in characters(both)} | dict.fromkeys(characters(WITH_WORD), "enclosed")
ENDS = {c: name for name, (both, end, _) in POSITIONS.items() for c in characters(both + end)}


def separated(text):
    """Returns the text with a mark between two digits in different positions."""
    out, before = [], None
    for c in text:
        here = BEGINS.get(c)
        if before and here and (before != here or here in ("fraction", "enclosed")):
            out.append(POSITIONS[here][2])
        out.append(c)
        before = ENDS.get(c)
    return "".join(out)


def value(number):
    """Returns a number without the marks between groups of three digits."""
    marks = "" if "\u2044" in number else "," if GROUPED.fullmatch(number) else " '\u2019"
    return "".join(c for c in number if c not in marks)
