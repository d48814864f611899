//! Other engines mount a sealed table, and have the rows that metaspy has.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::fixture::{CALLS, directory, python_with, rows};
use crate::seal::{OLDER, QUERIES, seal};

/// Runs a program of Python on a set, and returns the lines that it prints.
fn python_on(python: &Path, program: &str, set: &Path, further: &[&str]) -> Vec<String> {
    let mut command = Command::new(python);
    let output = command.args(["-c", program]).arg(set).args(further).output().expect("it starts");
    assert!(output.status.success(), "{further:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// Adds a file of events to a set that has other columns: that of a metaspy before.
fn add_older_events(set: &Path) {
    let older = set.join("events/run=20260101T000000.000000000Z/host=web-7/process=shop-1");
    fs::create_dir_all(&older).expect("there is room");
    fs::copy(format!("{OLDER}/events.parquet"), older.join("events-older.parquet"))
        .expect("there is room");
}

/// The rows of an engine that mounts the directory of events: those of the older file, of the
/// recording, and of a process by which one file of two is chosen.
fn counts_of_mounted() -> Vec<String> {
    vec!["36".to_owned(), CALLS.to_string(), "36 1".to_owned()]
}

#[test]
fn duckdb_reads_the_same_rows() {
    let Some(python) = python_with("duckdb") else {
        println!("SKIPPED: duckdb: no Python with it; set METASPY_PYTHON");
        return;
    };
    let target = directory("duckdb");
    seal(&target, "rack/7");
    let script = "import csv, duckdb, sys\n\
        for table in ['events', 'tallies', 'subjects', 'relations', 'sites']:\n\
        \x20   duckdb.sql(f\"CREATE VIEW {table} AS SELECT * FROM read_parquet('{sys.argv[1]}/{table}/**/*.parquet', hive_partitioning=true)\")\n\
        csv.writer(sys.stdout, lineterminator='\\n').writerows(duckdb.sql(sys.argv[2]).fetchall())\n";
    for query in QUERIES {
        assert_eq!(python_on(&python, script, &target, &[query]), rows(query), "{query}");
    }
    add_older_events(&target);
    let mounted = "import duckdb, sys\n\
        events = f\"read_parquet('{sys.argv[1]}/events/**/*.parquet', hive_partitioning=true, union_by_name=true)\"\n\
        for host in ['web-7', 'rack/7']:\n\
        \x20   print(duckdb.sql(f\"SELECT count(*) FROM {events} WHERE host = '{host}' AND trace IS NULL\").fetchall()[0][0])\n\
        sql = f\"SELECT count(*), sum(event) FROM {events} WHERE process = 'shop-1'\"\n\
        plan = duckdb.sql('EXPLAIN ANALYZE ' + sql).fetchall()[0][1]\n\
        print(duckdb.sql(sql).fetchall()[0][0], plan.split('Scanning Files: ')[1].split('/2')[0])\n";
    assert_eq!(python_on(&python, mounted, &target, &[]), counts_of_mounted());
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn pyarrow_mounts_a_table() {
    let Some(python) = python_with("pyarrow.dataset") else {
        println!("SKIPPED: pyarrow: no Python with it; set METASPY_PYTHON");
        return;
    };
    let target = directory("pyarrow");
    seal(&target, "rack/7");
    // A file that lacks a column, beside a newer one.
    let mounted = "import os, sys, pyarrow.dataset as ds, pyarrow.parquet as pq\n\
        [newest] = ds.dataset(sys.argv[1] + '/events', format='parquet').files\n\
        older = sys.argv[1] + '/events/run=20260101T000000.000000000Z/host=7/process=shop-1'\n\
        os.makedirs(older)\n\
        rows = pq.ParquetFile(newest).read().slice(0, 36).drop_columns(['trace'])\n\
        pq.write_table(rows, older + '/events-older.parquet')\n\
        events = ds.dataset(sys.argv[1] + '/events', schema=pq.read_schema(newest), partitioning='hive')\n\
        for host in ['7', 'rack/7']:\n\
        \x20   print(events.count_rows(filter=(ds.field('host') == host) & ds.field('trace').is_null()))\n\
        of_shop = ds.field('process') == 'shop-1'\n\
        print(events.count_rows(filter=of_shop), len(list(events.get_fragments(of_shop))))\n";
    assert_eq!(python_on(&python, mounted, &target, &[]), counts_of_mounted());
    fs::remove_dir_all(target).expect("it is ours");
}

#[test]
fn a_cluster_of_spark_reads_the_same_rows_though_an_executor_is_killed() {
    let Some(python) = python_with("pyspark") else {
        println!("SKIPPED: spark: no Python with pyspark; set METASPY_PYTHON");
        return;
    };
    let (target, mounted) = (directory("spark"), directory("spark mounted"));
    seal(&target, "rack/7");
    seal(&mounted, "rack/7");
    add_older_events(&mounted);
    let slow = "SELECT site, count(*) FROM (SELECT /*+ REPARTITION(8) */ * FROM events) \
                CROSS JOIN (SELECT explode(sequence(1, 2000))) GROUP BY site ORDER BY site";
    let expected = rows("SELECT site, 2000 * count(*) FROM events GROUP BY site ORDER BY site");
    let mut command = Command::new(&python);
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/spark.py"));
    let output =
        command.arg(&mounted).arg(&target).args(QUERIES).arg(slow).output().expect("it starts");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let mut found: Vec<Vec<&str>> = Vec::new();
    for line in printed.lines() {
        match found.last_mut() {
            Some(last) if !line.starts_with("-- ") => last.push(line),
            _ => found.push(Vec::new()),
        }
    }
    assert_eq!(found.len(), QUERIES.len() + 2, "{printed}");
    assert_eq!(found.remove(0), counts_of_mounted());
    for (query, found) in QUERIES.iter().zip(&found) {
        assert_eq!(found, &rows(query), "{query}");
    }
    assert_eq!(found.last(), Some(&expected.iter().map(String::as_str).collect()));
    [target, mounted]
        .iter()
        .for_each(|directory| fs::remove_dir_all(directory).expect("it is ours"));
}
