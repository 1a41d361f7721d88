"""Every file in examples/ runs, if the libraries that it imports are installed, and prints what it should."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import unittest

from corpora import ROOT

SAYS = {
    "json_lines.py": "kept rows: \\[0, 2, 3\\]",
    "polars_frame.py": "\\d+ of \\d+ rows kept",
    "hugging_face.py": "\\d+ of \\d+ rows kept",
    "two_batches.py": "tuesday.jsonl: 2 rows, 1 of them removed",
    "labels.py": "exact +precision .*(?s:.*)for this corpus, use",
    "from_other_tools.py": "(?s)datatrove.*text-dedup.*NeMo Curator.*minhash:bands=20,rows=13,ngram=24,unit=char",
}


class Examples(unittest.TestCase):
    def test_all_run(self) -> None:
        found = sorted((ROOT / "examples").glob("*.py"))
        self.assertEqual([path.name for path in found], sorted(SAYS))
        for path in found:
            libraries = re.findall("^import (polars|datasets)", path.read_text(), re.MULTILINE)
            if any(importlib.util.find_spec(name) is None for name in libraries):
                continue
            with self.subTest(path.name):
                done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stdout, SAYS[path.name])


if __name__ == "__main__":
    unittest.main()
