//! Bounds of the number of calls that pass a filter, and the gaps of a recording that widen them.

use std::str::FromStr;

use crate::Store;
use crate::event::Outcome;
use crate::filter::Filter;
use crate::measure::Measure;
use crate::names::RecordedSite;
use crate::ring::fold::{RowWords, Source};
use crate::tally::{By, DetailLevel, Scope, Tally};
use metaspy_format::row::COUNT;
use metaspy_format::slot::has_outcome;

/// Number of calls that pass a filter, as far as a recording knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallBounds {
    /// Number of calls that certainly pass.
    pub least: u64,
    /// Number of calls that may pass; `None` if it is unbounded.
    pub most: Option<u64>,
    /// Reasons why the two bounds differ.
    pub gaps: Gaps,
}

/// Missing facts about the calls that pass a filter, as numbers of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Calls for which a condition of the filter is not recorded: those without an event in the
    /// window, and those whose hooks do not see whether they failed.
    pub without_event: u64,
    /// Calls that were counted without site and subject.
    pub unnamed: u64,
    /// Calls without a length, if the filter asks for it.
    pub untimed: u64,
    /// Calls without an event that may be the causes that the filter asks for.
    pub lost_causes: u64,
    /// Names and labels that found no room, if the filter asks for names.
    pub lost_names: u64,
    /// True if a part of the recording is missing or changed during the reading, or if a cause has
    /// left the window.
    pub is_open: bool,
    /// True if files of the same rotation are not read.
    pub is_part: bool,
    /// Calls that ran when a rotation went on in another file, and calls without an event that may
    /// have, if the filter asks for outcomes.
    pub unended: u64,
    /// Events of calls whose hooks do not see whether they failed, if the filter asks for it.
    unseen: u64,
}

/// Calls whose outcome is not known.
#[derive(Clone, Copy, Default)]
struct UnknownOutcomes {
    /// They match a filter, and might not.
    matching: u64,
    /// They do not match a filter, and might.
    excluded: u64,
}

/// Outcomes that a page does not distinguish.
const UNNAMED: [Outcome; 4] =
    [Outcome::Returned, Outcome::Succeeded, Outcome::Instant, Outcome::Running];

impl CallBounds {
    /// Returns true if the number is known.
    pub fn is_exact(&self) -> bool {
        self.most == Some(self.least)
    }
}

impl Gaps {
    /// Returns true if the filter decides all events in the window: none lacks a length that the
    /// filter asks for, a cause, or a name.
    pub fn decide_events(&self) -> bool {
        self.untimed == 0
            && self.unseen == 0
            && self.unended == 0
            && self.lost_causes == 0
            && self.lost_names == 0
            && !self.is_open
    }
}

impl Store {
    /// Bounds the number of calls of the application that pass a filter. `tally` is their tally by
    /// site, of any detail.
    pub fn call_bounds(&self, filter: &Filter, tally: &Tally) -> CallBounds {
        let counted = calls(tally);
        let unnamed = self.unnamed();
        let unseen = self.unseen(filter);
        let unended = self.unended(filter);
        let matching = unseen.matching.saturating_add(unended.matching);
        let unseen = unseen.all();
        let gaps = Gaps {
            without_event: tally
                .unknown
                .map_or(0, |unknown| unknown.saturating_sub(unnamed))
                .saturating_add(unseen),
            unnamed,
            untimed: self.untimed(filter),
            lost_causes: self.lost_causes(filter),
            lost_names: if filter.asks_for_names() {
                self.header().arena_lost + self.header().statements_lost
            } else {
                0
            },
            is_open: tally.unknown.is_none(),
            is_part: self.absent_files().is_some(),
            unended: unended.all(),
            unseen,
        };
        // A condition that seems not to hold may hold, so its negation may select too many calls.
        let is_too_high = filter.excludes_by_event()
            && (gaps.untimed > 0 || gaps.lost_causes > 0 || gaps.is_open)
            || filter.excludes_by_name() && gaps.lost_names > 0;
        CallBounds {
            least: if is_too_high { 0 } else { counted.saturating_sub(matching) },
            most: if gaps.lost_names > 0 || gaps.is_part {
                None
            } else {
                self.most_calls(filter, tally, &gaps)
            },
            gaps,
        }
    }

    fn most_calls(&self, filter: &Filter, tally: &Tally, gaps: &Gaps) -> Option<u64> {
        let excluded = |filter: &Filter| {
            self.unseen(filter).excluded.saturating_add(self.unended(filter).excluded)
        };
        let counted = tally.unknown.filter(|_| gaps.lost_causes == 0).map(|unknown| {
            calls(tally)
                .saturating_add(unknown)
                .saturating_add(gaps.untimed)
                .saturating_add(excluded(filter))
        });
        let without_conditions =
            filter.without_event_conditions().filter(|_| counted != Some(calls(tally)));
        let of_any = without_conditions.and_then(|wider| {
            let tally = self.tally(By::Site, &counts(wider.clone()));
            tally.unknown.map(|unknown| {
                calls(&tally).saturating_add(unknown).saturating_add(excluded(&wider))
            })
        });
        [counted, of_any].into_iter().flatten().min()
    }

