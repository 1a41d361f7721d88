"""The type stubs are complete and match the package."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import tempfile
import typing
import unittest

import dupsift as ds
from dupsift import _dupsift, _keywords, _verbs
from corpora import ROOT

CONFIG = str(ROOT / "python" / "pyproject.toml")


class Types(unittest.TestCase):
    def test_the_stub_is_true(self) -> None:
        done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", CONFIG, "dupsift"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_nothing_is_untyped(self) -> None:
        line = [sys.executable, "-m", "pyright", "--ignoreexternal", "--verifytypes", "dupsift"]
        # pyright inspects the environment of the first Python in PATH.
        path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
        with tempfile.TemporaryDirectory() as nothing:
            done = subprocess.run(line, cwd=nothing, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_sources_and_tests_are_sound(self) -> None:
        folders = [str(ROOT / folder) for folder in ("python/dupsift", "examples")]
        done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", CONFIG, *folders], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_keywords_are_the_options_of_the_library(self) -> None:
        for verb, keywords in [
            ("run", _keywords.RunOptions),
            ("compare", _keywords.CompareOptions),
            ("purify", _keywords.PurifyOptions),
            ("contaminated", _keywords.ContaminatedOptions),
        ]:
            with self.subTest(verb):
                known = {name for name, *_ in _dupsift.options(verb)} - {"out", "against"}
                self.assertEqual(set(typing.get_type_hints(keywords)), known)
        frames = {name for name, *_ in _dupsift.options("run")} - set(_verbs.NOT_OF_FRAMES)
        self.assertEqual(set(typing.get_type_hints(_keywords.DedupOptions)), frames)

    def test_everything_public_is_documented(self) -> None:
        for name in ds.__all__:
            thing = getattr(ds, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                self.assertTrue((thing.__doc__ or "").strip(), name)


if __name__ == "__main__":
    unittest.main()
