"""Filters a Polars frame by a mask with one boolean per row, and reads pairs and removals as frames.

    pip install polars
    python examples/polars_frame.py
"""

from pathlib import Path

import polars as pl

import dupsift

DOCS = Path(__file__).resolve().parents[1] / "data-samples" / "docs"

frame = pl.read_parquet(DOCS / "en.parquet")
result = dupsift.dedup(frame, text_column="text", id_column="id", keep="length desc")

clean = frame.filter(result.kept_mask)
print(f"{clean.height} of {frame.height} rows kept")

pairs = pl.DataFrame(result.pairs("versions"))
print(pairs.select("id_a", "id_b", "similarity", "relation").sort("similarity", descending=True).head(5))
print(pl.DataFrame(result.removed()).group_by("reason").len().sort("reason"))
