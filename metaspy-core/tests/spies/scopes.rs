//! What several installations of a profiler, and those around a block, count in their tables.

use std::sync::Barrier;

use metaspy_core::method_profilers::{
    Call, Column, MethodProfiler, MethodSpy, SubjectTable, Tables,
};
use metaspy_core::store::{ProfileTable, RowKey, Value};
use metaspy_core::subject::{Kind, Subject};
use metaspy_core::{Profiler, Recording, Store, causality};

use crate::alone;

/// Counts calls by what they are about.
#[derive(Default)]
struct Visits(SubjectTable);

impl MethodProfiler for Visits {
    const NAME: &'static str = "visits";
    type Package = ();
    type Type = ();
    type Method = metaspy_core::method_profilers::Count;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.0 = tables.by_subject("places", [Column::new("visits")]);
    }

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        spy.data.add(1);
        self.0.row(spy.site, PLACE.get()).put(0, 1);
    }
}

thread_local! {
    static PLACE: std::cell::Cell<Subject> = const { std::cell::Cell::new(Subject::NONE) };
}

fn visit() {
    metaspy_probe::hook!("visit", 1, 1, "c=1 self=none", [], []);
}

fn stay() {
    metaspy_probe::hook!("stay", 1, 1, "c=1 self=none", [], []);
}

fn visits() -> Profiler {
    Profiler::new("visits").method_profiler(Visits::default())
}

fn site(store: &Store, name: &str) -> RowKey {
    let site = store.sites().iter().find(|site| site.path.ends_with(&format!("::{name}")));
    RowKey::Site(site.expect("it is there").id)
}

/// The calls of `visit`, of all installations together.
fn united(store: &Store) -> Value {
    let profiles = store.united_profiles();
    let mut of_name = profiles.iter().filter(|profile| profile.name == "visits");
    let profile = of_name.next().expect("it was installed");
    assert!(of_name.next().is_none(), "one for all installations");
    profile.table("").expect("it has columns").value(site(store, "visit"), "count")
}

#[test]
fn a_call_that_two_profilers_of_one_kind_saw_counts_once() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let first = visits().install().expect("it installs");
    visit();
    let second = visits().install().expect("it installs");
    visit();
    visit();
    let of_second = second.uninstall().tables();
    visit();
    drop(first);
    assert_eq!(united(&recording.store()), Value::Number(4));
    let key = site(&recording.store(), "visit");
    assert_eq!(
        of_second[0].tables[0].value(key, "count"),
        Value::Number(2),
        "its own profile has its own calls"
    );

    // One after the other, they saw different calls.
    let third = visits().install().expect("it installs");
    visit();
    drop(third);
    assert_eq!(united(&recording.store()), Value::Number(5));
}

#[test]
fn profilers_of_one_kind_that_overlap_have_a_lower_bound() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let first = visits().install().expect("it installs");
    let second = visits().install().expect("it installs");
    visit();
    visit();
    drop(first);
    visit();
    drop(second);
    assert_eq!(united(&recording.store()), Value::AtLeast(3));
}

#[test]
fn a_table_around_a_block_has_the_calls_of_the_block_and_their_effects_only() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let (in_block, done) = (Barrier::new(2), Barrier::new(2));
    let ((), profile) = std::thread::scope(|scope| {
        scope.spawn(|| {
            in_block.wait();
            (0..2_000).for_each(|_| visit());
            done.wait();
        });
        let block = || {
            visit();
            in_block.wait();
            done.wait();
            visit();
            let cause = causality::carried();
            let effect = move || {
                visit();
                let _cause = cause.because();
                visit();
            };
            scope.spawn(effect).join().expect("it ends");
        };
        visits().profile(block).expect("it installs")
    });
    assert_eq!(profile.counts().total(), 3, "two, and one that they caused");
    let tables = profile.tables();
    let [table, places] = &tables[0].tables[..] else { panic!("it has two tables") };
    let key = site(&recording.store(), "visit");
    assert_eq!((table.value(key, "count"), table.lost), (Value::Number(3), 0));
    assert_eq!(
        places.rows.iter().map(|row| row.value(places, 0)).collect::<Vec<_>>(),
        [Value::Number(3)]
    );
    assert_eq!(united(&recording.store()), Value::Number(3));
}

