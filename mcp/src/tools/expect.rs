//! The tool `expect`: a condition for every event of a kind.

use metaspy_reader::Filter;
use metaspy_report::expectation::{self, Expectation};
use metaspy_report::text::clean_lines;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::Call;
use crate::session::{Session, check, missing};
use crate::shell::CommandLine;

/// Arguments of the tool.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A name of the tool `recordings`; several with commas are read as one [default: the only one]
    recording: Option<String>,
    /// `FILTER => FILTER`, such as `site:layout => cause:change`: every event that passes the first
    /// filter passes the second
    expectation: String,
}

/// The result of a check.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    expectation: String,
    /// True if every call passes, false if one misses it; absent if that cannot be decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<bool>,
    /// Calls that were checked.
    judged: u64,
    /// Calls that miss it: a lower bound if `exact` is false or `unknown` is not 0.
    missed: u64,
    /// Calls of which it is not known.
    unknown: u64,
    exact: bool,
    /// What is missing, and what to do, if a call is not decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<String>,
    /// The oldest events that miss it.
    offenders: Vec<Offender>,
    /// Number of all calls that miss it.
    total: u64,
    /// Number of these that are not in this answer.
    left_out: u64,
    /// The command that shows a person the same.
    command: String,
}

/// An event that misses the expectation.
#[derive(Serialize, JsonSchema)]
struct Offender {
    /// The id, for the tools `event`, `causes` and `effects`.
    event: String,
    time_ns: u64,
    site: String,
    subject: Option<String>,
    /// Site of the cause.
    cause: Option<String>,
    /// Sites of further reasons.
    links: Vec<String>,
}

/// Answers a call.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let expectation: Expectation = input.expectation.parse().map_err(ToolError::new)?;
    let opened = session.recordings.open(input.recording.as_deref())?;
    let mut notes = missing(&opened.store);
    check(&expectation.every, &opened.store, &mut notes)?;
    check(&expectation.holds, &opened.store, &mut notes)?;
    let judged = opened.outcome(input.expectation.clone(), call.watch, || {
        expectation.judge(&opened.store, &Filter::all())
    })?;
    let first = judged.to_string().lines().next().unwrap_or_default().to_owned();
    notes.extend(judged.gaps.iter().cloned());
    if judged.is_empty() {
        notes.push("no event passes the first filter: nothing was checked".to_owned());
    }
    let offenders: Vec<Offender> = judged.offenders.iter().cloned().map(Offender::of).collect();
    let lines = offenders.iter().map(Offender::line).collect();
    let total = judged.missed.max(offenders.len() as u64);
    let output = Output {
        expectation: input.expectation.clone(),
        holds: judged.failed.map(|failed| !failed).filter(|_| !judged.is_empty()),
        judged: judged.judged,
        missed: judged.missed,
        unknown: judged.unknown,
        exact: judged.exact,
        gaps: notes,
        offenders,
        total: 0,
        left_out: 0,
        command: CommandLine::new("report", &opened.names)
            .with("--expect", input.expectation)
            .line(),
    };
    Ok(Answer::new(clean_lines(&first), &output)
        .with_list("offenders", lines, 0, total)
        .without_cursor())
}

impl Offender {
    fn of(offender: expectation::Offender) -> Offender {
        let expectation::Offender { event, time_ns, site, subject, cause, links } = offender;
        Offender { event, time_ns, site, subject, cause, links }
    }

    fn line(&self) -> String {
        let subject = self
            .subject
            .as_ref()
            .map_or(String::new(), |subject| format!(" on {}", quoted(subject)));
        let cause = self
            .cause
            .as_ref()
            .map_or("no cause".to_owned(), |cause| format!("caused by {}", quoted(cause)));
        format!("- {} {}{subject}, {cause}", self.event, quoted(&self.site))
    }
}
