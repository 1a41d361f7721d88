"""A store that speaks enough of the protocols of Amazon, Google and Azure to list and send objects, and that fails on request.

    python tests/store.py FOLDER

Serves the files below FOLDER as a bucket of any name, on a free port of the loopback interface. Prints the port. Faults are written to
FOLDER/.faults, one a line, as `NAME KEY-SUFFIX COUNT` (`list` as suffix means lists); each applies to COUNT requests. The log of requests is
FOLDER/.requests, one line each: method, key or `list`, range, status.
"""

import hashlib
import os
import socket
import struct
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

ROOT = sys.argv[1]
PAGE = 1000
LOCK = threading.Lock()
USED = {}


def fault(name_of):
    """Returns the next fault for a key, or an empty string."""
    try:
        lines = open(os.path.join(ROOT, ".faults"), encoding="utf-8").read().splitlines()
    except OSError:
        return ""
    with LOCK:
        for at, line in enumerate(lines):
            name, suffix, count = line.split()
            if name_of.endswith(suffix) and USED.get((at, line), 0) < int(count):
                USED[(at, line)] = USED.get((at, line), 0) + 1
                return name
    return ""


def keys():
    found = []
    for folder, names, files in os.walk(ROOT):
        names[:] = [name for name in names if not name.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, file), ROOT) for file in files if file[0] != "."]
    return sorted(found, key=lambda key: key.encode())


def etag(body):
    return '"' + hashlib.md5(body).hexdigest() + '"'


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, what, status):
        with LOCK, open(os.path.join(ROOT, ".requests"), "a", encoding="utf-8") as log:
            log.write(f"{self.command} {what} {self.headers.get('Range', '-')} {status}\n")

    def reply(self, what, status, body=b"", **headers):
        if what:
            self.note(what, status)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        key = urllib.parse.unquote(url.path.lstrip("/")).partition("/")[2]
        if "list-type" in query or query.get("comp") == "list" or not key:
            return self.list(query)
        try:
            with open(os.path.join(ROOT, key), "rb") as file:
                body = file.read()
        except OSError:
            return self.reply(key, 404)
        self.send(key, body)

    def send(self, key, body):
        name = fault(key) if self.command == "GET" else ""
        if name in ("503", "500", "403"):
            return self.reply(key, int(name))
        if name == "429":
            return self.reply(key, 429, Retry_After="1")
        tag = etag(body)
        if name == "changed":
            body = body[::-1]
            tag = etag(body)
        if self.headers.get("If-Match", tag) != tag:
            return self.reply(key, 412)
        if name == "deaf":
            tag = '"another"'
        begin, end, status = 0, len(body), 200
        asked = self.headers.get("Range")
        headers = {"ETag": tag, "Last_Modified": "Sat, 28 Nov 2026 08:00:00 GMT"}
        if asked and name != "200":
            begin, last = asked.removeprefix("bytes=").split("-")
            begin, end, status = int(begin), int(last) + 1, 206
            if begin >= end:
                return self.reply(key, 416)
            headers["Content_Range"] = f"bytes {begin}-{end - 1}/{len(body)}"
        part = body[begin:end]
        # These say that the body is complete, and then end too early.
        if name in ("short", "reset", "last", "stall"):
            self.note(key, f"{status}-{name}")
            self.send_response(status)
            for header, value in headers.items():
                self.send_header(header.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part[: len(part) - 1 if name == "last" else len(part) // 2])
            self.wfile.flush()
            if name == "stall":
                time.sleep(40)
            if name in ("reset", "last"):
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return None
        if name == "slow":
            self.note(key, f"{status}-slow")
            time.sleep(3)
            return self.reply(None, status, part, **headers)
        return self.reply(key, status, part, **headers)

    def list(self, query):
        name = fault("list")
        if name in ("503", "500", "403"):
            return self.reply("list", int(name))
        is_azure = query.get("comp") == "list"
        prefix, token = query.get("prefix", ""), query.get("marker" if is_azure else "continuation-token", "")
        names = [key for key in keys() if key.startswith(prefix)]
        begin = int(token.removeprefix("empty")) if token else 0
        page = names[begin : begin + PAGE]
        following = str(begin + PAGE) if begin + PAGE < len(names) else ""
        if name == "empty":
            page, following = [], f"empty{begin}"
        if is_azure:
            return self.list_azure(prefix, page, following)
        rows = []
        for key in page:
            with open(os.path.join(ROOT, key), "rb") as file:
                body = file.read()
            rows.append(
                f"<Contents><Key>{escape(key)}</Key><LastModified>2026-11-28T08:00:00.000Z</LastModified>"
                f"<ETag>{escape(etag(body))}</ETag><Size>{len(body)}</Size><StorageClass>STANDARD</StorageClass></Contents>"
            )
        more = f"<NextContinuationToken>{following}</NextContinuationToken>" if following else ""
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            f"<Name>bucket</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(page)}</KeyCount><MaxKeys>{PAGE}</MaxKeys>"
            f"<IsTruncated>{'true' if following else 'false'}</IsTruncated>{more}{''.join(rows)}</ListBucketResult>"
        )
        return self.reply("list", 200, text.encode(), Content_Type="application/xml")


    def list_azure(self, prefix, page, following):
        rows = []
        for key in page:
            with open(os.path.join(ROOT, key), "rb") as file:
                body = file.read()
            # Lists of Azure have ETags without quotation marks.
            rows.append(
                f"<Blob><Name>{escape(key)}</Name><Properties><Last-Modified>Sat, 28 Nov 2026 08:00:00 GMT</Last-Modified>"
                f"<Etag>{etag(body)[1:-1]}</Etag><Content-Length>{len(body)}</Content-Length>"
                "<Content-Type>application/octet-stream</Content-Type></Properties></Blob>"
            )
        text = (
            f'<?xml version="1.0" encoding="utf-8"?><EnumerationResults ContainerName="bucket"><Prefix>{escape(prefix)}</Prefix>'
            f"<Blobs>{''.join(rows)}</Blobs><NextMarker>{following}</NextMarker></EnumerationResults>"
        )
        return self.reply("list", 200, text.encode(), Content_Type="application/xml")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
