"""Filters a Hugging Face dataset: `select` takes the numbers of the kept rows and copies nothing.

    pip install datasets
    python examples/hugging_face.py
"""

from pathlib import Path

import datasets

import dupsift

DOCS = Path(__file__).resolve().parents[1] / "data-samples" / "docs"

dataset = datasets.Dataset.from_parquet(str(DOCS / "zh.parquet"))
result = dupsift.dedup(dataset, text_column="text", id_column="id", preset="strict")

clean = dataset.select(result.kept_rows)
print(f"{clean.num_rows} of {dataset.num_rows} rows kept")
