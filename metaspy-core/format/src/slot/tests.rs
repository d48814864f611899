//! Words are unpacked to what was packed.

use super::*;

#[test]
fn a_commit_word_unpacks_to_what_was_packed() {
    let commit = Commit { start: START_MAX, site: 0xF_FFFF, lap: 255 };
    assert_eq!(Commit::unpack(commit.pack()), commit);
    let commit = Commit { start: 1, site: 2, lap: 3 };
    assert_eq!(Commit::unpack(commit.pack()), commit);
}

#[test]
fn the_end_word_keeps_span_and_flags_apart() {
    let flags =
        Flags { kind: u16::MAX, outcome: Outcome::Panicked, level: 3, timed: true, details: 3 };
    let word = ended(u64::MAX, flags.pack());
    assert!(!is_running(word));
    assert_eq!((span(word), Flags::unpack(word)), (SPAN_MAX, flags));
    let word = running(7, flags.pack());
    assert!(is_running(word));
    assert_eq!((span(word), Flags::unpack(word)), (7, flags));
}

#[test]
fn each_flag_is_read_and_changed_without_the_others() {
    let all =
        Flags { kind: 0xABCD, outcome: Outcome::Cancelled, level: 2, timed: true, details: 1 };
    let word = ended(99, all.pack());
    assert_eq!((kind(word), outcome(word), level(word)), (0xABCD, Outcome::Cancelled, 2));
    assert_eq!((is_timed(word), details(word), flags_of(word)), (true, 1, all.pack()));
    let changed = with_kind(with_details(with_outcome(word, Outcome::Failed), DETAILS_AT_END), 7);
    assert_eq!(
        Flags::unpack(changed),
        Flags { kind: 7, outcome: Outcome::Failed, details: 3, ..all }
    );
    assert_eq!(span(changed), 99);
    assert_eq!(with_details(without_details(word), all.details), all.pack());
    let begun = Flags { kind: 9, outcome: Outcome::Running, level: 1, timed: true, details: 0 };
    assert_eq!(flags(9, true) | flags_at_level(1), begun.pack());
    assert_eq!(details_of(word), with_details(0, DETAILS_AT_START));
    assert_eq!(details_at(true, true), DETAILS_AT_START | DETAILS_AT_END);
}

#[test]
fn an_event_that_its_slot_has_all_of_ends_as_any_other() {
    let flags = Flags { kind: 3, outcome: Outcome::Running, level: 1, timed: true, details: 0 };
    let word = running(5, held(flags.pack()));
    assert!(is_held_in(word, 5) && !is_held_in(word, 6) && !is_held_in(let_go(word), 5));
    assert_eq!((let_go(word), Flags::unpack(word)), (running(5, flags.pack()), flags));
    let ended_flags = Flags { outcome: Outcome::Failed, ..flags };
    assert_eq!(ended_as(word, 77, Outcome::Failed), ended(77, ended_flags.pack()));
    assert_eq!(start(commit(stamp(9, 2), 4)), 9);
}

#[test]
fn a_moved_event_keeps_its_kind_and_nothing_else() {
    let word = running(
        5,
        Flags { kind: 3, outcome: Outcome::Running, level: 1, timed: true, details: 1 }.pack(),
    );
    assert!(is_running_in(word, 5) && !is_running_in(word, 6));
    let word = moved(word);
    assert_eq!(
        (is_running(word), span(word), kind(word), outcome(word)),
        (false, 0, 3, Outcome::Moved)
    );
    assert_eq!((level(word), is_timed(word), details(word)), (0, false, 0));
}

#[test]
fn commit_words_together_identify_slots_without_marks() {
    let commit = |site| Commit { start: 1, site, lap: 3 }.pack();
    assert!(!may_hold_marks(commit(1) | commit(0xF_0000)));
    assert!(may_hold_marks(commit(1) | commit(Mark::Gap as u32)));
    assert_eq!((site(commit(77)), lap(commit(77))), (77, 3));
}

#[test]
fn a_detail_takes_as_many_slots_as_its_bytes_need() {
    assert_eq!([0, 16, 17, 48, 49].map(detail_slots), [1, 1, 2, 2, 3]);
}

#[test]
fn a_folded_event_keeps_its_place_its_time_and_its_site() {
    let word = Commit { start: 12, site: 77, lap: 3 }.pack();
    assert_eq!(
        Commit::unpack(folded_commit(word)),
        Commit { start: 12, site: Mark::Folded as u32, lap: 3 }
    );
    assert_eq!((folded_site(folded_word(77)), folded_site(900)), (Some(77), None));
}
