//! Folds and merges that stopped at some step.

use crate::event::EventId;
use crate::testing::{Draft, Writer};
use crate::{By, DetailLevel, Scope, Store};
use metaspy_format::folder::{self, Cursor};
use metaspy_format::row::{self, ROW_WORDS, Who};
use metaspy_format::superblock::{self as sb, journal};
use metaspy_format::{BLOCK_SLOTS, header};

use super::tally::{row, who};
use super::{node, scene};

/// Builds a recording with a fold of the first block that was committed when the process was
/// killed.
fn with_pending_fold() -> (Writer, u64) {
    let mut writer = scene(1);
    let first = writer.event(Draft { start: 0, subject: node(1), ..Draft::default() });
    (1..300).for_each(|start| {
        writer.event(Draft { start, subject: node(1), ..Draft::default() });
    });
    writer.fold_row(0, row(who(1, false), 1, 40));
    writer.set(sb::FOLDED, 40);
    let at = writer.table(sb::JOURNAL);
    let new = row(who(1, false), 1, 40 + 127);
    let header =
        [(journal::BLOCKS, 1), (journal::ROWS, 1), (journal::FOLDED, 167), (journal::COMMIT, 5)];
    header.into_iter().for_each(|(word, value)| writer.set(at + word, value));
    let words = [first.sequence(), 0].into_iter().chain(new);
    (at + journal::HEADER_WORDS..).zip(words).for_each(|(at, word)| writer.set(at, word));
    (writer, first.sequence())
}

#[test]
fn a_committed_fold_counts_once_before_and_after_it_is_applied() {
    let (writer, sequence) = with_pending_fold();
    let check = |store: Store, what: &str| {
        let totals = store.totals();
        assert_eq!((totals.stored, totals.folded, totals.emitted), (173, 167, 340), "{what}");
        for detail in [DetailLevel::All, DetailLevel::Counts] {
            let tally = store.tally(By::Subject, &Scope { detail, ..Scope::default() });
            assert_eq!(tally.rows[0].measure.count, 340, "{detail:?}");
        }
        assert!(store.verify().is_sound(), "{what}: {:?}", store.verify());
    };
    check(writer.store(), "committed");
    writer.fold_row(0, row(who(1, false), 1, 40 + 127));
    check(writer.store(), "row applied");
    writer.set(writer.block(sequence) + header::SEQUENCE, 0);
    writer.set(sb::FOLDED, 167);
    check(writer.store(), "block taken away");
    writer.set(sb::FOLD_DONE, 5);
    check(writer.store(), "done");
}

/// Builds a recording of 300 events, of which two folders have folded 40 of the first block and 20
/// of the second. Each was killed when its row had a further event.
fn with_folds_in_progress() -> (Writer, [u64; 2]) {
    let mut writer = scene(1);
    let ids: Vec<EventId> = (0..300)
        .map(|start| writer.event(Draft { start, subject: node(1), ..Draft::default() }))
        .collect();
    let sequences = [ids[0].sequence(), ids[127].sequence()];
    writer.fold_row(0, row(who(1, false), 1, 40 + 1));
    writer.page(&[row(who(1, false), 1, 20 + 1)]);
    writer.page_of_folder(0);
    let rows = [writer.table(sb::TALLY), writer.table(sb::PAGES) + row::page::HEADER_WORDS];
    writer.folder(
        0,
        Cursor { sequence: sequences[0], slot: 41, note: 1 },
        40,
        Some((rows[0], row(who(1, false), 1, 40))),
    );
    writer.folder(
        1,
        Cursor { sequence: sequences[1], slot: 21, note: 0 },
        20,
        Some((rows[1], row(who(1, false), 1, 20))),
    );
    (writer, sequences)
}

#[test]
fn a_fold_in_progress_counts_each_event_once_wherever_it_stopped() {
    let (writer, [first, second]) = with_folds_in_progress();
    let check = |folded: u64, what: &str| {
        let store = writer.store();
        let totals = store.totals();
        assert_eq!(
            (totals.stored, totals.folded, totals.counted),
            (300 - folded, folded, 0),
            "{what}"
        );
        for detail in [DetailLevel::All, DetailLevel::Counts] {
            for by in [By::Site, By::Subject, By::SiteSubject] {
                let tally = store.tally(by, &Scope { detail, ..Scope::default() });
                assert_eq!(
                    tally.rows.iter().map(|row| row.measure.count).sum::<u64>(),
                    300,
                    "{what}, {by:?} {detail:?}"
                );
            }
        }
        assert!(store.verify().is_sound(), "{what}: {:?}", store.verify());
        assert_eq!(store.verify().pending_fold, folded != 254, "{what}");
        let other = scene(1);
        other.set(sb::PID, 2);
        let both =
            Store::merged(vec![("one".into(), store.clone()), ("two".into(), other.store())]);
        let merged = both.expect("they can be merged").totals();
        assert_eq!(
            (merged.stored, merged.folded, merged.counted),
            (300 - folded, folded, 0),
            "{what}, merged"
        );
    };
    check(60, "both in the middle");
    let rows = [writer.table(sb::TALLY), writer.table(sb::PAGES) + row::page::HEADER_WORDS];
    writer.set(rows[0] + row::COUNT, 40);
    check(60, "before the row changed");
    writer.set(rows[0] + row::COUNT, 127);
    writer.folder(0, Cursor { sequence: first, slot: BLOCK_SLOTS, note: 0 }, 127, None);
    check(127 + 20, "the first block is folded");
    writer.set(writer.block(first) + header::SEQUENCE, 0);
    check(127 + 20, "and empty");
    writer.set(rows[1] + row::COUNT, 127);
    writer.folder(1, Cursor { sequence: second, slot: BLOCK_SLOTS, note: 1 }, 127, None);
    check(254, "both are folded");
}

#[test]
fn a_row_that_is_being_merged_counts_once_wherever_that_stopped() {
    let writer = scene(1);
    let [from, to] = [row(Who { epoch: 3, ..who(1, false) }, 1, 20), row(who(1, false), 1, 40)];
    writer.page(&[from, to]);
    let first = writer.table(sb::PAGES) + row::page::HEADER_WORDS;
    let place = |row: usize| first + row * ROW_WORDS;
    let check = |what: &str| {
        let store = writer.store();
        let tally = store.tally(By::Subject, &Scope::default());
        assert_eq!(
            tally.rows.iter().map(|row| row.measure.count).collect::<Vec<_>>(),
            [60],
            "{what}"
        );
        assert_eq!(store.totals().counted, 60, "{what}");
        assert!(store.verify().is_sound(), "{what}: {:?}", store.verify());
    };
    let sequence = folder::merge_sequence(1);
    check("before");
    writer.folder(0, Cursor { sequence, slot: 1, note: 1 }, 0, Some((place(1), to)));
    check("the other row is noted");
    writer.merged(0, place(0));
    check("the row is named");
    writer.set(place(1) + row::COUNT, 60);
    check("the other row has both");
    writer.folder(0, Cursor { sequence, slot: BLOCK_SLOTS, note: 0 }, 0, None);
    check("done");
    writer.set(place(0) + row::COUNT, 0);
    check("the row is empty");
    writer.merged(0, 0);
    check("at rest");
    writer.set(place(0) + row::WHO, row::FREED);
    check("freed");
}
