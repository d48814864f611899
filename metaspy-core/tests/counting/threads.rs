//! Threads, epochs, and subjects of several kinds.

use std::collections::BTreeMap;
use std::sync::Barrier;

use metaspy_core::format::superblock as sb;
use metaspy_core::store::{By, Scope, TallyRow};
use metaspy_core::{Outcome, Recording, Subject};

use crate::words::Words;
use crate::{Counts, EDGE, NODE, by_subject, calls, count, node, turn, wide, work};

/// Calls subjects in an order of its own, and notes what it did.
struct Caller {
    dice: u64,
    made: BTreeMap<Option<Subject>, Counts>,
}

impl Caller {
    fn new(seed: u64) -> Self {
        Caller { dice: seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1, made: BTreeMap::new() }
    }

    fn roll(&mut self, below: u64) -> u64 {
        self.dice = self
            .dice
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.dice >> 33) % below
    }

    fn call(&mut self, subject: Subject) {
        let outcome = match self.roll(16) {
            0 => Outcome::Failed,
            1 => Outcome::Panicked,
            _ => Outcome::Returned,
        };
        work(subject, outcome);
        let made = self.made.entry(Some(subject).filter(|subject| !subject.is_none())).or_default();
        made.0 += 1;
        made.1 += u64::from(outcome == Outcome::Failed);
        made.2 += u64::from(outcome == Outcome::Panicked);
    }

    /// Subjects of two kinds, with small and with arbitrary keys, and none.
    fn call_all(&mut self, calls: usize) {
        for _ in 0..calls {
            let key = self.roll(700);
            let subject = match self.roll(8) {
                0 => Subject::NONE,
                1..4 => node(key),
                4 => node(100_000 + key),
                5 => node(wide(key)),
                6 => Subject::new(EDGE.id(), key),
                _ => Subject::new(EDGE.id(), wide(key)),
            };
            self.call(subject);
        }
    }
}

fn add(all: &mut BTreeMap<Option<Subject>, Counts>, made: BTreeMap<Option<Subject>, Counts>) {
    for (subject, made) in made {
        let sum = all.entry(subject).or_default();
        *sum = (sum.0 + made.0, sum.1 + made.1, sum.2 + made.2);
    }
}

#[test]
fn subjects_of_all_kinds_and_keys_are_counted_by_many_threads_over_epochs() {
    let _turn = turn();
    let recording = Recording::memory().start().expect("there is room");
    let mut made = BTreeMap::new();
    for epoch in 0..3 {
        let _counted = count();
        for generation in 0..3 {
            std::thread::scope(|scope| {
                let run = |seed| {
                    let mut caller = Caller::new(seed);
                    caller.call_all(20_000);
                    caller.made
                };
                let threads: Vec<_> = (0..4)
                    .map(|thread| {
                        scope.spawn(move || run(1 + epoch * 100 + generation * 10 + thread))
                    })
                    .collect();
                threads
                    .into_iter()
                    .for_each(|thread| add(&mut made, thread.join().expect("it returns")));
            });
        }
    }
    let found = by_subject(&recording.store());
    assert_eq!(found.len(), made.len());
    for (subject, made) in made {
        assert_eq!(found.get(&subject), Some(&made), "{subject:?}");
    }
    assert!(recording.store().verify().is_sound());
}

#[test]
fn a_thread_continues_in_the_rows_of_one_that_ended() {
    let _turn = turn();
    let path = std::env::temp_dir().join(format!("metaspy-handed-on-{}.spy", std::process::id()));
    let recording = Recording::file(&path).budget(16 << 20).start().expect("there is room");
    let _counted = count();
    let (words, mut used) = (Words::of(&recording), Vec::new());
    for _ in 0..50 {
        let thread = || {
            (0..5_000).for_each(|at| work(node(at % 1_000), Outcome::Failed));
            (0..5_000).for_each(|at| work(node(wide(at % 1_000)), Outcome::Returned));
        };
        std::thread::spawn(thread).join().expect("it returns");
        used.push(words.get(sb::PAGES_USED));
    }
    // The first threads still learn which subjects there are.
    assert_eq!(used[10..].iter().max(), used[10..].iter().min(), "{used:?}");
    let found = by_subject(&recording.store());
    assert_eq!(found.len(), 2_000);
    for key in 0..1_000 {
        assert_eq!(
            (found[&Some(node(key))], found[&Some(node(wide(key)))]),
            ((250, 250, 0), (250, 0, 0))
        );
    }
    recording.close();
    std::fs::remove_file(&path).expect("it was made");
}

#[test]
fn a_thread_with_the_cells_of_one_thread_and_the_rows_of_another_counts_in_its_rows() {
    const THREADS: u64 = 4;
    const CALLS: u64 = 40_000;
    let _turn = turn();
    let recording = Recording::memory().budget(16 << 20).start().expect("there is room");
    let _counted = count();
    for round in 1..=50 {
        let (begun, done) = (Barrier::new(THREADS as usize), Barrier::new(THREADS as usize));
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    work(node(0), Outcome::Returned);
                    // Each has cells and rows of its own, and then all of them count at once.
                    begun.wait();
                    (1..CALLS).for_each(|_| work(node(0), Outcome::Returned));
                    done.wait();
                });
            }
        });
        assert_eq!(calls(&recording.store()), round * THREADS * CALLS, "after round {round}");
    }
}

#[test]
fn more_subjects_than_there_is_room_for_are_counted_as_others() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().expect("there is room");
    let _counted = count();
    let keys = |at: u64| [node(at), node(wide(at)), Subject::new(NODE.id(), at << 20)];
    (0..100_000)
        .flat_map(|at| keys(at % 50_000))
        .for_each(|subject| work(subject, Outcome::Returned));
    let store = recording.store();
    assert_eq!(calls(&store), 300_000);
    assert!(store.tally(By::Subject, &Scope::default()).rows.iter().any(TallyRow::is_others));
}

#[test]
fn each_recording_has_its_own_rows() {
    let _turn = turn();
    let _counted = count();
    for calls in [3_000, 4_000] {
        let recording = Recording::memory().budget(4 << 20).start().expect("there is room");
        (0..calls).for_each(|at| work(node(at % 100), Outcome::Returned));
        let found = by_subject(&recording.store());
        assert_eq!(found.values().map(|counts| counts.0).sum::<u64>(), calls);
        assert_eq!(found[&Some(node(7))].0, calls / 100);
    }
}
