"""Runs queries on a sealed set, on a cluster of two executors of Spark. Prints a line `-- N` before the rows of each.

spark.py SET QUERY… ; an executor is killed during the last query.
"""

import csv
import os
import pathlib
import signal
import sys
import threading
import time

from pyspark.sql import SparkSession


def executors(application):
    """The process numbers of the executors of this application."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if application in words and any(word.endswith("CoarseGrainedExecutorBackend") for word in words):
            found.append(int(process.name))
    return found


def collect_while_one_is_killed(spark, sql):
    """The rows of a query. An executor is killed as soon as both work on it."""
    tracker, rows = spark.sparkContext.statusTracker(), []
    running = threading.Thread(target=lambda: rows.extend(spark.sql(sql).collect()))
    running.start()

    def active():
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        return sum(stage.numActiveTasks for stage in stages if stage)

    end = time.monotonic() + 120
    while active() < 2 and running.is_alive() and time.monotonic() < end:
        time.sleep(0.01)
    assert running.is_alive(), "the query is slow enough"
    found = executors(spark.sparkContext.applicationId)
    assert len(found) == 2, f"there are two executors: {found}"
    os.kill(found[0], signal.SIGKILL)
    running.join()
    return rows


def main(sealed, *queries):
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    for table in ["events", "tallies", "subjects", "relations", "sites", "recordings"]:
        spark.read.parquet(f"{sealed}/*/*/*/{table}-*.parquet").createOrReplaceTempView(table)
    out = csv.writer(sys.stdout, lineterminator="\n")
    for number, query in enumerate(queries[:-1]):
        print("--", number)
        out.writerows(spark.sql(query).collect())
    print("--", len(queries) - 1)
    out.writerows(collect_while_one_is_killed(spark, queries[-1]))
    spark.stop()


main(*sys.argv[1:])
