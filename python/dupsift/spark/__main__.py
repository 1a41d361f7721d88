"""``python -m dupsift.spark`` is the command line of a run on Spark."""

import sys

from ._cli import main

if __name__ == "__main__":
    sys.exit(main())
