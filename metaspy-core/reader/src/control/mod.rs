//! Arming from outside: which sites and subjects a running process observes, changed by a reader of its recording.
//!
//! A process that allows it listens on a Unix socket beside its recording, `run.spy.control`, for its own user only. A
//! connection has one request and one answer, each a line of JSON.

mod client;
mod targets;

pub use client::ControlError;
pub use targets::{TargetError, Targets};

use std::path::{Path, PathBuf};

use metaspy_probe::{KindId, SiteId, Subject};
use serde::{Deserialize, Serialize};

/// The most subjects that a request may name, and that a site remembers one by one.
pub const MOST_SUBJECTS: usize = 1 << 16;
/// The most bytes of a request or of an answer.
pub const MOST_BYTES: usize = 16 << 20;

/// A change of what is observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Nothing: the answer states what is observed.
    #[default]
    Show,
    /// Observe these subjects, too.
    Arm,
    /// Do not observe these subjects.
    Disarm,
    /// Observe these subjects and no others.
    Only,
}

/// A request to a running process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// The change.
    pub change: Change,
    /// The numbers of the sites; none = all sites.
    pub sites: Vec<u32>,
    /// Kind and key of each subject; `None` = all subjects.
    pub subjects: Option<Vec<(u16, u64)>>,
}

impl ControlRequest {
    /// A change at some sites, for some subjects or for all.
    pub fn new(change: Change, targets: &Targets) -> Self {
        let subjects = targets.subjects.as_ref();
        ControlRequest {
            change,
            sites: targets.sites.iter().map(|site| site.0).collect(),
            subjects: subjects.map(|all| all.iter().map(|subject| (subject.kind.0, subject.key)).collect()),
        }
    }

    /// The subjects.
    pub fn subjects(&self) -> Option<Vec<Subject>> {
        Some(self.subjects.as_ref()?.iter().map(|&(kind, key)| Subject::new(KindId(kind), key)).collect())
    }
}

/// The subjects that are observed at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observed {
    /// None.
    Nothing,
    /// All.
    All,
    /// So many.
    Only(usize),
    /// All but so many.
    AllBut(usize),
}

/// What is observed at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteState {
    /// The number of the site.
    pub site: u32,
    /// Its subjects, as far as a reader may change them.
    pub observed: Observed,
    /// True if a profiler of the program observes the site, too. A reader cannot change that.
    pub kept: bool,
}

impl SiteState {
    /// The site.
    pub fn site(&self) -> SiteId {
        SiteId(self.site)
    }
}

/// The answer of a process: the states of the sites, or the reason for a refusal.
pub type ControlAnswer = Result<Vec<SiteState>, String>;

/// The socket beside a recording.
pub fn socket_of(recording: &Path) -> PathBuf {
    let mut name = recording.as_os_str().to_owned();
    name.push(".control");
    PathBuf::from(name)
}
