//! `metaspy grammar report`: the coverage of a whole test run, from the recordings of its
//! processes.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use metaspy_core::{SiteKind, Store};
use metaspy_instrumenters::productions;
use metaspy_reader::{By, EndState, Scope};
use metaspy_report::grammar::skipped::{Named, Skipped};
use metaspy_report::grammar::writer::Page;
use metaspy_report::grammar::{FORMAT, Inputs, Notes, Production, Report, Role, State, Tries};
use metaspy_report::grammar::{findings, table, text, verdict};
use metaspy_report::source_line;
use metaspy_report::table::Top;
use metaspy_report::text::{clean, counted};
use serde::Serialize;

use super::convert;
use super::output::write;
use super::runs::Run;
use crate::exit::{Ended, say};
use crate::metaspy::arguments;

/// The sum of the recordings of a directory.
#[derive(Debug, Serialize)]
struct Merged {
    /// The version of the JSON.
    format: u32,
    /// The run that they are of, if it has a name.
    run: Option<String>,
    /// Runs in the same directory that are left out; the newest is reported.
    other_runs: Vec<Option<String>>,
    /// The recordings that were read.
    recordings: Vec<Part>,
    /// Files that are no recordings, with the reason.
    unreadable: Vec<String>,
    /// Recordings of it that were removed to make room.
    removed: Vec<String>,
    /// True if every count is exact. Otherwise they are lower bounds.
    exact: bool,
    /// Productions in use that matched, in percent of those in use.
    coverage: f64,
    /// The productions, by path.
    productions: Vec<MergedProduction>,
}

/// A recording.
#[derive(Debug, Serialize)]
struct Part {
    file: String,
    process: u64,
    /// `closed`, `live`, or `killed`: then it holds the parses until then.
    ended: &'static str,
    /// The exit status of the process, if that is known: a test run that failed has another status
    /// than 0.
    exit: Option<u8>,
}

/// A production in all recordings.
#[derive(Clone, Debug, Serialize)]
struct MergedProduction {
    name: String,
    file: String,
    line: u32,
    entered: u64,
    matched: u64,
    failed: u64,
    state: State,
    role: Role,
    /// The line that it begins in, if its file is here.
    #[serde(skip)]
    source: String,
}

/// Reads the recordings of a directory and writes their sum.
pub fn run(options: &arguments::GrammarReport, out: &mut impl Write) -> Result<Ended> {
    let merged = Merged::read(options)?;
    let report = merged.report();
    let fail_under = options.least.fail_under;
    // A recording that cannot be read may have the matches that the others lack.
    let is_exact = merged.exact && merged.unreadable.is_empty();
    let is_decided = verdict::undecided(fail_under, &report, is_exact).is_none();
    let failures = verdict::failures(fail_under.filter(|_| is_decided), &report);
    write(out, &options.json, &merged, &failures, |out| {
        merged.write(
            &mut Page::new(out, io::stdout().is_terminal()),
            &report,
            options.top.rows(),
            &failures,
        )
    })?;
    if let Some(undecided) = verdict::undecided(fail_under, &report, is_exact) {
        return Err(say(undecided));
    }
    let is_fine = failures.is_empty() && merged.unreadable.is_empty();
    Ok(if is_fine { Ended::Fine } else { Ended::Failed })
}

impl Merged {
    fn read(options: &arguments::GrammarReport) -> Result<Self> {
        let (Run { name, recordings: files, removed, .. }, other_runs) =
            Run::choose(&options.dir, options.run.as_deref())?;
        let mut rows: BTreeMap<String, MergedProduction> = BTreeMap::new();
        let (mut recordings, mut unreadable, mut exact) =
            (Vec::new(), Vec::new(), removed.is_empty());
        for path in files {
            match Store::open(&path) {
                Ok(store) => {
                    exact &= add(&mut rows, &store);
                    recordings.push(Part::of(&path, &store));
                }
                Err(error) => unreadable.push(error.to_string()),
            }
        }
        if rows.is_empty() {
            let dir = options.dir.display();
            return Err(say(format!(
                "no recording in {dir} knows a production: a test run makes them with METASPY_RECORD=live METASPY_DIR={dir}"
            )));
        }
        let productions: Vec<MergedProduction> = rows.into_values().collect();
        let in_use = || productions.iter().filter(|row| row.role == Role::InUse);
        let matched = in_use().filter(|row| row.state == State::Matched).count();
        let coverage = if in_use().count() == 0 {
            100.0
        } else {
            100.0 * matched as f64 / in_use().count() as f64
        };
        let other_runs = other_runs.into_iter().map(|run| run.name).collect();
        Ok(Merged {
            format: FORMAT,
            run: name,
            other_runs,
            recordings,
            unreadable,
            removed,
            exact,
            coverage,
            productions,
        })
    }

