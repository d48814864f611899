//! How far a pattern has come, for each subject.

use std::collections::{HashMap, VecDeque};

use crate::event::Event;
use crate::subject::Subject;

/// Subjects whose events are looked at at once, at most.
const SUBJECTS: usize = 1 << 16;
/// Moments that are remembered of all subjects together, at most.
const MOMENTS: u64 = 1 << 20;
/// A count within a time goes this far.
const TIMES_MAX: u64 = 1 << 16;
/// Events of a count that are remembered.
const REMEMBERED: usize = 1_000;

/// A pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub what: What,
    /// ns between the ends of the first event and the last.
    pub within: Option<u64>,
    pub per_subject: bool,
    /// The filter that puts it back to its beginning.
    pub unless: Option<usize>,
}

/// What has to be met.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// So many events that pass the first filter.
    Count(u64),
    /// So many filters, one after another.
    Sequence(usize),
    /// The first filter, and not the second.
    Expect,
}

/// An event, when it ended, and which filters it passed.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub event: &'a Event,
    pub end_ns: u64,
    pub passed: u64,
}

impl Pattern {
    pub fn count(times: u64) -> Self {
        Self::new(What::Count(times.max(1)))
    }

    pub fn sequence(steps: usize) -> Self {
        Self::new(What::Sequence(steps))
    }

    pub fn expect() -> Self {
        Self::new(What::Expect)
    }

    /// Whether it would have to remember too much.
    pub fn is_too_long(&self) -> bool {
        matches!(self.what, What::Count(times) if self.within.is_some() && times > TIMES_MAX)
    }

    fn new(what: What) -> Self {
        Pattern { what, within: None, per_subject: false, unless: None }
    }
}

/// A pattern, and how far it has come.
pub(super) struct Patterns {
    pattern: Pattern,
    progress: HashMap<Option<Subject>, Progress>,
}

/// What was met.
#[derive(Default)]
struct Progress {
    /// The steps of a sequence; the last events of a count.
    met: VecDeque<Event>,
    /// Of a sequence when its first event ended; of a count within a time when each did.
    ends: VecDeque<u64>,
    /// Events of a count without a time.
    times: u64,
}

impl Patterns {
    pub fn new(pattern: Pattern) -> Self {
        Patterns { pattern, progress: HashMap::new() }
    }

    /// An event was met: the events of the pattern, if it was the last one of it.
    pub fn meet(&mut self, moment: Moment<'_>) -> Option<Vec<Event>> {
        let passed = |filter: usize| moment.passed >> filter & 1 == 1;
        if let What::Expect = self.pattern.what {
            return (passed(0) && !passed(1)).then(|| vec![*moment.event]);
        }
        let key = moment.event.subject.filter(|_| self.pattern.per_subject);
        if self.pattern.unless.is_some_and(passed) {
            self.progress.remove(&key);
            return None;
        }
        if !self.progress.contains_key(&key) && self.is_full() {
            self.forget_old(moment.end_ns);
            if self.is_full() {
                return None;
            }
        }
        let Pattern { what, within, .. } = self.pattern;
        let progress = self.progress.entry(key).or_default();
        let is_met = match what {
            What::Count(times) => passed(0) && progress.count(moment, times, within),
            What::Sequence(steps) => progress.step(moment, steps, within),
            What::Expect => false,
        };
        if is_met {
            return self.progress.remove(&key).map(|progress| progress.met.into());
        }
        if self.progress.get(&key).is_some_and(|progress| progress.met.is_empty()) {
            self.progress.remove(&key);
        }
        None
    }

    fn is_full(&self) -> bool {
        let each = match self.pattern.what {
            What::Count(times) if self.pattern.within.is_some() => times,
            _ => 1,
        };
        self.progress.len() >= SUBJECTS.min((MOMENTS / each.max(1)) as usize)
    }

    /// Gives up what cannot become a pattern any more.
    fn forget_old(&mut self, now_ns: u64) {
        let Some(within) = self.pattern.within else { return };
        let is_near =
            |progress: &Progress| progress.ends.back().is_some_and(|end| now_ns.saturating_sub(*end) <= within);
        self.progress.retain(|_, progress| is_near(progress));
    }
}

impl Progress {
    /// Whether so many were met within the time.
    fn count(&mut self, moment: Moment<'_>, times: u64, within: Option<u64>) -> bool {
        self.met.push_back(*moment.event);
        if self.met.len() > REMEMBERED {
            self.met.pop_front();
        }
        let Some(within) = within else {
            self.times += 1;
            return self.times >= times;
        };
        self.ends.push_back(moment.end_ns);
        while self.ends.front().is_some_and(|end| moment.end_ns.saturating_sub(*end) > within) {
            self.ends.pop_front();
        }
        while self.met.len() > self.ends.len() {
            self.met.pop_front();
        }
        self.ends.len() as u64 >= times
    }

    /// Whether it was the last step.
    fn step(&mut self, moment: Moment<'_>, steps: usize, within: Option<u64>) -> bool {
        let passed = |filter: usize| moment.passed >> filter & 1 == 1;
        let is_late = |first: &u64| within.is_some_and(|within| moment.end_ns.saturating_sub(*first) > within);
        if self.ends.front().is_some_and(is_late) {
            (self.met, self.ends) = Default::default();
        }
        if passed(self.met.len()) {
            if self.met.is_empty() {
                self.ends.push_back(moment.end_ns);
            }
            self.met.push_back(*moment.event);
        } else if self.met.len() == 1 && passed(0) {
            // The later beginning has more time left.
            (self.met[0], self.ends[0]) = (*moment.event, moment.end_ns);
        }
        self.met.len() == steps
    }
}
