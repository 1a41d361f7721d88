"""Shared code for scripts that read an output folder: its record, its tables, the rows of its corpus, and safe printing of their contents."""

import collections
import glob
import gzip
import json
import os
import sys
import unicodedata
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

ENDINGS = (".parquet", ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.zst", ".ndjson.zst")
BATCH_ROWS = 4096
# The version of run.json that these scripts read.
SCHEMA_VERSION = 1


def fail(message):
    sys.exit(f"error: {message}")


def run(main):
    """Runs a script until it ends, or until the reader of its output, such as head, closes the pipe."""
    try:
        try:
            main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Flushing the remaining output at exit would raise the same error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def name(value):
    """Returns an id in readable form: bytes as UTF-8 or, if they are not UTF-8, in hexadecimal digits like 0xff01."""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return "0x" + value.hex()


def obeyed(letter):
    """Returns whether a terminal would interpret a character instead of showing it; joiners do not count."""
    return unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in "\u200c\u200d"


def visible(text):
    """Returns a text on one line, with characters that a terminal would interpret escaped as by `dupsift explain`."""
    spelled = lambda code: chr(0x2400 + code) if code < 32 else "\u2421" if code == 127 else f"<U+{code:04X}>"
    return "".join(spelled(ord(letter)) if obeyed(letter) else letter for letter in text)


def print_json(value):
    """Prints JSON without ASCII escapes, except for characters that a terminal would interpret."""
    escaped = lambda letter: json.dumps(letter)[1:-1] if letter != "\n" and obeyed(letter) else letter
    # JSON does not escape character 127.
    print("".join("\\u007f" if letter == "\x7f" else escaped(letter) for letter in json.dumps(value, ensure_ascii=False, indent=1)))


def record(out):
    """Returns run.json of a finished run."""
    if not (out / "_SUCCESS").is_file():
        fail(f"{out} is not a finished output of dupsift: it contains no file _SUCCESS; expected the DIR of dupsift run --out DIR")
    report = json.loads((out / "run.json").read_text())
    if "algorithms" not in report:
        fail(f"{out} is the output of another command; expected the output of dupsift run")
    if report["schema_version"] != SCHEMA_VERSION:
        fail(f"{out} was written by another version of dupsift; run again with --overwrite")
    report["folder_of_output"] = out.absolute().parent
    return report


def algorithm(report, label):
    """Returns the record of one algorithm; without a label, the record of the first algorithm."""
    labels = [one["label"] for one in report["algorithms"]]
    if label is not None and label not in labels:
        fail(f"there is no algorithm {label!r} in this run; available: {', '.join(labels)}")
    return report["algorithms"][labels.index(label) if label is not None else 0]


def part(out, kind, label=None):
    """Returns the file of a table."""
    folder = out / kind if label is None else out / kind / f"algorithm={label}"
    return folder / "part-00000.parquet"


def duplicates(out, label, columns):
    """Returns columns of one algorithm's pairs, without pairs from the same template, which are not duplicates."""
    file = part(out, "pairs", label)
    relation = pc.field("relation")
    return pq.read_table(file, columns=columns, filters=relation.is_null() | (relation != "template"), partitioning=None)


def with_copies(pairs, texts):
    """Extends pairs of ids to all documents with these texts, as frozensets; `texts` has the text of each id.

    A run pairs each copy with only one document with its text, and different texts by one document each, so two documents count as paired
    if the documents that represent their texts are paired.
    """
    copies = collections.defaultdict(list)
    for document, text in texts.items():
        copies[text].append(document)
    groups = {(texts[a], texts[b]) for a, b in map(tuple, pairs)}
    return {frozenset((a, b)) for x, y in groups for a in copies[x] for b in copies[y] if a != b}


def texts(out):
    """Returns the text of each id of a finished run."""
    report = record(out)
    columns = [report["options"]["id-column"], report["options"]["text-column"]]
    return {document: text for _, (document, text) in rows(corpus_files(report), columns) if text is not None}


def corpus_files(report, inputs=None):
    """Returns the input files of a run as (path, name in FILE#ROW, rows, number of the first row), in the order in which their rows are
    numbered. They are found by the paths in the record, or in the given files, folders and globs."""
    known = report["inputs"]
    paths = [location(report, file) for file in known]
    if inputs:
        found = {path.resolve(): path for typed in inputs for path in below(typed)}
        paths = sorted(found.values(), key=lambda path: str(path).encode())
        bad = {bad["file"] for bad in report["bad_inputs"]}
        if len(paths) == len(known) + len(bad):
            paths = [path for path in paths if not any(str(path).endswith(name) for name in bad)]
        if len(paths) != len(known):
            fail(f"{len(known)} files were read by this run, but {len(paths)} were found; pass its inputs as --input")
    files, first = [], 0
    for path, file in zip(paths, known):
        if not path.is_file():
            fail(f"{path} no longer exists; pass the location of the input files with --input")
        if path.stat().st_size != file["bytes"]:
            fail(f"{path} has {path.stat().st_size:,} bytes, and had {file['bytes']:,} when the run read it; run again")
        files.append((path, file["file"], file["rows"], first))
        first += file["rows"]
    return files


def location(report, file):
    """Returns the path of an input file: relative to the output if both were moved together, or else the path in the record."""
    path, out = Path(file["path"]), report["options"]["out"]
    beside = report["folder_of_output"] / os.path.relpath(path, Path(out).parent)
    return next((place for place in (beside, path) if place.is_file() and place.stat().st_size == file["bytes"]), path)


def below(typed):
    path = Path(typed)
    if not path.is_dir():
        matches = [Path(match) for match in sorted(glob.glob(typed, recursive=True))]
        if not matches:
            fail(f"{typed} does not exist; expected files, folders or globs")
        return [file for match in matches for file in (below(match) if match.is_dir() else [match])]
    hidden = lambda file: any(name.startswith((".", "_")) for name in file.relative_to(path).parts)
    # The program skips its own results and indexes in a folder.
    ours = {found.parent for name in ("run.json", "manifest-*.json") for found in path.rglob(name) if is_ours(found)} - {path}
    skipped = lambda file: hidden(file) or any(folder in ours for folder in file.parents)
    return [file for file in path.rglob("*") if file.is_file() and file.name.lower().endswith(ENDINGS) and not skipped(file)]


def is_ours(found):
    """Returns whether a file is the record of a result or the manifest of an index."""
    if found.name != "run.json":
        return any((found.parent / name).is_dir() for name in ("batches", "rows", "statistics"))
    head = found.read_bytes()[:4096]
    return b'"schema_version"' in head and b'"dupsift"' in head


def rows(files, columns):
    """Yields (number, values of the columns) of every row, in order; the values of a missing column are None."""
    for path, _, count, first in files:
        number = first
        for values in parquet_rows(path, columns) if path.suffix.lower() == ".parquet" else json_rows(path, columns):
            if number == first + count:
                break
            yield number, values
            number += 1


def parquet_rows(path, columns):
    file = pq.ParquetFile(path)
    there = [name for name in columns if name in file.schema_arrow.names]
    for batch in file.iter_batches(BATCH_ROWS, columns=there):
        values = {name: batch.column(name).to_pylist() for name in there}
        for row in range(batch.num_rows):
            yield [values[name][row] if name in values else None for name in columns]


def json_rows(path, columns):
    raw = pa.OSFile(str(path))
    lines = gzip.open(raw) if path.suffix == ".gz" else pa.CompressedInputStream(raw, "zstd") if path.suffix == ".zst" else raw
    rest = b""
    while block := lines.read(1 << 20):
        *whole, rest = (rest + block).split(b"\n")
        yield from (row for line in whole if line.strip() for row in [json_row(line, columns)])
    if rest.strip():
        yield json_row(rest, columns)


def json_row(line, columns):
    try:
        fields = json.loads(line)
        return [fields.get(name) for name in columns]
    except (ValueError, AttributeError):
        # A row that the run rejected still has its number.
        return [None] * len(columns)
