//! The tools `findings` and `explain`: statements of a recording about its program.

use metaspy_reader::Selector;
use metaspy_report::findings::{self, Cost, Finding, Findings, State, kinds, text};
use metaspy_report::text::{counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, ToolError, quoted};
use crate::arguments::{Call, did_you_mean};
use crate::library::Opened;
use crate::session::{Session, missing};
use crate::shell::CommandLine;

/// Subjects and events that an answer names for each finding.
const NAMED: usize = 3;

/// Arguments of `findings`.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A name of the tool `recordings`; several with commas are read as one [default: the only one]
    recording: Option<String>,
    /// Only findings of this kind, such as `repeated` or `hot-subject`
    kind: Option<String>,
    /// Also those that cost less than 1 % of the time and of the events
    #[serde(default)]
    all: bool,
    /// The sites whose events are units of work, such as a frame or a request: `page::frame`
    unit: Option<String>,
}

/// Findings, the most expensive first.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    findings: Vec<FindingOut>,
    /// Number of all findings that pass.
    total: u64,
    /// Number of findings that are not in this answer.
    left_out: u64,
    /// Goes on with the next findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Number of findings that cost too little to be listed; `all` lists them.
    small: u64,
    /// Calls that were recorded.
    calls: u64,
    /// Calls that are kept as events. What left the window is not looked at.
    events: u64,
    /// Nanoseconds from the first to the last event.
    recorded_ns: u64,
    /// Kinds that were looked for and found nowhere.
    nothing_found_by: Vec<String>,
    /// Kinds that the recording cannot show, and what to record for them.
    not_looked_for: Vec<NotLookedFor>,
    /// Kinds that a part of the recording cannot show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    partly_looked_for: Vec<NotLookedFor>,
    /// Number of findings that `metaspy.toml` accepts, which are not listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    accepted: Option<u64>,
    /// What is not known, or to distrust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

#[derive(Serialize, JsonSchema)]
struct NotLookedFor {
    kinds: Vec<String>,
    why: String,
}

/// One finding.
#[derive(Serialize, JsonSchema)]
struct FindingOut {
    /// The number of the finding for commands.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    /// The kind, which the tool `explain` explains.
    kind: String,
    /// One sentence.
    title: String,
    /// The larger share of the cost, such as `38 % of the time`.
    cost: String,
    /// Self time that would be saved at most, in nanoseconds; of the kinds that wait, time in which
    /// roots wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_ns: Option<u64>,
    /// Share of the time, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    time_percent: Option<f64>,
    /// What the time is a part of: `work` is the self time of all calls, `roots` the time of all
    /// roots, `threads` the time for which threads were recorded.
    time_of: &'static str,
    /// Events that the finding is about.
    events: u64,
    /// Share of the events, in percent.
    events_percent: f64,
    /// True if the numbers are lower bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    at_least: Option<bool>,
    /// The sites, the most important first.
    sites: Vec<SiteOut>,
    /// The worst subjects.
    subjects: Vec<SubjectOut>,
    /// Number of all subjects of the finding.
    subject_count: u64,
    /// One or two sentences with exact numbers.
    evidence: String,
    /// A filter for the tools `rows` and `event` that selects the events.
    filter: String,
    /// Ids of the first events, for the tools `event`, `causes` and `effects`.
    event_ids: Vec<String>,
    /// `proved`, `at least` or `estimated`.
    certainty: &'static str,
    /// Why the finding is certain, or what is not known.
    because: String,
    /// What people do about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    advice: String,
    /// What to record to be more certain.
    #[serde(skip_serializing_if = "String::is_empty")]
    to_record: String,
    /// The command that shows a person its events.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

/// A site in the source.
#[derive(Serialize, JsonSchema)]
struct SiteOut {
    site: String,
    file: String,
    line: u32,
}

#[derive(Serialize, JsonSchema)]
struct SubjectOut {
    label: String,
    /// Events of the finding about it.
    events: u64,
}

/// Answers a call of `findings`.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let mut config = findings::settings_of_project(session.recordings.workspace())?;
    let own = config.own.iter().map(|kind| kind.name().to_owned());
    let known: Vec<String> = kinds().into_iter().chain(own).collect();
    if let Some(kind) = &input.kind {
        check_kind(kind, &known)?;
    }
    let opened = session.recordings.open(input.recording.as_deref())?;
    if let Some(unit) = &input.unit {
        config.unit = Some(unit_of(unit, &opened)?);
    }
    let all = opened.findings(&config, call.watch)?;
    let shown = shown(&all, &input);
    let start = call.start()?;
    let found: Vec<FindingOut> = shown
        .iter()
        .skip(start as usize)
        .map(|(number, finding)| of(*number, finding, &opened))
        .collect();
    let lines = found.iter().map(FindingOut::line).collect();
    let of_kind = |kind: &str| input.kind.as_deref().is_none_or(|wanted| wanted == kind);
    let small = all
        .found
        .iter()
        .filter(|it| it.is_small && it.state.is_open() && of_kind(&it.kind))
        .count() as u64;
    let reasons = |reasons: Vec<(&str, Vec<&str>)>| -> Vec<NotLookedFor> {
        let of_kinds = |(why, kinds): (&str, Vec<&str>)| {
            let kinds: Vec<String> =
                kinds.into_iter().filter(|kind| of_kind(kind)).map(str::to_owned).collect();
            (!kinds.is_empty()).then(|| NotLookedFor { kinds, why: why.to_owned() })
        };
        reasons.into_iter().filter_map(of_kinds).collect()
    };
    let not_looked_for = reasons(all.not_looked_for_by_reason());
    let accepted = |it: &&Finding| matches!(it.state, State::Accepted(_)) && of_kind(&it.kind);
    let accepted = all.found.iter().filter(accepted).count() as u64;
    let small = if input.all { 0 } else { small };
    let headline = text::headline(&all, shown.len());
    let headline = match &input.kind {
        Some(kind) => format!("{kind}: {headline}"),
        None => headline,
    };
    let summary = summary(&headline, small, &not_looked_for, shown.is_empty());
    let output = Output {
        findings: found,
        total: 0,
        left_out: 0,
        next_cursor: None,
        small,
        calls: all.totals.emitted,
        events: all.totals.stored,
        recorded_ns: all.recorded_ns,
        nothing_found_by: all
            .found_nothing()
            .filter(|kind| of_kind(kind))
            .map(str::to_owned)
            .collect(),
        not_looked_for,
        partly_looked_for: reasons(all.partly_looked_for_by_reason()),
        accepted: Some(accepted).filter(|accepted| *accepted > 0),
        notes: missing(&opened.store),
        command: CommandLine::new("findings", &opened.names)
            .with_some("--kind", input.kind.as_deref())
            .with_some("--unit", input.unit.as_deref())
            .flag("--all", input.all)
            .line(),
    };
    Ok(Answer::new(summary, &output).with_list("findings", lines, start, shown.len() as u64))
}

