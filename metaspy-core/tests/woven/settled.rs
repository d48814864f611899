//! Calls that are only counted at their hook, because a profiler wants no more.

use std::collections::BTreeSet;
use std::sync::Mutex;

use metaspy_core::arm::Mode;
use metaspy_core::method_profilers::{
    Call, Calls, Columns, Contexts, Count, Data, IdentitySet, Interest, MethodProfiler, MethodSpy,
    Mirror, TestId,
};
use metaspy_core::store::{ProfileTable, RowKey};
use metaspy_core::{Profiler, Recording};

use crate::domain::{Layout, Scene, a_test};
use crate::recorded::{All, calls};
use crate::{alone, executions, is_apart, number, site, table};

/// Counts calls, receivers and tests, and its own calls.
#[derive(Default)]
struct Light;

struct Known {
    calls: Count,
    observed: Count,
    receivers: IdentitySet<4>,
    tests: Mutex<BTreeSet<TestId>>,
}

impl Data for Known {
    fn new(columns: &mut Columns<'_>) -> Self {
        let (receivers, tests) = (IdentitySet::default(), Mutex::default());
        Known { calls: columns.sum("calls"), observed: columns.sum("observed"), receivers, tests }
    }
}

impl MethodProfiler for Light {
    const NAME: &'static str = "light";
    type Package = ();
    type Type = ();
    type Method = Known;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        spy.data.calls.add(1);
        spy.data.observed.add(1);
        spy.data.receivers.see(call);
        spy.data.tests.lock().expect("no test panicked").extend(call.test());
    }

    fn interest<'s>(&self, spy: &'s MethodSpy<Self>, _: &Call<'_>) -> Interest<'s> {
        if spy.data.receivers.is_full() {
            Interest::Nothing(Some(&spy.data.calls))
        } else {
            Interest::OtherObjects(Some(&spy.data.calls))
        }
    }
}

fn known<'m>(mirror: &'m Mirror<Light>, name: &str) -> &'m Known {
    &mirror.methods().iter().find(|method| method.facts.name == name).expect("it is there").data
}

#[test]
fn they_are_counted_for_the_same_object_until_there_are_enough() {
    let _alone = alone();
    let spying = crate::install(Light);
    let scenes: Vec<Scene> = (0..6).map(|n| Scene::new(&[n])).collect();
    for scene in &scenes {
        (0..1000).for_each(|_| _ = scene.measure());
    }
    let mirror = spying.mirror();
    let measured = known(&mirror, "measure");
    assert_eq!((measured.calls.get(), measured.receivers.len()), (6000, 4));
    // The test before this one may end meanwhile: then a settled method is observed again.
    assert!(
        (4..8).contains(&measured.observed.get()),
        "observed {} times",
        measured.observed.get()
    );
    std::thread::scope(|scope| {
        (0..3).for_each(|_| _ = scope.spawn(|| (0..1000).for_each(|_| _ = scenes[0].measure())));
    });
    assert_eq!(measured.calls.get(), 9000);
    assert!(
        (7..14).contains(&measured.observed.get()),
        "each thread is observed once, not {} times",
        measured.observed.get()
    );
    let mut scene = Scene::new(&[]);
    for _ in 0..3 {
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scene.fails()));
    }
    let (_, mirror) = spying.uninstall();
    (0..10).for_each(|_| _ = scenes[0].measure());
    assert_eq!(
        (known(&mirror, "measure").calls.get(), known(&mirror, "fails").calls.get()),
        (9000, 3)
    );
}

/// Counts calls on two groups of objects in two columns.
#[derive(Default)]
struct Grouped;

struct Groups {
    calls: [Count; 2],
    objects: [IdentitySet<1_000>; 2],
    observed: Count,
}

impl Data for Groups {
    fn new(columns: &mut Columns<'_>) -> Self {
        let calls = ["first", "second"].map(|name| columns.sum(name));
        Groups { calls, objects: Default::default(), observed: columns.sum("observed") }
    }
}

fn group(call: &Call<'_>) -> usize {
    // A function without a receiver is about no object.
    (call.identity().unwrap_or_default() % 2) as usize
}

