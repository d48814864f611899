//! `--baseline`: the changes since an earlier run.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{FORMAT, Production, Report, Role, State};

/// The JSON of an earlier run, as far as it is compared.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    format: u32,
    rule: String,
    digest: String,
    productions: Vec<Earlier>,
    #[serde(default)]
    accepted_inputs: HashSet<String>,
}

/// A production as it was.
#[derive(Clone, Debug, Deserialize)]
struct Earlier {
    name: String,
    entered: u64,
    matched: u64,
    state: State,
    role: Role,
}

impl Baseline {
    /// Parses the JSON of an earlier report.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let help = "write one with `metaspy grammar … --json`";
        let baseline: Baseline = serde_json::from_slice(json).map_err(|error| {
            format!("this is not a report of `metaspy grammar`: {error}; {help}")
        })?;
        match baseline.format {
            FORMAT => Ok(baseline),
            other => Err(format!(
                "its format is {other}, and this version of metaspy reads {FORMAT}; {help}"
            )),
        }
    }
}

impl Baseline {
    /// The start rule.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// True if a production is in use in both.
    pub fn is_of(&self, report: &Report) -> bool {
        let in_use = self.productions.iter().filter(|production| production.role == Role::InUse);
        let names: HashSet<&str> = in_use.map(|production| production.name.as_str()).collect();
        report.in_use().any(|production| names.contains(production.name.as_str()))
    }
}

/// The changes since the baseline. A production that is not in use counts as absent: nothing can
/// match it.
#[derive(Debug, Serialize)]
pub struct Comparison {
    /// True if the text of the grammar differs.
    pub grammar_changed: bool,
    /// Productions that match now, and did not.
    pub gained: Vec<String>,
    /// Productions that matched, and do not now.
    pub lost: Vec<String>,
    /// Inputs that were accepted, and are rejected now.
    pub rejected: Vec<String>,
    /// Productions in use that were not.
    pub new: Vec<String>,
    /// Productions that were in use, and are not.
    pub gone: Vec<String>,
    /// The start rule of the baseline, if it is another one.
    #[serde(skip)]
    pub other_rule: Option<String>,
    /// Every production that got further, or less far, for people.
    #[serde(skip)]
    pub changes: Vec<Change>,
}

/// A production whose state changed.
#[derive(Debug)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its state, before and after.
    pub state: (State, State),
    /// How often it was tried.
    pub entered: (u64, u64),
    /// How often it matched.
    pub matched: (u64, u64),
}

impl Comparison {
    /// Compares by name.
    pub fn new(before: &Baseline, after: &Report) -> Self {
        let in_use = before.productions.iter().filter(|production| production.role == Role::InUse);
        let earlier: HashMap<&str, &Earlier> =
            in_use.clone().map(|it| (it.name.as_str(), it)).collect();
        let now: HashMap<&str, &Production> =
            after.in_use().map(|it| (it.name.as_str(), it)).collect();
        let change = |now: &Production| {
            let before =
                earlier.get(now.name.as_str()).filter(|before| before.state != now.state)?;
            Some(Change {
                name: now.name.clone(),
                state: (before.state, now.state),
                entered: (before.entered, now.entered),
                matched: (before.matched, now.matched),
            })
        };
        let changes: Vec<Change> = after.in_use().filter_map(change).collect();
        let names = |is: fn(&Change) -> bool| {
            changes.iter().filter(|it| is(it)).map(|it| it.name.clone()).collect()
        };
        Comparison {
            grammar_changed: before.digest != after.digest,
            gained: names(|change| change.state.1 == State::Matched),
            lost: names(|change| change.state.0 == State::Matched),
            rejected: (after.rejections.iter().map(|rejection| &rejection.input))
                .filter(|input| before.accepted_inputs.contains(*input))
                .cloned()
                .collect(),
            new: after
                .in_use()
                .map(|it| &it.name)
                .filter(|name| !earlier.contains_key(name.as_str()))
                .cloned()
                .collect(),
            gone: in_use
                .map(|it| &it.name)
                .filter(|name| !now.contains_key(name.as_str()))
                .cloned()
                .collect(),
            other_rule: (before.rule != after.rule).then(|| before.rule.clone()),
            changes,
        }
    }
}
