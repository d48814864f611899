//! Tallies: what calls came to, by site, subject or root cause, in the window and beyond it.
//!
//! Counts come from the events in the window, from the fold table for those that left it, and from the pages of the
//! lanes for calls that never were events. A call stands in exactly one of the three.

pub(crate) mod aggregate;
pub(crate) mod fold;
pub(crate) mod measure;
pub(crate) mod row_table;
pub(crate) mod self_time;
pub(crate) mod totals;

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use std::time::{Duration, Instant};

use crate::Store;
use crate::causes::link_effects::link_effects;
use crate::event::EventId;
use crate::filter::Filter;
use crate::filter::matcher::{Matcher, Members};
use crate::names::subject::OTHERS_KIND;
use crate::scan::blocks::Ring;
use crate::scan::{self, Levels, SubjectCounts};
use crate::tally::aggregate::{Aggregation, PartialTally};
use crate::tally::fold::{Pending, Row, Source};
use crate::tally::measure::Measure;
use metaspy_format::row;
use metaspy_probe::SiteId;
use metaspy_probe::Subject;

/// What a tally has a row for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Each site.
    Site,
    /// Each subject.
    Subject,
    /// Each subject at each site.
    SiteSubject,
    /// Each site at which a chain of causes began.
    RootCause,
}

/// How much of each call is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetailLevel {
    /// Its number only, as fast as memory is read; times and outcomes stay 0.
    Counts,
    /// Outcomes and times too.
    #[default]
    All,
}

/// Which calls are tallied.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Those that pass the filter.
    pub filter: Filter,
    /// Those that began in these epochs.
    pub epochs: Range<u32>,
    /// Those that this event led to, however far, by cause or by link; it is not one of them.
    pub under: Option<EventId>,
    /// Those of handlers and of metaspy itself as well; a filter that says something about levels decides instead.
    pub meta: bool,
    /// Those of the members of a view; `None` = of everybody.
    pub members: Option<Members>,
    /// How much of each is wanted.
    pub detail: DetailLevel,
}

impl Default for Scope {
    /// Every call of the application.
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
    /// Every call that passes the filter.
    pub fn matching(filter: Filter) -> Self {
        Scope { filter, ..Self::default() }
    }

    /// The levels that count if the filter says nothing about them.
    fn levels(&self) -> RangeInclusive<u8> {
        if self.meta { 0..=3 } else { 0..=0 }
    }

    /// Whether only the filter decides.
    fn is_plain(&self) -> bool {
        let every_epoch = self.epochs.start == 0 && self.epochs.end == u32::MAX;
        every_epoch && self.under.is_none()
    }
}

/// A row of a tally.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TallyRow {
    /// The site, where rows have one; `None` also where a root cause left the window.
    pub site: Option<SiteId>,
    /// The subject, where rows have one; `None` also for calls about nobody.
    pub subject: Option<Subject>,
    /// What its calls came to.
    pub measure: Measure,
}

impl TallyRow {
    /// Whether it stands for the subjects of a site that found no row of their own. Any other subject's row is then at
    /// least what it says.
    pub fn is_others(&self) -> bool {
        self.subject.is_some_and(|subject| subject.kind == OTHERS_KIND)
    }
}

/// Calls by site, subject or root cause; most calls first.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The rows.
    pub rows: Vec<TallyRow>,
    /// Whether every call that was asked for is in it, once. Not so where a filter asks what is not known of calls
    /// that left the window, where of some calls only the number is known ([`Totals::unnamed`](crate::Totals)),
    /// and where a live recording moved on while it was read.
    pub exact: bool,
    /// Whether self time is known for every timed call.
    pub self_exact: bool,
}

/// How long a live recording is read again because it moved on meanwhile.
const PATIENCE: Duration = Duration::from_millis(100);

impl Store {
    /// What calls came to.
    pub fn tally(&self, by: By, scope: &Scope) -> Tally {
        let ring = self.ring();
        let began = Instant::now();
        loop {
            let before = ring.fold_state();
            let mut tally = self.tally_once(by, scope);
            let settled = ring.fold_state() == before;
            if settled || began.elapsed() > PATIENCE {
                // Of a file that was cut, nobody knows what is missing; a subject may be among the others, too; and
                // calls of which only the number is known may have been anybody's.
                let others = tally.rows.iter().any(TallyRow::is_others);
                let all_told = self.missing().is_empty() && self.unnamed() == 0 && self.is_settled();
                tally.exact &= settled && all_told && !others;
                return tally;
            }
        }
    }

