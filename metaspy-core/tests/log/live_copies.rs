//! Copies of a recording that is being written: its window moves on while they are made.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::*;

/// Records calls at both sites until `body` ends, with a pause after every 200 calls, and with a
/// window that is full when it begins. `body` gets the recording, and the number of calls so far.
fn while_it_is_written(pause: Duration, body: impl FnOnce(&Recording, &AtomicU64)) {
    let _turn = turn();
    let recording = Recording::memory().budget(8 << 20).start().unwrap();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let (made, done) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Relaxed) {
                let before = made.load(Relaxed);
                for at in before / 2..before / 2 + 100 {
                    call(&OUTER, node(at % 1_000), || call(&INNER, node(at % 7), || ()));
                    made.fetch_add(2, Relaxed);
                }
                std::thread::sleep(pause);
            }
        });
        let _ends = Ends(&done);
        while recording.store().totals().folded == 0 {
            std::thread::yield_now();
        }
        body(&recording, &made);
    });
}

/// The writer ends with what it is written for, in a panic too.
struct Ends<'d>(&'d AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn copy(recording: &Recording, filter: &str) -> Store {
    let path = std::env::temp_dir().join(format!("metaspy-live-copy-{}.spy", std::process::id()));
    let mut file = std::fs::File::create(&path).expect("it can be made");
    let filter = filter.parse().expect("it is a filter");
    recording
        .store()
        .write_selection(&filter, "a copy", &|_| true, &mut file)
        .expect("it goes on")
        .expect("it has room");
    let copy = Store::open(&path).expect("it is a recording");
    std::fs::remove_file(&path).expect("it was made");
    copy
}

#[test]
fn a_copy_counts_every_call_once_while_the_window_moves_on() {
    while_it_is_written(Duration::from_millis(1), |recording, made| {
        for _ in 0..5 {
            let before = made.load(Relaxed);
            let copy = copy(recording, "");
            let (totals, verified) = (copy.totals(), copy.verify());
            assert!(verified.is_sound(), "{verified:?}");
            assert!(totals.exact && totals.folded > 0, "{totals:?}");
            let after = made.load(Relaxed);
            // A call is an event before the thread notes that it was made.
            assert!(
                (before..=after + 2).contains(&totals.emitted),
                "{totals:?}, {before} to {after}"
            );
            let counted = copy.tally(By::Subject, &Scope::default());
            assert!(counted.rows_exact, "{counted:?}");
            assert_eq!(
                counted.rows.iter().map(|row| row.measure.count).sum::<u64>(),
                totals.emitted
            );
        }
    });
}

#[test]
fn a_selection_has_selected_events_alone_while_the_window_moves_on() {
    while_it_is_written(Duration::from_millis(1), |recording, _| {
        for _ in 0..5 {
            let copy = copy(recording, "site:INNER subject:Node:#3");
            let events = events(&copy);
            assert!(events.len() > 100, "{}", events.len());
            for event in &events {
                assert_eq!(copy.site_path(event.site), "log::INNER");
                assert_eq!(event.subject.map(|subject| subject.key), Some(3));
            }
            assert!(copy.verify().is_sound());
        }
    });
}

#[test]
fn a_copy_is_sound_while_events_are_folded_all_the_time() {
    while_it_is_written(Duration::ZERO, |recording, made| {
        for _ in 0..3 {
            let before = made.load(Relaxed);
            let copy = copy(recording, "");
            let (totals, verified) = (copy.totals(), copy.verify());
            assert!(verified.is_sound(), "{verified:?}");
            assert_eq!(totals.emitted, totals.stored + totals.folded);
            let after = made.load(Relaxed);
            let is_marked = copy.notes().iter().any(|note| note.contains("twice or not at all"));
            assert!(
                is_marked || (before..=after + 2).contains(&totals.emitted),
                "{totals:?}, {before} to {after}"
            );
        }
    });
}
