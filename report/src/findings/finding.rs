//! A finding: its statement, its cost and its evidence.

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{EventId, RecordedSite};

/// Maximum number of events and of subjects that a finding names.
pub(super) const NAMED: usize = 10;

/// Returns true if a part is at least this share of the whole, in percent. Products have 128 bits,
/// because numbers of a damaged recording may be of any size.
pub(super) fn is_share(part: u64, whole: u64, percent: u64) -> bool {
    u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

/// Sentence about a program that is true of its recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Word of the kind: `repeated`.
    pub kind: String,
    /// One sentence in the words of the domain, without a full stop.
    pub title: String,
    /// Sites that the finding is about, the most important first.
    pub sites: Vec<FoundSite>,
    /// Subjects that the finding is about.
    pub subjects: FoundSubjects,
    /// Cost of the finding.
    pub cost: Cost,
    /// Evidence for the finding.
    pub evidence: Evidence,
    /// How certain the finding is.
    pub certainty: Certainty,
    /// Usual remedy.
    pub advice: String,
    /// Advice for a recording that makes the finding more certain; empty if nothing would help.
    pub needs: String,
    /// Name of the finding, which is the same in every run of the program.
    pub fingerprint: String,
    /// Number of the finding that implies this one, in the list of all findings.
    pub implied_by: Option<usize>,
    /// True if the finding costs less than the least share of the time and of the events.
    pub is_small: bool,
    /// Whether anybody has to look at the finding.
    pub state: State,
}

/// State of a finding: whether anybody has to look at it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// The finding is new, or there is no baseline.
    #[default]
    Open,
    /// The baseline has the finding.
    Known,
    /// `metaspy.toml` accepts the finding for this reason.
    Accepted(String),
}

/// Site of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSite {
    /// Number of the site in the recording.
    pub id: SiteId,
    /// Whole path of the site.
    pub path: String,
    /// Source file; empty if it is unknown.
    pub file: String,
    /// First line of the site; 0 if it is unknown.
    pub line: u32,
}

/// Subjects of a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSubjects {
    /// Name of the kind of the subjects; empty if there are no subjects or several kinds.
    pub kind: String,
    /// Number of all subjects.
    pub count: u64,
    /// Subjects with the most events, in descending order.
    pub worst: Vec<FoundSubject>,
}

/// Subject of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSubject {
    /// The subject itself.
    pub subject: Subject,
    /// Label, or kind and key.
    pub text: String,
    /// Number of events of the subject that the finding is about.
    pub events: u64,
}

/// Cost of a finding: an upper bound of the saving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Nanoseconds; `None` if the events are not timed.
    pub time_ns: Option<u64>,
    /// Time of which `time_ns` is a part.
    pub of: Whole,
    /// Number of events.
    pub events: u64,
    /// Share of the time, in millionths; 0 if it is unknown.
    pub time_ppm: u32,
    /// Share of the events, in millionths.
    pub events_ppm: u32,
    /// True if the numbers are lower bounds, because a part of the calls left the window, was lost,
    /// or was only counted.
    pub at_least: bool,
}

/// Time that a cost is a part of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whole {
    /// Self time of all calls.
    #[default]
    Work,
    /// Time from begin to end of all roots, with the time in which they wait.
    Roots,
    /// Time for which threads were recorded, in nanoseconds: all threads, or the threads of the
    /// events.
    Threads(u64),
}

impl Whole {
    /// Returns the word in JSON and in tables.
    pub fn word(self) -> &'static str {
        match self {
            Whole::Work => "work",
            Whole::Roots => "roots",
            Whole::Threads(_) => "threads",
        }
    }
}

/// Evidence for a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// One or two sentences with exact numbers.
    pub text: String,
    /// Named numbers, for programs.
    pub numbers: Vec<(&'static str, u64)>,
    /// Events of the finding, the first ones, at most ten.
    pub events: Vec<EventId>,
    /// Filter that selects all events of the finding, and perhaps others that the text counts.
    pub filter: String,
}

