"""Loads the packages of a script that imports this module first. If its interpreter lacks a package declared at the top of the script, the
script restarts with the interpreter of the environment in which `make` installs them.
"""

import importlib.util
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Packages whose import name differs from their name in the registry.
NAMES = {"axe-core-python": "axe_core_python"}
# Packages that a script imports only for some options.
LATER = {"jieba"}
# Scripts whose packages are not in .venv: the environment, and the make target that creates it.
ENVIRONMENTS = {
    "bench_peers.py": (".venv-peers", "bench-peers"),
    "bench_sort.py": (".venv-peers", "bench-sort"),
    "frame_memory.py": (".venv-frames", "python"),
    "spark_laws.py": (".venv-spark", "python-spark"),
    "test_browser.py": (".venv-browser", "test-browser"),
}


def declared(script):
    """Returns the packages declared at the top of a script, as in `# dependencies = ["pyarrow"]`."""
    line = re.search(r"^# dependencies = \[(.*)\]$", script.read_text(encoding="utf-8"), re.MULTILINE)
    return re.findall(r'"([^"]+)"', line.group(1)) if line else []


def find():
    """Restarts the running script with another interpreter if necessary; reports packages that are still missing."""
    script = Path(sys.argv[0]).resolve()
    if script.parent != ROOT / "scripts":
        return
    missing = [name for name in declared(script) if name not in LATER and importlib.util.find_spec(NAMES.get(name, name)) is None]
    if not missing:
        return
    environment, target = ENVIRONMENTS.get(script.name, (".venv", "venv"))
    folder = ROOT / environment
    if (folder / "ready").is_file() and Path(sys.prefix).resolve() != folder.resolve():
        python = folder / "bin" / "python"
        os.execv(python, [str(python), *sys.argv])
    sys.exit(f"error: {sys.argv[0]} needs {', '.join(missing)}; expected Python packages that can be imported: `make {target}` installs them into {environment}, where scripts find them")


find()
