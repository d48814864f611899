//! Rows that take no more outcomes: those that follow are counted in another row, and the halves of
//! a word stay apart.

use metaspy_core::{Kind, Outcome, Recording, Subject};

use crate::words::Words;
use crate::{by_subject, count, node, turn, wide, work};

#[test]
fn failures_never_carry_into_panics() {
    let _turn = turn();
    let path = std::env::temp_dir().join(format!("metaspy-outcomes-{}.spy", std::process::id()));
    // None, found by index, in a bucket, and in a page only.
    static RARE: Kind = Kind::new("Rare");
    let subjects = [Subject::NONE, node(5), node(wide(5)), Subject::new(RARE.id(), 9)];
    for nearly in [(1_u32 << 31) - 2, u32::MAX - 1] {
        let recording = Recording::file(&path).budget(4 << 20).start().expect("there is room");
        let counted = count();
        let warm = |subject| (0..1_000).for_each(|_| work(subject, Outcome::Failed));
        subjects[1..3].iter().copied().for_each(warm);
        (0..3).for_each(|_| work(subjects[3], Outcome::Failed));
        warm(subjects[0]);
        let words = Words::of(&recording);
        assert!(words.arrays() >= 2, "by index, and of buckets");
        let rows = subjects.map(|subject| words.preset(subject, nearly, nearly));
        assert!(rows.iter().all(|&rows| rows > 0), "{rows:?}");
        for _ in 0..700 {
            for (subject, outcome) in subjects.iter().flat_map(|subject| {
                [
                    (*subject, Outcome::Failed),
                    (*subject, Outcome::Panicked),
                    (*subject, Outcome::Cancelled),
                ]
            }) {
                work(subject, outcome);
            }
        }
        let found = by_subject(&recording.store());
        for (subject, rows) in subjects.into_iter().zip(rows) {
            let (_, failed, panicked) = found[&Some(subject).filter(|subject| !subject.is_none())];
            let preset = u64::from(nearly) * rows;
            assert_eq!((failed, panicked), (preset + 700, preset + 700), "{subject:?}");
        }
        drop(counted);
        recording.close();
        std::fs::remove_file(&path).expect("it was made");
    }
}
