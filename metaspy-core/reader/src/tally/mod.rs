//! Tallies: counts, outcomes and times by site, subject or root cause, in the window and beyond it.
//!
//! Events in the window are counted there. Events that left it are in the fold table. Calls without
//! an event are in the pages of the lanes. Each call is in exactly one of the three.

pub(crate) mod aggregate;
pub(crate) mod bounds;
pub(crate) mod chains;
mod cover;
pub(crate) mod first_rows;
pub(crate) mod groups;
mod lower_bounds;
pub(crate) mod self_time;
pub(crate) mod shares;

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use std::time::{Duration, Instant};

use crate::Store;
use crate::causes::roots::Roots;
use crate::event::EventId;
use crate::filter::Filter;
use crate::filter::matcher::{Matcher, Members};
use crate::measure::Measure;
use crate::parallel;
use crate::ring::blocks::Ring;
use crate::ring::counts::{Levels, SubjectCounts};
use crate::ring::fold::{RowWords, Source};
use crate::ring::folds::Folds;
use crate::ring::links::Links;
use crate::store::subject::OTHERS_KIND;
use crate::tally::aggregate::{Aggregation, PartialTally};
use crate::tally::first_rows::Share;
use crate::tally::shares::Shares;
use metaspy_format::row::{self, Again};
use metaspy_format::slot::ALL_OUTCOMES;
use metaspy_format::superblock as sb;
use metaspy_probe::SiteId;
use metaspy_probe::Subject;

/// Grouping of a tally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A row for each site.
    Site,
    /// A row for each subject.
    Subject,
    /// A row for each subject at each site.
    SiteSubject,
    /// A row for each site of a root cause. Links are also reasons, so a call can have several root
    /// causes. It is then in the row of each.
    RootCause,
    /// A row for each site of a direct cause: the sender of an announcement, the caller of a
    /// method.
    Sender,
    /// A row for each subject at each site of a direct cause: the object that asked.
    SenderSubject,
}

impl By {
    /// Returns true if rows are about the subjects of calls.
    fn is_of_subjects(self) -> bool {
        matches!(self, By::Subject | By::SiteSubject)
    }

    /// Returns true if rows are about the direct causes of calls.
    fn is_of_senders(self) -> bool {
        matches!(self, By::Sender | By::SenderSubject)
    }
}

/// Numbers that a tally contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetailLevel {
    /// Counts only, as fast as memory is read. Times and outcomes are 0.
    Counts,
    /// Counts, outcomes and times.
    #[default]
    All,
}

/// Calls that a tally contains.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Only calls that pass the filter.
    pub filter: Filter,
    /// Only calls that began in these epochs.
    pub epochs: Range<u32>,
    /// Only direct and indirect effects of this event, by cause or by link. The event itself is
    /// left out.
    pub under: Option<EventId>,
    /// Also calls of handlers and of metaspy itself. A filter with a `level:` term takes
    /// precedence.
    pub meta: bool,
    /// Only calls of the members of a view; `None` = no restriction.
    pub members: Option<Members>,
    /// Numbers that the tally contains.
    pub detail: DetailLevel,
}

impl Default for Scope {
    /// Selects every call of the application.
    fn default() -> Self {
        Scope {
            filter: Filter::all(),
            epochs: 0..u32::MAX,
            under: None,
            meta: false,
            members: None,
            detail: DetailLevel::All,
        }
    }
}

impl Scope {
    /// Selects every call that passes the filter.
    pub fn matching(filter: Filter) -> Self {
        Scope { filter, ..Self::default() }
    }

    /// Returns the levels that count if the filter has no `level:` term.
    fn levels(&self) -> RangeInclusive<u8> {
        if self.meta { 0..=3 } else { 0..=0 }
    }

    /// Returns true if only the filter restricts the calls.
    fn is_plain(&self) -> bool {
        let every_epoch = self.epochs.start == 0 && self.epochs.end == u32::MAX;
        every_epoch && self.under.is_none()
    }
}

/// Stands in place of the site of a direct cause for calls without a cause.
pub const NO_CAUSE: SiteId = SiteId(u32::MAX - 1);
/// Stands in place of the site of a direct cause that is an event of another process.
pub const REMOTE_CAUSE: SiteId = SiteId(u32::MAX - 2);

/// Row of a tally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TallyRow {
    /// Site, if the grouping has sites. For a cause, `None` means that it left the window. A direct
    /// cause may also be [`NO_CAUSE`] or [`REMOTE_CAUSE`].
    pub site: Option<SiteId>,
    /// Subject, if the grouping has subjects; `None` for calls without a subject.
    pub subject: Option<Subject>,
    /// Numbers of the row.
    pub measure: Measure,
}

