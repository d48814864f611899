//! Profiles: the results of profilers.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::event::EventId;
use crate::method_profilers::{MethodProfiler, MethodsRun, Mirror, Observer, Observing};
use crate::profiler::View;
use crate::recorder::Boundary;
use crate::recording::Recording;
use crate::store::{self, By, Measure, Scope, Shares, Store, TallyRow};
use crate::subject::Identify;

/// The result of one profiler: counts and times by subject, site or cause, and the events
/// themselves.
///
/// It reads the recording on each request, so taking it costs nothing. If another recording has
/// begun while the profiler was installed, the profile ends there, and its counts are lower bounds.
#[derive(Clone)]
pub struct Profile {
    view: View,
    recording: Recording,
    /// Read at the first request: names, views and epochs become more with each installation.
    store: OnceLock<Store>,
    scope: Scope,
    /// The epochs of the scope: while they are held, their rows are not merged with others.
    _boundaries: Vec<Arc<Boundary>>,
    method_profilers: Vec<Arc<dyn Observer>>,
    installation: u64,
    /// It has more than it should: the event that it is about found no room.
    is_too_wide: bool,
}

impl Profile {
    pub(crate) fn new(
        view: View,
        recording: Recording,
        scope: Scope,
        boundaries: Vec<Arc<Boundary>>,
        method_profilers: Vec<Arc<dyn Observer>>,
        installation: u64,
    ) -> Self {
        Profile {
            view,
            recording,
            store: OnceLock::new(),
            scope,
            _boundaries: boundaries,
            method_profilers,
            installation,
            is_too_wide: false,
        }
    }

    /// Narrows the profile to `root` and its effects. Without a root, because it found no room in
    /// the log, the profile stays as wide as it was, and is not exact.
    pub(crate) fn narrowed_to(mut self, root: Option<EventId>) -> Self {
        (self.scope.under, self.is_too_wide) = (root, root.is_none());
        self
    }

    /// The profiler's view.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The recording that it reads.
    pub fn store(&self) -> &Store {
        self.store.get_or_init(|| self.recording.store())
    }

    /// Which events belong to it. It is valid as long as the profile: later its epochs may be
    /// merged with others.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Counts, outcomes and times.
    pub fn counts(&self) -> Counts<'_> {
        Counts { profile: self }
    }

    /// The methods that ran, by the counts of this profile.
    pub fn methods_run(&self) -> MethodsRun {
        let rows = self.counts().by_site().rows;
        MethodsRun(
            rows.iter().filter(|row| row.measure.count > 0).filter_map(|row| row.site).collect(),
        )
    }

    /// The tables of its method profilers.
    pub fn tables(&self) -> Vec<store::Profile> {
        let mut profiles = self.store().profiles();
        profiles.retain(|profile| u64::from(profile.installation) == self.installation);
        profiles
    }

    /// The packages, types and methods of the program, with the data of a method profiler of this
    /// type.
    pub fn mirror<P: MethodProfiler>(&self) -> Option<Arc<Mirror<P>>> {
        self.find().map(|found| Arc::clone(&found.mirror))
    }

    /// The method profiler of this type.
    pub fn method_profiler<P: MethodProfiler>(&self) -> Option<Arc<P>> {
        self.find().map(|found| Arc::clone(&found.profiler))
    }

    fn find<P: MethodProfiler>(&self) -> Option<&Observing<P>> {
        self.method_profilers
            .iter()
            .find_map(|observer| (observer.as_ref() as &dyn Any).downcast_ref())
    }

    /// Calls on one subject, at all sites of the profile.
    pub fn count_of(&self, subject: impl Identify) -> u64 {
        self.counts().by_subject().of(subject.identify()).map_or(0, |row| row.measure.count)
    }
}

impl fmt::Debug for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Profile").field("view", &self.view).finish_non_exhaustive()
    }
}

/// The numbers of a profile, to be grouped.
#[derive(Clone, Copy, Debug)]
pub struct Counts<'a> {
    profile: &'a Profile,
}

