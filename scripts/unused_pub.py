"""Lists the `pub` items in crates/ that no other crate uses, and exits with 1 if there are any. In these crates, `pub` means that another
crate uses the item. The lint `unreachable_pub` reports items that no other crate can reach; this script reports the others.

An item counts as used if a crate that depends on its crate mentions its name outside of comments and strings. A type also counts as used
if a used item has it in its signature, and a method if src/lib.rs re-exports its type. Files must be formatted by rustfmt.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\n\']+|\\\'|[^\\\n])\'', re.DOTALL)
# The head ends before the body; a semicolon that a space follows belongs to the type of an array.
ITEM = re.compile(
    r"^( *)pub (?:const |unsafe |async )*(fn|struct|enum|trait|type|const|static|mod) (?:mut )?((\w+)(?:[^;{]|; )*)", re.MULTILINE
)
EXPORT = re.compile(r"^( *)pub (use) ([^;]*);", re.MULTILINE)
ASSOCIATED = re.compile(r"^( +)(type) (\w+(?:<[^=]*>)? = [^;]*;)", re.MULTILINE)
OTHERS = ("benches", "examples", "fuzz", "python/src", "src", "tests")
TYPES = {"struct", "enum", "trait", "type"}
IMPL = re.compile(r"^( *)(?:unsafe )?impl\b([^{;]*)", re.MULTILINE)


def words(text):
    return set(re.findall(r"[A-Za-z_]\w*", text))


def code(file):
    """Returns a file without comments, strings and characters; lines keep their numbers."""
    text = TEXT.sub(lambda found: "\n" * found.group().count("\n"), file.read_text(encoding="utf-8"))
    return re.sub(r" +\n", "\n", text)


def owner(text, indent, start):
    """Returns the type whose `impl` block contains the item that starts here, or an empty text."""
    block = ([None] + [found for found in IMPL.finditer(text, 0, start) if len(found[1]) < len(indent)])[-1]
    if block is None or f"\n{block[1]}}}" in text[block.end() : start]:
        return ""
    head = re.sub(r"^<(?:->|[^<>]|<(?:->|[^<>]|<[^<>]*>)*>)*>", "", block[2]).split(" where ")[0].split(" for ")[-1]
    return ([""] + re.findall(r"\w+", head.split("<")[0]))[-1]


def signature(text, indent, kind, head, end):
    """Returns the names in the signature of an item: in its head, and in the fields, variants or functions that others see."""
    body = text[end + 1 : (text + f"\n{indent}}}").index(f"\n{indent}}}", end)] if text[end : end + 1] == "{" else ""
    if kind == "struct":
        head, body = head.split("(")[0], "\n".join(re.findall(r"\bpub ([^\n]*)", head + body))
    elif kind == "trait":
        body = re.sub(rf"\{{\n.*?\n{indent}    \}}", "", body, flags=re.DOTALL)
    elif kind in ("const", "static"):
        head = head.split(" = ")[0]
    return words(head + body if kind in ("struct", "enum", "trait") else "" if kind == "mod" else head)


def items(folder):
    """Yields (place, kind, name, signature, owner) for each `pub` item; bounds of types and associated types have no place."""
    for file in sorted(folder.rglob("*.rs")):
        text = code(file)
        for found in ITEM.finditer(text):
            indent, kind, head, name = found.groups()
            place = f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}"
            yield place, kind, name, signature(text, indent, kind, head, found.end()), owner(text, indent, found.start())
        for found in EXPORT.finditer(text):
            place = f"{file.relative_to(ROOT)}:{text.count(chr(10), 0, found.start()) + 1}"
            for name in re.findall(r"(\w+)\s*(?=[,}]|$)", found[3]):
                yield place, "use", name, set(), ""
        for found in ASSOCIATED.finditer(text):
            yield "", "", "", words(found[3]), owner(text, found[1], found.start())
        for found in IMPL.finditer(text):
            if " for " not in found[2]:
                yield "", "", "", words(found[2]), owner(text, found[1] + " ", found.end())


def unused(everything, mentioned, api):
    """Returns the items whose names no other crate mentions, without types in signatures of other items."""
    dropped = [item for item in everything if item[0] and item[2] not in mentioned and item[4] not in api]
    while True:
        types = {item[2] for item in everything if item[1] in TYPES} - {item[2] for item in dropped if item[1] in TYPES}
        kept = [item for item in everything if item not in dropped and (not item[4] or item[4] in types)]
        visible = set().union(*(item[3] for item in kept))
        rest = [item for item in dropped if item[1] not in TYPES or item[2] not in visible]
        if len(rest) == len(dropped):
            return dropped
        dropped = rest


def main():
    uses = {}
    for crate in sorted((ROOT / "crates").iterdir()):
        manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
        uses[crate.name] = {name.removeprefix("dupsift-") for name in manifest["dependencies"] if name.startswith("dupsift-")}
    names = {crate: set().union(*(words(code(file)) for file in (ROOT / "crates" / crate).rglob("*.rs"))) for crate in uses}
    outside = [ROOT / "build.rs"] + [file for folder in OTHERS for file in (ROOT / folder).rglob("*.rs")]
    outside = set().union(*(words(code(file)) for file in outside))
    api = words(" ".join(found[3] for found in EXPORT.finditer(code(ROOT / "src/lib.rs"))))

    def reaches(crate, goal):
        return any(used == goal or reaches(used, goal) for used in uses[crate])

    found = []
    for crate in uses:
        mentioned = outside.union(*(names[other] for other in uses if reaches(other, crate)))
        found += unused(list(items(ROOT / "crates" / crate / "src")), mentioned, api)
    for place, kind, name, _, of in found:
        print(f"{place}: {kind} {of + '::' if of else ''}{name}: no other crate uses it; make it `pub(crate)`")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
