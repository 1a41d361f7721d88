"""Shared code for measurements: their packages, the program and its runs, the measured commit, and the page that they write.

Like `packages`, which this module imports, it must be imported before packages that are not part of Python.
"""

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The program that `make` builds.
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", "target")) / "release/dupsift"

sys.path.append(str(ROOT / "scripts"))
import packages  # noqa: E402


def commit():
    """Returns the commit that is checked out, and whether the sources differ from it."""
    git = lambda *words: subprocess.run(["git", *words], capture_output=True, text=True, cwd=ROOT).stdout.strip()
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if git("status", "--porcelain", "--", "crates", "src") else "")


def parser(text):
    """Returns the parser of a measurement that is described by this text."""
    made = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--dupsift", type=Path, default=PROGRAM, help="the program [target/release/dupsift]")
    return made


def run(*words, codes=(0, 3), **more):
    """Runs a command and returns what it printed; exits with its messages if it ends with another code.

    Exit code 3 of the program: done, but rows were rejected or a guard fired.
    """
    command = list(map(str, words))
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode not in codes:
        sys.exit(f"{shlex.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done


def anonymous(pid):
    """Returns the anonymous memory of a process in bytes; 0 after it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon:"))


def missing_corpora(folder, names):
    """Returns a message about missing corpora; None if there are none."""
    missing = [name for name in names if not (folder / name / "docs").is_dir()]
    return f"{folder} contains no {', '.join(missing)}; expected these folders with docs/ and truth/ in each" if missing else None


class Page:
    """Prints lines and, if `path` is set, writes them into the section of this page between two markers.

    The markers are looked for at the start, so that missing markers cost no results.
    """

    def __init__(self, path, markers):
        self.path, self.markers, self.lines = path, markers, []
        if path:
            self.section()
        self.say(f"Measured at commit {commit()}.", "")

    def section(self):
        """Returns the text of the page, and the beginning and end of the section."""
        try:
            text = self.path.read_text()
        except OSError as error:
            sys.exit(f"--write {self.path}: {error.strerror}")
        begin, end = (text.find(marker) for marker in self.markers)
        if begin < 0 or end < begin:
            sys.exit(f"{self.path}: expected the markers {self.markers[0]} and {self.markers[1]}, in this order")
        return text, begin, end

    def say(self, *lines):
        self.lines += lines
        print("\n".join(lines), flush=True)

    def save(self):
        """Replaces the section."""
        if self.path:
            text, begin, end = self.section()
            self.path.write_text(text[: begin + len(self.markers[0])] + "\n" + "\n".join(self.lines).strip() + "\n" + text[end:])
