"""Shared parts of the tests: the sample corpus of the repository, the program in this environment, temporary folders."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "data-samples" / "docs"
TRUTH = ROOT / "data-samples" / "truth"


class Case(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def lines(self, *texts: str | None) -> Path:
        """Writes a corpus of JSON lines with these texts."""
        path = self.folder / "corpus.jsonl"
        rows = ({"id": f"d{row}", "text": text} for row, text in enumerate(texts))
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path


    def endless(self) -> Path:
        """Writes a corpus that keeps all algorithms busy for minutes: thirty megabytes of unique texts."""
        words = [chr(97 + one % 26) + chr(97 + one // 26 % 26) + str(one) for one in range(5_000)]
        chance = random.Random(7)
        return self.lines(*(" ".join(chance.choices(words, k=150)) for _ in range(35_000)))

    def begun(self, child: subprocess.Popen[str], but: Path) -> None:
        """Waits until a run has created its folder of temporary files next to this corpus."""
        until = time.monotonic() + 60
        while os.listdir(self.folder) == [but.name]:
            self.assertIsNone(child.poll(), "ended before it began")
            self.assertLess(time.monotonic(), until, "did not begin")
            time.sleep(0.02)


def listening(line: list[str]) -> subprocess.Popen[str]:
    """Starts a process that receives Ctrl-C, even if the shell that runs the tests ignores it, as it does for background jobs."""
    # Between fork and exec, the child only resets the handler of SIGINT.
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def program(*typed: object, **more: object) -> subprocess.CompletedProcess[str]:
    """Runs the command line program of this environment."""
    line = [sys.executable, "-m", "dupsift", *map(os.fspath, map(str, typed))]
    return subprocess.run(line, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload, no-any-return]


def tables(folder: Path) -> dict[str, bytes]:
    """Returns the bytes of the tables that depend on the recipe."""
    found = (path for kind in ("pairs", "clusters", "removed") for path in (folder / kind).rglob("*.parquet"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
