//! Whose calls a profiler sees, and what it says of them.

use super::*;

#[test]
fn only_chosen_subjects_and_groups_are_observed() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let only = arm([&OUTER], Arming::only(Mode::Full, vec![node(5), node(900)])).install().unwrap();
    let even = Subjects::Group(Group::new(|subject| subject.key % 2 == 0));
    let group =
        arm([&INNER], Arming { subjects: even, ..Arming::all(Mode::Full) }).install().unwrap();
    for key in 0..1_000 {
        call(&OUTER, node(key), || ());
        call(&INNER, node(key), || ());
    }
    let (only, group) = (only.uninstall(), group.uninstall());
    assert_eq!(only.counts().total(), 2);
    assert_eq!((only.count_of(node(5)), only.count_of(node(6))), (1, 0));
    assert_eq!(group.counts().total(), 500);
    assert_eq!(recording.store().totals().stored, 502);
}

#[test]
fn profilers_share_events_and_each_sees_its_own_part() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let everybody = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    call(&OUTER, node(1), || ());
    let late = arm([&OUTER], Arming::only(Mode::Full, vec![node(1)])).install().unwrap();
    call(&OUTER, node(1), || ());
    call(&OUTER, node(2), || ());
    // Uninstalled in another order than installed.
    let everybody = everybody.uninstall();
    call(&OUTER, node(1), || ());
    call(&OUTER, node(2), || ());
    let late = late.uninstall();
    assert_eq!((everybody.counts().total(), late.counts().total()), (3, 2));
    assert_eq!(recording.store().totals().stored, 4);
    assert!(!OUTER.is_armed());
}

#[test]
fn eight_threads_that_profile_the_same_method_each_read_their_own_count() {
    let _turn = turn();
    let _recording = Recording::memory().budget(16 << 20).start().unwrap();
    std::thread::scope(|scope| {
        for thread in 1..=8_u64 {
            scope.spawn(move || {
                let profiler = arm([&INNER], Arming::all(Mode::Full));
                let (_, profile) = profiler
                    .profile(|| {
                        for at in 0..thread * 100 {
                            call(&INNER, node(at % 3), || ());
                        }
                    })
                    .unwrap();
                let rows = profile.counts().by_site();
                assert!(rows.exact);
                assert_eq!(rows.at("INNER").unwrap().measure.count, thread * 100);
            });
        }
    });
}

#[test]
fn the_causes_of_a_block_are_the_calls_that_it_made() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let (_, profile) = arm([&OUTER, &INNER], Arming::all(Mode::Full))
        .profile(|| {
            (0..4).for_each(|_| call(&INNER, node(1), || ()));
            (0..5).for_each(|_| call(&OUTER, node(2), || call(&INNER, node(3), || ())));
        })
        .unwrap();
    let causes = profile.counts().by_cause();
    assert_eq!(causes.at("INNER").unwrap().measure.count, 4);
    assert_eq!(causes.at("OUTER").unwrap().measure.count, 10);
    // The block called INNER 4 times and OUTER 5 times itself, and OUTER called INNER.
    let senders = profile.counts().by_sender();
    assert_eq!((senders.exact, senders.at("OUTER").unwrap().measure.count), (true, 5));
    assert!(senders.at("INNER").is_none(), "INNER calls nothing: {senders}");
}

#[test]
fn a_block_is_profiled_by_events_even_in_tally_mode() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let (_, profile) = arm([&INNER], Arming::all(Mode::Tally))
        .profile(|| (0..7).for_each(|_| call(&INNER, node(1), || ())))
        .unwrap();
    assert_eq!(profile.count_of(node(1)), 7);
}

#[test]
fn what_was_counted_before_a_profiler_is_not_its_own() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let first = arm([&INNER], Arming::all(Mode::Tally)).install().unwrap();
    (0..7).for_each(|_| call(&INNER, node(1), || ()));
    assert_eq!(first.uninstall().count_of(node(1)), 7);
    let second = arm([&INNER], Arming::all(Mode::Tally)).install().unwrap();
    (0..5).for_each(|_| call(&INNER, node(1), || ()));
    assert_eq!(second.so_far().count_of(node(1)), 5);
    assert_eq!(second.uninstall().count_of(node(1)), 5);
}

#[test]
fn a_subject_that_may_be_among_the_others_of_its_site_is_not_counted_exactly() {
    let _turn = turn();
    let policy = Policy::KeepOldest;
    let recording =
        Recording::memory().budget(1 << 20).policy(policy).collector(false).start().unwrap();
    let _installed = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    (0..60_000).for_each(|at| call(&OUTER, node(at % 10_000), || ()));
    let of = |filter: &str| {
        let scope = Scope::matching(filter.parse().unwrap());
        let tally = recording.store().tally(By::Site, &scope);
        (tally.rows.iter().map(|row| row.measure.count).sum::<u64>(), tally.exact)
    };
    assert_eq!(of("site:OUTER"), (60_000, true));
    let (known, exact) = of("subject:#0");
    assert!(known <= 6 && !exact, "{known}");
    assert!(!of("kind:Node").1);
}
