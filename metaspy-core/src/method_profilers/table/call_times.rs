//! The times of calls: added to the row of the method, and to that of the method and its caller.

use crate::format::profile::{Key, Merge};
use crate::method_profilers::table::thread_pages::Pair;
use crate::method_profilers::table::{CallerTable, Count, Table, count, thread_pages};
use crate::recorder::ProfilerState;
use crate::site::SiteId;

/// The ticks of a call that has ended.
pub(crate) struct CallTimes {
    /// 0 within another call of the method: its time is a part of the outer call's time.
    pub total: u64,
    pub own: u64,
}

impl CallTimes {
    /// Adds them to the words of a method and of its calls from one caller.
    #[inline(always)]
    pub(crate) fn add_to(&self, [[total, own], [calls, total_of_caller]]: [&Pair; 2]) {
        count(total, self.total);
        count(own, self.own);
        count(calls, 1);
        count(total_of_caller, self.total);
    }
}

/// The words that a thread last added the times of such calls to, in the table with this number.
/// The caller must have been selected by the table's profiler: otherwise nothing is found.
#[inline(always)]
pub(crate) fn known_pair(
    observed: &ProfilerState,
    table: u32,
    callee: u32,
    caller: u32,
) -> Option<[&'static Pair; 2]> {
    let key = Key { site: callee, second: caller, key: 0 };
    thread_pages::known_pages(observed)?.known_pair(table, key.who())
}

impl CallerTable {
    /// Counts a call, and adds its times. The first columns of the table are calls and total; those
    /// of the method are total and self. No other hook of this thread is at work in the tables.
    #[inline]
    pub(crate) fn add(
        &self,
        of_method: [&Count; 2],
        callee: SiteId,
        caller: Option<SiteId>,
        times: &CallTimes,
    ) {
        let Some(table) = self.table() else { return };
        let key = key(callee, caller);
        match thread_pages::pages().and_then(|pages| pages.known_pair(table.number, key.who())) {
            Some(pair) => times.add_to(pair),
            None => add_and_remember(table, of_method, key, times),
        }
    }

    /// Returns the number that identifies the table while a thread finds [`known_pair`]s.
    pub(crate) fn number(&self) -> Option<u32> {
        self.table().map(|table| table.number)
    }
}

fn key(callee: SiteId, caller: Option<SiteId>) -> Key {
    Key { site: callee.0, second: caller.map_or(0, |site| site.0), key: 0 }
}

#[cold]
#[inline(never)]
fn add_and_remember(table: &Table, [total, own]: [&Count; 2], key: Key, times: &CallTimes) {
    total.add(times.total);
    own.add(times.own);
    let Some((instance, row)) = table.row(key) else { return };
    let first = row as usize * table.def.columns.len();
    for (column, word) in [1, times.total].into_iter().enumerate() {
        if !table.put_in(instance, first + column, word, Merge::Sum) {
            table.put_later(instance, key, column, word, Merge::Sum);
        }
    }
    if let Some(pages) = thread_pages::pages()
        && let (Some(of_method), Some(of_caller)) =
            (total.words(), table.own_words(instance, first))
    {
        pages.remember_pair(table.number, key.who(), [of_method, of_caller]);
    }
}
