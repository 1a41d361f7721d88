#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = []
# ///
"""Writes the address of the project's repository to all files that have it: the metadata of the crates, the wheel and the citation.

    python scripts/address.py https://github.com/OWNER/dupsift

The links in python/README.md, which the package index shows without the rest of the repository, become absolute. The address can be changed
by another run. A test compares the files.
"""

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def absolute(page: str, address: str) -> str:
    """Returns a page in python/ with links to files of the repository, and pictures as the files themselves."""
    page = re.sub(r"\]\([a-z]+://\S*?/(?:blob|raw)/main/([^)]*)\)", r"](../\1)", page)
    page = re.sub(r"!\[([^\]]*)\]\(\.\./([^)]*)\)", rf"![\1]({address}/raw/main/\2)", page)
    return re.sub(r"\]\(\.\./([^)]*)\)", rf"]({address}/blob/main/\1)", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="the address, such as https://github.com/OWNER/dupsift")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of the repository")
    arguments = parser.parse_args()
    address = arguments.address.rstrip("/")
    if not re.fullmatch(r"https://[^\s\"()]+", address):
        parser.error(f"{arguments.address}: expected an address that begins with https://")

    def change(name: str, pattern: str, text: str, after: str | None = None) -> None:
        """Replaces what matches the pattern, or inserts the text after a line."""
        path = arguments.root / name
        old = path.read_text(encoding="utf-8")
        new, found = re.subn(pattern, lambda _: text, old, flags=re.MULTILINE)
        if not found:
            assert after is None or old.count(after) == 1, f"{name} has not {after!r} once"
            new = old.rstrip("\n") + "\n" + text if after is None else old.replace(after, after + text)
        path.write_text(new, encoding="utf-8")

    # maturin adds the address in python/Cargo.toml to the wheel, and [project.urls] names the pages.
    change("Cargo.toml", r'^repository = ".*"\n', f'repository = "{address}"\n', '\nlicense = "Apache-2.0"\n')
    urls = {"Homepage": "", "Documentation": "/blob/main/docs/SUMMARY.md", "Changelog": "/blob/main/CHANGELOG.md", "Issues": "/issues"}
    table = "[project.urls]\n" + "".join(f'{name} = "{address}{path}"\n' for name, path in urls.items()) + "\n"
    change("python/pyproject.toml", r"^\[project\.urls\]\n(?:\w+ = .*\n)+\n", table, 'dupsift = "dupsift._cli:main"\n\n')
    change("CITATION.cff", r"^repository-code: .*\n", f"repository-code: {address}\n", "license: Apache-2.0\n")
    page = arguments.root / "python/README.md"
    page.write_text(absolute(page.read_text(encoding="utf-8"), address), encoding="utf-8")


if __name__ == "__main__":
    main()
