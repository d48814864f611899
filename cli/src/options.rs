//! Options that both commands have.

use std::borrow::Cow;
use std::convert::Infallible;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::Result;
use clap::Args;
use metaspy_reader::files::OutputFile;
use metaspy_report::contexts::{Contexts, Shown};
use metaspy_report::table::Top;
use metaspy_report::text::clean_lines;
use serde::Serialize;

use crate::exit::cannot_write;

/// `--json[=FILE]`.
#[derive(Clone, Debug, Default, Args)]
pub struct JsonOption {
    /// Writes JSON into FILE, or without FILE to standard output, instead of the text
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<JsonFile>,
}

/// `--top N|all`.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct TopOption {
    /// Rows of a table, the most frequent first, or `all`; `all` also lists items without calls
    /// [default: 20]
    #[arg(long, value_name = "N|all")]
    pub top: Option<Top>,
}

/// `--fail-under PERCENT`.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct FailUnderOption {
    /// Ends with 1 if less of the methods ran, or less of the productions in use matched
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub fail_under: Option<f64>,
}

/// `--folded`, `--depth` and `--threshold`: what of a tree of calling contexts is printed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ContextOptions {
    /// With --contexts: folds recursion, so that a path of calls has each method once
    #[arg(long, requires = "contexts")]
    pub folded: bool,
    /// With --contexts: levels of the tree
    #[arg(long, value_name = "N", requires = "contexts")]
    pub depth: Option<usize>,
    /// With --contexts: leaves out contexts with less than this part of all calls, or of the time
    /// if calls were timed [default: 1 for text, 0 for JSON]
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent, requires = "contexts")]
    pub threshold: Option<f64>,
}

impl ContextOptions {
    /// What is shown, if this is the default of the threshold.
    pub fn shown(&self, threshold: f64) -> Shown {
        Shown { depth: self.depth, threshold: self.threshold.unwrap_or(threshold) }
    }

    /// The tree as it is printed.
    pub fn of<'c>(&self, contexts: &'c Contexts) -> Cow<'c, Contexts> {
        if self.folded { Cow::Owned(contexts.folded()) } else { Cow::Borrowed(contexts) }
    }
}

/// The file of `--json`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonFile {
    /// Standard output.
    StandardOutput,
    /// A file.
    File(PathBuf),
}

/// Parses a percentage.
pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("write a percentage from 0 to 100, such as 95 or 97.5".into()),
    }
}

impl FromStr for JsonFile {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<JsonFile, Infallible> {
        Ok(if text == "-" { JsonFile::StandardOutput } else { JsonFile::File(text.into()) })
    }
}

impl TopOption {
    /// The rows.
    pub fn rows(&self) -> Top {
        self.top.unwrap_or_default()
    }
}

impl JsonOption {
    /// True if JSON takes the place of the text on standard output.
    pub(crate) fn replaces_text(&self) -> bool {
        self.json == Some(JsonFile::StandardOutput)
    }

    /// True if there is JSON.
    pub(crate) fn is_requested(&self) -> bool {
        self.json.is_some()
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        match &self.json {
            Some(JsonFile::File(file)) => Some(file),
            _ => None,
        }
    }

    /// Writes a view as JSON to its place, and then as text, unless the JSON took its place.
    pub fn print<J: Serialize>(
        &self,
        out: &mut impl Write,
        json: impl FnOnce() -> J,
        text: impl FnOnce() -> Vec<String>,
    ) -> Result<()> {
        self.write(
            out,
            |out| {
                serde_json::to_writer_pretty(&mut *out, &json())?;
                writeln!(out)
            },
            |out| text().iter().try_for_each(|line| writeln!(out, "{}", clean_lines(line))),
        )
    }

    /// Writes JSON to its place, and then the text, unless the JSON took its place.
    pub fn write<W: Write>(
        &self,
        out: &mut W,
        json: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        text: impl FnOnce(&mut W) -> io::Result<()>,
    ) -> Result<()> {
        match &self.json {
            Some(JsonFile::StandardOutput) => json(&mut *out)?,
            Some(JsonFile::File(file)) => {
                let mut output = OutputFile::create(file).map_err(cannot_write(file))?;
                json(&mut output).and_then(|()| output.complete()).map_err(cannot_write(file))?;
                text(&mut *out)?;
            }
            None => text(&mut *out)?,
        }
        Ok(out.flush()?)
    }
}
