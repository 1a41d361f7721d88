"""A hub with one dataset, `owner/name`, whose files are those below FOLDER at the commit `c0ffee`.

    python tests/hub.py FOLDER

Prints the port of the hub. Files are sent by a second server, as from the hub's storage. Lists have pages of two entries. The first request
for each file is answered by 429. FOLDER/.requests has one line for each request: the server, the method, the path, the range, and whether a
token came along.
"""

import json
import os
import sys
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT = sys.argv[1]
PAGE = 2
LOCK = threading.Lock()
ASKED = set()
REVISIONS = {"main": "c0ffee", "refs/convert/parquet": "c0ffee"}


def files():
    found = []
    for folder, names, here in os.walk(ROOT):
        names[:] = [name for name in names if not name.startswith(".")]
        found += [os.path.relpath(os.path.join(folder, file), ROOT) for file in here if file[0] != "."]
    return sorted(found)


def entry(path):
    size = os.path.getsize(os.path.join(ROOT, path))
    return {"type": "file", "oid": "0123", "size": size, "path": path, "lfs": {"oid": "4567", "size": size, "pointerSize": 1}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def note(self, server):
        token = "token" if self.headers.get("Authorization") else "-"
        with LOCK, open(os.path.join(ROOT, ".requests"), "a", encoding="utf-8") as log:
            log.write(f"{server} {self.command} {self.path} {self.headers.get('Range', '-')} {token}\n")


class Hub(Handler):
    def do_POST(self):
        self.note("hub")
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["paths"]
        there = [entry(path) for path in asked if path in files()]
        self.reply(200, json.dumps(there).encode())

    def do_GET(self):
        self.note("hub")
        url = urllib.parse.urlsplit(self.path)
        parts = url.path.split("/")
        if self.headers.get("Authorization") != "Bearer canary-4f1b9d2c7e":
            return self.reply(401)
        if url.path.startswith("/api/datasets/owner/name/revision/"):
            sha = REVISIONS.get(urllib.parse.unquote(parts[6]))
            return self.reply(200, json.dumps({"sha": sha}).encode()) if sha else self.reply(404)
        if url.path.startswith("/api/datasets/owner/name/tree/c0ffee"):
            below = urllib.parse.unquote("/".join(parts[7:]))
            found = [path for path in files() if not below or path.startswith(below + "/")]
            begin = int(dict(urllib.parse.parse_qsl(url.query)).get("cursor", "0"))
            headers = {}
            if begin + PAGE < len(found):
                here = f"http://{self.headers['Host']}{url.path}?recursive=true&cursor={begin + PAGE}"
                headers["Link"] = f'<{here}>; rel="next"'
            return self.reply(200, json.dumps([entry(path) for path in found[begin : begin + PAGE]]).encode(), **headers)
        if url.path.startswith("/datasets/owner/name/resolve/c0ffee/"):
            path = "/".join(parts[6:])
            with LOCK:
                is_first = path not in ASKED
                ASKED.add(path)
            if is_first:
                return self.reply(429, Retry_After="1")
            return self.reply(302, Location=f"http://127.0.0.1:{storage.server_address[1]}/{path}?signature=canary-4f1b9d2c7e")
        return self.reply(404)


class Storage(Handler):
    def do_GET(self):
        self.note("storage")
        with open(os.path.join(ROOT, urllib.parse.unquote(urllib.parse.urlsplit(self.path).path[1:])), "rb") as file:
            body = file.read()
        asked = self.headers.get("Range")
        if asked:
            begin, last = map(int, asked.removeprefix("bytes=").split("-"))
            headers = {"Content_Range": f"bytes {begin}-{last}/{len(body)}"}
            return self.reply(206, body[begin : last + 1], **headers)
        # The first reply for a file ends in the middle.
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2])
        self.wfile.flush()
        self.close_connection = True
        return None


hub, storage = (ThreadingHTTPServer(("127.0.0.1", 0), handler) for handler in (Hub, Storage))
for server in (hub, storage):
    server.daemon_threads = True
threading.Thread(target=storage.serve_forever, daemon=True).start()
print(hub.server_address[1], flush=True)
hub.serve_forever()