impl MethodProfiler for Grouped {
    const NAME: &'static str = "grouped";
    type Package = ();
    type Type = ();
    type Method = Groups;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        spy.data.calls[group(call)].add(1);
        spy.data.objects[group(call)].see(call);
        spy.data.observed.add(1);
    }

    fn interest<'s>(&self, spy: &'s MethodSpy<Self>, call: &Call<'_>) -> Interest<'s> {
        Interest::OtherObjects(Some(&spy.data.calls[group(call)]))
    }
}

#[test]
fn calls_on_several_objects_in_turn_are_counted_where_those_of_each_object_are() {
    let _alone = alone();
    let spying = crate::install(Grouped);
    let scenes: Vec<Scene> = (0..50).map(|n| Scene::new(&[n])).collect();
    for _ in 0..1_000 {
        scenes.iter().for_each(|scene| _ = scene.measure());
    }
    let mirror = spying.mirror();
    let measured = &mirror
        .methods()
        .iter()
        .find(|method| method.facts.name == "measure")
        .expect("it is there")
        .data;
    let objects = measured.objects.each_ref().map(|objects| objects.len() as u64);
    assert_eq!(objects.iter().sum::<u64>(), 50);
    assert_eq!(measured.calls.each_ref().map(Count::get), objects.map(|objects| objects * 1_000));
    // Two calls settle an object beside others. The test before this one may end meanwhile, and two
    // objects may have one place.
    assert!(measured.observed.get() < 50_000 / 5, "observed {} times", measured.observed.get());
    drop(spying);
}

#[test]
fn objects_of_two_types_at_one_address_are_two() {
    struct Page(Scene);
    impl Layout for Page {
        fn measure(&self) -> u32 {
            self.0.measure()
        }
    }
    let _alone = alone();
    let spying = crate::install(Light);
    let page = Page(Scene::new(&[1]));
    for _ in 0..10 {
        page.twice();
        page.0.twice();
    }
    let mirror = spying.mirror();
    let twice = known(&mirror, "twice");
    assert_eq!((twice.calls.get(), twice.receivers.len()), (20, 2));
    drop(spying);
}

/// Many columns.
struct Wide;

struct Columned([Count; 32]);

impl Data for Columned {
    fn new(columns: &mut Columns<'_>) -> Self {
        Columned(std::array::from_fn(|at| columns.sum(format!("column {at}").as_str())))
    }
}

impl MethodProfiler for Wide {
    const NAME: &'static str = "wide";
    type Package = ();
    type Type = ();
    type Method = Columned;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        spy.data.0.iter().for_each(|count| count.add(1));
    }
}

#[test]
fn values_that_find_no_room_are_counted_as_lost() {
    if !is_apart("settled::values_that_find_no_room_are_counted_as_lost") {
        return;
    }
    Recording::memory().budget(1 << 20).start().expect("it starts");
    let spying = crate::install(Wide);
    let scene = Scene { nodes: vec![1] };
    let barrier = std::sync::Barrier::new(64);
    std::thread::scope(|scope| {
        let run = || {
            barrier.wait();
            (0..10).for_each(|_| _ = scene.measure());
            barrier.wait();
        };
        (0..64).for_each(|_| _ = scope.spawn(run));
    });
    drop(spying);
    let (store, table) = table("wide", "");
    let measured = RowKey::Site(site(&store, "Scene::Layout::measure"));
    let kept: u64 =
        table.columns.iter().map(|column| number(&table.value(measured, &column.name))).sum();
    assert!(kept > 0 && table.lost > 0, "{kept} are kept, {} lost", table.lost);
    assert_eq!(kept + table.lost, 64 * 10 * 32);
}

#[test]
fn another_test_is_seen() {
    let _alone = alone();
    let scene = Scene::new(&[1]);
    let spying = crate::install(Light);
    for _ in 0..1000 {
        scene.twice();
    }
    a_test(&scene);
    a_test(&scene);
    let (_, mirror) = spying.uninstall();
    let twice = known(&mirror, "twice");
    let tests: Vec<String> =
        twice.tests.lock().expect("no test panicked").iter().map(|test| test.name()).collect();
    assert!(tests.iter().any(|test| test == "woven::domain::a_test"), "{tests:?}");
    assert_eq!(twice.calls.get(), 1002);
    assert!(
        (3..8).contains(&twice.observed.get()),
        "in its own test, and in each of two, not {} times",
        twice.observed.get()
    );
}

