#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# ///
"""Measures the cost of reading a corpus from a bucket instead of a local folder.

    benches/lab/downloads.py CORPUS [--rates 100,1000] [--rounds 3] [--algorithms exact,minhash] [--dupsift target/release/dupsift]

A server on the loopback interface sends the files of CORPUS at most at a rate, in megabytes per second. Runs that read the bucket and the
folder take turns. The server shares the machine with the program, so compare CPU time rather than the clock.

Columns: rate; CPU seconds of the run over the folder and over the bucket, and their ratio; seconds by the clock of both; seconds that the
download takes at this rate; the clock over the bucket divided by the larger of download and local run. All are medians.
"""

import hashlib
import os
import statistics
import subprocess
import tempfile
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.sax.saxutils import escape

import lab

PART = 1 << 18


class Bucket(ThreadingHTTPServer):
    """Serves the files of a folder as a bucket of any name."""

    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
        self.rate, self.free_at, self.lock = 0.0, 0.0, threading.Lock()

    def wait(self, size):
        """Waits until this many bytes may be sent."""
        with self.lock:
            at = max(self.free_at, time.monotonic())
            self.free_at = at + size / self.rate
        time.sleep(max(0.0, self.free_at - time.monotonic()))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def tag(self, path):
        return '"' + hashlib.md5(f"{path} {path.stat().st_size}".encode()).hexdigest() + '"'

    def head(self, status, size, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(size))
        self.end_headers()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if "list-type" in query:
            rows = "".join(
                f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
                f"<ETag>{escape(self.tag(path))}</ETag><Size>{path.stat().st_size}</Size></Contents>"
                for key, path in self.server.files.items()
                if key.startswith(query.get("prefix", ""))
            )
            body = f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>'
            self.head(200, len(body.encode()), Content_Type="application/xml")
            self.wfile.write(body.encode())
            return
        path = self.server.files.get(urllib.parse.unquote(url.path.lstrip("/")).partition("/")[2])
        if path is None:
            return self.head(404, 0)
        size = path.stat().st_size
        self.head(200, size, ETag=self.tag(path), Last_Modified="Thu, 01 Jan 2026 00:00:00 GMT")
        if self.command == "HEAD":
            return
        self.wfile.flush()
        with path.open("rb") as file:
            sent = 0
            while sent < size:
                self.server.wait(min(PART, size - sent))
                sent += os.sendfile(self.connection.fileno(), file.fileno(), sent, PART)


def measured(command, environment):
    """Returns the CPU seconds and the seconds by the clock of a command."""
    begun = time.monotonic()
    child = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, code, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(code)
    if child.returncode not in (0, 3):
        raise SystemExit(said)
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begun


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--rates", default="100,1000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--algorithms", default="exact,minhash")
    arguments = parser.parse_args()
    server = Bucket(arguments.corpus)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    environment = os.environ | {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_address[1]}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_SKIP_SIGNATURE": "true",
    }
    size = sum(path.stat().st_size for path in server.files.values())
    print(f"Measured at commit {lab.commit()}: {arguments.corpus.name}, {len(server.files)} files, {size / 1e6:,.0f} MB, {arguments.algorithms}.\n")
    print("| MB/s | CPU, folder | bucket | ratio | clock, folder | bucket | download | clock / larger |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory(prefix="dupsift-downloads-") as folder:
        for rate in map(float, arguments.rates.split(",")):
            server.rate = rate * 1e6
            folders, buckets = [], []
            for at in range(arguments.rounds):
                for corpus, into in ((arguments.corpus, folders), ("s3://bucket", buckets)):
                    out = Path(folder) / f"{rate}-{at}-{len(folders) - len(buckets)}"
                    command = [arguments.dupsift, "run", corpus, "--out", out, "--algorithms", arguments.algorithms, "--no-progress"]
                    into.append(measured(command, environment))
            (cpu, clock), (cpu_there, clock_there) = ([statistics.median(column) for column in zip(*rows)] for rows in (folders, buckets))
            download = size / server.rate
            cells = [f"{rate:g}", f"{cpu:.2f}", f"{cpu_there:.2f}", f"{cpu_there / cpu:.3f}", f"{clock:.2f}", f"{clock_there:.2f}"]
            print("|", " | ".join([*cells, f"{download:.2f}", f"{clock_there / max(download, clock):.2f}"]), "|", flush=True)


if __name__ == "__main__":
    main()
