//! Subjects that share a row, because a table is full: rows that may lack calls are marked.

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::store::{By, Scope};
use metaspy_core::{Kind, Recording, Subject};

use crate::{OUTER, arm, call, turn};

static GUEST: Kind = Kind::new("Guest");

/// More subjects than a small recording has rows for; their keys are not dense.
const SUBJECTS: u64 = 20_000;
const CALLS: u64 = 3;

#[test]
fn a_row_that_lacks_calls_is_marked_and_the_others_are_exact() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).collector(false).start().unwrap();
    let installed = arm([&OUTER], Arming::all(Mode::Tally)).install().unwrap();
    for _ in 0..CALLS {
        (0..SUBJECTS).for_each(|n| call(&OUTER, Subject::new(GUEST.id(), n * 0x1_0001), || ()));
    }
    let profile = installed.uninstall();
    for by in [By::Subject, By::SiteSubject] {
        let tally = recording.store().tally(by, profile.scope());
        let (all, rows) = (tally.rows.len(), tally.rows.iter().filter(|row| !row.is_others()));
        let count = |of: &dyn Fn(u64, bool) -> bool| {
            rows.clone().filter(|row| of(row.measure.count, row.measure.at_least)).count()
        };
        let sum: u64 = tally.rows.iter().map(|row| row.measure.count).sum();
        assert_eq!((sum, tally.exact, tally.rows_exact), (SUBJECTS * CALLS, false, true));
        assert_eq!(
            count(&|count, at_least| count > CALLS || count < CALLS && !at_least),
            0,
            "{by:?}"
        );
        assert!(
            count(&|count, at_least| count < CALLS && at_least) > 0,
            "none of {all} rows is short"
        );
        assert!(count(&|_, at_least| !at_least) > 0, "all of {all} rows are marked");
    }
    let sites = recording
        .store()
        .tally(By::Site, &Scope { epochs: profile.scope().epochs.clone(), ..Scope::default() });
    assert!(sites.exact && sites.rows.iter().all(|row| !row.measure.at_least));
    let text = profile.counts().by_subject().to_string();
    assert!(
        text.lines().any(|line| line.contains("Guest") && line.contains('≥')),
        "{}",
        &text[..400]
    );
    assert!(
        text.lines().any(|line| line.contains("Guest") && !line.contains('≥')),
        "{}",
        &text[..400]
    );
}
