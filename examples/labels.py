"""Finds the best algorithm for a corpus: with labels, use `evaluate`; without them, `compare`.

    python examples/labels.py
"""

import tempfile
from pathlib import Path

import dupsift

SAMPLES = Path(__file__).resolve().parents[1] / "data-samples"

with tempfile.TemporaryDirectory() as folder:
    result = dupsift.run(SAMPLES / "docs", out=Path(folder) / "dedup", algorithms="exact,tf,minhash,versions")
    labels = dupsift.evaluate(result, SAMPLES / "truth" / "pairs.parquet")
    for one in labels.record["algorithms"]:
        figures = one["pairwise"]
        print(f"{one['label']:<10} precision {figures['precision']:.2f}, recall {figures['recall']:.2f}")

    comparison = dupsift.compare(SAMPLES / "docs" / "en.parquet", out=Path(folder) / "compared", algorithms="tf,minhash,balanced")
    print(comparison.advice)