    /// Counts the events of calls that returned, unseen by their hooks whether they failed, if the
    /// filter asks for that.
    fn unseen(&self, filter: &Filter) -> UnknownOutcomes {
        let matcher = self.compile(filter, 0..=0);
        let is_unseen = |site: &RecordedSite| !site.sees_failures();
        let returned = Filter::from_str("outcome:returned").ok();
        let (Some(of_any), Some(returned)) = (filter.without_outcomes(), returned) else {
            return UnknownOutcomes::default();
        };
        if !matcher.asks_for_failures() || !self.sites().iter().any(is_unseen) {
            return UnknownOutcomes::default();
        }
        let tally = self.tally(By::Site, &counts(of_any.and(returned)));
        let of_unseen = tally
            .rows
            .iter()
            .filter(|row| row.site.and_then(|id| self.site(id)).is_some_and(is_unseen));
        let events = of_unseen.map(|row| row.measure.count).fold(0, u64::saturating_add);
        if has_outcome(matcher.outcomes(), Outcome::Returned) {
            UnknownOutcomes { matching: events, excluded: 0 }
        } else {
            UnknownOutcomes { matching: 0, excluded: events }
        }
    }

    /// Counts the calls whose end may be in no file, because a rotation went on in another one, if
    /// the filter asks for outcomes: the events that ran then, and the calls without an event that
    /// are not known to have failed.
    fn unended(&self, filter: &Filter) -> UnknownOutcomes {
        let running = Filter::from_str("outcome:running").ok();
        let (Some(of_any), Some(running)) = (filter.without_outcomes(), running) else {
            return UnknownOutcomes::default();
        };
        if !self.goes_on_elsewhere() {
            return UnknownOutcomes::default();
        }
        let count = |filter: Filter| calls(&self.tally(By::Site, &counts(filter)));
        let running = of_any.clone().and(running);
        let mut events = count(running.clone());
        let files = self.processes().iter().zip(self.sources());
        let last = files
            .filter(|(_, file)| !file.goes_on_elsewhere())
            .map(|(process, _)| process.lanes.clone());
        if events > 0 && !self.processes().is_empty() {
            events = events.saturating_sub(count(running.and(Filter::of_lanes(last.collect()))));
        }
        let ring = self.ring();
        let of_any = self.compile(&of_any, 0..=0);
        let folds = ring.folds();
        let is_of_calls = |row: &RowWords, all: &Measure| {
            let who = row.who();
            row.again().is_none()
                && of_any.selects_in_row(who.site, row.subject(), who.epoch, who.meta, Some(all))
                    == Some(true)
        };
        // Of running events that left the window, the pages have those that ended later.
        let mut left = 0_u64;
        let mut page_calls = 0_u64;
        ring.folded_rows(&folds, |row| {
            let all = row.measure(Source::Folded);
            left = left.wrapping_add(if is_of_calls(&row, &all) { all.running } else { 0 });
        });
        ring.page_rows(&folds, |row| {
            let all = row.measure(Source::Page);
            if is_of_calls(&row, &all) {
                // Late ends count negative. They may be those that failed.
                let failed = all.failed.saturating_add(all.panicked).saturating_add(all.cancelled);
                let ended = failed.saturating_sub(all.running.wrapping_neg());
                page_calls = page_calls.saturating_add(all.count.saturating_sub(ended));
                left = left.wrapping_add(all.running);
            }
        });
        events = events.saturating_add((left as i64).max(0) as u64);
        let outcomes = self.compile(filter, 0..=0).outcomes();
        let mut unknown = if has_outcome(outcomes, Outcome::Running) {
            UnknownOutcomes { matching: events, excluded: 0 }
        } else {
            UnknownOutcomes { matching: 0, excluded: events }
        };
        // Where a page distinguishes some of the outcomes alone, its calls are unknown already.
        match UNNAMED.map(|outcome| has_outcome(outcomes, outcome)) {
            [true, true, true, true] => {
                unknown.matching = unknown.matching.saturating_add(page_calls)
            }
            [false, false, false, false] => {
                unknown.excluded = unknown.excluded.saturating_add(page_calls)
            }
            _ => {}
        }
        unknown
    }

    /// Counts the calls that would pass the filter if they were as long as it requires, and have no
    /// length.
    fn untimed(&self, filter: &Filter) -> u64 {
        let Some(of_any_length) = filter.without_lengths() else { return 0 };
        let untimed = |measure: &Measure| {
            measure.count.saturating_sub(measure.timed).saturating_sub(measure.instants)
        };
        let tally = self.tally(By::Site, &Scope::matching(of_any_length));
        tally.rows.iter().map(|row| untimed(&row.measure)).fold(0, u64::saturating_add)
    }

    /// Counts calls without an event that may be causes: lost calls, and calls at causes' sites
    /// that only count.
    fn lost_causes(&self, filter: &Filter) -> u64 {
        if !filter.asks_for_causes() {
            return 0;
        }
        let matcher = self.compile(filter, 0..=0);
        let ring = self.ring();
        let mut calls = self.unnamed();
        ring.page_rows(&ring.folds(), |row| {
            if row.who().lost || matcher.is_cause(row.who().site) {
                calls = calls.saturating_add(row.0[COUNT]);
            }
        });
        calls
    }
}

impl UnknownOutcomes {
    fn all(self) -> u64 {
        self.matching.saturating_add(self.excluded)
    }
}

fn counts(filter: Filter) -> Scope {
    Scope { detail: DetailLevel::Counts, ..Scope::matching(filter) }
}

fn calls(tally: &Tally) -> u64 {
    tally.rows.iter().map(|row| row.measure.count).fold(0, u64::saturating_add)
}
