//! The tool `recordings`: lists the readable recordings.

use metaspy_reader::Store;
use metaspy_report::rows;
use metaspy_report::text::{counted, short, short_bytes, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::Call;
use crate::library::{Known, Origin};
use crate::session::{ITEMS, Session};
use crate::shell::CommandLine;

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {}

/// Recordings that can be read.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    recordings: Vec<Recording>,
    /// Number of all recordings.
    total: u64,
    /// Number of recordings that are not in this answer.
    left_out: u64,
    /// Goes on with the next recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The command that shows a person the same of running processes.
    command: String,
}

/// A recording.
#[derive(Serialize, JsonSchema)]
pub struct Recording {
    /// The name for the argument `recording` of other tools, and for commands.
    name: String,
    /// Where it was found: `argument` of the server, `live` process of this user, or `workspace`.
    found: &'static str,
    /// Program that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// Process that was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pid: Option<u32>,
    /// `live` while it is written, otherwise how it ended: closed, killed, snapshot, unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// Calls that were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<u64>,
    /// Calls that are kept as events. The others are only counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
    /// Calls that found no room as events.
    #[serde(skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    /// Nanoseconds from the first to the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    recorded_ns: Option<u64>,
    /// Sites of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    sites: Option<u64>,
    /// Number of files that are read as one.
    files: u64,
    /// Bytes of its files.
    bytes: u64,
    /// What is missing, or why it cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

/// Answers a call.
pub fn answer(session: &Session, _: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let known = session.recordings.known();
    let start = call.start()?;
    let mut recordings = Vec::new();
    for known in known.iter().skip(start as usize).take(ITEMS) {
        recordings.push(summary_of(session, known));
        call.watch.check()?;
    }
    let lines = recordings.iter().map(Recording::line).collect();
    let summary = match known.len() {
        0 => "There is no recording. Record one with METASPY_RECORD=run.spy in the environment of a program with hooks, or \
              with `cargo metaspy run`."
            .to_owned(),
        count => format!("{}. {}.", counted(count as u64, "recording"), default_of(&known)),
    };
    let output = Output {
        recordings,
        total: 0,
        left_out: 0,
        next_cursor: None,
        command: "metaspy list".to_owned(),
    };
    Ok(Answer::new(summary, &output).with_list("recordings", lines, start, known.len() as u64))
}

fn default_of(known: &[Known]) -> String {
    match (known.iter().filter(|known| known.origin == Origin::Argument).count(), known) {
        (1, _) | (0, [_]) => format!("Without a name, tools read {}", quoted(&known[0].name)),
        _ => "Tools need a name".to_owned(),
    }
}

/// Describes a recording.
pub(crate) fn summary_of(session: &Session, known: &Known) -> Recording {
    let metadata = known.paths.iter().filter_map(|path| std::fs::metadata(path).ok());
    let bytes = metadata.map(|metadata| metadata.len()).sum();
    let found = match known.origin {
        Origin::Argument => "argument",
        Origin::Live => "live",
        Origin::Workspace => "workspace",
    };
    let mut recording = Recording {
        name: known.name.clone(),
        found,
        program: None,
        pid: None,
        state: None,
        calls: None,
        events: None,
        lost: None,
        recorded_ns: None,
        sites: None,
        files: known.paths.len() as u64,
        bytes,
        problems: Vec::new(),
        command: CommandLine::new("report", std::slice::from_ref(&known.name)).line(),
    };
    match session.recordings.open(Some(&known.name)) {
        Ok(opened) => recording.describe(&opened.store),
        Err(error) => recording.problems.push(error.to_string()),
    }
    recording
}

impl Recording {
    fn describe(&mut self, store: &Store) {
        let header = store.header();
        let totals = store.totals();
        self.program = Some(store.program().name.clone());
        self.pid = Some(header.pid);
        self.state = Some(rows::text::state(store.end_state()));
        self.calls = Some(totals.emitted);
        self.events = Some(totals.stored);
        self.lost = Some(totals.lost + totals.unnamed);
        self.recorded_ns = Some(store.span_ns(header.last_tick.saturating_sub(header.first_tick)));
        self.sites = Some(store.sites().len() as u64);
        self.problems.extend(store.missing().iter().cloned());
        self.problems.extend(store.absent_files().map(|absent| absent.to_string()));
    }

    fn line(&self) -> String {
        let (Some(program), Some(state)) = (&self.program, self.state) else {
            return format!("- {}: {}", quoted(&self.name), quoted(&self.problems.join("; ")));
        };
        let calls = self.calls.unwrap_or(0);
        let only_counted = if calls > 0 && self.events == Some(0) { " without events" } else { "" };
        format!(
            "- {}: {} ({state}), {} calls{only_counted} in {}, {}",
            quoted(&self.name),
            quoted(program),
            short(calls),
            time(self.recorded_ns.unwrap_or(0)),
            short_bytes(self.bytes),
        )
    }
}
