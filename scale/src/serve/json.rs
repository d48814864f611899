//! Tables, events and queries as JSON.

use std::fmt::Display;
use std::io::{self, Write};

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::json::ArrayWriter;
use datafusion::common::Column;
use datafusion::logical_expr::{SortExpr, col};
use futures::StreamExt;
use serde::Deserialize;
use serde_json::{Value, json};

use super::limits::{ANSWER, stopped};
use super::of_client;
use super::parameters::{Named, Nothing, Parameters};
use super::{Failed, Recent};
use crate::query::{Query as SqlQuery, run_bounded_sql};
use crate::tables::SCHEMA_VERSION;

/// Rows of a table in an answer, unless the request has a limit.
const ROWS: usize = 1_000;
/// The media type of the answers.
const JSON: &str = "application/json";

/// Which rows of a table.
#[derive(Deserialize)]
pub struct Page {
    limit: Option<usize>,
    offset: Option<usize>,
}

impl Named for Page {
    const NAMES: &[&str] = &["limit", "offset"];
}

/// The process of an event, where there are several.
#[derive(Deserialize)]
pub struct OfProcess {
    process: Option<String>,
}

impl Named for OfProcess {
    const NAMES: &[&str] = &["process"];
}

/// A query.
#[derive(Deserialize)]
pub struct Sql {
    sql: String,
}

impl Named for Sql {
    const NAMES: &[&str] = &["sql"];
}

/// The tables, and how to read them.
pub async fn contents(State(recent): State<Recent>, _: Parameters<Nothing>) -> Json<Value> {
    let names = recent.source().await.names();
    Json(json!({
        "schema_version": SCHEMA_VERSION,
        "tables": names.iter().map(|name| format!("/tables/{name}")).collect::<Vec<_>>(),
        "read": [
            format!("/tables/events?limit={ROWS}&offset=0"),
            "/events/4711?process=layout-815".to_owned(),
            "/query?sql=SELECT site, count(*) FROM events GROUP BY site".to_owned(),
            "/metrics".to_owned(),
        ],
    }))
}

/// Rows of a table.
pub async fn table(
    State(recent): State<Recent>,
    name: Result<Path<String>, PathRejection>,
    Parameters(Page { limit, offset }): Parameters<Page>,
) -> Result<Response, Failed> {
    let Path(name) = name?;
    let source = recent.source().await;
    if !source.names().contains(&name) {
        return Err(Failed(
            StatusCode::NOT_FOUND,
            format!("there is no table `{name}`: / lists them"),
        ));
    }
    // A row has a byte and more, and an offset beyond all numbers of the engine is beyond all rows.
    let (limit, offset) =
        (limit.unwrap_or(ROWS).min(ANSWER), offset.unwrap_or(0).min(u32::MAX as usize));
    let rows =
        run_bounded_sql(&format!("SELECT * FROM \"{name}\""), &source).await.map_err(wrong)?;
    // With an order, each row is on one page.
    let order = order(&name, &rows);
    answer(rows.sort(order).and_then(|rows| rows.limit(offset, Some(limit))).map_err(wrong)?).await
}

/// An order in which no two rows of a table are equal, unless all of their columns are.
fn order(table: &str, rows: &SqlQuery) -> Vec<SortExpr> {
    let is_key = |column: &&Column| {
        table != "events" || ["run", "host", "process", "event"].contains(&column.name())
    };
    let columns = rows.schema().columns();
    columns.iter().filter(is_key).map(|column| col(column.clone()).sort(true, true)).collect()
}

/// Events with this number, with their causes, effects and roots.
pub async fn event(
    State(recent): State<Recent>,
    event: Result<Path<i64>, PathRejection>,
    Parameters(OfProcess { process }): Parameters<OfProcess>,
) -> Result<Response, Failed> {
    let Path(event) = event?;
    let condition = process.as_ref().map_or(String::new(), |process| {
        format!(" AND process = '{}'", process.replace('\'', "''"))
    });
    let source = recent.source().await;
    let columns = if source.recordings().is_empty() {
        // Sealed events have no index of their effects.
        ""
    } else {
        ", causes(event, run, host, process) AS causes, effects(event, run, host, process) AS effects, \
             root(event, run, host, process) AS root"
    };
    let sql = format!("SELECT *{columns} FROM events WHERE event = {event}{condition}");
    let rows = rows(run_bounded_sql(&sql, &source).await.map_err(wrong)?).await?;
    if rows.iter().all(|batch| batch.num_rows() == 0) {
        let of = process.map_or(String::new(), |process| format!(" of process `{process}`"));
        let message =
            format!("there is no event {event}{of}: /tables/events lists those in the window");
        return Err(Failed(StatusCode::NOT_FOUND, message));
    }
    array(&rows)
}

/// The rows of a query. It can read, and nothing else.
pub async fn query(State(recent): State<Recent>, sql: Parameters<Sql>) -> Result<Response, Failed> {
    let rows = of_client::rows(&sql.0.sql, &recent, ANSWER).await?;
    Ok(([(header::CONTENT_TYPE, JSON)], rows).into_response())
}

/// The rows as an array of objects. They are complete, or the answer is an error.
async fn answer(query: SqlQuery) -> Result<Response, Failed> {
    array(&rows(query).await?)
}

async fn rows(query: SqlQuery) -> Result<Vec<RecordBatch>, Failed> {
    let mut batches = query.execute_stream().await.map_err(stopped)?;
    let mut bytes = 0;
    let mut rows = Vec::new();
    while let Some(batch) = batches.next().await {
        let batch = batch.map_err(stopped)?;
        bytes += batch.get_array_memory_size();
        if bytes > ANSWER {
            return Err(too_many_rows());
        }
        rows.push(batch);
    }
    Ok(rows)
}

fn array(rows: &[RecordBatch]) -> Result<Response, Failed> {
    let mut writer = explicit(Answer { bytes: Vec::new(), is_full: false });
    let written =
        rows.iter().try_for_each(|batch| writer.write(batch)).and_then(|()| writer.finish());
    let Answer { bytes, is_full } = writer.into_inner();
    if is_full {
        return Err(too_many_rows());
    }
    written.map_err(|error| Failed(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(([(header::CONTENT_TYPE, JSON)], bytes).into_response())
}

/// The answer to a query whose rows are more than an answer has.
pub fn too_many_rows() -> Failed {
    Failed(
        StatusCode::PAYLOAD_TOO_LARGE,
        "too many rows: add LIMIT, or run metaspy query".to_owned(),
    )
}

/// The answer to a query that cannot run.
fn wrong(error: impl Display) -> Failed {
    Failed(StatusCode::BAD_REQUEST, error.to_string())
}

/// A bounded text.
struct Answer {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for Answer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_full |= self.bytes.len() + bytes.len() > ANSWER;
        if self.is_full {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer of JSON with nulls.
fn explicit(out: Answer) -> ArrayWriter<Answer> {
    datafusion::arrow::json::WriterBuilder::new().with_explicit_nulls(true).build(out)
}
