//! Last calls on subjects, in bounded memory: if there are too many, those of units of work that
//! ended long ago are forgotten.

use std::ops::{Index, IndexMut};

use metaspy_probe::SiteId;
use metaspy_reader::{EventId, LaneId, Outcome};

use super::map::HashMap;

/// Least number of calls from which on some are forgotten.
const CALLS: usize = 1 << 18;
/// Number of units of work whose calls are not forgotten.
const UNITS: usize = 1 << 12;
/// Maximum number of sites that are remembered for a subject.
const SITES: usize = 32;
/// Stands for no place among the calls.
const NOWHERE: u32 = u32::MAX;

/// Last calls on subjects. There may be a million subjects, so their calls are chained in one list.
pub(super) struct LastCalls {
    /// Place of the newest call on a subject, by the number of the subject.
    newest: Vec<u32>,
    calls: Vec<LastCall>,
    /// Places that are free.
    free: Vec<u32>,
    /// Number of calls from which on some are forgotten.
    limit: usize,
}

/// Last call of a site on a subject.
pub(super) struct LastCall {
    pub(super) site: SiteId,
    pub(super) id: EventId,
    /// Unit of work; `None` if the place is free.
    pub(super) unit: Option<EventId>,
    pub(super) lane: LaneId,
    pub(super) end: u64,
    pub(super) outcome: Outcome,
    pub(super) changes: u64,
    /// First call of another site on the subject since it began, other than those inside it.
    pub(super) touched: Option<EventId>,
    /// True if more than one was called.
    pub(super) is_touched_often: bool,
    /// Cause and its site.
    pub(super) cause: Option<EventId>,
    pub(super) caller: Option<SiteId>,
    /// Number of calls on the subject in the unit of work so far.
    pub(super) calls: u32,
    /// True if it repeats a call of its own cause.
    pub(super) is_again: bool,
    /// Number of the subject.
    pub(super) row: u32,
    /// Place of the next older call on the subject. [`LastCalls::insert`] sets it.
    pub(super) next: u32,
}

impl Default for LastCalls {
    fn default() -> Self {
        LastCalls { newest: Vec::new(), calls: Vec::new(), free: Vec::new(), limit: CALLS }
    }
}

impl LastCalls {
    /// Iterates over the calls on a subject.
    fn on(&self, row: u32) -> impl Iterator<Item = &LastCall> {
        let newest = self.newest.get(row as usize).and_then(|&at| self.calls.get(at as usize));
        std::iter::successors(newest, |call| self.calls.get(call.next as usize))
    }

    /// Returns true if a call on a subject meets a condition.
    pub(super) fn has(&self, row: u32, is_meant: impl FnMut(&LastCall) -> bool) -> bool {
        self.on(row).any(is_meant)
    }

    /// Passes the calls on a subject to `each`. Returns the place of that of a site.
    pub(super) fn pass(
        &mut self,
        row: u32,
        site: SiteId,
        mut each: impl FnMut(&mut LastCall),
    ) -> Option<usize> {
        let mut of_site = None;
        let mut at = self.newest.get(row as usize).map_or(NOWHERE, |newest| *newest) as usize;
        while let Some(call) = self.calls.get_mut(at) {
            if call.site == site {
                of_site = Some(at);
            }
            each(call);
            at = call.next as usize;
        }
        of_site
    }

    /// Adds the first call of a site on a subject, unless there are too many. Returns true if it
    /// was added.
    pub(super) fn insert(&mut self, call: LastCall) -> bool {
        if self.on(call.row).count() >= SITES {
            return false;
        }
        let row = call.row as usize;
        if self.newest.len() <= row {
            self.newest.resize(row + 1, NOWHERE);
        }
        let at = self.free.pop().unwrap_or(self.calls.len() as u32);
        let next = std::mem::replace(&mut self.newest[row], at);
        let call = LastCall { next, ..call };
        match self.calls.get_mut(at as usize) {
            Some(free) => *free = call,
            None => self.calls.push(call),
        }
        true
    }

    /// Replaces a call by a later one of its site and subject.
    pub(super) fn replace(&mut self, at: usize, call: LastCall) -> LastCall {
        let next = self.calls[at].next;
        std::mem::replace(&mut self.calls[at], LastCall { next, ..call })
    }