    fn write(
        &self,
        page: &mut Page<impl Write>,
        report: &Report,
        top: Top,
        failures: &[String],
    ) -> io::Result<()> {
        let sign = if self.exact { "" } else { "  (counts are at least what they say)" };
        let of = self.run.as_ref().map_or(String::new(), |run| format!(" of run {}", clean(run)));
        page.paragraph(
            0,
            &format!("{}{of}{sign}", counted(self.recordings.len() as u64, "recording")),
        )?;
        if !self.other_runs.is_empty() {
            let names =
                self.other_runs.iter().map(|run| run.as_deref().unwrap_or("one without a name"));
            let names: Vec<_> = names.map(clean).collect();
            page.paragraph(
                0,
                &format!("Other runs are left out: {}. --run NAME reports one.", names.join(", ")),
            )?;
        }
        findings::write(page, report, top)?;
        table::write(page, report, top)?;
        page.line("")?;
        let named = |is: fn(&Part) -> bool, more: fn(&Part) -> String| {
            let parts = self.recordings.iter().filter(|part| is(part));
            parts.map(|part| format!("{} ({})", part.file, more(part))).collect::<Vec<_>>()
        };
        let killed =
            named(|part| part.ended == "killed", |part| format!("process {}", part.process));
        let failed = named(
            |part| part.has_failed(),
            |part| format!("exit status {}", part.exit.unwrap_or(0)),
        );
        for (what, names) in [
            ("killed, and counted as far as they went", &killed),
            ("of processes that failed, and counted", &failed),
            ("removed to make room, and not counted", &self.removed),
            ("unreadable", &self.unreadable),
        ] {
            if !names.is_empty() {
                page.list(
                    &format!("{} {what}", counted(names.len() as u64, "recording")),
                    names,
                    0,
                )?;
            }
        }
        text::summary(page, report)?;
        failures.iter().try_for_each(|failure| page.paragraph(0, failure))
    }

    /// The same as the report of one run, as far as recordings have it: alternatives and inputs are
    /// not in them.
    fn report(&self) -> Report {
        let unknown = || Tries { entered: 0, matched: 0 };
        let production = |row: &MergedProduction| Production {
            name: row.name.clone(),
            file: row.file.clone(),
            line: row.line,
            entered: row.entered,
            matched: row.matched,
            failed: row.failed,
            backtracked_bytes: None,
            depth: 0,
            self_ns: None,
            total_ns: None,
            state: row.state,
            role: row.role,
            accepted: unknown(),
            rejected: unknown(),
            first_input: None,
            shortest_input: None,
            shadowed_by: None,
            file_number: 0,
            source_line: row.source.clone(),
            shadowed: None,
        };
        Report {
            format: FORMAT,
            grammar: Vec::new(),
            rule: String::new(),
            digest: String::new(),
            inputs: Inputs {
                accepted: 0,
                rejected: 0,
                stopped: 0,
                unreadable: 0,
                repeated: 0,
                loops: 0,
            },
            coverage: self.coverage,
            productions: self.productions.iter().map(production).collect(),
            alternatives: Vec::new(),
            accepted_inputs: Vec::new(),
            rejections: Vec::new(),
            comparison: None,
            notes: Notes { skipped: Skipped::default(), stopped: Named::default() },
        }
    }
}

impl Part {
    fn of(path: &Path, store: &Store) -> Self {
        let ended = match store.end_state() {
            EndState::Closed => "closed",
            EndState::Live => "live",
            EndState::Snapshot => "snapshot",
            _ => "killed",
        };
        let header = store.header();
        Part {
            file: clean(&path.display().to_string()).into_owned(),
            process: header.pid.into(),
            ended,
            exit: header.exit,
        }
    }

    fn has_failed(&self) -> bool {
        self.exit.is_some_and(|status| status != 0)
    }
}

/// Adds the counts of a recording. Returns true if they are exact.
fn add(rows: &mut BTreeMap<String, MergedProduction>, store: &Store) -> bool {
    let tally = store.tally(By::Site, &Scope::default());
    for site in store.sites().iter().filter(|site| site.kind == SiteKind::Production) {
        let role = convert::role(productions::Role::from_reason(site.skipped.as_deref()));
        let row = rows.entry(site.path.clone()).or_insert_with(|| MergedProduction {
            name: site.path.clone(),
            file: site.file.clone(),
            line: site.lines.0,
            entered: 0,
            matched: 0,
            failed: 0,
            state: State::NeverEntered,
            role,
            source: source_line::line(site).unwrap_or_default(),
        });
        for counted in tally.rows.iter().filter(|counted| counted.site == Some(site.id)) {
            let measure = counted.measure;
            let failed = measure.failed + measure.cancelled + measure.panicked;
            row.entered += measure.count;
            row.failed += failed;
            row.matched += measure.count.saturating_sub(failed + measure.running);
        }
        row.state = match (row.entered, row.matched) {
            (0, _) => State::NeverEntered,
            (_, 0) => State::NeverMatched,
            _ => State::Matched,
        };
    }
    tally.exact
}
