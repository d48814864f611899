//! Tallies as metrics: for Prometheus, and for OpenTelemetry.
//!
//! Metrics are a query on the table of tallies, not a second way to count. Prometheus,
//! OpenTelemetry and SQL then have the same numbers, also of a sealed set.

use anyhow::Result;
use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type};
use prometheus_client::metrics::MetricType;

use crate::query::{MEMORY, Source, run_sql};

/// Metric with its name, its meaning and the expression of its value.
pub struct Metric {
    /// Name of the metric, without a prefix.
    pub name: &'static str,
    /// Meaning of the metric, for people.
    pub about: &'static str,
    /// Type of the metric, which tells whether its value only grows.
    pub kind: MetricType,
    /// True for a time in seconds.
    pub is_time: bool,
    value: &'static str,
}

const fn count(name: &'static str, about: &'static str, value: &'static str) -> Metric {
    Metric { name, about, kind: MetricType::Counter, is_time: false, value }
}

const fn seconds(
    name: &'static str,
    about: &'static str,
    kind: MetricType,
    value: &'static str,
) -> Metric {
    Metric { name, about, kind, is_time: true, value }
}

const fn gauge(name: &'static str, about: &'static str, value: &'static str) -> Metric {
    Metric { name, about, kind: MetricType::Gauge, is_time: false, value }
}

/// Metrics with the same labels, from the rows of a table.
pub struct Family {
    table: &'static str,
    labels: &'static [&'static str],
    /// Metrics of the family.
    pub metrics: &'static [Metric],
}

/// All metrics.
pub const FAMILIES: &[Family] = &[
    Family {
        table: "tallies",
        labels: &["run", "host", "process", "site"],
        metrics: &[
            count("calls", "Calls, lost ones included", "sum(calls)"),
            count("calls_failed", "Calls that returned Err or None", "sum(failed)"),
            count("calls_panicked", "Calls that ended in a panic", "sum(panicked)"),
            count(
                "calls_cancelled",
                "Async calls that were dropped before their end",
                "sum(cancelled)",
            ),
            count("calls_lost", "Calls that are counted, but have no event", "sum(lost)"),
            count("calls_timed", "Calls with a measured time", "sum(timed)"),
            gauge("calls_running", "Calls that have not ended", "sum(running)"),
            gauge(
                "calls_at_least",
                "1: the number of calls is a lower bound",
                "max(CAST(at_least AS INT))",
            ),
            seconds(
                "calls_time",
                "Time in which at least one timed call was open",
                MetricType::Counter,
                "sum(site_total_ns) / 1e9",
            ),
            seconds(
                "calls_self_time",
                "Time of the timed calls, without what they called; absent if it is not known of all",
                MetricType::Counter,
                "CASE WHEN count(self_ns) = count(total_ns) THEN sum(self_ns) / 1e9 END",
            ),
            seconds(
                "calls_longest",
                "Time of the longest call",
                MetricType::Gauge,
                "max(max_ns) / 1e9",
            ),
        ],
    },
    Family {
        table: "recordings",
        labels: &["run", "host", "process"],
        metrics: &[
            gauge(
                "recording_live",
                "1: its process still records",
                "max(CAST(state = 'live' AS INT))",
            ),
            gauge("recording_exact", "1: all counts are exact", "min(CAST(exact AS INT))"),
            gauge("recording_warnings", "What is wrong with the recording", "max(warnings)"),
        ],
    },
];

/// Row with a text for each label and a value for each metric that has a value.
pub struct Row {
    /// Texts of the labels, with their names.
    pub labels: Vec<(&'static str, String)>,
    /// Values in the order of the metrics.
    pub values: Vec<Option<f64>>,
}

/// Metrics of a family with the rows of their values.
pub struct Values {
    /// Family of the metrics.
    pub family: &'static Family,
    /// Rows of the table.
    pub rows: Vec<Row>,
}

impl Values {
    /// Reads the rows of a family from the tables of a source.
    pub async fn read(family: &'static Family, source: &Source) -> Result<Self> {
        let labels = family.labels.join(", ");
        let values: Vec<&str> = family.metrics.iter().map(|metric| metric.value).collect();
        let table = family.table;
        let values = values.join(", ");
        let sql =
            format!("SELECT {labels}, {values} FROM {table} GROUP BY {labels} ORDER BY {labels}");
        let batches = run_sql(&sql, source, MEMORY).await?.collect().await?;
        let mut rows = Vec::new();
        for batch in &batches {
            read_rows(family, batch, &mut rows)?;
        }
        Ok(Values { family, rows })
    }
}

fn read_rows(family: &'static Family, batch: &RecordBatch, rows: &mut Vec<Row>) -> Result<()> {
    let (labels, values) = batch.columns().split_at(family.labels.len());
    let texts =
        labels.iter().map(|column| cast(column, &DataType::Utf8)).collect::<Result<Vec<_>, _>>()?;
    let numbers = values
        .iter()
        .map(|column| cast(column, &DataType::Float64))
        .collect::<Result<Vec<_>, _>>()?;
    for row in 0..batch.num_rows() {
        let text = |column: &dyn Array| column.as_string::<i32>().value(row).to_owned();
        let number = |column: &dyn Array| {
            column.is_valid(row).then(|| column.as_primitive::<Float64Type>().value(row))
        };
        let names = family.labels.iter().copied();
        let labels = names.zip(texts.iter().map(|it| text(it))).collect();
        rows.push(Row { labels, values: numbers.iter().map(|it| number(it)).collect() });
    }
    Ok(())
}