    fn tally_once(&self, by: By, scope: &Scope) -> Tally {
        let ring = self.ring();
        let pending = ring.pending();
        let folded = pending.as_ref().map_or(&[][..], |pending| &pending.blocks);
        let matcher = self.compile(&scope.filter, scope.levels()).among(scope.members.as_ref());
        let link_effects = scope.under.map_or_else(HashSet::new, |under| link_effects(ring, under));
        let asyncs = self.asyncs();
        let levels = matcher.only_levels().filter(|_| scope.is_plain()).map(Levels::new);
        let plain = levels.filter(|_| by != By::RootCause);
        let aggregation = Aggregation {
            ring,
            by,
            matcher: &matcher,
            scope,
            plain,
            link_effects: &link_effects,
            folded,
            asyncs: &asyncs,
        };
        let mut part = match (scope.detail, by, levels) {
            (DetailLevel::Counts, By::Site, Some(levels)) => counts_by_site(ring, folded, levels),
            (DetailLevel::Counts, By::Subject, Some(levels)) => counts_by_subject(ring, folded, levels),
            (DetailLevel::Counts, ..) => aggregation.counts(),
            (DetailLevel::All, ..) => aggregation.all(),
        };
        self.add_rows(&mut part, by, scope, &matcher, pending.as_ref());
        part.into_tally(by, scope.detail)
    }

    /// Adds the calls that have no event in the window.
    fn add_rows(&self, part: &mut PartialTally, by: By, scope: &Scope, matcher: &Matcher, pending: Option<&Pending>) {
        let ring = self.ring();
        let mut add = |row: Row, source: Source| {
            let (who, measure) = (row.who(), row.measure(source));
            if !contains_epoch(&scope.epochs, who.epoch) {
                return;
            }
            let subject = row.subject();
            match matcher.matches_row(who.site, subject, who.epoch, who.meta) {
                // What led to these calls is not known any more.
                Some(true) if scope.under.is_some() => part.exact &= measure.count == 0,
                Some(true) => {
                    // The root of these calls left the window with them.
                    let site = if by == By::RootCause { None } else { Some(who.site) };
                    let at = part.row(by, site, subject);
                    let cell = &mut part.cells[at];
                    cell.without_self |= measure.timed != 0;
                    cell.measure.add(&measure);
                }
                Some(false) => {}
                None => part.exact &= measure.count == 0,
            }
        };
        ring.folded_rows(pending, |row| add(row, Source::Folded));
        let whole = ring.page_rows(|row| add(row, Source::Page));
        part.exact &= whole;
    }

    /// Whether the events of a site are entered and left, by number.
    fn asyncs(&self) -> Vec<bool> {
        let mut asyncs = Vec::new();
        for site in self.sites().iter().filter(|site| site.kind.is_entered()) {
            let at = site.id.0 as usize;
            asyncs.resize(asyncs.len().max(at + 1), false);
            asyncs[at] = true;
        }
        asyncs
    }
}

/// Whether a row's epoch, of which only the low bits are known, is one of these.
fn contains_epoch(epochs: &Range<u32>, epoch: u32) -> bool {
    let length = epochs.end.saturating_sub(epochs.start);
    if epochs.start == 0 && epochs.end == u32::MAX {
        return true;
    }
    // What lies more than half of all numbers away lies behind.
    row::epochs_between(epochs.start, epoch) < length.min(row::EPOCHS / 2)
}

fn counts_by_site(ring: Ring<'_>, folded: &[u64], levels: Levels) -> PartialTally {
    let chunks: Vec<u64> = (0..ring.chunk_count()).collect();
    let threads = scan::threads_for(chunks.len());
    let parts = scan::each(&chunks, threads, Vec::new, |counts, &chunk| {
        ring.count_sites(chunk, folded, levels, counts);
    });
    let mut part = PartialTally::new();
    for counts in parts {
        for (site, count) in counts.into_iter().enumerate().filter(|(_, count)| *count != 0) {
            let at = part.row(By::Site, Some(site as u32), None);
            part.cells[at].measure.count += count;
        }
    }
    part
}

fn counts_by_subject(ring: Ring<'_>, folded: &[u64], levels: Levels) -> PartialTally {
    let chunks: Vec<u64> = (0..ring.chunk_count()).collect();
    let threads = scan::threads_for(chunks.len());
    let parts = scan::each(&chunks, threads, SubjectCounts::new, |counts, &chunk| {
        ring.count_subjects(chunk, folded, levels, counts);
    });
    let mut part = PartialTally::new();
    for (subject, count) in parts.iter().flat_map(SubjectCounts::iter) {
        let at = part.row(By::Subject, None, Some(subject));
        part.cells[at].measure.count += count;
    }
    part
}
