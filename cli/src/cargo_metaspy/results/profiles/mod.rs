//! What profilers told, added up over the processes of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::cargo_metaspy::recordings::{Recordings, process_of};
use crate::cargo_metaspy::results::merge;
use crate::cargo_metaspy::results::profile_data::{Edge, Name, Returned, Told};
use crate::cargo_metaspy::spies::{self, Spies};

/// What profilers told.
#[derive(Debug, Default)]
pub struct Profiles {
    /// Of each function.
    pub told: BTreeMap<Name, Told>,
    /// Of each process, for people.
    pub reports: Vec<Report>,
    /// The names of profilers that told something.
    pub found: BTreeSet<String>,
    /// What is missing, as sentences.
    pub doubts: Vec<String>,
}

/// What a profiler said at the end of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The profiler.
    pub profile: String,
    /// The program.
    pub program: String,
    /// The process.
    pub pid: u32,
    /// What it said.
    pub text: String,
}

/// A profile, as a process writes it.
#[derive(Deserialize)]
struct Written {
    profile: String,
    program: String,
    pid: u32,
    report: String,
    methods: Vec<Map<String, Value>>,
}

impl Profiles {
    /// Those of a run.
    pub fn read(recordings: &Recordings, spies: &Spies) -> Profiles {
        let mut profiles = Profiles::default();
        let mut processes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in recordings.profiles() {
            match read(&path) {
                Ok(written) => {
                    processes.entry(written.profile.clone()).or_default().extend(process_of(&path));
                    profiles.add(written);
                }
                Err(error) => profiles.doubts.push(format!("a profile cannot be read: {error}")),
            }
        }
        profiles.found = processes.keys().cloned().collect();
        profiles.judge(&recordings.processes(), &processes, spies);
        profiles
    }

    /// Says which processes left no profile though they recorded.
    fn judge(&mut self, recorded: &BTreeSet<String>, told: &BTreeMap<String, BTreeSet<String>>, spies: &Spies) {
        let heard: BTreeSet<&String> = told.values().flatten().collect();
        for name in spies.names().filter(|_| !recorded.is_empty()) {
            match told.get(name) {
                None if !heard.is_empty() => self.doubts.push(format!("no program has a profiler `{name}`")),
                of_name => {
                    let missing = recorded.iter().filter(|process| !of_name.is_some_and(|of| of.contains(*process)));
                    let missing = missing.count();
                    if missing > 0 {
                        let all = recorded.len();
                        self.doubts.push(format!(
                            "{missing} of {all} processes were killed or aborted: what `{name}` knew of them is missing"
                        ));
                    }
                }
            }
        }
    }

    /// Adds what a process told.
    fn add(&mut self, written: Written) {
        let Written { profile, program, pid, report, methods } = written;
        if !report.is_empty() {
            match profile == spies::COVERAGE || profile == spies::CALLS {
                true => self.doubts.push(report),
                false => self.reports.push(Report { profile: profile.clone(), program, pid, text: report }),
            }
        }
        let names: Vec<Option<Name>> = methods.iter().map(name_of).collect();
        for (mut of, name) in methods.into_iter().zip(&names) {
            let Some(name) = name else { continue };
            let told = self.told.entry(name.clone()).or_default();
            match profile.as_str() {
                spies::COVERAGE => told.add_coverage(&of),
                spies::CALLS => told.add_calls(&of, &names),
                _ => {
                    ["path", "file", "line"].iter().for_each(|place| drop(of.remove(*place)));
                    merge::into(told.others.entry(profile.clone()).or_default(), of);
                }
            }
        }
    }
}

impl Told {
    fn add_coverage(&mut self, of: &Map<String, Value>) {
        self.covered += number(of, "executions");
        if let Some(more) = of.get("receivers").and_then(Value::as_u64) {
            // Objects of different processes are different ones.
            self.receivers = Some(self.receivers.unwrap_or(0) + more);
        }
        self.has_more_receivers |= of.get("receivers_exact") == Some(&Value::Bool(false));
        self.returns = self.returns.max(of.get("returns").and_then(Value::as_str).and_then(Returned::of));
        self.calls += number(of, "calls");
        let tests = of.get("tests").and_then(Value::as_array).into_iter().flatten();
        self.tests.extend(tests.filter_map(|test| Some(test.as_str()?.to_owned())));
    }

    fn add_calls(&mut self, of: &Map<String, Value>, names: &[Option<Name>]) {
        self.timed += number(of, "executions");
        self.total_ns = Some(self.total_ns.unwrap_or(0) + number(of, "total_ns"));
        self.self_ns = Some(self.self_ns.unwrap_or(0) + number(of, "self_ns"));
        for caller in of.get("callers").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
            // The place is one in the list of this very profile.
            let place = caller.get("place").and_then(Value::as_u64);
            let name = place.and_then(|place| names.get(usize::try_from(place).ok()?)?.clone());
            let edge = Edge { count: number(caller, "count"), total_ns: number(caller, "total_ns") };
            self.callers.entry(name).or_default().add(edge);
        }
    }
}

fn read(path: &Path) -> Result<Written> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

fn name_of(of: &Map<String, Value>) -> Option<Name> {
    let text = |key: &str| of.get(key)?.as_str();
    let line = u32::try_from(of.get("line")?.as_u64()?).ok()?;
    Some(Name::new(text("path")?, text("file")?, line))
}

fn number(of: &Map<String, Value>, key: &str) -> u64 {
    of.get(key).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests;
