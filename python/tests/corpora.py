"""What tests share: the sample corpus of the repository, the program of this environment, folders that go."""

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
    """A test with a folder of its own."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def lines(self, *texts: str | None) -> Path:
        """A corpus of JSON lines with these texts."""
        path = self.folder / "corpus.jsonl"
        rows = ({"id": f"d{row}", "text": text} for row, text in enumerate(texts))
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path


    def endless(self) -> Path:
        """A corpus that takes all algorithms minutes: thirty megabytes of texts of their own."""
        words = [chr(97 + one % 26) + chr(97 + one // 26 % 26) + str(one) for one in range(5_000)]
        chance = random.Random(7)
        return self.lines(*(" ".join(chance.choices(words, k=150)) for _ in range(35_000)))

    def begun(self, child: subprocess.Popen[str], but: Path) -> None:
        """Waits until a run has made its work folder beside this corpus."""
        until = time.monotonic() + 60
        while os.listdir(self.folder) == [but.name]:
            self.assertIsNone(child.poll(), "ended before it began")
            self.assertLess(time.monotonic(), until, "did not begin")
            time.sleep(0.02)


def listening(line: list[str]) -> subprocess.Popen[str]:
    """Starts what hears Ctrl-C, even where the shell that runs the tests ignores it, as for what runs in its background."""
    # SIGINT is set in the child, before the program that it becomes; nothing else is done there.
    return subprocess.Popen(line, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


def program(*typed: object, **more: object) -> subprocess.CompletedProcess[str]:
    """The command line of this environment."""
    line = [sys.executable, "-m", "dupsift", *map(os.fspath, map(str, typed))]
    return subprocess.run(line, capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload, no-any-return]


def tables(folder: Path) -> dict[str, bytes]:
    """The bytes of the tables that a recipe decides."""
    found = (path for kind in ("pairs", "clusters", "removed") for path in (folder / kind).rglob("*.parquet"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
