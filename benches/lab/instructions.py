#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# ///
"""Counts the instructions of complete runs, and compares them with the counts in benches/records/instructions.md.

    benches/lab/instructions.py data-samples [--dupsift target/release/dupsift] [--only "exact;minhash"] [--write]
    benches/lab/instructions.py CORPORA/mixed-100m

Counts do not depend on other work on the machine: the same program on the same corpus executes the same instructions, within about 0.1%.
They do depend on the compiler and on the instruction sets of the processor, so the table names both, and if they differ here, the
comparison only warns. Otherwise a rise of more than 1% fails. If the rise is right, renew the table with --write and give the reason in
the commit message. Needs valgrind.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import lab
from lab import ROOT, commit

TABLE = ROOT / "benches/records/instructions.md"
RISE = 0.01
# Instruction sets for which the program or its libraries have code of their own.
FEATURES = ["sse4_2", "pclmulqdq", "avx", "avx2", "bmi2", "avx512f", "vpclmulqdq"]

SETTINGS = {
    "exact": ["--algorithms", "exact"],
    "minhash": ["--algorithms", "minhash"],
    "simhash": ["--algorithms", "simhash"],
    "three_plus_five": ["--algorithms", "three_plus_five"],
    "exact,versions": [],
    "exact,versions --no-report": ["--no-report"],
    "exact,versions --keep none": ["--keep", "none"],
    "exact,versions --remove-if pair": ["--remove-if", "pair"],
    "exact --cut lines": ["--algorithms", "exact", "--cut", "lines"],
    "exact --corpus keep": ["--algorithms", "exact", "--corpus", "keep"],
}


def machine():
    """Returns the compiler and the instruction sets, as the table names them."""
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, cwd=ROOT).stdout.split()
    try:
        flags = set(re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.M)[1].split())
    except (OSError, TypeError):
        flags = set()
    sets = " ".join(feature for feature in FEATURES if feature in flags)
    return f"rustc {rustc[1] if len(rustc) > 1 else 'unknown'}; {os.uname().machine}: {sets or 'unknown'}"


def count(program, corpus, options):
    """Returns the instructions that one run executes on one thread."""
    with tempfile.TemporaryDirectory(prefix="dupsift-count-") as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", str(program), "run", str(corpus)]
        command += ["--out", f"{folder}/out", "--threads", "1", "--no-progress"]
        # Valgrind takes fifty times as long as the program, so a run would save a state that it does not save otherwise.
        command += ["--checkpoint", "never", *options]
        # An environment of its own: the loader and the program read all of it.
        ran = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
        found = re.search(r"Collected : (\d+)", ran.stderr)
        if ran.returncode not in (0, 3) or not found:
            sys.exit(f"{' '.join(command)}\nexit code {ran.returncode}\n{ran.stderr[-2000:]}")
        return int(found[1])


def tables():
    """Returns the committed tables: by corpus, the machine and the instructions of each setting."""
    found, corpus = {}, None
    for line in TABLE.read_text().splitlines():
        if heading := re.fullmatch(r"## (.+)", line):
            corpus = heading[1]
            found[corpus] = {"commit": "", "machine": "", "counts": {}}
        elif corpus and (commit_line := re.fullmatch(r"Commit (.+?); (rustc .+)\.", line)):
            found[corpus]["commit"], found[corpus]["machine"] = commit_line.groups()
        elif corpus and (row := re.fullmatch(r"\| `(.+)` \| ([\d,]+) \|", line)):
            found[corpus]["counts"][row[1]] = int(row[2].replace(",", ""))
    return found


def write(found):
    """Writes the tables back; keeps the introduction of the page."""
    lines = [TABLE.read_text().split("\n## ")[0].rstrip()]
    for corpus, table in found.items():
        lines += ["", f"## {corpus}", "", f"Commit {table['commit']}; {table['machine']}.", "", "| setting | instructions |", "| --- | ---: |"]
        lines += [f"| `{name}` | {table['counts'][name]:,} |" for name in SETTINGS if name in table["counts"]]
    TABLE.write_text("\n".join(lines) + "\n")


def main():
    parser = lab.parser(__doc__)
    parser.add_argument("corpus", type=Path, help="a folder with docs/ in it")
    parser.add_argument("--only", help="settings, separated by semicolons")
    parser.add_argument("--write", action="store_true", help="renew the table")
    given = parser.parse_args()
    chosen = given.only.split(";") if given.only else list(SETTINGS)
    if unknown := [name for name in chosen if name not in SETTINGS]:
        sys.exit(f"unknown setting {unknown[0]!r}; expected one of: {'; '.join(SETTINGS)}")
    corpus = given.corpus.resolve()
    all_tables = tables()
    known = all_tables.get(corpus.name, {"commit": "", "machine": "", "counts": {}})
    here = machine()
    same_machine = known["machine"] == here
    if known["machine"] and not same_machine:
        print(f"warning: the table is of {known['machine']}, and this is {here}: a rise is only reported", file=sys.stderr)
    risen = []
    print(f"{'setting':34} {'table':>16} {'here':>16}  ratio")
    for name in chosen:
        counted = count(given.dupsift.resolve(), corpus / "docs", SETTINGS[name])
        before = known["counts"].get(name)
        ratio = counted / before if before else None
        print(f"{name:34} {before or 0:16,} {counted:16,}  {f'{ratio:.4f}' if ratio else '-'}", flush=True)
        if ratio and ratio > 1 + RISE:
            risen.append(f"{name}: {ratio:.4f}")
        if given.write:
            known["counts"][name] = counted
    if given.write:
        known["commit"], known["machine"] = commit(), here
        all_tables[corpus.name] = known
        write(all_tables)
    elif risen and same_machine:
        sys.exit(f"more instructions than in {TABLE.relative_to(ROOT)}, by more than {RISE:.0%}: {'; '.join(risen)}")


if __name__ == "__main__":
    main()
