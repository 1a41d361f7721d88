"""Reads two days of a crawl as one corpus, and removes from the second day what the first one already has.

    python examples/two_batches.py
"""

import json
import tempfile
from pathlib import Path

import dupsift

WEATHER = "Rain is expected along the coast until Thursday evening, with winds of up to sixty kilometres an hour from the west."
VOTE = "Parliament voted on Monday to lower the tax on books from ten to five percent; the law is to come into force in July."
GAME = "The home team won by three goals to one in front of forty thousand people, and leads the table for the first time."


def batch(folder: Path, name: str, *texts: str) -> Path:
    """Writes the file of one day."""
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps({"id": f"{name}-{row}", "text": text}) + "\n" for row, text in enumerate(texts)))
    return path


with tempfile.TemporaryDirectory() as folder:
    first = batch(Path(folder), "monday", WEATHER, VOTE)
    second = batch(Path(folder), "tuesday", VOTE, GAME)

    # Rows are numbered in the order of the files, so the first day's copy is kept if both days have a page.
    result = dupsift.run([first, second], out=Path(folder) / "dedup", algorithms="exact", keep="doc asc")
    for one in result.report["inputs"]:
        print(f"{one['file']}: {one['rows']} rows, {one['removed']} of them removed")
