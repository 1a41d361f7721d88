"""The section of `benches/lab/quality.py` about pages: the share of the main text that each method extracts, and its effect on duplicates.

Words are defined independently of the program here, as a Han character or a run of letters and digits, so that the results do not depend
on the program's tokenizer.
"""

import html
import itertools
import random
import re
from collections import Counter
from html.parser import HTMLParser

import pyarrow as pa
import pyarrow.parquet as pq

CORPORA = ["html-readability", "html-gne-zh"]
METHODS = ["docview", "readability", "visible"]
WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
# The minimum of a method's mean F1 over the pages of a corpus.
FLOORS = {
    ("html-readability", "docview"): 0.90,
    ("html-readability", "readability"): 0.98,
    ("html-gne-zh", "docview"): 0.77,
    ("html-gne-zh", "readability"): 0.94,
}
SWAPPED = ["exact", "long_sent", "simhash", "minhash", "versions"]
# The minimum F1 of these two algorithms with the better of the two methods, in each language.
SWAP_FLOORS = {"minhash": 0.92, "versions": 0.95}
SITES = BODIES = 20
VOID = set("area base br col embed hr img input link meta param source track wbr".split())


def words(text):
    return WORD.findall((text or "").lower())


def scores(common, found, wanted):
    precision = common / found if found else 0.0
    recall = common / wanted if wanted else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def purified(quality, corpus, method):
    out = quality.work / f"{corpus}-{method}"
    quality.program("purify", quality.docs(corpus), "--out", out, "--overwrite", "--no-progress", "--purify", method)
    return out