#[test]
fn they_are_recorded_too_over_epochs() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let spying = crate::install(Light);
    let (scene, mut failing) = (Scene::new(&[1]), Scene::new(&[]));
    for _ in 0..3 {
        let profiler =
            Profiler::new("counts").observe(All(Mode::Tally)).install().expect("it installs");
        (0..1000).for_each(|_| _ = scene.measure());
        for _ in 0..5 {
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| failing.fails()));
        }
        drop(profiler);
        (0..10).for_each(|_| _ = scene.measure());
    }
    let (_, mirror) = spying.uninstall();
    while recording.collect() {}
    assert_eq!(known(&mirror, "measure").calls.get(), 3030);
    assert!(known(&mirror, "measure").observed.get() < 20);
    assert_eq!(
        calls(&recording.store(), "Scene::Layout::measure"),
        (3030, 0),
        "the profiler counts between the others, too"
    );
    assert_eq!(calls(&recording.store(), "Scene::fails"), (15, 15), "how they ended is recorded");
}

/// Sees two objects, and then leaves calls to the tally.
#[derive(Default)]
struct Two;

struct Noticed {
    observed: Count,
    receivers: IdentitySet<2>,
}

impl Data for Noticed {
    fn new(columns: &mut Columns<'_>) -> Self {
        Noticed { observed: columns.sum("observed"), receivers: IdentitySet::default() }
    }
}

impl MethodProfiler for Two {
    const NAME: &'static str = "two";
    type Package = ();
    type Type = ();
    type Method = Noticed;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        spy.data.observed.add(1);
        spy.data.receivers.see(call);
    }

    fn interest<'s>(&self, spy: &'s MethodSpy<Self>, _: &Call<'_>) -> Interest<'s> {
        if spy.data.receivers.is_full() {
            Interest::Nothing(None)
        } else {
            Interest::OtherObjects(None)
        }
    }
}

/// Calls `measure` of three objects from two callers, and checks what is counted of it.
fn check_beside(profiler: Profiler, has_callers: bool) {
    let spying = profiler
        .method_profiler(Contexts::default())
        .method_profiler(Two)
        .install()
        .expect("all are installed");
    let scenes = [1, 2, 3].map(|node| Scene::new(&[node]));
    for scene in &scenes {
        for _ in 0..1_000 {
            scene.twice();
            scene.measure();
        }
    }
    let failed = std::panic::catch_unwind(|| Scene::new(&[]).fails());
    assert!(failed.is_err(), "it panics on purpose");
    assert_eq!(executions(&spying.uninstall(), "woven::domain::Scene::Layout::measure"), 6_000);

    let (store, tree) = table("contexts", "tree");
    let measure = site(&store, "Scene::Layout::measure");
    let calls = |table: &ProfileTable| -> Vec<u64> {
        let rows = table.rows.iter().filter(|row| row.key.site() == measure);
        rows.map(|row| number(&table.value(row.key, "calls"))).collect()
    };
    assert_eq!(calls(&tree), [3_000, 3_000], "below `twice`, and below nothing");
    if has_callers {
        assert_eq!(
            calls(&table("calls", "callers").1),
            [3_000, 3_000],
            "by `twice`, and by nobody"
        );
    }
    let (_, methods) = table("two", "");
    let observed = number(&methods.value(RowKey::Site(measure), "observed"));
    // The test before this one may end meanwhile: then a settled method is observed again.
    assert!((2..10).contains(&observed), "observed {observed} times");
}

#[test]
fn beside_a_tree_of_contexts_they_are_counted_at_their_hook() {
    let _alone = alone();
    check_beside(Profiler::new("beside"), false);
}

#[test]
fn beside_a_tree_and_times_they_are_observed_at_their_ends_only() {
    let _alone = alone();
    check_beside(Profiler::new("beside").method_profiler(Calls::default()), true);
}