    /// Forgets a call.
    pub(super) fn remove(&mut self, at: usize) {
        let LastCall { row, next, .. } = self.calls[at];
        let mut link = &mut self.newest[row as usize];
        while *link as usize != at {
            let before = *link as usize;
            link = &mut self.calls[before].next;
        }
        *link = next;
        self.calls[at].unit = None;
        self.free.push(at as u32);
    }

    /// If there are too many calls, forgets those of all units of work but the last ones, and passes
    /// them to `forgotten`.
    pub(super) fn forget(&mut self, mut forgotten: impl FnMut(&LastCall)) {
        if self.calls.len() - self.free.len() < self.limit {
            return;
        }
        let mut units: HashMap<EventId, u64> = HashMap::default();
        for call in &self.calls {
            let end = call.unit.map(|unit| units.entry(unit).or_default());
            end.into_iter().for_each(|end| *end = call.end.max(*end));
        }
        let mut ends: Vec<u64> = units.values().copied().collect();
        ends.sort_unstable();
        let first_kept = ends.len().checked_sub(UNITS).map_or(0, |first| ends[first]);
        for at in 0..self.calls.len() {
            if self.calls[at].unit.is_some_and(|unit| units[&unit] < first_kept) {
                forgotten(&self.calls[at]);
                self.remove(at);
            }
        }
        self.limit = CALLS.max((self.calls.len() - self.free.len()) * 2);
    }

    /// Iterates over all calls that are not forgotten.
    pub(super) fn iter(&self) -> impl Iterator<Item = &LastCall> {
        self.calls.iter().filter(|call| call.unit.is_some())
    }
}

impl Index<usize> for LastCalls {
    type Output = LastCall;

    fn index(&self, at: usize) -> &LastCall {
        &self.calls[at]
    }
}

impl IndexMut<usize> for LastCalls {
    fn index_mut(&mut self, at: usize) -> &mut LastCall {
        &mut self.calls[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(number: u64) -> EventId {
        EventId::new(number, 1).expect("the number is not 0")
    }

    fn call(site: u32, number: u64, row: u32) -> LastCall {
        LastCall {
            site: SiteId(site),
            id: unit(number),
            unit: Some(unit(number)),
            lane: LaneId(0),
            end: number,
            outcome: Outcome::Returned,
            changes: 0,
            touched: None,
            is_touched_often: false,
            cause: None,
            caller: None,
            calls: 1,
            is_again: false,
            row,
            next: 0,
        }
    }

    /// Returns the sites that were called on a subject, the last one first.
    fn sites(last: &mut LastCalls, row: u32) -> Vec<u32> {
        let mut sites = Vec::new();
        last.pass(row, SiteId(0), |call| sites.push(call.site.0));
        sites
    }

    #[test]
    fn calls_of_old_units_are_forgotten_and_their_places_are_taken_again() {
        let mut last = LastCalls::default();
        let mut forgotten = 0;
        for number in 1..=CALLS as u64 {
            last.forget(|_| forgotten += 1);
            (0..2).for_each(|site| assert!(last.insert(call(site, number, number as u32))));
        }
        assert_eq!(forgotten + last.iter().count(), 2 * CALLS);
        assert_eq!(last.calls.len(), CALLS);
        assert_eq!(sites(&mut last, 1), [0; 0]);
        let kept = CALLS - UNITS..CALLS;
        assert!(kept.into_iter().all(|row| sites(&mut last, row as u32 + 1) == [1, 0]));
    }

    #[test]
    fn the_calls_of_a_large_unit_are_not_forgotten() {
        let mut last = LastCalls::default();
        for row in 0..3 * CALLS as u32 {
            last.forget(|_| panic!("it goes on"));
            assert!(last.insert(call(0, 1, row)));
        }
        assert_eq!(last.iter().count(), 3 * CALLS);
    }

    #[test]
    fn a_subject_has_so_many_sites_and_each_can_be_removed() {
        let mut last = LastCalls::default();
        let added = (0..SITES as u32 + 1).filter(|site| last.insert(call(*site, 1, 7))).count();
        assert_eq!(added, SITES);
        for site in 3..SITES as u32 {
            let at = last.pass(7, SiteId(site), |_| {});
            at.into_iter().for_each(|at| last.remove(at));
        }
        assert_eq!(sites(&mut last, 7), [2, 1, 0]);
        assert!(last.has(7, |call| call.site == SiteId(1)));
        let middle = last.pass(7, SiteId(1), |_| {}).expect("it was added");
        last.remove(middle);
        assert_eq!(sites(&mut last, 7), [2, 0]);
    }
}
