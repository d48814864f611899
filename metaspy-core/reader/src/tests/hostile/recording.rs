//! The reader answers for any words in a recording.

use proptest::prelude::*;

use crate::event::EventId;
use crate::testing::{Draft, Writer, store_of};
use crate::{By, DetailLevel, EffectsIndex, Filter, Position, Scope, Store};
use metaspy_format::arena::Entry;
use metaspy_format::slot::Mark;
use metaspy_format::superblock as sb;

use super::cases;
use crate::tests::{busy, node};

/// Calls every function of the reader.
pub(super) fn read_everything(store: &Store) {
    let mut store = store.clone();
    let _ = store.refresh();
    let (all, wanted) =
        (Filter::all(), "site:measure subject:#3 cause:layout quick lane:main -epoch:7 took:<1s");
    let wanted: Filter = wanted.parse().expect("a filter");
    for filter in [&all, &wanted] {
        for from in [Position::Start, Position::End, Position::At { tick: 5_000 }] {
            for page in
                [store.forward(from, filter, 20, 5_000), store.backward(from, filter, 20, 5_000)]
            {
                for event in page.events {
                    let _ = (store.event(event.id), store.details(event.id), store.links(event.id));
                    let _ = (store.gap(event.id), store.polls(event.id), store.effects(event.id));
                    let _ = (
                        store.event_marks(event.id),
                        store.remote_cause(&event),
                        store.event_of_span(event.id.raw()),
                    );
                    let _ =
                        (store.causes(event.id).take(50).count(), store.causes(event.id).origin());
                    let _ = (
                        store.site_path(event.site),
                        event.subject.map(|subject| store.subject_text(subject)),
                    );
                    let _ =
                        (store.time_ns(event.start), store.real_ns(event.start), store.rank(from));
                }
            }
        }
        for by in [By::Site, By::Subject, By::SiteSubject, By::RootCause] {
            for detail in [DetailLevel::All, DetailLevel::Counts] {
                let _ = store.tally(by, &Scope { detail, ..Scope::matching(filter.clone()) });
            }
        }
    }
    let under = EventId::new(64, 1);
    let _ = store.tally(By::Site, &Scope { under, ..Scope::default() });
    if let Some(index) = EffectsIndex::build(&store, |_, _| true) {
        let _ = under.map(|id| index.effects(id));
    }
    let _ = (store.totals(), store.verify(), store.lanes(), store.header(), store.end_state());
    let _ = (store.relations_of(node(1)), store.labelled().count(), store.tick_at_ns(u64::MAX));
}

pub(super) fn rich() -> Writer {
    let (mut writer, ids) = busy(2, 2, 9_000, 4);
    writer.details(
        0,
        900_000,
        ids[3],
        &[0, 1, 2, 9, 0, b'a', b'b', 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x1b, 0xff],
    );
    let more = [(Mark::Gap, 1), (Mark::Sent, 0), (Mark::Remote, 1)];
    for (mark, lane) in [(Mark::Link, 0), (Mark::End, 1), (Mark::Polls, 0)].into_iter().chain(more)
    {
        writer.mark(lane, 900_001, mark, [ids[5].raw(), ids[4].raw(), 3]);
    }
    writer.event(Draft { start: 900_002, span: None, cause: Some(ids[1]), ..Draft::default() });
    writer.entry(Entry::Label, 1, &[3], &["the quick"]);
    writer.entry(Entry::Relation, 1 | 1 << 16, &[3, 4], &["owner"]);
    writer.entry(Entry::View, 1, &[], &["{}"]);
    writer.lane(0, "main");
    writer.page(&[[1; 8], [u64::MAX; 8]]);
    writer.fold_row(3, [7, u64::MAX, 5, u64::MAX, u64::MAX, 2, u64::MAX, 3]);
    writer.summarise();
    writer
}

#[test]
fn a_sound_recording_survives_the_questions_of_these_tests() {
    read_everything(&rich().store());
}

/// Words that do harm as sizes, places and counts.
fn word() -> impl Strategy<Value = u64> {
    let small = (0_u64..300).boxed();
    let large = (0_u64..300).prop_map(|small| u64::MAX - small).boxed();
    let bit = (0_u32..64).prop_map(|bit| 1 << bit).boxed();
    prop_oneof![small, large, bit, any::<u64>()]
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn changed_words_neither_panic_the_reader_nor_hold_it_up(
        first_page in prop::collection::vec((1_usize..100, word()), 0..4),
        tables in prop::collection::vec((512_usize..512 + 7 * 4096, word()), 0..40),
        blocks in prop::collection::vec((0_usize..2 * 64 * 512, word()), 0..200),
        cut in 0_usize..3,
    ) {
        let writer = rich();
        let at = writer.table(sb::CHUNKS);
        first_page.into_iter().chain(tables).for_each(|(at, word)| writer.set(at, word));
        blocks.into_iter().for_each(|(word, value)| writer.set(at + word, value));
        let bytes = writer.bytes();
        if let Ok(store) = store_of(&bytes[..bytes.len() - cut * bytes.len() / 5]) {
            read_everything(&store);
        }
    }

    #[test]
    fn random_words_behind_a_sound_beginning_are_no_danger(seed: u64, kept in 0_usize..83) {
        let writer = rich();
        let mut dice = seed | 1;
        for at in kept.max(1)..512 + 7 * 4096 + 128 * 512 {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            writer.set(at, dice >> (dice % 60));
        }
        writer.set(sb::VERSION, 1 << 32);
        if let Ok(store) = store_of(&writer.bytes()) {
            read_everything(&store);
        }
    }
}
