#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Writes the licenses of all crates that are linked into the program and the wheel, with their texts.

    python scripts/licenses.py python/THIRD-PARTY.txt --target x86_64-unknown-linux-gnu

The crates are those of `cargo tree` for the target. The texts are the files of each crate that are named LICENSE, COPYING, COPYRIGHT or
NOTICE, in its folder and the folders of libraries in it; equal texts are written once. deny.toml has the licenses that are allowed.
"""

import argparse
import json
import re
import subprocess
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = re.compile(r"(?i)(un)?(licen[cs]e|copying|copyright|notice)([-._].*)?")
# Files with such names that are programs or tables.
OTHER = {".rs", ".c", ".h", ".py", ".json", ".toml", ".sh"}


def cargo(*words: str) -> str:
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def linked(target: str) -> list[tuple[str, str]]:
    """Returns name and version of each crate that is linked, except those of this repository."""
    words = ["tree", "--locked", "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}"]
    lines = cargo(*words, "--package", "dupsift", "--package", "dupsift-python").splitlines()
    found = {tuple(line.split(" ")[:2]) for line in lines if line and str(ROOT) not in line}
    return sorted((name, version.removeprefix("v")) for name, version in found)


def texts(folder: Path) -> list[str]:
    """Returns the texts of the licenses of a crate and of the libraries in it."""
    found = [path for pattern in ("*", "*/*") for path in sorted(folder.glob(pattern))]
    found = [path for path in found if NAMES.fullmatch(path.name) and path.is_file() and path.suffix not in OTHER]
    lines = [[line.rstrip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()] for path in found]
    return ["\n".join(text).strip("\n") for text in lines if any(text)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the file to write")
    parser.add_argument("--target", required=True, help="the target, such as x86_64-unknown-linux-gnu")
    arguments = parser.parse_args()
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", "--filter-platform", arguments.target))
    packages = {(one["name"], one["version"]): one for one in metadata["packages"]}
    crates = linked(arguments.target)
    assert len(crates) > 50, f"only {len(crates)} crates are linked"
    head = f"dupsift contains {len(crates)} libraries by others. This file lists them with their licenses, followed by the texts of the licenses."
    listed, shown, of_text = [], {}, defaultdict(list)
    for name, version in crates:
        package = packages[name, version]
        found = texts(Path(package["manifest_path"]).parent)
        named = package["license"] or "see its text"
        listed.append(f"{name} {version}: {named}" + ("" if found else f" (the crate has no text; {package['repository'] or 'no address'})"))
        for text in found:
            # Texts that differ only in white space are the same.
            words = " ".join(text.split())
            shown.setdefault(words, text)
            of_text[words].append(f"{name} {version}")
    parts = [head, "\n".join(listed)]
    parts += ["-" * 80 + f"\n{', '.join(dict.fromkeys(names))}\n\n{shown[words]}" for words, names in of_text.items()]
    arguments.out.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
