//! The profiles that the processes of a run wrote, merged into the methods of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::Result;
use metaspy_report::coverage::{Measured, ProcessReport, Run};
use metaspy_report::program::{Builder, Edge, Identity, MethodProfile, Receivers, Returned};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::merge;
use crate::cargo_metaspy::recordings::{Recordings, process_of};
use crate::cargo_metaspy::spies::{self, Spies};

/// The profiles of a run.
#[derive(Debug, Default)]
struct Profiles {
    methods: BTreeMap<Identity, MethodProfile>,
    /// Calls by callee and caller. `None` is code without hooks.
    calls: BTreeMap<Identity, BTreeMap<Option<Identity>, Edge>>,
    reports: Vec<ProcessReport>,
    doubts: Vec<String>,
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

/// Adds the profiles of a run to its program.
pub fn add(run: &mut Run, builder: &mut Builder, recordings: &Recordings, spies: &Spies) {
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
    profiles.judge(&recordings.processes(), &processes, spies);
    run.measured =
        Measured { coverage: processes.contains_key(spies::COVERAGE), calls: processes.contains_key(spies::CALLS) };
    profiles.add_calls_to(builder);
    for (method, profile) in profiles.methods {
        if let Some(of) = builder.profile(&method) {
            let (callers, callees) = (std::mem::take(&mut of.callers), std::mem::take(&mut of.callees));
            *of = MethodProfile { callers, callees, ..profile };
        }
    }
    run.doubts.extend(profiles.doubts);
    run.reports = profiles.reports;
}

impl Profiles {
    /// Reports the processes that recorded and left no profile.
    fn judge(&mut self, recorded: &BTreeSet<String>, found: &BTreeMap<String, BTreeSet<String>>, spies: &Spies) {
        let profiled: BTreeSet<&String> = found.values().flatten().collect();
        for name in spies.names().filter(|_| !recorded.is_empty()) {
            match found.get(name) {
                None if !profiled.is_empty() => self.doubts.push(format!("no program has a profiler `{name}`")),
                of_name => {
                    let missing = recorded.iter().filter(|process| !of_name.is_some_and(|of| of.contains(*process)));
                    let missing = missing.count();
                    if missing > 0 {
                        let all = recorded.len();
                        self.doubts.push(format!(
                            "{missing} of {all} processes were killed or aborted: the profile `{name}` lacks them"
                        ));
                    }
                }
            }
        }
    }

    /// Adds the profile of a process.
    fn add(&mut self, written: Written) {
        let Written { profile, program, pid, report, methods } = written;
        if !report.is_empty() {
            if profile == spies::COVERAGE || profile == spies::CALLS {
                self.doubts.push(report);
            } else {
                self.reports.push(ProcessReport { profile: profile.clone(), program, pid, text: report });
            }
        }
        let identities: Vec<Option<Identity>> = methods.iter().map(identity_of).collect();
        for (mut columns, identity) in methods.into_iter().zip(&identities) {
            let Some(identity) = identity else { continue };
            let method = self.methods.entry(identity.clone()).or_default();
            match profile.as_str() {
                spies::COVERAGE => add_coverage(method, &columns),
                spies::CALLS => {
                    method.total_ns = Some(method.total_ns.unwrap_or(0) + number(&columns, "total_ns"));
                    method.self_ns = Some(method.self_ns.unwrap_or(0) + number(&columns, "self_ns"));
                    let callers = self.calls.entry(identity.clone()).or_default();
                    add_callers(callers, &columns, &identities);
                }
                _ => {
                    ["path", "file", "line"].iter().for_each(|key| drop(columns.remove(*key)));
                    merge::into(method.columns.entry(profile.clone()).or_default(), columns);
                }
            }
        }
    }

    /// Gives each method its callers and its callees, by path and with the most frequent first.
    fn add_calls_to(&self, builder: &mut Builder) {
        let mut callees: BTreeMap<&Identity, BTreeMap<String, Edge>> = BTreeMap::new();
        for (callee, callers) in &self.calls {
            let mut by_path: BTreeMap<Option<String>, Edge> = BTreeMap::new();
            for (caller, edge) in callers {
                by_path.entry(caller.as_ref().map(|caller| caller.path().to_owned())).or_default().add(*edge);
                if let Some(caller) = caller {
                    callees.entry(caller).or_default().entry(callee.path().to_owned()).or_default().add(*edge);
                }
            }
            if let Some(method) = builder.profile(callee) {
                method.callers = most_frequent_first(by_path);
            }
        }
        for (caller, callees) in callees {
            if let Some(method) = builder.profile(caller) {
                method.callees = most_frequent_first(callees);
            }
        }
    }
}

fn most_frequent_first<P>(edges: BTreeMap<P, Edge>) -> Vec<(P, Edge)> {
    let mut edges: Vec<(P, Edge)> = edges.into_iter().collect();
    edges.sort_by_key(|(_, edge)| std::cmp::Reverse(edge.count));
    edges
}

fn add_coverage(method: &mut MethodProfile, columns: &Map<String, Value>) {
    let is_least = columns.get("receivers_exact") == Some(&Value::Bool(false));
    let more = columns.get("receivers").and_then(Value::as_u64);
    if more.is_some() || is_least {
        // Objects of different processes are different objects.
        let before = method.receivers.unwrap_or_default();
        let count = before.count + more.unwrap_or(0);
        method.receivers = Some(Receivers { count, is_least: before.is_least || is_least });
    }
    method.returns = method.returns.max(columns.get("returns").and_then(Value::as_str).and_then(Returned::from_word));
    method.calls += number(columns, "calls");
    let tests = columns.get("tests").and_then(Value::as_array).into_iter().flatten();
    method.tests.extend(tests.filter_map(|test| Some(test.as_str()?.to_owned())));
}

fn add_callers(
    callers: &mut BTreeMap<Option<Identity>, Edge>,
    columns: &Map<String, Value>,
    identities: &[Option<Identity>],
) {
    let written = columns.get("callers").and_then(Value::as_array).into_iter().flatten();
    for caller in written.filter_map(Value::as_object) {
        // The place of a caller is its place in the list of this profile.
        let place = caller.get("place").and_then(Value::as_u64);
        let identity = place.and_then(|place| identities.get(usize::try_from(place).ok()?)?.clone());
        let edge = Edge { count: number(caller, "count"), total_ns: number(caller, "total_ns") };
        callers.entry(identity).or_default().add(edge);
    }
}

fn read(path: &Path) -> Result<Written> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

fn identity_of(columns: &Map<String, Value>) -> Option<Identity> {
    let text = |key: &str| columns.get(key)?.as_str();
    let line = u32::try_from(columns.get("line")?.as_u64()?).ok()?;
    Some(Identity::new(text("path")?, text("file")?, line))
}

fn number(columns: &Map<String, Value>, key: &str) -> u64 {
    columns.get(key).and_then(Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests;