def main_text(quality):
    quality.say(
        "### Main text of pages",
        "",
        "Words of the body against those of the column `text`, as multisets; a word is a Han character or a run of letters and "
        "digits. Mean over pages, and of the sums over all pages (micro). The texts of html-gne-zh are what another extractor found; those of "
        "html-readability come from the program that `readability` follows, reviewed by hand, so that it could hardly do better there.",
        "",
        "| corpus | pages | method | P | R | F1 | micro P | micro R | micro F1 | floor of F1 |",
        "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    )
    for corpus in CORPORA:
        gold = pq.read_table(quality.docs(corpus), columns=["text"])["text"].to_pylist()
        for method in METHODS:
            bodies = pq.read_table(purified(quality, corpus, method) / "pages", columns=["page_body"])["page_body"].to_pylist()
            if len(bodies) != len(gold):
                raise SystemExit(f"{corpus}: {len(gold)} pages, {len(bodies)} bodies")
            by_page, sums = [], [0, 0, 0]
            for body, text in zip(bodies, gold):
                if not (text or "").strip():
                    continue
                found, wanted = Counter(words(body)), Counter(words(text))
                counts = [(found & wanted).total(), found.total(), wanted.total()]
                by_page.append(scores(*counts))
                sums = [a + b for a, b in zip(sums, counts)]
            means = [sum(column) / len(by_page) for column in zip(*by_page)]
            state = "-"
            if (corpus, method) in FLOORS:
                floor = FLOORS[corpus, method]
                state = f"{floor}: " + quality.floor(means[2] >= floor, f"{corpus}, {method}: F1 {means[2]:.3f}, at least {floor} expected")
            cells = " | ".join(f"{value:.3f}" for value in [*means, *scores(*sums)])
            quality.say(f"| {corpus} | {len(by_page)} | `{method}` | {cells} | {state} |")
    quality.say("")


class Elements(HTMLParser):
    """Records where each element begins and ends in the page, and the words in it."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.starts = list(itertools.accumulate((len(line) for line in page.splitlines(keepends=True)), initial=0))
        # (tag, start of its content, words so far) of open elements; (begin, end, words) of closed ones.
        self.open, self.closed, self.words, self.silent = [], [], [], 0
        self.feed(page)
        self.close()

    def at(self):
        line, column = self.getpos()
        return self.starts[line - 1] + column

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.silent += tag in ("script", "style")
            self.open.append((tag, self.at() + len(self.get_starttag_text()), len(self.words)))

    def handle_endtag(self, tag):
        if not any(known == tag for known, _, _ in self.open):
            return
        while True:
            known, begin, first = self.open.pop()
            self.silent -= known in ("script", "style")
            self.closed.append((begin, self.at(), range(first, len(self.words))))
            if known == tag:
                return

    def handle_data(self, data):
        if not self.silent:
            self.words += words(data)


def template(page, text):
    """Returns the parts of a page before and after its main text; None if the main text is not in one element."""
    wanted = Counter(words(text))
    elements = Elements(page)
    best = None
    for begin, end, place in elements.closed:
        inside = Counter(elements.words[place.start : place.stop])
        covered = (inside & wanted).total()
        # The smallest element that contains nearly all of the text, and hardly anything else.
        if covered >= 0.9 * wanted.total() and covered >= 0.75 * inside.total() and (best is None or end - begin < best[1] - best[0]):
            best = (begin, end)
    if best is None:
        return None
    before, behind = page[: best[0]], page[best[1] :]
    left = len(elements.words) - wanted.total()
    # A page without a template is of no use.
    return (before, behind) if left >= 100 else None


def swapped(quality, corpus):
    """Writes pages of every text in every template; returns their folder, the pairs with the same text, and the numbers of templates and
    texts."""
    rows = pq.read_table(quality.docs(corpus), columns=["html", "text", "charset_guess"]).to_pylist()
    rows = [row for row in rows if len(words(row["text"])) >= 200]
    templates, bodies, seen = [], [], set()
    for row in rows:
        page = row["html"].decode(row["charset_guess"] or "utf-8", errors="replace")
        head = tuple(words(row["text"])[:40])
        # If the corpus has a page several times, its copies would be duplicates without any swap.
        if head in seen:
            continue
        seen.add(head)
        found = template(page, row["text"])
        if found and len(templates) < SITES:
            templates.append(found)
        if len(bodies) < BODIES and len(words(row["text"])) <= 4000:
            bodies.append(row["text"])
    ids, pages, truth = [], [], set()
    for (site, (before, behind)), (number, body) in itertools.product(enumerate(templates), enumerate(bodies)):
        paragraphs = "".join(f"<p>{html.escape(line)}</p>\n" for line in body.splitlines() if line.strip())
        ids.append(f"{number}/{site}")
        pages.append((before + paragraphs + behind).encode())
    for number in range(len(bodies)):
        same = [f"{number}/{site}" for site in range(len(templates))]
        truth |= {frozenset(pair) for pair in itertools.combinations(same, 2)}
    order = list(range(len(ids)))
    random.Random(1).shuffle(order)
    folder = quality.work / f"{corpus}-swapped"
    folder.mkdir(exist_ok=True)
    # The charset is in the header, because the one that a page declares is no longer correct.
    table = {"id": ids, "html": pages, "content_type": ["text/html; charset=utf-8"] * len(ids)}
    pq.write_table(pa.table({name: [values[at] for at in order] for name, values in table.items()}), folder / "pages.parquet")
    return folder, truth, len(templates), len(bodies)


def template_swap(quality):
    quality.say(
        "### Templates",
        "",
        "Real texts in the templates of real pages, each in each: one text in twenty templates twenty times over, and twenty texts in "
        "one template likewise. Pairs of one text are right, all others wrong. `visible` is what is left when tags alone are taken away.",
        "",
        "| corpus | templates x texts | algorithm | " + " | ".join(f"{method}: P, R, F1" for method in reversed(METHODS)) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in METHODS) + " |",
    )
    for corpus in CORPORA:
        folder, truth, templates, bodies = swapped(quality, corpus)
        figures = {}
        for method in METHODS:
            recipe = ",".join(SWAPPED)
            out = quality.run(f"{corpus}-swapped-{method}", [folder], recipe, "--html-column", "html", "--purify", method, "--max-group", "100000")
            for algorithm in SWAPPED:
                found = quality.pairs_of(out, algorithm.split(":")[0])
                figures[algorithm, method] = scores(len(found & truth), len(found), len(truth))
        for algorithm in SWAPPED:
            cells = [", ".join(f"{value:.3f}" for value in figures[algorithm, method]) for method in reversed(METHODS)]
            quality.say(f"| {corpus} | {templates} x {bodies} | `{algorithm}` | " + " | ".join(cells) + " |")
        for algorithm, floor in SWAP_FLOORS.items():
            best = max(figures[algorithm, method][2] for method in METHODS[:2])
            quality.floor(best >= floor, f"{corpus}, templates: F1 of {algorithm} {best:.3f}, at least {floor} expected")
    floors = ", ".join(f"`{algorithm}` {floor}" for algorithm, floor in SWAP_FLOORS.items())
    quality.say("", f"Floors of F1 with the better of the two methods, in both corpora: {floors}.", "")


def measure(quality):
    main_text(quality)
    template_swap(quality)
