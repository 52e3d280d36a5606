"""Spark: a filter that is built by partitions and merged as a tree, then broadcast, so that a join shuffles only what may match.

    python with_spark.py [--keys 10000000] [--rows 10000000]

Of the rows that are joined, one of twenty has one of the keys. Needs Java, such as Debian's default-jre-headless.
"""

import json
import operator
import os
import sys
import urllib.request

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import guira_filters
from figures import PARTS, RATE, arguments, check, figure, heading, timed


def build_with(plan):
    """What builds a filter of each partition: a row with its file."""

    def build(batches):
        part = plan.build()
        for batch in batches:
            part.update(batch.column("id"))
        yield pa.record_batch({"part": [part.to_bytes()]})

    return build


def shuffled(spark):
    """The bytes that stages have written for others so far, as Spark's own interface tells."""
    address = f"{spark.sparkContext.uiWebUrl}/api/v1/applications/{spark.sparkContext.applicationId}/stages"
    with urllib.request.urlopen(address) as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def join(spark, name, visits, users):
    """Joins. Returns what came of it, and how many bytes were shuffled."""
    before = shuffled(spark)
    with timed(name):
        joined = visits.join(users, "id").agg(F.count("id"), F.sum("weight")).first()
    size = shuffled(spark) - before
    figure(f"{name}: shuffled", f"{size / 1e6:.1f} MB")
    return joined, size


def main():
    options = arguments(__doc__, rows=10_000_000)
    keys, rows = options.keys, options.rows
    heading("Spark")
    # Workers run in the environment of this program.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        # All of it runs in one process of a small machine.
        .config("spark.driver.memory", "2g")
        .config("spark.ui.showConsoleProgress", False)
        # The keys are to be shuffled, as those of a table that no machine can hold.
        .config("spark.sql.autoBroadcastJoinThreshold", -1)
        .config("spark.sql.shuffle.partitions", PARTS)
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", 1 << 16)
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    users = spark.range(0, keys, numPartitions=PARTS)
    visits = spark.range(0, rows, numPartitions=PARTS).select(
        F.pmod(F.xxhash64("id"), F.lit(20 * keys)).alias("id"), F.col("id").alias("weight")
    )

    plan = guira_filters.plan(keys, RATE)
    with timed(f"built of {PARTS} partitions, and merged as a tree"):
        parts = users.mapInArrow(build_with(plan), "part binary").rdd
        known = parts.map(lambda row: guira_filters.CuckooFilter.from_bytes(row.part)).treeReduce(operator.or_)
    check(known, plan, keys)

    everywhere = spark.sparkContext.broadcast(known)

    @F.arrow_udf("boolean")
    def is_known(ids: pa.Array) -> pa.Array:
        return pa.array(everywhere.value.contains_many(ids))

    joined, size = join(spark, f"join of {rows} rows", visits, users)
    thinned, thinned_size = join(spark, f"join of {rows} rows, those with `is_known(id)`", visits.where(is_known("id")), users)
    assert thinned == joined
    # The keys are shuffled with and without the function.
    assert thinned_size < size / 2
    figure("rows joined", joined[0])
    spark.stop()


if __name__ == "__main__":
    main()
