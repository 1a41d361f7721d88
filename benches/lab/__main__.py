"""Runs a measurement, or lists them: `make lab RUN=NAME`, or `python3 benches/lab [NAME [ARGUMENTS]]`.

A measurement is a script in this folder or a benchmark of cargo in benches/. What it needs is built first: the program or the wheel, and the
environment with its packages. ARGUMENTS are those of the measurement; `--help` shows them for a script.
"""

import ast
import os
import subprocess
import sys
from pathlib import Path

from lab import ROOT, packages


def runs():
    """Returns the measurements: name -> file."""
    scripts = [path for path in Path(__file__).parent.glob("*.py") if path.read_text(encoding="utf-8").startswith("#!")]
    return {path.stem: path.resolve() for path in sorted([*scripts, *(ROOT / "benches").glob("*.rs")], key=lambda path: path.stem)}


def summary(path):
    """Returns what a measurement does, in one line."""
    text = path.read_text(encoding="utf-8")
    lines = ast.get_docstring(ast.parse(text)) if path.suffix == ".py" else text.removeprefix("//! ")
    first = lines.splitlines()[0]
    # Benchmarks add the command that runs them.
    return first.split(": `cargo bench")[0].rstrip(".") + "."


def make(*words):
    """Runs a command in the repository; exits if it fails."""
    code = subprocess.run(words, cwd=ROOT).returncode
    if code:
        sys.exit(code)


def prepared(path):
    """Builds what a script needs, and returns the interpreter for it."""
    needed = packages.declared(path)
    environment = ROOT / packages.environment(path)
    python = environment / "bin/python" if needed else sys.executable
    if needed:
        make("make", "--no-print-directory", f"{environment.name}/ready")
    if "dupsift" in needed:
        make("make", "--no-print-directory", "wheel")
        make(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--force-reinstall", *ROOT.glob("dist/dupsift-*.whl"))
    else:
        make(os.environ.get("CARGO", "cargo"), "build", "--quiet", "--release", "--bin", "dupsift")
    return python


def main():
    found = runs()
    if len(sys.argv) == 1:
        print("Measurements, each run by `make lab RUN=NAME`. CORPORA=DIR or CORPUS=DIR is the first argument, WRITE=FILE is --write FILE.\n")
        for name, path in found.items():
            print(f"  {name:16} {summary(path)}")
        return
    name, *arguments = sys.argv[1:]
    if name not in found:
        sys.exit(f"error: there is no measurement {name!r}; expected one of: {', '.join(found)}")
    path, environment = found[name], dict(os.environ)
    if path.suffix == ".rs":
        if path.name in packages.ENVIRONMENTS:
            make("make", "--no-print-directory", f"{packages.environment(path)}/ready")
            environment["DUPSIFT_PEERS"] = str(ROOT / packages.environment(path) / "bin/python")
        command = [os.environ.get("CARGO", "cargo"), "bench", "--bench", name, "--", *arguments]
    else:
        command = [prepared(path), path, *arguments]
        if "pyspark" in packages.declared(path):
            environment["JAVA_HOME"] = subprocess.run(["sh", "scripts/java.sh"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    sys.exit(subprocess.run(command, cwd=ROOT, env=environment).returncode)


main()
