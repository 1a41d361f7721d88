#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["numpy", "pyarrow", "regex"]
# ///
"""Checks the repeated passages of a run against their definition, using the texts of the corpus.

usage: cut.py OUT [OUT ...]

OUT is the output of a run with --cut lines, --cut paragraphs or --cut runs:L over Parquet files with the columns id and text, with the
default --keep and --cut-at. The script recomputes everything from the texts: the kept documents and their order, the folded text, repeats
(by comparing all runs of L characters), stretches, words, white space, and the cut text. It compares all columns of passages/, and the
texts of deduped/ if the run wrote them.
"""

import json
import sys
import unicodedata
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import regex
from rules import separated, without_marks

WHITE = regex.compile(r"\p{White_Space}+")
LETTER = regex.compile(r"[\p{Alphabetic}\p{N}_]")
HAN = regex.compile(r"[\u3005\u3007\u3021-\u3029\u3038-\u303B\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0002FFFD\U00030000-\U0003FFFD]")
CLUSTER = regex.compile(r"\X")
INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")
STRESS = regex.compile(r"(?<=\p{Script=Cyrillic}\p{M}*)[\u0300\u0301]")
LINE_END = regex.compile(r"[\r\n\u0085\u2028\u2029]")
LEAST = {"lines": 15, "paragraphs": 40}


def read(folder):
    """Yields (file name, rows) of the tables in a folder, in order."""
    for path in sorted(Path(folder).rglob("*.parquet")):
        yield path.name, pq.read_table(path).to_pylist()


def folded(unit):
    """Returns the normal form of a unit."""
    text = STRESS.sub("", unicodedata.normalize("NFC", INVISIBLE.sub("", unit)))
    text = without_marks(unicodedata.normalize("NFKC", separated(text.lower())).lower())
    return WHITE.sub(" ", text).strip(" ")


def units(text, kind):
    """Yields the beginning and the end of each line or paragraph, without the white space around it."""
    if kind == "lines":
        breaks = [match.span() for match in LINE_END.finditer(text)]
    else:
        def is_blank(match):
            return "\u2029" in match.group() or len(regex.findall(r"\r\n|[\r\n\u0085\u2028]", match.group())) > 1
        breaks = [match.span() for match in WHITE.finditer(text) if is_blank(match)]
    begin = 0
    for start, end in breaks + [(len(text), len(text))]:
        content = WHITE.sub(" ", text[begin:start]).strip(" ")
        if content:
            first = begin + len(text[begin:start]) - len(lstrip(text[begin:start]))
            yield first, first + len(strip(text[begin:start]))
        begin = end


def lstrip(text):
    match = WHITE.match(text)
    return text[match.end():] if match else text


def strip(text):
    return lstrip(lstrip(text)[::-1])[::-1]


def fold(text):
    """Returns the folded text, and the position of each of its characters in the text."""
    out, places, at = [], [], 0
    for match in WHITE.finditer(text):
        out.append(text[at:match.start()])
        places.extend(range(at, match.start()))
        out.append(" ")
        places.append(match.start())
        at = match.end()
    out.append(text[at:])
    places.extend(range(at, len(text)))
    return "".join(out), places


def is_letter(character):
    return bool(character) and bool(LETTER.match(character)) and not HAN.match(character)


def is_border(text, at):
    """Returns whether a position is between words."""
    if at == 0 or at == len(text) or text[at - 1] == " " or text[at] == " ":
        return True
    low = max(0, at - 24)
    starts = [low + match.start() for match in CLUSTER.finditer(text[low:at + 1])]
    if at not in starts:
        return False
    letter = max(start for start in starts if start < at)
    before, after = text[letter], text[at]
    first = text[letter - 1] if letter > 0 else ""
    last = text[at + 1] if at + 1 < len(text) else ""
    inner = "'\u2019"
    joins = (
        (is_letter(before) and is_letter(after))
        or (is_letter(before) and after in inner and is_letter(last))
        or (before in inner and is_letter(after) and is_letter(first))
    )
    return not joins


def of_units(texts, kind):
    """Returns the units to cut from each text: start, end, copies, first text and position."""
    found = defaultdict(list)
    for number, text in enumerate(texts):
        for start, end in units(text, kind):
            if len(WHITE.sub(" ", text[start:end])) >= LEAST[kind]:
                found[folded(text[start:end])].append((number, start, end))
    cuts = defaultdict(list)
    for group in found.values():
        first = group[0]
        for number, start, end in group:
            if number != first[0]:
                cuts[number].append((start, end, len(group), first[0], first[1]))
    return {number: sorted(places) for number, places in cuts.items()}


def of_runs(texts, length):
    """Returns the stretches to cut from each text, in the same form."""
    folded = [fold(text) for text in texts]
    hashes = [np.array([hash(text[at:at + length]) for at in range(len(text) - length + 1)], dtype=np.int64) for text, _ in folded]
    values, counts = np.unique(np.concatenate(hashes), return_counts=True)
    again = values[counts > 1]
    groups = defaultdict(list)
    for number, (text, _) in enumerate(folded):
        if not len(again):
            break
        found = again[np.minimum(np.searchsorted(again, hashes[number]), len(again) - 1)]
        for at in np.flatnonzero(found == hashes[number]):
            groups[text[at:at + length]].append((number, int(at)))
    # A copy is a first copy only if no part of it is cut. Rounds are alternately an upper and a lower bound of what is cut.
    cuts, count = {}, None
    for number in range(1 + ROUNDS):
        covered = {one: np.zeros(len(folded[one][0]), dtype=bool) for one in cuts}
        for one, places in cuts.items():
            for start, end, *_ in places:
                covered[one][start:end] = True
        repeats = repeats_of(groups.values(), length, lambda one, at: one not in covered or not covered[one][at:at + length].any())
        cuts = stretches_of(folded, repeats, length)
        before, count = count, sum(map(len, repeats.values()))
        if count == before:
            break
    found = {}
    for number, stretches in cuts.items():
        places = folded[number][1]
        of = lambda start, end, copies, first, place: (places[start], places[end - 1] + 1, copies, first, folded[first][1][place])
        found[number] = [of(*stretch) for stretch in stretches]
    return found


