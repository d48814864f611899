//! The tool `query`: SQL, which the program `metaspy-scale` answers.

use std::ffi::OsString;

use metaspy_report::text::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::answer::{Answer, ToolError};
use crate::arguments::Call;
use crate::child::{Child, Ended};
use crate::session::Session;
use crate::shell::CommandLine;

/// Bytes of a result that are read at most.
const BYTES: usize = 32 << 20;

/// The beginning of its warnings.
const PREFIX: &str = "metaspy query: ";

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A name of the tool `recordings`; several with commas are one set of tables
    /// [default: the only one]
    recording: Option<String>,
    /// The query. Without one, the answer lists the tables and their columns
    sql: Option<String>,
}

/// The result of a query.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    /// Rows of the result: objects with a key for each column.
    rows: Vec<Map<String, Value>>,
    /// Number of all rows.
    total: u64,
    /// Number of rows that are not in this answer.
    left_out: u64,
    /// Goes on with the next rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What is not known, or to distrust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

/// Answers a call.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let program = session.engine.as_ref().expect("the tool is there with its program");
    // The readable files are decided here, and the program gets the paths.
    let opened = session.recordings.open(input.recording.as_deref())?;
    let mut arguments: Vec<OsString> = vec!["query".into()];
    match &input.sql {
        Some(_) => arguments.extend(["--json".into(), "--".into()]),
        None => arguments.extend(["--schema".into(), "--".into()]),
    }
    arguments.extend(input.sql.as_ref().map(OsString::from));
    arguments.extend(opened.paths.iter().map(OsString::from));
    let child = Child::start(program.as_os_str(), &arguments, session.recordings.workspace())?;
    let Ended { code, out, error, .. } = child.wait(BYTES, call.watch)?;
    let said = String::from_utf8_lossy(&error).trim().to_owned();
    // With 1 there are rows, of recordings that are damaged.
    if !matches!(code, Some(0 | 1)) {
        return Err(ToolError::new(if said.is_empty() {
            "the query has no result".to_owned()
        } else {
            said
        }));
    }
    let notes =
        said.lines().map(|line| line.strip_prefix(PREFIX).unwrap_or(line).to_owned()).collect();
    let rows: Vec<Map<String, Value>> = match &input.sql {
        Some(_) => serde_json::from_slice(&out).map_err(|error| {
            ToolError::new(format!(
                "the result cannot be read ({error}): ask for fewer rows with LIMIT"
            ))
        })?,
        None => {
            let text = String::from_utf8_lossy(&out).into_owned();
            let row = |line: &str| Map::from_iter([("table".to_owned(), Value::from(line))]);
            text.lines().filter(|line| !line.trim().is_empty()).map(row).collect()
        }
    };
    let start = call.start()?;
    let total = rows.len() as u64;
    let rows: Vec<_> = rows.into_iter().skip(start as usize).collect();
    // A value is data of the recording, in JSON.
    let lines = rows.iter().map(|row| serde_json::to_string(row).unwrap_or_default()).collect();
    let command = match &input.sql {
        Some(sql) => CommandLine::new("query", std::slice::from_ref(sql)).and(&opened.names),
        None => CommandLine::new("query", &["--schema".to_owned()]).and(&opened.names),
    };
    let output =
        Output { rows, total: 0, left_out: 0, next_cursor: None, notes, command: command.line() };
    Ok(Answer::new(format!("{}.", counted(total, "row")), &output)
        .with_list("rows", lines, start, total))
}
