//! Last calls on subjects, in one list.

use std::ops::{Index, IndexMut};

use metaspy_probe::SiteId;
use metaspy_reader::{EventId, LaneId, Outcome};

/// Maximum number of sites that are remembered for a subject.
const SITES: usize = 32;
/// Index that stands for no call.
const NOWHERE: u32 = u32::MAX;

/// Last calls on subjects. There may be a million subjects, so their calls are chained in one list.
#[derive(Default)]
pub(super) struct LastCalls {
    /// Index of the newest call on a subject, by the number of the subject.
    newest: Vec<u32>,
    calls: Vec<LastCall>,
    /// Indices of free entries of `calls`.
    free: Vec<u32>,
}

/// Last call of a site on a subject.
pub(super) struct LastCall {
    pub(super) site: SiteId,
    pub(super) id: EventId,
    /// Unit of work; `None` if the entry is free.
    pub(super) unit: Option<EventId>,
    pub(super) lane: LaneId,
    pub(super) end: u64,
    pub(super) outcome: Outcome,
    pub(super) changes: u64,
    /// First call of another site on the subject after the start of this call and outside of it.
    pub(super) touched: Option<EventId>,
    /// True if the subject had several such calls.
    pub(super) is_touched_often: bool,
    /// Cause of the call, and the site of the cause.
    pub(super) cause: Option<EventId>,
    pub(super) caller: Option<SiteId>,
    /// Number of calls on the subject in the unit of work so far.
    pub(super) calls: u32,
    /// True if the call repeats a call of its own cause.
    pub(super) is_again: bool,
    /// Number of the subject.
    pub(super) row: u32,
    /// Index of the next older call on the subject. [`LastCalls::insert`] sets it.
    pub(super) next: u32,
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

    /// Passes the calls on a subject to `each`. Returns the index of the call of `site`.
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

    /// Replaces a call by a later call of the same site on the same subject. Returns the earlier
    /// call.
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
