//! Arming from outside: a reader of a recording changes the sites and subjects that the running
//! process observes.
//!
//! A process that allows arming listens on a Unix socket beside its recording, `run.spy.control`,
//! for its own user only. A connection has one request and one answer, each a line of JSON.

mod client;
mod targets;

pub use client::ControlError;
pub use targets::{TargetError, Targets};

use std::path::{Path, PathBuf};

use metaspy_probe::{KindId, SiteId, Subject};
use serde::{Deserialize, Serialize};

/// Maximum number of subjects that a request may name, and that a site remembers individually.
pub const MOST_SUBJECTS: usize = 1 << 16;
/// Maximum size of a request or of an answer, in bytes.
pub const MOST_BYTES: usize = 16 << 20;

/// Change of the observed subjects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Change nothing. The answer states the observed subjects.
    #[default]
    Show,
    /// Observe these subjects in addition.
    Arm,
    /// Stop observing these subjects.
    Disarm,
    /// Observe these subjects and no others.
    Only,
}

/// Request to a running process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// Change to make.
    pub change: Change,
    /// Numbers of the sites; empty = all sites.
    pub sites: Vec<u32>,
    /// Kind and key of each subject; `None` = all subjects.
    pub subjects: Option<Vec<(u16, u64)>>,
    /// Rules that say which events stay when they leave the window, for the rest of the process. A
    /// request with rules changes nothing else, and its answer has no states.
    #[serde(default)]
    pub keep: Option<String>,
}

impl ControlRequest {
    /// Creates a request for a change at some sites, for some subjects or for all.
    pub fn new(change: Change, targets: &Targets) -> Self {
        let subjects = targets.subjects.as_ref();
        ControlRequest {
            change,
            sites: targets.sites.iter().map(|site| site.0).collect(),
            subjects: subjects
                .map(|all| all.iter().map(|subject| (subject.kind.0, subject.key)).collect()),
            keep: None,
        }
    }

    /// Creates a request to keep the events that meet these rules.
    pub fn keep(rules: impl Into<String>) -> Self {
        ControlRequest { keep: Some(rules.into()), ..ControlRequest::default() }
    }

    /// Returns the subjects; `None` = all subjects.
    pub fn subjects(&self) -> Option<Vec<Subject>> {
        Some(
            self.subjects
                .as_ref()?
                .iter()
                .map(|&(kind, key)| Subject::new(KindId(kind), key))
                .collect(),
        )
    }
}

/// Subjects that are observed at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// No subject.
    Nothing,
    /// All subjects.
    All,
    /// This many subjects.
    Only(usize),
    /// All subjects except this many.
    AllBut(usize),
}

/// State of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteState {
    /// Number of the site.
    pub site: u32,
    /// Observed subjects, as far as a reader may change them.
    pub observed: Observed,
    /// True if a profiler of the program observes the site as well. A reader cannot change that.
    pub kept: bool,
}

impl SiteState {
    /// Returns the id of the site.
    pub fn site(&self) -> SiteId {
        SiteId(self.site)
    }
}

/// Answer of a process: the states of the sites, or the reason for a refusal.
pub type ControlAnswer = Result<Vec<SiteState>, String>;

/// Returns the path of the socket beside a recording.
pub fn socket_of(recording: &Path) -> PathBuf {
    let mut name = recording.as_os_str().to_owned();
    name.push(".control");
    PathBuf::from(name)
}
