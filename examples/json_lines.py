"""Deduplicates a JSON lines corpus, and shows which documents are removed and which ones are kept instead.

    python examples/json_lines.py
"""

import json
import tempfile
from pathlib import Path

import dupsift

PAGES = [
    {"id": "a", "text": "The library opens at nine on weekdays and at ten on Saturdays. Members may borrow six books for three weeks."},
    {"id": "b", "text": "The library opens at nine on weekdays and at ten on Saturdays. Members may borrow six books for three weeks."},
    {"id": "c", "text": "图书馆工作日九点开门，周六十点开门。会员可以借六本书，借期三个星期。请爱护书籍，按时归还。"},
    {"id": "d", "text": "Библиотека открывается в девять часов по будням и в десять по субботам. Читатели берут шесть книг на три недели."},
]

with tempfile.TemporaryDirectory() as folder:
    corpus = Path(folder) / "pages.jsonl"
    corpus.write_text("".join(json.dumps(page, ensure_ascii=False) + "\n" for page in PAGES), encoding="utf-8")

    result = dupsift.run(corpus, out=Path(folder) / "dedup")
    print(result)
    print("kept rows:", list(result.kept_rows))
    print(result.explain("a", "b"))