impl TallyRow {
    /// Returns true if the row stands for the subjects of a site without a row of their own.
    pub fn is_others(&self) -> bool {
        self.subject.is_some_and(|subject| subject.kind == OTHERS_KIND)
    }
}

/// Calls by site, subject or cause. The row with most calls is first.
///
/// ```no_run
/// use metaspy_reader::{By, DetailLevel, Scope, Store};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Store::open("run.spy".as_ref())?;
/// let scope = Scope { detail: DetailLevel::Counts, ..Scope::matching("site:Scene::**".parse()?) };
/// let tally = store.tally(By::Subject, &scope);
/// for row in tally.rows.iter().take(10) {
///     let subject = row.subject.map_or("no subject".to_owned(), |subject| store.subject_text(subject));
///     println!("{subject}: {}{} calls", row.measure.sign(), row.measure.count);
/// }
/// println!("every call is counted: {}", tally.exact);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Rows of the tally, in descending order of calls.
    pub rows: Vec<TallyRow>,
    /// Number of calls that may be selected and are not counted: a condition of the filter is
    /// unknown for calls without an event in the window, or the calls were counted without site and
    /// subject. `None` if their number is not known either.
    pub unknown: Option<u64>,
    /// True if every selected call is counted, once. False if the filter has a condition that
    /// folded calls do not record, if some calls were counted without site and subject
    /// ([`Totals::unnamed`](crate::Totals)), or if a live recording changed during the reading.
    pub exact: bool,
    /// True if `exact` holds, except that some subjects may share the row of others. Each row that
    /// may lack calls is marked ([`Measure::at_least`](crate::Measure::at_least)).
    pub rows_exact: bool,
    /// True if self time is known for every timed call.
    pub self_exact: bool,
    /// Number of calls with several root causes. They are in several rows of [`By::RootCause`].
    pub shared: u64,
    /// Amount by which the rows together exceed all calls, because some calls are in several rows.
    pub(crate) repeated: Shares,
}

impl Tally {
    /// Marks all rows as lower bounds if the root or direct cause of some calls left the window,
    /// since these may belong to any row.
    fn mark_unknown_causes(&mut self) {
        if !self.rows.iter().any(|row| row.site.is_none() && row.measure.count > 0) {
            return;
        }
        self.rows
            .iter_mut()
            .filter(|row| row.site.is_some())
            .for_each(|row| row.measure.at_least = true);
        self.exact = false;
    }

    /// Returns the shares of the rows, in percent of all calls.
    pub fn shares(&self) -> Shares {
        Shares::of(self.rows.iter().map(|row| &row.measure)).without(&self.repeated)
    }
}

/// Maximum time for which a live recording that changes during the reading is read again.
const PATIENCE: Duration = Duration::from_millis(100);

impl Store {
    /// Adds up counts, outcomes and times of calls.
    pub fn tally(&self, by: By, scope: &Scope) -> Tally {
        let ring = self.ring();
        let began = Instant::now();
        loop {
            let before = ring.fold_state();
            let mut tally = self.tally_once(by, scope);
            let settled = ring.fold_state() == before;
            if settled || began.elapsed() > PATIENCE {
                // Not exact if the file was truncated, if subjects were merged into a site's row of
                // others, or if some calls were counted without site and subject.
                let others = tally.rows.iter().any(TallyRow::is_others);
                // A filter of subjects leaves the rows of others undecided.
                if others || tally.unknown != Some(0) {
                    self.mark_lower_bounds(&mut tally, by, scope, &ring.folds());
                }
                if self.unnamed() > 0 {
                    // These calls may belong to any site and subject.
                    tally.rows.iter_mut().for_each(|row| row.measure.at_least = true);
                }
                let is_complete =
                    tally.exact && settled && self.missing().is_empty() && self.is_settled();
                tally.unknown = tally
                    .unknown
                    .filter(|_| is_complete)
                    .map(|calls| calls.saturating_add(self.unnamed()));
                tally.rows_exact = tally.unknown == Some(0);
                tally.exact = tally.rows_exact && !others;
                if by == By::RootCause || by.is_of_senders() {
                    tally.mark_unknown_causes();
                }
                self.limit_totals(tally.rows.iter_mut().map(|row| &mut row.measure));
                return tally;
            }
        }
    }

    fn tally_once(&self, by: By, scope: &Scope) -> Tally {
        self.part_of(by, scope, Share::ALL).into_tally(by, scope.detail)
    }