/// Certainty of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The finding is true, and its numbers are exact. The text names the exact numbers.
    Proved(String),
    /// The finding is true, and its numbers are lower bounds. The text states the reason.
    AtLeast(String),
    /// The finding may be false. The text states the missing knowledge. Estimated findings fail no
    /// check.
    Estimated(String),
}

impl Finding {
    /// Creates a finding of a kind, about these sites.
    pub fn new(kind: &str, title: impl Into<String>, sites: Vec<FoundSite>) -> Finding {
        Finding {
            kind: kind.to_owned(),
            title: title.into(),
            sites,
            subjects: FoundSubjects::default(),
            cost: Cost::default(),
            evidence: Evidence::default(),
            certainty: Certainty::Proved("counts exact".to_owned()),
            advice: String::new(),
            needs: String::new(),
            fingerprint: String::new(),
            implied_by: None,
            is_small: false,
            state: State::Open,
        }
    }

    /// Returns true if the finding is worth a look: it is not small, not known and not accepted.
    pub fn is_listed(&self) -> bool {
        !self.is_small && self.state.is_open()
    }

    /// Computes the fingerprint from the kind, the paths of the sites and the kind of the subjects.
    /// It is the same in every run.
    pub(super) fn computed_fingerprint(&self) -> String {
        let texts =
            self.sites.iter().map(|site| &site.path).chain([&self.kind, &self.subjects.kind]);
        let bytes = texts.flat_map(|text| text.bytes().chain([0]));
        // FNV-1a, because its numbers are the same on every machine and in every version.
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{}-{hash:016x}", self.kind)
    }
}

impl FoundSite {
    /// Returns a site as it is named in a finding.
    pub(super) fn of_site(site: &RecordedSite) -> FoundSite {
        FoundSite {
            id: site.id,
            path: site.path.clone(),
            file: site.file.clone(),
            line: site.lines.0,
        }
    }

    /// Returns the named item of a path that is no recorded site, such as a trait.
    pub(super) fn of_path(path: &str) -> FoundSite {
        FoundSite { id: SiteId(0), path: path.to_owned(), file: String::new(), line: 0 }
    }
}

impl State {
    /// Returns true if the finding is neither known nor accepted.
    pub fn is_open(&self) -> bool {
        *self == State::Open
    }

    /// Returns the word of the state.
    pub fn word(&self) -> &'static str {
        match self {
            State::Open => "open",
            State::Known => "known",
            State::Accepted(_) => "accepted",
        }
    }
}

impl Cost {
    /// Returns a cost in events that are not timed.
    pub fn of_events(events: u64) -> Cost {
        Cost { events, ..Cost::default() }
    }

    /// Returns a cost in self time of events.
    pub fn of_work(time_ns: u64, events: u64) -> Cost {
        Cost { time_ns: Some(time_ns), events, ..Cost::default() }
    }

    /// Returns a cost in time for which roots wait.
    pub(crate) fn of_waiting(time_ns: u64, events: u64) -> Cost {
        Cost { time_ns: Some(time_ns), of: Whole::Roots, events, ..Cost::default() }
    }

    /// Returns true if a fix would have saved nothing in this run.
    pub fn is_none(&self) -> bool {
        self.time_ns.is_none() && self.events == 0
    }

    /// Returns the larger of both shares, in millionths.
    pub fn share_ppm(&self) -> u32 {
        self.time_ppm.max(self.events_ppm)
    }
}

impl Evidence {
    /// Creates evidence from sentences and the filter of its events.
    pub fn new(text: impl Into<String>, filter: impl Into<String>) -> Evidence {
        Evidence { text: text.into(), filter: filter.into(), ..Evidence::default() }
    }
}

impl Certainty {
    /// Returns the word of the certainty.
    pub fn word(&self) -> &'static str {
        match self {
            Certainty::Proved(_) => "proved",
            Certainty::AtLeast(_) => "at least",
            Certainty::Estimated(_) => "estimated",
        }
    }

    /// Returns the reason for the certainty.
    pub fn reason(&self) -> &str {
        match self {
            Certainty::Proved(reason)
            | Certainty::AtLeast(reason)
            | Certainty::Estimated(reason) => reason,
        }
    }
}
