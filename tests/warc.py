#!/usr/bin/env python3
"""Writes web archives with warcio, and the rows that warcio itself reads from them.

usage: warc.py FOLDER

Writes FOLDER/pages.warc, FOLDER/pages.warc.gz and FOLDER/texts.warc.wet.gz. For each of them, FOLDER/expected.json lists the expected rows:
`id`, `date`, `record_id`, `content_type`, `digest`, and `page` in hexadecimal digits (as returned by warcio's `content_stream()`), or `why`
if the record is not a page. `others` counts the records that are not rows.

needs: warcio
"""

import gzip
import json
import sys
import zlib
from collections import Counter
from io import BytesIO
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HTML = "text/html; charset=utf-8"


def page(title, text, charset="utf-8"):
    html = f"<html><head><title>{title}</title></head><body><p>{text}</p></body></html>\n"
    return html.encode(charset)


def chunked(body, size=40):
    chunks = [body[at : at + size] for at in range(0, len(body), size)] + [b""]
    return b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)


RUSSIAN = page("Кот", "Кот видит птицу за окном. " * 50)
CHINESE = page("猫", "猫在窗外看见一只鸟。" * 50, "gbk")
PLAIN = page("Plain", "A page without any packing.\r\n\r\nWARC/1.0\r\nis how a record begins.")

# Status, fields, body, and the reason why the record is not a page.
ANSWERS = {
    "http://example.org/plain": ("200 OK", {"Content-Type": HTML}, PLAIN, None),
    "http://example.org/gzip": ("200 OK", {"Content-Type": HTML, "Content-Encoding": "gzip"}, gzip.compress(RUSSIAN, mtime=0), None),
    "http://example.org/chunked": ("200 OK", {"Content-Type": HTML, "Transfer-Encoding": "chunked"}, chunked(RUSSIAN), None),
    "http://example.org/both": (
        "200 OK",
        {"content-type": HTML, "content-encoding": "gzip", "transfer-encoding": "chunked"},
        chunked(gzip.compress(CHINESE, mtime=0)),
        None,
    ),
    "http://example.org/deflate": ("200 OK", {"Content-Type": HTML, "Content-Encoding": "deflate"}, zlib.compress(RUSSIAN), None),
    "http://example.cn/gbk?q=猫": ("200 OK", {"Content-Type": "text/html; charset=gbk"}, CHINESE, None),
    "http://example.org/dechunked": ("200 OK", {"Content-Type": HTML, "Transfer-Encoding": "chunked"}, PLAIN, None),
    "http://example.org/unpacked": ("200 OK", {"Content-Type": HTML, "Content-Encoding": "gzip"}, PLAIN, None),
    "http://example.org/empty": ("200 OK", {"Content-Type": HTML}, b"", "no body"),
    "http://example.org/image": ("200 OK", {"Content-Type": "image/png"}, b"\x89PNG\r\n\x1a\n", "not HTML: image/png"),
    "http://example.org/none": ("404 Not Found", {"Content-Type": HTML}, PLAIN, "HTTP status: 404"),
}


def write_pages(path, packed):
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=packed)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "warcio"}))
        for url, (status, fields, body, _) in ANSWERS.items():
            head = StatusAndHeaders("GET / HTTP/1.1", [("Host", "example.org")], is_http_request=True)
            request = writer.create_warc_record(url, "request", http_headers=head)
            head = StatusAndHeaders(status, list(fields.items()), protocol="HTTP/1.1")
            response = writer.create_warc_record(url, "response", payload=BytesIO(body), http_headers=head)
            writer.write_request_response_pair(request, response)
        url, date = next(iter(ANSWERS)), "2024-05-06T07:08:09Z"
        head = StatusAndHeaders("200 OK", [("Content-Type", HTML)], protocol="HTTP/1.1")
        writer.write_record(writer.create_revisit_record(url, "sha1:ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", url, date, http_headers=head))
        writer.write_record(
            writer.create_warc_record("urn:thing", "resource", payload=BytesIO(RUSSIAN), warc_content_type="text/html")
        )


def write_texts(path):
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=True, warc_version="1.0")
        for n, text in enumerate(["Кот видит птицу.", "一只猫", "three\r\n\r\nlines\n"]):
            writer.write_record(
                writer.create_warc_record(
                    f"http://example.org/{n}", "conversion", payload=BytesIO(text.encode()), warc_content_type="text/plain"
                )
            )


def read(path):
    rows, others = [], Counter()
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type not in ("response", "resource", "conversion"):
                others[record.rec_type] += 1
                continue
            field = record.rec_headers.get_header
            answer = record.http_headers
            url = field("WARC-Target-URI")
            rows.append(
                {
                    "id": url,
                    "date": field("WARC-Date"),
                    "record_id": field("WARC-Record-ID"),
                    "content_type": answer.get_header("Content-Type") if answer else field("Content-Type"),
                    "digest": field("WARC-Payload-Digest") or field("WARC-Block-Digest"),
                    "page": record.content_stream().read().hex(),
                    "why": ANSWERS[url][3] if url in ANSWERS else None,
                }
            )
    return {"rows": rows, "others": others}


def main(folder):
    folder = Path(folder)
    for name in ("pages.warc", "pages.warc.gz"):
        write_pages(folder / name, name.endswith(".gz"))
    write_texts(folder / "texts.warc.wet.gz")
    expected = {path.name: read(path) for path in sorted(folder.glob("*.warc*"))}
    (folder / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1))


main(sys.argv[1])
