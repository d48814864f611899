//! Calls that are only counted: nothing is written but a number, and every number is right.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::quietly;
use crate::turn;
use metaspy::prelude::*;

/// Its methods end in every way there is.
struct Desk;

#[observe]
impl Desk {
    #[observe(subject = key)]
    fn serves(&self, key: u64) -> u64 {
        key
    }
    fn refuses(&self, refuses: bool) -> Result<(), ()> {
        if refuses { Err(()) } else { Ok(()) }
    }
    fn passes_on(&self, refuses: bool) -> Result<(), ()> {
        self.refuses(refuses)?;
        Ok(())
    }
    fn breaks(&self) {
        panic!("it broke");
    }
    fn leaves(&self, early: bool) {
        if early {
            return;
        }
        std::hint::black_box(early);
    }
}

/// Calls on its way out.
struct Tidies<'a>(&'a Desk);

impl Drop for Tidies<'_> {
    fn drop(&mut self) {
        self.0.leaves(true);
        self.0.leaves(false);
    }
}

fn counted(calls: impl FnOnce()) -> metaspy::Profile {
    let recording = Recording::memory().budget(64 << 20).start();
    recording.expect("there is room");
    count(calls)
}

fn count(calls: impl FnOnce()) -> metaspy::Profile {
    let profiler =
        Profiler::new("counts").observe(methods("Desk::*").mode(Mode::Tally)).install().unwrap();
    calls();
    profiler.uninstall()
}

/// Calls, those that failed, and those that panicked.
fn of(profile: &metaspy::Profile, site: &str) -> [u64; 3] {
    let rows = profile.counts().by_site();
    assert!(rows.exact);
    rows.at(site)
        .map_or([0; 3], |row| [row.measure.count, row.measure.failed, row.measure.panicked])
}

#[test]
fn outcomes_of_counted_calls_are_counted() {
    let _turn = turn();
    let desk = Desk;
    let profile = counted(|| {
        for refuses in [true, false, false, true, true] {
            _ = desk.passes_on(refuses);
        }
        for _ in 0..4 {
            quietly(|| _ = catch_unwind(AssertUnwindSafe(|| desk.breaks())));
        }
    });
    assert_eq!(of(&profile, "Desk::refuses"), [5, 3, 0]);
    assert_eq!(of(&profile, "Desk::passes_on"), [5, 3, 0]);
    assert_eq!(of(&profile, "Desk::breaks"), [4, 0, 4]);
}

#[test]
fn a_call_in_a_destructor_that_runs_while_unwinding_has_returned() {
    let _turn = turn();
    let desk = Desk;
    let profile = counted(|| {
        desk.leaves(true);
        for _ in 0..3 {
            quietly(|| {
                _ = catch_unwind(AssertUnwindSafe(|| {
                    let _tidies = Tidies(&desk);
                    desk.breaks();
                }))
            });
        }
    });
    assert_eq!(of(&profile, "Desk::leaves"), [7, 0, 0]);
    assert_eq!(of(&profile, "Desk::breaks"), [3, 0, 3]);
}

#[test]
fn each_of_many_subjects_has_its_own_count() {
    let _turn = turn();
    let key = |at: u64| at.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ at << 40;
    let profile = counted(|| {
        for round in 0..5 {
            (0..3_000).filter(|at| at % (round + 1) == 0).for_each(|at| _ = Desk.serves(key(at)));
        }
    });
    let rows = profile.counts().by_subject();
    assert!(rows.exact);
    assert_eq!(rows.rows.len(), 3_000);
    for at in [0, 1, 6, 60, 2_999] {
        let expected = (1..=5).filter(|round| at % round == 0).count() as u64;
        assert_eq!(profile.count_of(key(at)), expected, "{at}");
    }
    assert_eq!(of(&profile, "Desk::serves")[0], 3_000 + 1_500 + 1_000 + 750 + 600);
}

#[test]
fn counts_are_not_exact_when_the_table_of_subjects_is_full() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().expect("there is room");
    let profile = count(|| (0..20_000).for_each(|key| _ = Desk.serves(key)));
    assert_eq!(of(&profile, "Desk::serves")[0], 20_000);
    let rows = profile.counts().by_subject();
    assert_eq!(rows.rows.iter().map(|row| row.measure.count).sum::<u64>(), 20_000);
    assert!(rows.rows.len() < 20_000 && !rows.exact);
}

#[test]
fn each_profiler_counts_while_it_is_installed_and_without_calls_of_handlers() {
    let _turn = turn();
    let recording = Recording::memory().budget(64 << 20).start();
    recording.expect("there is room");
    let outer = Profiler::new("outer")
        .observe(methods("Desk::serves").mode(Mode::Tally))
        .install()
        .unwrap();
    Desk.serves(1);
    let inner = count(|| {
        (0..3).for_each(|_| _ = Desk.serves(1));
        metaspy::hook::meta(|| (0..9).for_each(|_| _ = Desk.serves(1)));
    });
    Desk.serves(1);
    assert_eq!(inner.count_of(1_u64), 3);
    assert_eq!(outer.uninstall().count_of(1_u64), 5);
}

#[test]
fn a_second_recording_counts_from_its_own_beginning() {
    let _turn = turn();
    let profiler =
        Profiler::new("long").observe(methods("Desk::serves").mode(Mode::Tally)).install().unwrap();
    (0..4).for_each(|_| _ = Desk.serves(7));
    let second = Recording::memory().budget(1 << 20).start().unwrap();
    (0..6).for_each(|_| _ = Desk.serves(7));
    assert_eq!(second.store().totals().counted, 6);
    drop(profiler);
}
