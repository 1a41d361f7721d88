"""Finds and removes near-duplicate documents in text corpora in any language.

    import dupsift as ds

    result = ds.run("data/*.parquet", out="dedup/")              # files, like the command line
    result = ds.dedup(frame, text_column="body", id_column="url")              # a frame: Polars, pandas, PyArrow, DuckDB, datasets
    clean = frame.filter(result.kept_mask)                       # one boolean per row, in the order of the frame

No function changes its input. The package has no dependencies: tables are passed through the Arrow PyCapsule interface, which Polars,
pandas, PyArrow and DuckDB read. Long-running functions release the GIL, stop within two seconds after Ctrl-C, and log to
``logging.getLogger("dupsift")``.
"""

import atexit as _atexit

from . import _dupsift
from ._alone import Signature, SignatureRow, sign, similarity
from ._contaminated import Contamination, contaminated
from ._dupsift import Column, __version__
from ._errors import DamagedError, Error, InputError
from ._facts import Algorithm, Parameter, Preset, algorithms, presets
from ._output import Comparison, Estimate, Evaluation, Explanation, Listing, Output, Pages, Rules, Sample
from ._progress import Progress
from ._result import Result, Survivors
from ._stream import Stream
from ._table import Table
from ._verbs import accept, compare, dedup, estimate, evaluate, open, purify, reject, run

__all__ = [
    "Algorithm",
    "Column",
    "Comparison",
    "Contamination",
    "DamagedError",
    "Error",
    "Estimate",
    "Evaluation",
    "Explanation",
    "InputError",
    "Listing",
    "Output",
    "Pages",
    "Parameter",
    "Preset",
    "Progress",
    "Result",
    "Rules",
    "Sample",
    "Signature",
    "SignatureRow",
    "Stream",
    "Survivors",
    "Table",
    "__version__",
    "accept",
    "algorithms",
    "compare",
    "contaminated",
    "dedup",
    "estimate",
    "evaluate",
    "open",
    "presets",
    "purify",
    "reject",
    "run",
    "sign",
    "similarity",
]

# A call that was interrupted in a long step continues in its thread. When the interpreter exits, this function removes the unfinished
# output.
_atexit.register(_dupsift.leave)
