"""Shared code for measurements: their packages, the program, the measured commit, and the section of the page that they write.

Like `packages`, which this module imports, it must be imported before packages that are not part of Python.
"""

import os
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


def section(path, markers):
    """Returns the text of a file, and the beginning and end of its section between two markers.

    Scripts call this before they measure, so that missing markers cost no results.
    """
    try:
        text = path.read_text()
    except OSError as error:
        sys.exit(f"--write {path}: {error.strerror}")
    begin, end = (text.find(marker) for marker in markers)
    if begin < 0 or end < begin:
        sys.exit(f"{path}: expected the markers {markers[0]} and {markers[1]}, in this order")
    return text, begin, end


def write_section(path, markers, lines):
    """Replaces the section between two markers in a file."""
    text, begin, end = section(path, markers)
    path.write_text(text[: begin + len(markers[0])] + "\n" + "\n".join(lines).strip() + "\n" + text[end:])


def missing_corpora(folder, names):
    """Returns a message about missing corpora; None if there are none."""
    missing = [name for name in names if not (folder / name / "docs").is_dir()]
    return f"{folder} contains no {', '.join(missing)}; expected these folders with docs/ and truth/ in each" if missing else None
