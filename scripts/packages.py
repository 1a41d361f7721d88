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
LAB = ROOT / "benches/lab"
# Files whose packages are not in .venv.
ENVIRONMENTS = {
    "duckdb_sort.py": ".venv-peers",
    "frame_memory.py": ".venv-frames",
    "peers.py": ".venv-peers",
    "picture.py": ".venv-browser",
    "sort.rs": ".venv-peers",
    "spark_laws.py": ".venv-spark",
    "test_browser.py": ".venv-browser",
}


def environment(script):
    """Returns the environment that has the packages of a script."""
    return ENVIRONMENTS.get(script.name, ".venv")


def declared(script):
    """Returns the packages declared at the top of a script, as in `# dependencies = ["pyarrow"]`."""
    line = re.search(r"^# dependencies = \[(.*)\]$", script.read_text(encoding="utf-8"), re.MULTILINE)
    return re.findall(r'"([^"]+)"', line.group(1)) if line else []


def find():
    """Restarts the running script with another interpreter if necessary; reports packages that are still missing."""
    script = Path(sys.argv[0]).resolve()
    if script.parent not in (ROOT / "scripts", LAB):
        return
    missing = [name for name in declared(script) if name not in LATER and importlib.util.find_spec(NAMES.get(name, name)) is None]
    if not missing:
        return
    folder = ROOT / environment(script)
    if (folder / "ready").is_file() and Path(sys.prefix).resolve() != folder.resolve():
        python = folder / "bin" / "python"
        os.execv(python, [str(python), *sys.argv])
    target = f"lab RUN={script.stem}" if script.parent == LAB else f"{folder.name}/ready"
    sys.exit(f"error: {sys.argv[0]} needs {', '.join(missing)}; expected Python packages that can be imported: `make {target}` installs them into {folder.name}, where scripts find them")


find()
