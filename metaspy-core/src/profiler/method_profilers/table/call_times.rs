//! The times of calls: added to the row of the method, and to that of the method and its caller.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crate::format::profile::{Key, Merge};
use crate::method_profilers::table::thread_pages::Pair;
use crate::method_profilers::table::{CallerTable, Count, Table, thread_pages};
use crate::site::SiteId;

/// The ticks of a call that has ended.
pub(crate) struct CallTimes {
    /// 0 within another call of the method: its time is a part of the outer call's time.
    pub total: u64,
    pub own: u64,
}

impl CallerTable {
    /// Counts a call, and adds its times. The first columns of the table are calls and total; those of the method are total
    /// and self. No other hook of this thread is at work in the tables.
    #[inline]
    pub(crate) fn add(&self, of_method: [&Count; 2], callee: SiteId, caller: Option<SiteId>, times: &CallTimes) {
        let Some(table) = self.table() else { return };
        let key = Key { site: callee.0, second: caller.map_or(0, |site| site.0), key: 0 };
        match thread_pages::pages().and_then(|pages| pages.known_pair(table.number, key.who())) {
            Some([of_method, of_caller]) => {
                add(of_method, [times.total, times.own]);
                add(of_caller, [1, times.total]);
            }
            None => add_and_remember(table, of_method, key, times),
        }
    }
}

#[cold]
#[inline(never)]
fn add_and_remember(table: &Table, [total, own]: [&Count; 2], key: Key, times: &CallTimes) {
    total.add(times.total);
    own.add(times.own);
    let Some(row) = table.row(key) else { return };
    let first = row as usize * table.def.columns.len();
    table.put(first, 1, Merge::Sum);
    table.put(first + 1, times.total, Merge::Sum);
    if let Some(pages) = thread_pages::pages()
        && let (Some(of_method), Some(of_caller)) = (total.words(), table.own_words(first))
    {
        pages.remember_pair(table.number, key.who(), [of_method, of_caller]);
    }
}

#[inline]
fn add(words: &Pair, by: [u64; 2]) {
    let add = |word: &AtomicU64, by| word.store(word.load(Relaxed).wrapping_add(by), Relaxed);
    words.iter().zip(by).for_each(|(word, by)| add(word, by));
}
