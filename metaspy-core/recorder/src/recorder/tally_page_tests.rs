//! Tests of tally pages.

use super::*;
use crate::format::Policy;
use crate::format::row::Who;
use crate::recorder::boundaries::Boundary;
use crate::recorder::epoch::epoch;
use crate::recorder::keep::Rules;
use crate::recorder::next_epoch::next_boundary;
use crate::recorder::start::{Backing, Spec, in_memory};

/// A log in memory with this serial number, without a collector.
fn log(serial: u64) -> &'static Log {
    let spec = Spec {
        backing: Backing::Memory,
        budget: 4 << 20,
        policy: Policy::KeepNewest,
        linked_names: None,
        collector: false,
        earlier_files: 0,
        keep: Rules::default(),
        may_be_in_memory: true,
    };
    Box::leak(Box::new(in_memory(&spec, serial).expect("there is memory")))
}

#[test]
fn a_page_does_not_grow_because_a_reader_keeps_its_rows_from_being_merged() {
    let log = log(255);
    drop(Boundary::at(u32::MAX - 9));
    let page = Page::none();
    let owner = Owner { lane: 0, forget_rows: || {} };
    let who = Who { site: 1, kind: 1, epoch: 1, meta: false, lost: false }.pack();
    let row =
        |key| page.row(log, owner, key, who).expect("there is room").0[row::KEY].load(Relaxed);
    let reading = log.lease();
    let first = row(0);
    let size = log.word(sb::PAGES_USED).load(Relaxed);
    let keys: Vec<u64> = (0..FIRST_ROWS as u64 / 8 * 7).map(row).collect();
    assert_eq!((first, keys), (0, (0..56).collect()));
    assert_eq!(log.word(sb::PAGES_USED).load(Relaxed), size, "no further page");
    drop(reading);
    (56..200).for_each(|key| assert_eq!(row(key), key));
}

#[test]
fn a_call_over_one_merge_keeps_its_row_and_rows_that_are_freed_are_counted() {
    let log = log(254);
    let page = Page::none();
    let owner = Owner { lane: 0, forget_rows: || {} };
    let who = |epoch| Who { site: 1, kind: 1, epoch, meta: false, lost: false }.pack();
    let running = page.row(log, owner, 7, who(epoch())).expect("there is room");
    running.begun(1);
    let freed = || log.word(sb::ROWS_FREED).load(Relaxed);
    let size = log.word(sb::PAGES_USED).load(Relaxed);
    for _ in 0..2_000 {
        drop(next_boundary("a profiler ends"));
        page.row(log, owner, 7, who(epoch())).expect("there is room").begun(1);
        if freed() > 0 {
            break;
        }
        assert_eq!(running.0[row::KEY].load(Relaxed), 7, "its row is its own until rows are freed");
    }
    assert!(freed() > 0 && log.word(sb::PAGES_USED).load(Relaxed) <= 8 * size);
}
