//! The queries of clients. Each runs in a process of its own, whose memory the system bounds:
//! functions of SQL make values of any length, and the engine counts the memory of few of them.
//!
//! A list of functions that are left out would not do, because any function may make a long value.
//! Neither would an allocator that counts: nothing can evade what the system refuses.

use std::process::Stdio;

use anyhow::Context;
use axum::http::StatusCode;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::json::too_many_rows;
use super::limits::memory_spent;
use super::{Failed, Recent};
use crate::query::MEMORY_SPENT;

/// Bytes of a query at most: it is an argument of a process.
const LONGEST: usize = 100_000;
/// Bytes of a report about a fault.
const REPORT: usize = 64 << 10;

/// The rows of a query as JSON: `most` bytes at most.
pub async fn rows(sql: &str, recent: &Recent, most: usize) -> Result<Vec<u8>, Failed> {
    if sql.len() > LONGEST || sql.contains('\0') {
        let message = format!("a query is a text of at most {LONGEST} bytes, without NUL");
        return Err(Failed(StatusCode::BAD_REQUEST, message));
    }
    let memory = recent.memory();
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command.args([
        "query",
        "--json",
        "--memory",
        &(memory / 2).to_string(),
        "--address-space",
        &memory.to_string(),
    ]);
    command.arg("--").arg(sql).args(recent.names());
    // Each arena of the allocator reserves address space that it does not use.
    command
        .env("MALLOC_ARENA_MAX", "2")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // It ends with the request.
    let mut process =
        command.kill_on_drop(true).spawn().context("cannot start a process for the query")?;
    let (out, err) =
        process.stdout.take().zip(process.stderr.take()).context("the process has no output")?;
    let (rows, report) = tokio::join!(read(out, most), read(err, REPORT));
    let rows = rows?;
    let report = report?;
    if rows.len() > most {
        return Err(too_many_rows());
    }
    let status = process.wait().await.context("cannot wait for the query")?;
    let report = String::from_utf8_lossy(&report);
    let report = report.trim_end().trim_start_matches("metaspy: ");
    match status.code() {
        // 1: a recording is damaged, and these are its readable rows.
        Some(0 | 1) => Ok(rows),
        Some(_) if !report.contains(MEMORY_SPENT) => {
            Err(Failed(StatusCode::BAD_REQUEST, report.to_owned()))
        }
        // A process that gets no memory ends by a signal.
        _ => Err(memory_spent(report)),
    }
}

/// Reads all; of more than `most` bytes one more than these.
async fn read(from: impl AsyncRead + Unpin, most: usize) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    from.take(most as u64 + 1).read_to_end(&mut bytes).await.context("cannot read the rows")?;
    Ok(bytes)
}
