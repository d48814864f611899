"""Runs queries on sealed sets, on a cluster of two executors of Spark. Prints a line `-- N` before the rows of each.

spark.py MOUNTED SET QUERY… ; the first set has files of two versions, and an executor is killed during the last query.
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


def print_mounted(spark, sealed):
    """The rows of hosts in the mounted events, and the rows and the number of files of a process."""
    events = spark.read.option("mergeSchema", "true").parquet(f"{sealed}/events")
    for host in ["web-7", "rack/7"]:
        print(events.where(events.host == host).where("trace IS NULL").count())
    of_shop = events.where("process = 'shop-1'").select("event")
    rows = of_shop.collect()
    scan = of_shop._jdf.queryExecution().executedPlan().collectLeaves().head()
    print(len(rows), scan.metrics().apply("numFiles").value())


def main(mounted, sealed, *queries):
    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    for table in ["events", "tallies", "subjects", "relations", "sites", "recordings"]:
        spark.read.parquet(f"{sealed}/{table}").createOrReplaceTempView(table)
    out = csv.writer(sys.stdout, lineterminator="\n")
    print("-- mounted")
    print_mounted(spark, mounted)
    for number, query in enumerate(queries[:-1]):
        print("--", number)
        out.writerows(spark.sql(query).collect())
    print("--", len(queries) - 1)
    out.writerows(collect_while_one_is_killed(spark, queries[-1]))
    spark.stop()


main(*sys.argv[1:])