    /// Adds up the rows of a share of the subjects.
    fn part_of(&self, by: By, scope: &Scope, share: Share) -> PartialTally {
        let ring = self.ring();
        let folds = &ring.folds();
        let matcher = self.compile(&scope.filter, scope.levels()).among(scope.members.as_ref());
        let follows_reasons =
            scope.under.is_some() || by == By::RootCause || matcher.follows_reasons();
        let links = if follows_reasons { self.all_links() } else { Links::none() };
        let asyncs = self.asyncs();
        let levels = matcher.only_levels().filter(|_| scope.is_plain()).map(Levels::new);
        let plain = levels.filter(|_| by != By::RootCause);
        let aggregation = Aggregation {
            ring,
            by,
            matcher: &matcher,
            scope,
            plain,
            links: &links,
            roots: &Roots::below(scope.under),
            folds,
            asyncs: &asyncs,
            share,
        };
        let mut part = match (scope.detail, by, levels) {
            (DetailLevel::Counts, By::Site, Some(levels)) => counts_by_site(ring, folds, levels),
            (DetailLevel::Counts, By::Subject, Some(levels)) => {
                counts_by_subject(ring, folds, levels)
            }
            (DetailLevel::Counts, ..) => aggregation.counts(),
            (DetailLevel::All, ..) => aggregation.all(),
        };
        self.add_rows(&mut part, by, scope, &matcher, folds);
        part
    }

    /// Adds the calls without an event in the window.
    fn add_rows(
        &self,
        part: &mut PartialTally,
        by: By,
        scope: &Scope,
        matcher: &Matcher,
        folds: &Folds,
    ) {
        let ring = self.ring();
        let outcomes = matcher.outcomes();
        let asyncs = self.asyncs();
        let asks_for_failures = matcher.asks_for_failures();
        // The hooks of these sites do not see the ends of calls, or their return values.
        let unseeing: HashSet<u32> = self
            .sites()
            .iter()
            .filter(|site| !site.knows_outcomes() || asks_for_failures && !site.sees_failures())
            .map(|site| site.id.0)
            .collect();
        let counts_once = self.counts_time_once();
        let mut again: Vec<(Again, RowWords)> = Vec::new();
        let mut add = |row: RowWords, source: Source| {
            let who = row.who();
            if !contains_epoch(&scope.epochs, who.epoch) {
                return;
            }
            if let Some(kind) = row.again() {
                again.push((kind, row));
                return;
            }
            let subject = row.subject();
            let all = row.measure(source);
            let knows_outcomes = outcomes == ALL_OUTCOMES || !unseeing.contains(&who.site);
            let chosen = if knows_outcomes { row.measure_of(source, outcomes) } else { None };
            // A row without a call of its own has ends of calls that other rows count.
            let unknown = if all.count == 0 { all.running.wrapping_neg() } else { all.count };
            match (
                matcher.selects_in_row(who.site, subject, who.epoch, who.meta, Some(&all)),
                chosen,
            ) {
                // The causes of these calls are unknown.
                (Some(true), _) if scope.under.is_some() => {
                    part.unknown = part.unknown.saturating_add(all.count)
                }
                (Some(true), Some(measure)) if measure == Measure::default() => {}
                // The end of an event that moved to another thread: the event itself is in the row
                // of its cause.
                (Some(true), Some(_)) if by.is_of_senders() && all.count == 0 => part.exact = false,
                (Some(true), Some(measure)) => {
                    // The causes left the window with the calls.
                    let site = if by == By::RootCause || by.is_of_senders() {
                        None
                    } else {
                        Some(who.site)
                    };
                    let subject = subject.filter(|_| !by.is_of_senders());
                    let at = part.row(by, site, subject);
                    let is_async = asyncs.get(who.site as usize).copied().unwrap_or(false);
                    let is_shared = who.kind == row::OTHERS && by != By::Site;
                    let Some(cell) = part.cells.get_mut(at) else { return };
                    cell.without_self |= all.timed != 0;
                    let is_mixed = by == By::RootCause || by.is_of_senders();
                    cell.at_most |=
                        all.timed != 0 && (!counts_once || is_async || is_shared || is_mixed);
                    let sums = &mut cell.rare().measure;
                    sums.add(&measure);
                    if is_async {
                        sums.wall_ticks = sums.wall_ticks.wrapping_add(measure.total_ticks);
                    }
                }
                (Some(false), _) => {}
                (None, _) | (_, None) => part.unknown = part.unknown.saturating_add(unknown),
            }
        };
        ring.folded_rows(folds, |row| add(row, Source::Folded));
        let whole = ring.page_rows(folds, |row| add(row, Source::Page));
        part.exact &= whole;
        for (kind, row) in again {
            add_again(part, by, scope, matcher, kind, &row);
        }
    }