/// States how many findings are not listed, and which kinds were not looked for. Silence means
/// nothing without it.
fn summary(headline: &str, small: u64, not_looked_for: &[NotLookedFor], is_silent: bool) -> String {
    let mut summary = format!("{headline}.");
    if small > 0 {
        summary += &format!(
            " {} cost too little to be listed: `all` lists them.",
            counted(small, "finding")
        );
    }
    let kinds = |of: &NotLookedFor| match of.kinds.as_slice() {
        [_, _, _, _, ..] => counted(of.kinds.len() as u64, "kind"),
        few => few.join(", "),
    };
    if is_silent {
        for of in not_looked_for {
            summary += &format!("\nNot looked for: {}: {}", kinds(of), of.why);
        }
    } else if !not_looked_for.is_empty() {
        let all: usize = not_looked_for.iter().map(|of| of.kinds.len()).sum();
        summary += &format!(" {} cannot be seen in this recording.", counted(all as u64, "kind"));
    }
    summary
}

/// The findings that a call asks for, with the numbers that `metaspy open --finding` takes.
fn shown<'f>(all: &'f Findings, input: &Input) -> Vec<(Option<u64>, &'f Finding)> {
    let mut listed = 0;
    let mut shown = Vec::new();
    for finding in all.found.iter().filter(|finding| finding.state.is_open()) {
        let number = (!finding.is_small).then(|| {
            listed += 1;
            listed
        });
        let is_of_kind = input.kind.as_ref().is_none_or(|kind| *kind == finding.kind);
        if is_of_kind && (number.is_some() || input.all) {
            shown.push((number, finding));
        }
    }
    shown
}

