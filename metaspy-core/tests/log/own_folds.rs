//! Lanes that fold blocks themselves, because no block was ready.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Records without the collector's thread.
fn record(mebibytes: u64) -> (Recording, metaspy_core::Installed) {
    let recording = Recording::memory().budget(mebibytes << 20).collector(false).start().unwrap();
    let installed = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    (recording, installed)
}

/// The collector claims many blocks before the first of them is ready. Meanwhile the lane folds
/// later ones itself.
#[test]
fn ids_of_a_lane_increase_although_it_folds_blocks_itself() {
    let _turn = turn();
    let (recording, _installed) = record(1);
    let (blocks, done) = (recording.store().header().blocks, AtomicBool::new(false));
    let mut ids = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                recording.collect();
            }
        });
        for _ in 0..blocks * 40 {
            let call = enter(&OUTER, node(1));
            ids.push(call.event().expect("a block is ready, or can be folded"));
            call.done(Outcome::Returned);
            (1..127).for_each(|key| super::call(&OUTER, node(key), || ()));
        }
        done.store(true, Ordering::Relaxed);
    });
    let pair = ids.windows(2).find(|pair| pair[0] >= pair[1]);
    assert!(pair.is_none(), "{pair:?}");
    let store = recording.store();
    let (totals, events) = (store.totals(), events(&store));
    assert_eq!((totals.emitted, totals.lost), (blocks * 40 * 127, 0), "{totals:?}");
    assert!(
        events.windows(2).all(|pair| pair[0].id < pair[1].id),
        "the oldest stored event comes first"
    );
}

#[test]
fn a_thousand_subjects_have_a_row_each_in_a_small_recording() {
    let _turn = turn();
    let (recording, installed) = record(4);
    let calls = recording.store().header().blocks * 127 * 4 / 1_000;
    (0..calls * 1_000).for_each(|call| super::call(&OUTER, node(call % 1_000), || ()));
    let store = recording.store();
    let tally = store.tally(By::Subject, installed.so_far().scope());
    assert!(store.totals().folded > calls * 500 && tally.exact, "{:?}", store.totals());
    assert_eq!(tally.rows.len(), 1_000);
    assert!(tally.rows.iter().all(|row| row.measure.count == calls && row.measure.timed == calls));
}