    /// Limits the totals that may contain time twice: no row has more time than its lanes.
    fn limit_totals<'m>(&self, measures: impl Iterator<Item = &'m mut Measure>) {
        let header = self.header();
        let ran = header.last_tick.saturating_sub(header.first_tick);
        let most = ran.saturating_mul(self.words().get(sb::LANES_USED));
        if most == 0 || self.is_live() {
            return;
        }
        for measure in measures.filter(|measure| measure.total_at_most) {
            measure.total_ticks = measure.total_ticks.min(most);
        }
    }

    /// Returns true if folded calls inside another call of the same row add no time to it. Older
    /// recordings add up all calls.
    pub(crate) fn counts_time_once(&self) -> bool {
        metaspy_format::low(self.words().get(sb::VERSION)) >= sb::MINOR_NESTING
    }
}

/// Takes ticks from a row that counts them already, or notes that it may count them twice.
fn add_again(
    part: &mut PartialTally,
    by: By,
    scope: &Scope,
    matcher: &Matcher,
    kind: Again,
    row: &RowWords,
) {
    let who = row.who();
    if who.meta && !scope.meta && !scope.filter.mentions_level() {
        return;
    }
    let is_known = who.kind != row::OTHERS && scope.is_plain() && scope.members.is_none();
    let (site, subject, is_whole) = match kind {
        _ if who.kind == row::OTHERS => (None, None, false),
        Again::InSite | Again::MaybeInSite => {
            (Some(row.0[row::KEY] as u32), None, matcher.selects_whole_sites())
        }
        Again::InSubject | Again::MaybeInSubject => {
            (None, row.subject(), matcher.selects_whole_subjects())
        }
    };
    match (kind, by) {
        (Again::InSite, By::Subject) | (Again::InSubject, By::Site) if who.kind != row::OTHERS => {}
        (Again::InSite | Again::InSubject, By::SiteSubject) => {}
        (Again::MaybeInSubject, By::Site) if who.kind != row::OTHERS => {}
        (Again::InSite | Again::InSubject, By::Site | By::Subject) if is_known => {
            let at = part.row(by, site, subject);
            let Some(cell) = part.cells.get_mut(at) else { return };
            if is_whole {
                let rare = cell.rare();
                rare.again_ticks = rare.again_ticks.wrapping_add(row.0[row::TOTAL]);
            }
            cell.at_most |= !is_whole;
        }
        (Again::MaybeInSite, By::Site) if is_known => {
            let at = part.row(by, site, subject);
            part.cells[at].at_most = true;
        }
        _ => part.totals_at_most = true,
    }
}

/// Returns true if a row's epoch, of which the low bits are known, is in the range.
fn contains_epoch(epochs: &Range<u32>, epoch: u32) -> bool {
    let length = epochs.end.saturating_sub(epochs.start);
    if epochs.start == 0 && epochs.end == u32::MAX {
        return true;
    }
    // An epoch more than half of all numbers ahead lies behind.
    row::epochs_between(epochs.start, epoch) < length.min(row::EPOCHS / 2)
}

fn counts_by_site(ring: Ring<'_>, folds: &Folds, levels: Levels) -> PartialTally {
    let chunks: Vec<u64> = (0..ring.chunk_count()).collect();
    let threads = parallel::threads_for(chunks.len());
    let parts = parallel::each(&chunks, threads, Vec::new, |counts, &chunk| {
        ring.count_sites(chunk, folds, levels, counts);
    });
    let mut part = PartialTally::new();
    for counts in parts {
        for (site, count) in counts.into_iter().enumerate().filter(|(_, count)| *count != 0) {
            let at = part.row(By::Site, Some(site as u32), None);
            part.cells[at].count(count);
        }
    }
    part
}

fn counts_by_subject(ring: Ring<'_>, folds: &Folds, levels: Levels) -> PartialTally {
    let chunks: Vec<u64> = (0..ring.chunk_count()).collect();
    let threads = parallel::threads_for(chunks.len());
    let parts = parallel::each(&chunks, threads, SubjectCounts::new, |counts, &chunk| {
        ring.count_subjects(chunk, folds, levels, counts);
    });
    let mut parts = parts.into_iter();
    let mut whole = parts.next().unwrap_or_else(SubjectCounts::new);
    parts.for_each(|part| whole.merge(&part));
    let mut part = PartialTally::new();
    for (subject, count) in whole.iter() {
        let at = part.row(By::Subject, None, Some(subject));
        part.cells[at].count(count);
    }
    part
}
