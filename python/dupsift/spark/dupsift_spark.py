"""The file for spark-submit: ``spark-submit .../dupsift/spark/dupsift_spark.py run INPUT... --out DIR``."""

import sys

from dupsift.spark._cli import main

if __name__ == "__main__":
    sys.exit(main())
