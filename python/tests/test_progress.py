"""Progress: a bar in a terminal, or a line if tqdm is not installed; nothing in a pipe, or if it is turned off."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import pty
import struct
import subprocess
import sys
import termios
import unittest
from pathlib import Path

import dupsift
from corpora import Case

SCRIPT = """
import sys, dupsift
dupsift.run(sys.argv[1], out=sys.argv[2], algorithms="exact,minhash", threads=1, no_report=True, no_progress=sys.argv[3:] == ["none"])
"""


class Progress(Case):
    def line(self, *more: str) -> list[str]:
        return [sys.executable, "-c", SCRIPT, str(self.endless()), str(self.folder / "out"), *more]

    def in_a_terminal(self, *more: str) -> str:
        ours, theirs = pty.openpty()
        fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        child = subprocess.Popen(self.line(*more), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        said = b""
        with open(ours, "rb", buffering=0) as terminal:
            while True:
                try:
                    said += terminal.read(65_536)
                except OSError:
                    # The other end is closed.
                    break
        self.assertEqual(child.wait(), 0, said)
        return said.decode()

    def test_a_terminal_shows_progress(self) -> None:
        said = self.in_a_terminal()
        if importlib.util.find_spec("tqdm"):
            self.assertRegex(said, r"\rstage 1 of \d+: sign: +\d+%\|")
        else:
            self.assertRegex(said, r"\rstage 1 of \d+: sign: [\d,]+/35,000 documents")
        # The bar is erased.
        self.assertRegex(said, r"\r +\r$")

    def test_a_terminal_shows_nothing_if_asked(self) -> None:
        self.assertEqual(self.in_a_terminal("none"), "")

    def test_a_function_receives_progress(self) -> None:
        told: list[dupsift.Progress] = []
        options = {"algorithms": "exact,minhash", "threads": 1, "no_report": True}
        dupsift.run(self.endless(), out=self.folder / "out", progress=told.append, **options)
        sign = [one for one in told if one.stage == "sign"]
        self.assertEqual((sign[-1].done, sign[-1].total, sign[-1].unit), (35_000, 35_000, "documents"))
        self.assertTrue(all(1 <= one.step <= one.steps for one in told), told)
        self.assertEqual({one.step for one in sign}, {1})

        def stops(progress: dupsift.Progress) -> None:
            raise LookupError(progress.stage)

        with self.assertRaises(LookupError):
            dupsift.run(self.endless(), out=self.folder / "other", progress=stops, **options)
        self.assertFalse((self.folder / "other").exists())

    def test_anything_but_a_function_is_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "progress=: expected a function, got int"):
            dupsift.dedup(["a text"], progress=3)  # type: ignore[arg-type]

    def test_every_stage_reaches_its_end(self) -> None:
        texts = [f"The committee met on day {row} and agreed on {row * 7} things about the bridge and the river. " * 3 for row in range(400)]
        corpus = self.lines(*texts, *texts[:50], *(f"{text} It will meet again." for text in texts[50:100]), None)
        cases: list[dict[str, object]] = [
            {}, {"no_report": True}, {"algorithms": "exact"}, {"algorithms": "minhash:verify=lcs:0.8"}, {"limit": 20}, {"sample": 200},
            {"corpus": "keep,annotate"}, {"corpus": "keep", "cut": "lines"}, {"index": self.folder / "index"}, {"reference": corpus},
        ]
        for options in cases:
            with self.subTest(str(options)):
                told: list[dupsift.Progress] = []
                dupsift.run(corpus, self.folder / "out", overwrite=True, max_rejected_share=1, progress=told.append, **options)  # type: ignore[arg-type]
                last = {(one.stage, one.step): one for one in told}
                self.assertEqual([one for one in last.values() if one.done != one.total], [])
                self.assertEqual((told[-1].done, told[-1].step), (told[-1].total, told[-1].steps), told[-1])

    def test_a_pipe_receives_nothing(self) -> None:
        done = subprocess.run(self.line(), capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertTrue(Path(self.folder / "out" / "run.json").is_file())


if __name__ == "__main__":
    unittest.main()
