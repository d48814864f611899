//! The tool `run`: a command that the server was started to allow.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::time::Instant;

use metaspy_report::text::command_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, ToolError};
use crate::arguments::Call;
use crate::child::Child;
use crate::session::{ITEMS, Session};

/// Bytes of each output that are kept: the last ones.
const KEPT: usize = 256 << 10;

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The program and its arguments, word by word: ["cargo", "metaspy", "test"]
    command: Vec<String>,
}

/// How a program ended.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// The exit code; absent if a signal ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    took_ms: u64,
    /// Recordings that were not there before.
    new_recordings: Vec<String>,
    /// The last lines of both outputs, the newest first.
    last_lines: Vec<String>,
    /// Number of all lines that are kept.
    total: u64,
    /// Number of these that are not in this answer.
    left_out: u64,
    /// The command for a person.
    command: String,
}

/// Answers a call.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let [program, arguments @ ..] = &input.command[..] else {
        return Err("the command has no words: [\"cargo\", \"metaspy\", \"test\"]".into());
    };
    if !session.allowed.iter().any(|pattern| pattern.allows(&input.command)) {
        let allowed: Vec<String> =
            session.allowed.iter().map(|pattern| format!("`{pattern}`")).collect();
        return Err(ToolError::new(format!(
            "`{}` may not run: the server was started with --allow-run {}; ask the user to run it, or to start the server \
             with a further --allow-run",
            command_line(input.command.iter().map(String::as_str)),
            allowed.join(" and ")
        )));
    }
    let names = || {
        session.recordings.known().into_iter().map(|known| known.name).collect::<BTreeSet<String>>()
    };
    let before = names();
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    let began = Instant::now();
    let child = Child::start(OsStr::new(program), &arguments, session.recordings.workspace())?;
    let ended = child.wait(KEPT, call.watch)?;
    let text =
        [String::from_utf8_lossy(&ended.error), String::from_utf8_lossy(&ended.out)].concat();
    let last_lines: Vec<String> = text.lines().rev().take(ITEMS).map(str::to_owned).collect();
    let new_recordings: Vec<String> = names().difference(&before).cloned().collect();
    let how = ended.code.map_or("a signal ended it".to_owned(), |code| format!("exit code {code}"));
    let total = text.lines().count() as u64;
    let lines: Vec<String> = last_lines.iter().map(|line| crate::answer::quoted(line)).collect();
    let made = new_recordings
        .iter()
        .map(|name| crate::answer::quoted(name))
        .collect::<Vec<_>>()
        .join(", ");
    let made = if made.is_empty() { "no new recording".to_owned() } else { format!("new: {made}") };
    let output = Output {
        exit_code: ended.code,
        took_ms: began.elapsed().as_millis() as u64,
        new_recordings,
        last_lines,
        total: 0,
        left_out: 0,
        command: command_line(input.command.iter().map(String::as_str)),
    };
    let summary = format!("{how}; {made}. The last lines, the newest first:");
    Ok(Answer::new(summary, &output).with_list("last_lines", lines, 0, total).without_cursor())
}
