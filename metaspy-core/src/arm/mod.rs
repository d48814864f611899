//! Arming: which subjects are observed at a site, and how closely.
//!
//! A site's words are enough for nearly every call. The arm word is 0 if the site is not armed, the
//! filter selects subjects, and the config word holds the site's number and the mode for all
//! subjects. The [`Plan`] has the rest: modes of chosen subjects, handlers, details. All of them
//! are replaced, never changed in place.

mod group;
mod handler;
mod pattern;
mod registry;
mod settled;
mod site_plan;

pub use group::Group;
pub(crate) use handler::When;
pub use handler::{CallView, Handler};
pub(crate) use pattern::SitePattern;
pub(crate) use registry::{arms, recorded_row};
pub(crate) use settled::{settled, unsettle};
pub use site_plan::Plan;
pub(crate) use site_plan::{Requirements, with_plan};

use std::sync::atomic::Ordering::Relaxed;

use crate::site::Site;
use crate::subject::Subject;

/// How closely a site is observed. Where observers differ the richest mode wins, once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Mode {
    /// Not at all.
    #[default]
    Off = 0,
    /// Counts and outcomes; no clock and no event.
    Tally = 1,
    /// Every call counted and linked, one in n timed.
    Sampled = 2,
    /// Every call an event with its time.
    Full = 3,
}

impl Mode {
    #[inline(always)]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        match bits & 3 {
            0 => Mode::Off,
            1 => Mode::Tally,
            2 => Mode::Sampled,
            _ => Mode::Full,
        }
    }
}

/// Which subjects are observed.
#[derive(Clone)]
#[non_exhaustive]
pub enum Subjects {
    /// All of them, and calls without a subject.
    All,
    /// These.
    Only(Vec<Subject>),
    /// Those for which the predicate holds. It is evaluated once per subject, until the group is
    /// refreshed.
    Group(Group),
}

impl std::fmt::Debug for Subjects {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subjects::All => f.write_str("All"),
            Subjects::Only(subjects) => f.debug_tuple("Only").field(subjects).finish(),
            Subjects::Group(_) => f.write_str("Group(..)"),
        }
    }
}

/// The requirements of an instrumenter on a site.
#[derive(Clone, Debug)]
pub struct Arming {
    /// How closely.
    pub mode: Mode,
    /// The subjects.
    pub subjects: Subjects,
    /// In [`Mode::Sampled`], one call in this many is timed.
    pub sample: u16,
    /// Called in place, before and after each call.
    pub handlers: Vec<Handler>,
    /// True if the arguments and return values that the site offers are recorded.
    pub details: bool,
}

impl Arming {
    /// All subjects, in this mode.
    pub fn all(mode: Mode) -> Self {
        Arming { mode, subjects: Subjects::All, sample: 16, handlers: Vec::new(), details: false }
    }

    /// True if nothing is required but the number of all calls.
    pub(crate) fn only_counts(&self) -> bool {
        let is_tally = self.mode <= Mode::Tally && self.handlers.is_empty() && !self.details;
        is_tally && matches!(self.subjects, Subjects::All)
    }

    /// These subjects, in this mode.
    pub fn only(mode: Mode, subjects: Vec<Subject>) -> Self {
        Arming { subjects: Subjects::Only(subjects), ..Arming::all(mode) }
    }
}

/// The filter of a site that records all subjects.
pub(crate) const ALL_SUBJECTS: u64 = u64::MAX;

/// A site's config word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config(pub u64);

impl Config {
    const MODE: u32 = 20;
    /// The words of a site are enough: every call is an event.
    const SIMPLE: u64 = 1 << 22;
    const INSIDE: u64 = 1 << 23;
    const SAMPLE: u32 = 24;
    const PLAN: u64 = 1 << 40;
    const PROFILED: u64 = 1 << 41;

    /// That of a site.
    #[inline(always)]
    pub fn of(site: &Site) -> Self {
        Config(site.config.load(Relaxed))
    }

    pub fn new(site: u32, plan: &Plan, sample: u16, is_profiled: bool) -> Self {
        let planned = if plan.is_needed() { Self::PLAN } else { 0 };
        let profiled = if is_profiled { Self::PROFILED } else { 0 };
        let is_simple = planned | profiled == 0 && plan.mode() >= Mode::Sampled;
        let simple = if is_simple { Self::SIMPLE } else { 0 };
        let inside = if plan.may_look_inside() { Self::INSIDE } else { 0 };
        let (mode, sample) =
            ((plan.mode() as u64) << Self::MODE, (sample.max(1) as u64) << Self::SAMPLE);
        Config(site as u64 | mode | simple | planned | profiled | inside | sample)
    }

    /// The site's number.
    #[inline(always)]
    pub const fn site(self) -> u32 {
        self.0 as u32 & 0xF_FFFF
    }

    /// The mode for subjects that the plan does not name.
    #[inline(always)]
    pub const fn mode(self) -> Mode {
        Mode::from_bits(self.0 >> Self::MODE)
    }

    /// True if every call is an event, whatever its subject, and neither the plan nor a method
    /// profiler is needed.
    #[inline(always)]
    pub const fn is_simple(self) -> bool {
        self.0 & Self::SIMPLE != 0
    }

    /// True if calls are only counted, whatever their subject, and no method profiler is
    /// interested.
    #[inline(always)]
    pub const fn is_tally(self) -> bool {
        self.0 & (Self::PLAN | Self::PROFILED | 3 << Self::MODE)
            == (Mode::Tally as u64) << Self::MODE
    }

    /// True if the recorder only counts calls, whatever their subject.
    #[inline(always)]
    pub const fn only_counts(self) -> bool {
        self.0 & (Self::PLAN | 3 << Self::MODE) == (Mode::Tally as u64) << Self::MODE
    }

    /// True if the mode for all subjects is [`Mode::Full`].
    #[inline(always)]
    pub const fn is_full(self) -> bool {
        self.mode() as u8 == Mode::Full as u8
    }

    /// True if method profilers are interested in the site.
    #[inline(always)]
    pub const fn is_profiled(self) -> bool {
        self.0 & Self::PROFILED != 0
    }

    /// True if the mode depends on the plan.
    #[inline(always)]
    pub const fn has_plan(self) -> bool {
        self.0 & Self::PLAN != 0
    }

    /// True if there are handlers or details.
    #[inline(always)]
    pub const fn looks_inside(self) -> bool {
        self.0 & Self::INSIDE != 0
    }

    /// One call in this many is timed, when sampled.
    #[inline(always)]
    pub const fn sample(self) -> u32 {
        (self.0 >> Self::SAMPLE) as u16 as u32
    }
}