# The number of rounds, as in the program.
ROUNDS = 9


def repeats_of(groups, length, is_whole):
    """Returns the repeats in each text: the number of copies and the first copy, by position."""
    repeats = defaultdict(dict)
    for group in groups:
        first = next((one for one in group if is_whole(*one)), None)
        for number, at in group if first is not None else ():
            if (number, at) > first and (number != first[0] or at >= first[1] + length):
                repeats[number][at] = (len(group), *first)
    return repeats


def stretches_of(folded, repeats, length):
    """Returns the stretches to cut from each folded text: start, end, copies, first text and position."""
    cuts = {}
    for number, starts in repeats.items():
        text, _ = folded[number]
        stretches = []
        for at in sorted(starts):
            if stretches and at <= stretches[-1][1]:
                stretches[-1][1] = at + length
            else:
                stretches.append([at, at + length])
        out = []
        for begin, stop in stretches:
            start, end = begin, stop
            while start < end and (text[start] == " " or not is_border(text, start)):
                start += 1
            while end > start and (text[end - 1] == " " or not is_border(text, end)):
                end -= 1
            if end - start < length:
                continue
            inside = [at for at in range(start, end - length + 1) if at in starts]
            inside = inside or [at for at in range(begin, end) if at in starts and at + length > start]
            copies = max(starts[at][0] for at in inside)
            _, first, place = starts[inside[0]]
            out.append((start, end, copies, first, place))
        if out:
            cuts[number] = out
    return cuts


def with_white_space(text, places):
    """Extends the stretches by the white space that is cut with them."""
    ends = []
    for start, end, *_ in places:
        match = WHITE.match(text, end)
        stop = match.end() if match else end
        if stop < len(text):
            line_ends = [found.end() for found in LINE_END.finditer(text, end, stop)]
            stop = line_ends[-1] if line_ends else stop
        ends.append(stop)
    out, after, at_end = [], len(text), True
    for number in reversed(range(len(places))):
        before = ends[number - 1] if number else 0
        at_end = at_end and ends[number] >= after
        start = places[number][0]
        white = len(lstrip(text[:start][::-1]))
        if not at_end and white > 0:
            line_ends = [found.end() for found in LINE_END.finditer(text, white, start)]
            white = line_ends[-1] if line_ends else white
        after = max(white, before)
        out.append((after, ends[number], *places[number][2:]))
    return out[::-1]


def cut_out(text, places):
    """Returns the text without these stretches."""
    out, at = "", 0
    for start, end in places + [(len(text), len(text))]:
        part = text[at:start]
        if part and out and not LINE_END.match(out[-1]):
            out += "\n"
        out += part
        at = end
    return out


def check(out):
    """Compares one output; returns the number of passages."""
    record = json.loads((out / "run.json").read_text())
    kind = record["options"]["cut"]
    documents = [row for one in record["inputs"] for row in pq.read_table(one["path"], columns=["id", "text"]).to_pylist()]
    rows = [row for _, table in read(out / "removed") for row in table]
    emptied = {row["doc"] for row in rows if row["reason"] == "emptied"}
    removed = {row["doc"] for row in rows} - emptied
    kept = [doc for doc in range(len(documents)) if doc not in removed]
    order = sorted(kept, key=lambda doc: (-len(documents[doc]["text"]), doc))
    texts = [documents[doc]["text"] for doc in order]
    found = of_runs(texts, int(kind.split(":")[1])) if kind.startswith("runs:") else of_units(texts, kind)
    expected, places = [], {}
    for number, cuts in found.items():
        doc, text = order[number], texts[number]
        places[doc] = []
        for start, end, copies, first, first_start in with_white_space(text, cuts):
            places[doc].append((start, end))
            first_doc = order[first]
            expected.append({
                "id": documents[doc]["id"], "doc": doc, "start": start, "end": end,
                "start_byte": len(text[:start].encode()), "end_byte": len(text[:end].encode()), "copies": copies,
                "first_id": documents[first_doc]["id"], "first_doc": first_doc, "first_start": first_start,
            })
    expected.sort(key=lambda row: (row["doc"], row["start"]))
    found_rows = [row for _, table in read(out / "passages") for row in table]
    for one, other in zip(found_rows, expected):
        assert one == other, f"{out}: passages/ has {one}, expected {other}"
    assert len(found_rows) == len(expected), f"{out}: {len(found_rows)} passages, expected {len(expected)}"
    if (out / "deduped").is_dir():
        cut = [row for _, table in read(out / "deduped") for row in table]
        stay = [doc for doc in kept if doc not in emptied]
        assert len(cut) == len(stay), f"{out}: {len(cut)} rows in deduped/, expected {len(stay)}"
        for row, doc in zip(cut, stay):
            text = cut_out(documents[doc]["text"], places.get(doc, []))
            assert (row["id"], row["text"]) == (documents[doc]["id"], text), f"{out}: the text of document {doc} differs"
    for doc in emptied:
        left = cut_out(documents[doc]["text"], places[doc])
        assert len(left) < record["options"]["min-chars-left"], f"{out}: document {doc} has {len(left)} characters left"
    return len(found_rows)


def main():
    for out in map(Path, sys.argv[1:]):
        print(f"{out}: {check(out)} passages match the definition")


if __name__ == "__main__":
    main()