#[test]
fn blocks_on_two_threads_and_a_block_in_a_block_have_their_own_calls() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let whole = visits().install().expect("it installs");
    let key = site(&recording.store(), "visit");
    let calls = |profile: metaspy_core::Profile| profile.tables()[0].tables[0].value(key, "count");
    let both = Barrier::new(2);
    let counted = |own: usize| {
        let (inner, outer) = visits()
            .profile(|| {
                both.wait();
                (0..own).for_each(|_| visit());
                let ((), inner) = visits().profile(visit).expect("it installs");
                both.wait();
                inner
            })
            .expect("it installs");
        [calls(inner), calls(outer)]
    };
    let [one, other] = std::thread::scope(|scope| {
        [3, 5]
            .map(|own| scope.spawn(move || counted(own)))
            .map(|thread| thread.join().expect("it ends"))
    });
    assert_eq!(one, [Value::Number(1), Value::Number(4)]);
    assert_eq!(other, [Value::Number(1), Value::Number(6)]);
    visit();
    drop(whole);
    assert_eq!(united(&recording.store()), Value::Number(11), "the first profiler saw all of them");
}

/// Visits so many places, in a recording of this profiler.
fn visit_places(recording: &Recording, places: u64) -> ProfileTable {
    static PLACES: Kind = Kind::new("place");
    let installed = visits().install().expect("it installs");
    stay();
    for place in 1..=places {
        PLACE.set(Subject::new(PLACES.id(), place));
        visit();
    }
    PLACE.set(Subject::NONE);
    drop(installed);
    let store = recording.store();
    store.profile("visits").expect("it was installed").table("places").expect("it was made").clone()
}

#[test]
fn a_table_grows_before_it_loses_rows() {
    let _alone = alone();
    let recording = Recording::memory().budget(1 << 20).start().expect("it starts");
    let table = visit_places(&recording, 600);
    assert_eq!((table.rows.len(), table.lost), (601, 0));
    assert!(table.rows.iter().all(|row| row.value(&table, 0) == Value::Number(1)));
}

#[test]
fn a_table_grows_while_threads_find_the_same_rows() {
    static PLACES: Kind = Kind::new("shared place");
    const ROWS: u64 = 10_000;
    const THREADS: u64 = 4;
    let _alone = alone();
    let recording = Recording::memory().budget(64 << 20).start().expect("it starts");
    let installed = visits().install().expect("it installs");
    let visit_all = || {
        for place in 1..=ROWS {
            PLACE.set(Subject::new(PLACES.id(), place));
            visit();
        }
    };
    std::thread::scope(|scope| (0..THREADS).for_each(|_| _ = scope.spawn(visit_all)));
    drop(installed);
    let profile = recording.store().profile("visits").expect("it was installed");
    let table = profile.table("places").expect("it was made");
    assert_eq!((table.rows.len() as u64, table.lost), (ROWS, 0));
    assert!(table.rows.iter().all(|row| row.value(table, 0) == Value::Number(THREADS)));
}

#[test]
fn rows_of_a_method_that_lost_values_are_lower_bounds_and_those_of_others_are_not() {
    let _alone = alone();
    let recording = Recording::memory().budget(1 << 20).start().expect("it starts");
    let table = visit_places(&recording, 50_000);
    assert!(
        table.lost > 0 && table.rows.len() < 50_000,
        "{} lost, {} rows",
        table.lost,
        table.rows.len()
    );
    let store = recording.store();
    let [lost, whole] = ["visit", "stay"].map(|name| site(&store, name).site());
    assert!(table.is_incomplete(lost) && !table.is_incomplete(whole));
    let is_right = |site, value: &Value| {
        if site == whole { *value == Value::Number(1) } else { *value == Value::AtLeast(1) }
    };
    assert!(table.rows.iter().all(|row| is_right(row.key.site(), &row.value(&table, 0))));
}
