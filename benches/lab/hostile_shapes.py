"""Corpora of hostile shapes for `hostile.py`. Each function writes its files and returns the bytes of its longest document."""

import gzip
import json
import os
import random

import pyarrow as pa
import pyarrow.parquet as pq

MIB = 1 << 20
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(rng, many):
    return ["".join(rng.choices(LETTERS, k=rng.randint(3, 9))) for _ in range(many)]


def text(rng, vocabulary, length):
    return " ".join(rng.choices(vocabulary, k=length // 6 + 8))[:length]


def different(length, first):
    """Returns a text in which no word occurs twice. Texts with different values of `first` have no words in common."""
    out, size, number = [], 0, first
    while size < length:
        word = f"{number * 2654435761 % (1 << 20):x}{number:x}"
        out.append(word)
        size += len(word) + 1
        number += 1
    return " ".join(out)[:length]


def parquet(path, texts, **options):
    table = pa.table({"id": [f"d{row}" for row in range(len(texts))], "text": texts})
    pq.write_table(table, path, **options)


def json_lines(open_file, texts):
    with open_file as out:
        for row, one in enumerate(texts):
            out.write(json.dumps({"id": f"d{row}", "text": one}, ensure_ascii=False).encode() + b"\n")


def good(folder):
    """Writes an ordinary file; the files next to it must not change its result."""
    rng = random.Random(1)
    vocabulary = words(rng, 500)
    parquet(folder / "good.parquet", [text(rng, vocabulary, 300) for _ in range(200)])


# Each shape writes its files and returns the bytes of its longest document.


def pages(folder, rng, small):
    """Writes large pages: pyarrow checks the size of a page only every 1,024 rows."""
    length = 25_000 if small else 100_000
    vocabulary = words(rng, 50_000)
    parquet(folder / "a.parquet", [text(rng, vocabulary, length) for _ in range(2048 if small else 4096)])
    return length


def packed_pages(folder, rng, small):
    """Writes two columns with large pages, compressed with Zstandard, without a dictionary."""
    length = 20_000 if small else 80_000
    vocabulary = words(rng, 50_000)
    texts = [text(rng, vocabulary, length) for _ in range(2048)]
    table = pa.table({"id": [one[: length // 8] + str(row) for row, one in enumerate(texts)], "text": texts})
    pq.write_table(table, folder / "a.parquet", compression="zstd", use_dictionary=False)
    return length


def long_documents(folder, rng, small):
    """Writes 16 long documents in one row group and one page."""
    length = 1_500_000 if small else 10_000_000
    vocabulary = words(rng, 50_000)
    parquet(folder / "a.parquet", [text(rng, vocabulary, length) for _ in range(16)])
    return length


def all_different(folder, rng, small):
    """Writes 16 documents whose words all differ."""
    length = 1_500_000 if small else 8_000_000
    parquet(folder / "a.parquet", [different(length, row * length) for row in range(8 if small else 16)])
    return length


def near_copies(folder, rng, small):
    """Writes long documents, one per file. All documents in a group share all but one in a thousand words. There is one group of 20
    documents of 8 MB, or 50 groups of two documents of 1 MB."""
    groups, copies, length = (50, 2, 1_000_000) if small else (1, 20, 8_000_000)
    for group in range(groups):
        base = different(length, group * 1_000_000).split(" ")
        for row in range(copies):
            own = list(base)
            for _ in range(len(own) // 1000):
                own[rng.randrange(len(own))] = f"w{rng.randrange(10**7)}"
            json_lines(open(folder / f"{group:02}-{row:02}.jsonl", "wb"), [" ".join(own)])
    return length


def one_different(folder, rng, small):
    """Writes one document whose words all differ, in one line."""
    length = 4_000_000 if small else 8_000_000
    parquet(folder / "a.parquet", [different(length, 0)])
    return length


def lines(folder, rng, small):
    """Writes long lines of JSON."""
    length = 1_500_000 if small else 10_000_000
    vocabulary = words(rng, 50_000)
    json_lines(open(folder / "a.jsonl", "wb"), [text(rng, vocabulary, length) for _ in range(16)])
    return length


def wide_rows(folder, rng, small):
    """Writes short pages next to a column of long values."""
    with gzip.open(folder / "a.jsonl.gz", "wb", compresslevel=1) as out:
        for row in range(8_000 if small else 16_000):
            page = f"<p>A page of few words, number {row}."
            out.write(json.dumps({"id": f"d{row}", "text": page, "raw": f"{row} " * 10_000}).encode() + b"\n")
    return 0


def line_80(folder, rng, small):
    """Writes one line of 80 MB with few distinct words."""
    length = 4_000_000 if small else 80_000_000
    vocabulary = words(rng, 500)
    json_lines(open(folder / "a.jsonl", "wb"), [text(rng, vocabulary, length)])
    return length


def encoded_lines(folder, rng, small):
    """Writes a long line in each of eight files, in an encoding in which a letter takes half as many bytes as in UTF-8."""
    letters = ("слово текста " * (2_400_000 if small else 5_500_000)).encode("cp1251")
    for number in range(8):
        with gzip.open(folder / f"{number}.jsonl.gz", "wb", compresslevel=1) as out:
            out.write(b'{"id": "d%d", "other": "' % number + letters + b'", "text": "short"}\n')
    return 0


def encoded_texts(folder, rng, small):
    """Writes texts that are too long after decoding, although their lines are not."""
    letters = ("слово текста " * 7_600_000).encode("cp1251")
    for number in range(2 if small else 8):
        with gzip.open(folder / f"{number}.jsonl.gz", "wb", compresslevel=1) as out:
            out.write(b'{"id": "d%d", "text": "' % number + letters + b'"}\n{"id": "s%d", "text": "short"}\n' % number)
    return 0


def long_values(folder, rng, small):
    """Writes a column of long values with escapes next to short pages, in each of eight files."""
    value = json.dumps('a "word" in lines\n' * (800_000 if small else 2_400_000))
    for number in range(8):
        with open(folder / f"{number}.jsonl", "w") as out:
            out.write(f'{{"id": "d{number}", "text": "<p>page {number}</p>", "raw": {value}}}\n')
    return 0


def parquet_values(folder, rng, small):
    """Writes a string of 99 MB next to a short page, in each of eight Parquet files, in an order that hardly compresses."""
    value = rng.randbytes(25_000_000 if small else 49_500_000).hex()
    for number in range(8):
        table = pa.table({"id": [f"d{number}"], "text": [f"<p>page {number}</p>"], "raw": [value]})
        pq.write_table(table, folder / f"{number}.parquet", compression="none" if number % 2 else "snappy")
    return 0


def repeated_values(folder, rng, small):
    """Writes a value that many rows share and that the dictionary contains once."""
    value = 'a "word" in lines\n' * (1_600_000 if small else 5_500_000)
    for number in range(2):
        columns = {"id": [f"d{number}-{row}" for row in range(16)], "text": ["<p>a page</p>"] * 16, "raw": [value] * 16}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
    return 0


def nested_values(folder, rng, small):
    """Writes a list of four million numbers, a map, and a struct with a long string, which is requested."""
    value = 'a "word" in lines\n' * (1_600_000 if small else 5_500_000)
    maps = pa.map_(pa.string(), pa.string())
    for number in range(8):
        columns = {"id": [f"d{number}"], "text": [f"<p>page {number}</p>"], "numbers": [[1] * 4_000_000]}
        columns |= {"map": pa.array([[("key", value)]], maps), "doc": [{"raw": value, "number": number}]}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
    return 0


def refused_values(folder, rng, small):
    """Writes a value that is too long for the memory limit."""
    table = pa.table({"id": ["d0"], "text": ["<p>a page</p>"], "raw": ["a word " * 14_000_000]})
    pq.write_table(table, folder / "a.parquet")
    return 0


def expanding(folder, rng, small):
    """Writes a letter of three bytes that normalization expands to eighteen letters."""
    length = 1_500_000 if small else 9_000_000
    json_lines(open(folder / "a.jsonl", "wb"), ["\ufdfa" * (length // 3), "\ufdfa " * (length // 4)])
    return length


def long_ids(folder, rng, small):
    """Writes ids of a megabyte."""
    with open(folder / "a.jsonl", "w") as out:
        for row in range(100 if small else 400):
            out.write(json.dumps({"id": f"{row}-" + "x" * 1_000_000, "text": f"a text of some, number {row // 2}"}) + "\n")
    return 0


def packed_bodies(folder, rng, small):
    """Writes web archives of a few kilobytes whose responses decompress to more than the maximum size of a text."""
    body = gzip.compress(b"<p>" + b"a " * 70_000_000, 6)
    long = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\n\r\n" + body, 1 if small else 3)
    short = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a page of few words</p>", 20)
    for number in range(8):
        with open(folder / f"{number}.warc", "wb") as out:
            for block, times in (long, short):
                head = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/%d\r\n" % number
                head += b"Content-Type: application/http\r\nContent-Length: %d\r\n\r\n" % len(block)
                out.write((head + block + b"\r\n\r\n") * times)
    return 0


def gzip_bomb(folder, rng, small):
    """Writes a line of 3 GB in a file of 3 MB."""
    good(folder)
    with gzip.open(folder / "a.jsonl.gz", "wb", compresslevel=9) as out:
        block = b"a" * MIB
        out.write(b'{"text": "')
        for _ in range(300 if small else 3000):
            out.write(block)
        out.write(b'"}\n')
    return 0


def zstd_window(folder, rng, small):
    """Writes a hand-made Zstandard frame that requests a window of 2 GiB: magic number, a window of 2^31, empty raw blocks."""
    good(folder)
    blocks = 400 if small else 4000
    block = b" " * (128 << 10)
    with open(folder / "a.jsonl.zst", "wb") as out:
        out.write(b"\x28\xb5\x2f\xfd" + bytes([0, (31 - 10) << 3]))
        for number in range(blocks):
            out.write((len(block) << 3 | int(number == blocks - 1)).to_bytes(3, "little") + block)
    return 0


def endless(folder, rng, small):
    """Creates a pipe without a writer, and a link to /dev/zero."""
    good(folder)
    os.mkfifo(folder / "a.jsonl")
    os.symlink("/dev/zero", folder / "b.jsonl")
    return 0


def garbage(folder, rng, small):
    """Writes bytes that are not gzip after the last member."""
    good(folder)
    vocabulary = words(rng, 500)
    json_lines(gzip.open(folder / "a.jsonl.gz", "wb"), [text(rng, vocabulary, 300) for _ in range(500)])
    with open(folder / "a.jsonl.gz", "ab") as out:
        out.write(b"\0" * 100 + b"garbage")
    return 300


def gbk(folder, rng, small):
    """Writes JSON lines in GBK."""
    good(folder)
    with open(folder / "a.jsonl", "wb") as out:
        for row in range(500):
            one = "".join(chr(rng.randint(0x4E00, 0x9FA5)) for _ in range(100))
            out.write(json.dumps({"id": row, "text": one}, ensure_ascii=False).encode("gbk", "ignore") + b"\n")
    return 400


def cut_off(folder, rng, small):
    """Writes a Parquet file whose second half is missing, a file of 0 bytes, and a file with a damaged page."""
    good(folder)
    whole = (folder / "good.parquet").read_bytes()
    (folder / "a.parquet").write_bytes(whole[: len(whole) // 2])
    (folder / "b.parquet").write_bytes(b"")
    middle = len(whole) // 3
    (folder / "c.parquet").write_bytes(whole[:middle] + b"\xff" * 200 + whole[middle + 200 :])
    return 300


def template(folder, rng, small):
    """Writes pages from the same template in which one word in sixty differs: all are in full buckets."""
    frame = words(rng, 60)
    rows = []
    for row in range(4_000 if small else 20_000):
        one = frame.copy()
        one[row % 60] = f"own{row}"
        rows.append(" ".join(one))
    parquet(folder / "a.parquet", rows)
    return 1_000


def equal(folder, rng, small):
    """Writes equal texts in groups of a thousand, the maximum size of a group."""
    vocabulary = words(rng, 500)
    texts = [text(rng, vocabulary, 300) for _ in range(4 if small else 20)]
    parquet(folder / "a.parquet", [one for one in texts for _ in range(1_000)])
    return 300


def deep(folder, rng, small):
    """Writes a file in each of many nested folders."""
    here = os.getcwd()
    os.chdir(folder)
    try:
        for level in range(300 if small else 1_500):
            with open("a.jsonl", "w") as out:
                out.write(json.dumps({"id": f"d{level}", "text": f"text number {level} of its own"}) + "\n")
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(here)
    return 100


def long_dictionary(folder, rng, small):
    """Writes a column for --keep with one value of 1 MB in a dictionary, to which all rows refer."""
    rows = 10_000 if small else 100_000
    values = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array(["x" * 1_000_000]))
    table = pa.table({"id": [f"d{row}" for row in range(rows)], "text": [f"text {row} of its own" for row in range(rows)], "score": values})
    pq.write_table(table, folder / "a.parquet", row_group_size=rows)
    return 1_000_000


def footers(folder, rng, small):
    """Writes files with so many column chunks that their footers are larger than their texts."""
    columns, groups = (1_000, 20) if small else (2_000, 50)
    table = pa.table({"text": [f"text number {row} of its own" for row in range(groups)]} | {f"c{at}": [at] * groups for at in range(columns)})
    pq.write_table(table, folder / "0.parquet", row_group_size=1)
    for number in range(1, 8):
        (folder / f"{number}.parquet").write_bytes((folder / "0.parquet").read_bytes())
    return 100


def long_sources(folder, rng, small):
    """Writes values of 1 MB in the column for --source-column."""
    with open(folder / "a.jsonl", "w") as out:
        for row in range(20):
            source = json.dumps(f"{row % 4}" + "s" * 1_000_000)
            out.write(f'{{"id": "d{row}", "text": "the same text of some words", "source": {source}}}\n')
    return 1_000_000