fn of(number: Option<u64>, finding: &Finding, opened: &Opened) -> FindingOut {
    let Cost { time_ns, of, events, time_ppm, events_ppm, at_least } = finding.cost;
    let percent = |ppm: u32| f64::from(ppm) / 1e4;
    let sites = finding.sites.iter().map(|site| SiteOut {
        site: site.path.clone(),
        file: site.file.clone(),
        line: site.line,
    });
    let subjects = finding.subjects.worst.iter().take(NAMED);
    FindingOut {
        number,
        kind: finding.kind.clone(),
        title: finding.title.clone(),
        cost: text::cost(&finding.cost),
        time_ns,
        time_percent: time_ns.map(|_| percent(time_ppm)),
        time_of: of.word(),
        events,
        events_percent: percent(events_ppm),
        at_least: at_least.then_some(true),
        sites: sites.collect(),
        subjects: subjects
            .map(|it| SubjectOut { label: it.text.clone(), events: it.events })
            .collect(),
        subject_count: finding.subjects.count,
        evidence: finding.evidence.text.clone(),
        filter: finding.evidence.filter.clone(),
        event_ids: finding.evidence.events.iter().take(NAMED).map(ToString::to_string).collect(),
        certainty: finding.certainty.word(),
        because: finding.certainty.reason().to_owned(),
        advice: finding.advice.clone(),
        to_record: finding.needs.clone(),
        command: number.map(|number| {
            CommandLine::new("open", &opened.names).with("--finding", number.to_string()).line()
        }),
    }
}

impl FindingOut {
    fn line(&self) -> String {
        let at = self.sites.first().filter(|site| !site.file.is_empty());
        let at = at.map_or(String::new(), |site| {
            format!(" at {}", quoted(&format!("{}:{}", site.file, site.line)))
        });
        let number = self.number.map_or("-".to_owned(), |number| format!("{number}."));
        format!("{number} {} {}: {}{at}", self.kind, self.cost, quoted(&self.title))
    }
}

fn check_kind(kind: &str, known: &[String]) -> Result<(), ToolError> {
    if known.iter().any(|known| known == kind) {
        return Ok(());
    }
    let names = known.iter().map(String::as_str);
    let advice =
        did_you_mean(kind, names).unwrap_or_else(|| format!("there are {}", known.join(", ")));
    Err(ToolError::new(format!("there is no kind `{kind}`: {advice}")))
}

/// The selector of units of work, which must match a site.
fn unit_of(unit: &str, opened: &Opened) -> Result<Selector, ToolError> {
    let selector: Selector =
        unit.parse().map_err(|error| ToolError::new(format!("unit: {error}")))?;
    let paths = || opened.store.sites().iter().map(|site| site.path.as_str());
    if paths().any(|path| selector.matches(path)) {
        return Ok(selector);
    }
    let advice =
        did_you_mean(unit, paths()).unwrap_or_else(|| "the tool `rows` lists the sites".to_owned());
    Err(ToolError::new(format!("unit: no site matches `{unit}`: {advice}")))
}

/// Arguments of `explain`.
#[derive(Deserialize, JsonSchema)]
pub struct ExplainInput {
    /// The kind, such as `repeated` [default: lists all kinds]
    kind: Option<String>,
}

/// The explanation of a kind, or all kinds.
#[derive(Serialize, JsonSchema)]
pub struct ExplainOutput {
    /// The kind that is explained.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<String>,
    /// Lines of the explanation, in Markdown; or all kinds, each with what it states.
    lines: Vec<String>,
    /// Number of all lines.
    total: u64,
    /// Number of lines that are not in this answer.
    left_out: u64,
    /// Goes on with the next lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The command that shows a person the same explanation.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

/// Answers a call of `explain`.
pub fn explain(_: &Session, input: ExplainInput, call: &Call<'_>) -> Result<Answer, ToolError> {
    let known = kinds();
    let (lines, summary): (Vec<String>, String) = match &input.kind {
        Some(kind) => {
            check_kind(kind, &known)?;
            let text = findings::explain(kind)
                .ok_or_else(|| ToolError::new(format!("`{kind}` has no explanation")))?;
            (text.lines().map(str::to_owned).collect(), format!("The kind {kind}, in Markdown."))
        }
        None => (
            known
                .iter()
                .map(|kind| {
                    let first = findings::explain(kind)
                        .and_then(|text| text.split("\n\n").next())
                        .unwrap_or_default();
                    format!("{kind}: {}", first.replace('\n', " "))
                })
                .collect(),
            format!("{} kinds.", grouped(known.len() as u64)),
        ),
    };
    let start = call.start()?;
    let total = lines.len() as u64;
    let lines: Vec<String> = lines.into_iter().skip(start as usize).collect();
    let text = lines.clone();
    let command = input
        .kind
        .as_ref()
        .map(|kind| CommandLine::new("findings", &[]).with("--explain", kind).line());
    let output =
        ExplainOutput { kind: input.kind, lines, total, left_out: 0, next_cursor: None, command };
    Ok(Answer::new(summary, &output).with_list("lines", text, start, total))
}
