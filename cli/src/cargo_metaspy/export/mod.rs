//! The results, for programs: JSON, and the formats that editors and coverage services read.

mod cobertura;
mod json;
mod lcov;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cargo_metaspy::arguments::Woven;
use crate::cargo_metaspy::results::Results;

/// Writes the files that are asked for.
pub fn write(results: &Results, asked: &Woven) -> Result<()> {
    if let Some(file) = &asked.json {
        put(file, &(serde_json::to_string_pretty(&json::of(results))? + "\n"))?;
    }
    if let Some(file) = &asked.lcov {
        put(file, &lcov::text(results))?;
    }
    if let Some(file) = &asked.cobertura {
        put(file, &cobertura::text(results)?)?;
    }
    Ok(())
}

/// A file that cannot be written is said now, not when everything has run.
pub fn judge(asked: &Woven) -> Result<()> {
    let files = [&asked.json, &asked.lcov, &asked.cobertura];
    files.into_iter().flatten().try_for_each(|file| put(file, ""))
}

fn put(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text)
        .with_context(|| format!("{} cannot be written: name a file whose directory is there", file.display()))
}