impl<'a> Counts<'a> {
    /// One row per subject.
    pub fn by_subject(self) -> Rows<'a> {
        self.by(By::Subject)
    }

    /// One row per site.
    pub fn by_site(self) -> Rows<'a> {
        self.by(By::Site)
    }

    /// One row per site of a root cause.
    pub fn by_cause(self) -> Rows<'a> {
        self.by(By::RootCause)
    }

    /// One row per site of a direct cause, which is the sender or the caller. Calls without one
    /// have the row without a site.
    pub fn by_sender(self) -> Rows<'a> {
        self.by(By::Sender)
    }

    /// One row per site and subject.
    pub fn by_site_and_subject(self) -> Rows<'a> {
        self.by(By::SiteSubject)
    }

    /// Calls altogether.
    pub fn total(self) -> u64 {
        self.by_site().rows.iter().map(|row| row.measure.count).sum()
    }

    fn by(self, by: By) -> Rows<'a> {
        let lease = self.profile.recording.lease();
        let tally = self.profile.store().tally(by, &self.profile.scope);
        drop(lease);
        // Calls that a later recording has are not counted.
        let is_whole = self.profile.recording.log().is_whole_until(self.profile.scope.epochs.end);
        let shares = tally.shares();
        let mut rows = tally.rows;
        rows.sort_by_key(|row| std::cmp::Reverse((row.measure.count, row.measure.total_ticks)));
        Rows {
            profile: self.profile,
            exact: tally.exact && is_whole && !self.profile.is_too_wide,
            rows_exact: tally.rows_exact && is_whole,
            shares,
            rows,
        }
    }
}

/// Rows of a profile, most calls first. Printing it makes a table.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    profile: &'a Profile,
    /// True if the counts are exact; otherwise they are lower bounds.
    pub exact: bool,
    /// True if the count of each row that is not marked as a lower bound is exact.
    rows_exact: bool,
    /// The shares of the rows, in percent.
    pub shares: Shares,
    /// The rows.
    pub rows: Vec<TallyRow>,
}

impl Rows<'_> {
    /// The first `n` rows.
    pub fn top(mut self, n: usize) -> Self {
        self.rows.truncate(n);
        self
    }

    /// The row of a subject.
    pub fn of(&self, subject: impl Identify) -> Option<&TallyRow> {
        let subject = Some(subject.identify());
        self.rows.iter().find(|row| row.subject == subject)
    }

    /// The row of a site, by the end of its path.
    pub fn at(&self, path: &str) -> Option<&TallyRow> {
        let selector: crate::Selector = path.parse().ok()?;
        self.rows.iter().find(|row| {
            row.site.is_some_and(|site| selector.matches(self.profile.store().site_path(site)))
        })
    }

    /// Returns the subject or site of a row, as text.
    pub fn name(&self, row: &TallyRow) -> String {
        let store = self.profile.store();
        match (row.site, row.subject) {
            (Some(site), Some(subject)) => {
                format!("{} {}", store.site_path(site), store.subject_text(subject))
            }
            (Some(site), None) => store.site_path(site).to_owned(),
            (None, Some(subject)) => store.subject_text(subject),
            (None, None) => "(nobody)".to_owned(),
        }
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, row: &TallyRow, width: usize) -> fmt::Result {
        let Measure { count, timed, total_ticks, window_self_ticks, max_ticks, .. } = row.measure;
        let sign = if self.rows_exact && !row.measure.at_least { ' ' } else { '≥' };
        let percent =
            |share: Option<f64>| share.map_or("–".to_owned(), |share| format!("{share:.1}"));
        let calls = percent(self.shares.calls(&row.measure));
        write!(f, "{:<width$}  {sign}{count:>10} {calls:>5}", self.name(row))?;
        if timed == 0 {
            return writeln!(f, "  {:>11} {:>11} {:>5} {:>11}", "–", "–", "–", "–");
        }
        let is_partial = row.measure.is_partly_timed();
        let ms = |sign, ticks| {
            format!("{sign}{:.3} ms", self.profile.store().span_ns(ticks) as f64 / 1e6)
        };
        let at_least = |ticks| ms(if is_partial { "≥" } else { "" }, ticks);
        // Without the calls that have left the window, it is a lower bound; calls that were not
        // timed may be in it.
        let own_sign = if is_partial { "~" } else { row.measure.self_ticks.map_or("≥", |_| "") };
        let (own, own_share) =
            (ms(own_sign, window_self_ticks), percent(self.shares.self_time(&row.measure)));
        let total = ms(row.measure.total_sign(), total_ticks);
        writeln!(f, "  {total:>11} {own:>11} {own_share:>5} {:>11}", at_least(max_ticks))
    }
}

impl fmt::Display for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.rows.is_empty() {
            return writeln!(f, "nothing was observed");
        }
        let width =
            self.rows.iter().map(|row| self.name(row).chars().count()).max().unwrap_or(0).max(4);
        let titles = ["count", "%", "total", "self", "%", "longest"];
        let [count, calls, total, own, own_share, longest] = titles;
        writeln!(
            f,
            "{:<width$}  {count:>11} {calls:>5}  {total:>11} {own:>11} {own_share:>5} {longest:>11}",
            "what"
        )?;
        self.rows.iter().try_for_each(|row| self.line(f, row, width))
    }
}
