"""dupsift on Apache Spark: the same result as a local run, with the passes over documents in tasks of a cluster. Requires pyspark 3.5 or later.

    from pyspark.sql import SparkSession
    import dupsift.spark

    spark = SparkSession.builder.getOrCreate()
    result = dupsift.spark.run(spark, "/shared/corpus", "/shared/dedup")
"""

from ._frames import Frames, dedup
from ._run import run

__all__ = ["Frames", "dedup", "run"]
