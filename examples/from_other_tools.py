"""Translates configurations of datatrove, text-dedup and NeMo Curator to dupsift, with the same bands, rows and shingles.

    python examples/from_other_tools.py

In addition, dupsift can verify each pair on its texts (`verify=`), and it names the document that is kept instead of each removed one.
"""

import tempfile
from pathlib import Path

import dupsift

DOCS = Path(__file__).resolve().parents[1] / "data-samples" / "docs" / "en.parquet"


def of_datatrove(n_grams: int = 5, num_buckets: int = 14, hashes_per_bucket: int = 8) -> str:
    """`MinhashConfig(n_grams=..., num_buckets=..., hashes_per_bucket=...)`, which does not verify candidates."""
    return f"minhash:bands={num_buckets},rows={hashes_per_bucket},ngram={n_grams},verify=none"


def of_text_dedup(ngram: int = 5, threshold: float = 0.7, b: int = 25, r: int = 10) -> str:
    """`python -m text_dedup.minhash --ngram 5 --num_perm 250 --threshold 0.7 --b 25 --r 10`."""
    return f"minhash:bands={b},rows={r},ngram={ngram},verify=jaccard:{threshold}"


def of_nemo_curator(char_ngrams: int = 24, num_bands: int = 20, minhashes_per_band: int = 13) -> str:
    """`FuzzyDeduplicationWorkflow(char_ngrams=24, num_bands=20, minhashes_per_band=13)`, which does not verify candidates."""
    return f"minhash:bands={num_bands},rows={minhashes_per_band},ngram={char_ngrams},unit=char,verify=none"


def main() -> None:
    """Runs each configuration. All three programs keep one document per cluster, even if the others contain more text."""
    for name, algorithm in [("datatrove", of_datatrove()), ("text-dedup", of_text_dedup()), ("NeMo Curator", of_nemo_curator())]:
        with tempfile.TemporaryDirectory() as folder:
            result = dupsift.run(DOCS, out=Path(folder) / "dedup", algorithms=algorithm, remove_if="pair", chain="remove")
            print(f"{name:<12} --algorithms {algorithm}: {len(result.removed())} of {result.rows} documents removed")


if __name__ == "__main__":
    main()
