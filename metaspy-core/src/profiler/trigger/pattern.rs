//! The progress of a pattern for each subject.

use std::collections::{HashMap, VecDeque};

use crate::event::Event;
use crate::subject::Subject;

/// Maximum number of subjects that are tracked at once.
const SUBJECTS: usize = 1 << 16;
/// Maximum number of times that are kept for all subjects together.
const MOMENTS: u64 = 1 << 20;
/// The largest count with a time limit.
const TIMES_MAX: u64 = 1 << 16;
/// Events of a count that are kept for the action.
const REMEMBERED: usize = 1_000;

/// A pattern.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    pub what: What,
    /// ns between the ends of the first event and the last.
    pub within: Option<u64>,
    pub per_subject: bool,
    /// The filter that restarts it.
    pub unless: Option<usize>,
}

/// The kinds of patterns.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// This number of events that pass the first filter.
    Count(u64),
    /// This number of filters in order.
    Sequence(usize),
    /// The first filter and not the second.
    Expect,
}

/// An event, its end, and the filters that it passed.
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

    /// True if it would have to keep too many times.
    pub fn is_too_long(&self) -> bool {
        matches!(self.what, What::Count(times) if self.within.is_some() && times > TIMES_MAX)
    }

    fn new(what: What) -> Self {
        Pattern { what, within: None, per_subject: false, unless: None }
    }
}

/// A pattern and its progress.
pub(super) struct Patterns {
    pattern: Pattern,
    progress: HashMap<Option<Subject>, Progress>,
}

/// The progress for one subject.
#[derive(Default)]
struct Progress {
    /// The events of a sequence; the last events of a count.
    met: VecDeque<Event>,
    /// For a sequence, the end of its first event; for a count with a time limit, the end of each
    /// event.
    ends: VecDeque<u64>,
    /// The count, if it has no time limit.
    times: u64,
}

impl Patterns {
    pub fn new(pattern: Pattern) -> Self {
        Patterns { pattern, progress: HashMap::new() }
    }

    /// Adds an event. Returns the events of the match if it completes the pattern.
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

    /// Removes progress that cannot become a match any more.
    fn forget_old(&mut self, now_ns: u64) {
        let Some(within) = self.pattern.within else { return };
        let is_near = |progress: &Progress| {
            progress.ends.back().is_some_and(|end| now_ns.saturating_sub(*end) <= within)
        };
        self.progress.retain(|_, progress| is_near(progress));
    }
}

impl Progress {
    /// True if the count is reached within the time.
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

    /// True if this was the last step.
    fn step(&mut self, moment: Moment<'_>, steps: usize, within: Option<u64>) -> bool {
        let passed = |filter: usize| moment.passed >> filter & 1 == 1;
        let is_late = |first: &u64| {
            within.is_some_and(|within| moment.end_ns.saturating_sub(*first) > within)
        };
        if self.ends.front().is_some_and(is_late) {
            (self.met, self.ends) = Default::default();
        }
        if passed(self.met.len()) {
            if self.met.is_empty() {
                self.ends.push_back(moment.end_ns);
            }
            self.met.push_back(*moment.event);
        } else if self.met.len() == 1 && passed(0) {
            // The later start has more time left.
            (self.met[0], self.ends[0]) = (*moment.event, moment.end_ns);
        }
        self.met.len() == steps
    }
}
