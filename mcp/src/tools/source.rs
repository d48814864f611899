//! The tool `source`: the lines around a site.
//!
//! A recording may name any file, so a file is read only if it is a regular file in the directory
//! that the server was started in, after all links are followed, and not larger than a source is.

use std::fs;
use std::path::{Path, PathBuf};

use metaspy_reader::{RecordedSite, Selector, files};
use metaspy_report::text::{command_line, counted, file_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::{Call, did_you_mean};
use crate::library::Opened;
use crate::session::Session;

/// Bytes of a source file at most.
const BYTES: u64 = 4 << 20;
/// Lines before and behind a site.
const AROUND: u32 = 6;
/// Lines before and behind a site at most.
const AROUND_MOST: u32 = 400;
/// Other sites that an answer names.
const NAMED: usize = 8;

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A name of the tool `recordings`; several with commas are read as one [default: the only one]
    recording: Option<String>,
    /// The path of a site, or its end: `Scene::measure`
    site: String,
    /// Lines before and behind it, at most 400 [default: 6]
    around: Option<u32>,
}

/// The lines around a site.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// Path of the site.
    site: String,
    file: String,
    /// Number of the first line of `lines`.
    first_line: u32,
    /// First and last line of the site, as it was recorded; 0 if it is unknown.
    site_lines: [u32; 2],
    lines: Vec<String>,
    /// Number of all lines that were asked for.
    total: u64,
    /// Number of lines that are not in this answer.
    left_out: u64,
    /// Goes on with the next lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// True if the file is younger than the recording: the lines may have moved.
    changed_since: bool,
    /// Other sites that the name selects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

/// Answers a call.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let around = input.around.unwrap_or(AROUND);
    if around > AROUND_MOST {
        return Err(ToolError::new(format!(
            "around is at most {AROUND_MOST}: ask for fewer lines"
        )));
    }
    let opened = session.recordings.open(input.recording.as_deref())?;
    let sites = selected(&opened, &input.site)?;
    let Some(site) = sites.iter().find(|site| !site.file.is_empty() && site.lines.0 > 0) else {
        return Err(ToolError::new(format!(
            "the recording does not know where `{}` is",
            input.site
        )));
    };
    let path = allowed(session.recordings.workspace(), &site.file)?;
    let text = files::read(&path, BYTES).map_err(|error| {
        ToolError::new(format!(
            "{}: {error}: name a site in a source file",
            file_name(Path::new(&site.file))
        ))
    })?;
    let text = String::from_utf8_lossy(&text);
    let all: Vec<&str> = text.lines().collect();
    let first = site.lines.0;
    let last = site.lines.1.max(site.lines.0);
    if first as usize > all.len() {
        return Err(ToolError::new(format!(
            "{} has {}, and the site was recorded at line {first}: the file has changed since",
            file_name(Path::new(&site.file)),
            counted(all.len() as u64, "line")
        )));
    }
    let from = first.saturating_sub(around).max(1);
    let to = (last.saturating_add(around) as usize).min(all.len());
    let wanted = &all[from as usize - 1..to];
    let start = call.start()?.min(wanted.len() as u64);
    let lines: Vec<String> =
        wanted[start as usize..].iter().map(|line| line.replace('\t', "    ")).collect();
    let first_line = from + start as u32;
    let texts = (first_line..)
        .zip(&lines)
        .map(|(number, line)| format!("{number} {}", quoted(line)))
        .collect();
    let also = sites.iter().filter(|other| other.id != site.id).map(|site| site.path.clone());
    let output = Output {
        site: site.path.clone(),
        file: site.file.clone(),
        first_line,
        site_lines: [first, last],
        lines,
        total: 0,
        left_out: 0,
        next_cursor: None,
        changed_since: is_younger(&path, &opened),
        also: also.take(NAMED).collect(),
        command: command_line(["sed", "-n", &format!("{from},{to}p"), &site.file]),
    };
    let summary =
        format!("{} at {}.", quoted(&site.path), quoted(&format!("{}:{first}", site.file)));
    Ok(Answer::new(summary, &output).with_list("lines", texts, start, wanted.len() as u64))
}

/// The sites that a name selects, the one of exactly this path first.
fn selected<'s>(opened: &'s Opened, name: &str) -> Result<Vec<&'s RecordedSite>, ToolError> {
    let selector: Selector =
        name.parse().map_err(|error| ToolError::new(format!("site: {error}")))?;
    let sites = opened.store.sites();
    let mut selected: Vec<&RecordedSite> =
        sites.iter().filter(|site| selector.matches(&site.path)).collect();
    selected.sort_by_key(|site| (site.path != name, site.path.len()));
    if selected.is_empty() {
        let paths = sites.iter().map(|site| site.path.as_str());
        let advice = did_you_mean(name, paths)
            .unwrap_or_else(|| "the tool `rows` lists the sites".to_owned());
        return Err(ToolError::new(format!("no site matches `{name}`: {advice}")));
    }
    Ok(selected)
}

/// Returns the file with all links followed, if the workspace has it.
fn allowed(workspace: &Path, file: &str) -> Result<PathBuf, ToolError> {
    let outside = || {
        ToolError::new(format!(
            "{} is outside of {}, and is not read: start the server in the workspace of the program",
            file_name(Path::new(file)),
            file_name(workspace)
        ))
    };
    let path = fs::canonicalize(workspace.join(file)).map_err(|error| {
        ToolError::new(format!(
            "{} cannot be found ({error}): start the server in the workspace of the program, where relative names begin",
            file_name(Path::new(file))
        ))
    })?;
    if path.starts_with(workspace) { Ok(path) } else { Err(outside()) }
}

/// True if the file was changed after the recording began.
fn is_younger(path: &Path, opened: &Opened) -> bool {
    let changed = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let since = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let began = opened.store.real_ns(opened.store.header().first_tick);
    since.is_some_and(|since| since.as_nanos() > u128::from(began))
}
