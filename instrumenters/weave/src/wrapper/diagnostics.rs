//! The compiler's diagnostics: JSON, line by line.
//!
//! Diagnostics come from compiling the original again. Columns in those of the copy cannot be moved
//! back, because the compiler draws pictures of them.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result};
use serde_json::Value;

/// The outcome of a run of the compiler.
pub struct CompilerOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// Its diagnostics.
    pub held: Vec<String>,
}

/// Runs the compiler. Messages about results go to cargo at once, so that it continues with other
/// crates; diagnostics are held back.
pub fn run(mut command: Command, passes_results: bool) -> Result<CompilerOutput> {
    let mut child =
        command.stderr(Stdio::piped()).spawn().context("the compiler cannot be started")?;
    let lines = BufReader::new(child.stderr.take().context("it has standard error")?).split(b'\n');
    let mut held = Vec::new();
    for line in lines {
        let line = String::from_utf8_lossy(&line?).into_owned();
        let is_result = is_result(&line);
        match is_result && passes_results {
            true => print(&[line]),
            false if is_result => {}
            false => held.push(line),
        }
    }
    Ok(CompilerOutput { status: child.wait()?, held })
}

/// Prints lines for cargo.
pub fn print(lines: &[String]) {
    let mut out = std::io::stderr().lock();
    for line in lines {
        // Cargo may have ended.
        let _ = writeln!(out, "{line}");
    }
}

fn is_result(line: &str) -> bool {
    line.starts_with('{') && line.contains("\"$message_type\":\"artifact\"")
}

/// True if there are no diagnostics.
pub(crate) fn is_quiet(held: &[String]) -> bool {
    held.iter().all(|line| line.trim().is_empty())
}

/// The first error.
pub(crate) fn first_error(held: &[String]) -> Option<String> {
    let messages = held.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| message["level"] == "error")
        .find_map(|message| message["message"].as_str().map(str::to_owned))
}

/// True if an error is about ambiguity: an added crate brings traits of its own.
pub fn is_ambiguous(held: &[String]) -> bool {
    let messages = held.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut codes = messages
        .filter(|message| message["level"] == "error")
        .map(|message| message["code"]["code"].clone());
    codes.any(|code| ["E0034", "E0282", "E0283", "E0284", "E0790"].iter().any(|it| code == *it))
}

/// True if an error is about a second global allocator. It has no code.
pub(crate) fn is_second_allocator(held: &[String]) -> bool {
    let messages = held.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let texts = messages
        .filter(|message| message["level"] == "error")
        .map(|message| message["message"].to_string());
    texts.into_iter().any(|text| {
        text.contains("global_allocator") || text.contains("multiple global allocators")
    })
}

/// The place of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorPlace {
    /// The file, as it is shown.
    pub file: PathBuf,
    /// The line.
    pub line: u32,
    /// The byte in the file that was compiled.
    pub byte: Option<usize>,
    /// True if a value does not live long enough.
    pub is_about_lifetimes: bool,
    /// The compiler's message.
    pub message: String,
}

/// The codes of errors about lifetimes; some of these errors have no code.
const LIFETIMES: [&str; 7] = ["E0309", "E0310", "E0311", "E0521", "E0597", "E0621", "E0716"];

/// The places of all errors.
pub fn places(held: &[String]) -> Vec<ErrorPlace> {
    let mut places = Vec::new();
    for line in held {
        if let Ok(json) = serde_json::from_str::<Value>(line)
            && json["level"] == "error"
        {
            let code = json["code"]["code"].as_str();
            let message = json["message"].as_str().unwrap_or_default();
            let is_about_lifetimes = match code {
                Some(code) => LIFETIMES.contains(&code),
                None => message.starts_with("lifetime may not live"),
            };
            let about = ErrorPlace {
                file: PathBuf::new(),
                line: 0,
                byte: None,
                is_about_lifetimes,
                message: message.to_owned(),
            };
            spans(&json, &about, &mut places);
        }
    }
    places
}

fn spans(json: &Value, about: &ErrorPlace, places: &mut Vec<ErrorPlace>) {
    let each = |name: &str| json[name].as_array().cloned().unwrap_or_default();
    for span in each("spans") {
        place(&span, about, places);
    }
    for child in each("children") {
        spans(&child, about, places);
    }
}

/// A span, and the place of the macro that it came from.
fn place(span: &Value, about: &ErrorPlace, places: &mut Vec<ErrorPlace>) {
    if let (Some(file), Some(line)) = (span["file_name"].as_str(), span["line_start"].as_u64()) {
        let byte = span["byte_start"].as_u64().and_then(|byte| usize::try_from(byte).ok());
        places.push(ErrorPlace { file: file.into(), line: line as u32, byte, ..about.clone() });
    }
    if span["expansion"]["span"].is_object() {
        place(&span["expansion"]["span"], about, places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_places_and_those_of_macros_around_them() {
        let line = r#"{"$message_type":"diagnostic","level":"error","spans":[{"file_name":"hooks.rs","line_start":9,
            "expansion":{"span":{"file_name":"src/lib.rs","line_start":3}}}],"children":[{"spans":[{"file_name":"src/a.rs",
            "line_start":7}]}]}"#;
        let warning = line.replace("\"error\"", "\"warning\"");
        let found = places(&[line.replace('\n', ""), warning.replace('\n', "")]);
        let found: Vec<(&str, u32)> =
            found.iter().map(|it| (it.file.to_str().expect("plain"), it.line)).collect();
        assert_eq!(found, [("hooks.rs", 9), ("src/lib.rs", 3), ("src/a.rs", 7)]);
    }
}
