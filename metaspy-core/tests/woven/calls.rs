//! `Calls`: callers and callees, and data that are kept around a call.

use std::sync::atomic::{AtomicUsize, Ordering};

use metaspy_core::Outcome;
use metaspy_core::method_profilers::{
    self, Call, CallEnd, Calls, Column, MethodProfiler, MethodSpy, SubjectTable, Tables,
};

use metaspy_core::store::RowKey;

use crate::domain::{Layout, Scene, block_on};
use crate::{alone, number, site, table};

#[test]
fn callers_are_counted_and_recursion_counts_once() {
    let _alone = alone();
    let spying = crate::install(Calls::default());
    let scene = Scene::new(&[1]);
    for _ in 0..3 {
        scene.twice();
    }
    scene.measure();
    assert_eq!(scene.factorial(5), 120);
    block_on(scene.waits(2));
    drop(spying);
    let (store, callers) = table("calls", "callers");
    // This machine may have no counter that one instruction reads.
    if store.header().clock == metaspy_core::format::Clock::Counter as u64 {
        let cost = store.hook_cost();
        // Not under a sanitizer, whose hooks are of another kind.
        assert!(
            cost.is_some() || cfg!(metaspy_plain),
            "it was measured when the profiler was installed"
        );
        assert!(
            cost.is_none_or(|cost| 0.0 < cost.within_ns && cost.within_ns <= cost.whole_ns),
            "{cost:?}"
        );
        // A hook that looks at the returned value does more than one that does not.
        assert!(cost.is_none_or(|cost| cost.returned_ns > 0.0), "{cost:?}");
        let known = |row: RowKey| !store.site_path(row.site()).is_empty();
        assert!(callers.rows.iter().all(|row| known(row.key)), "{callers:?}");
    }
    let count = |caller: Option<&str>, callee: &str| {
        let key = RowKey::Caller(site(&store, callee), caller.map(|caller| site(&store, caller)));
        number(&callers.value(key, "calls"))
    };
    let (twice, measure) = ("Layout::twice", "Scene::Layout::measure");
    assert_eq!((count(Some(twice), measure), count(None, measure), count(None, twice)), (3, 1, 3));
    let factorial = "Scene::factorial";
    assert_eq!((count(None, factorial), count(Some(factorial), factorial)), (1, 5));
    assert_eq!((count(None, "Scene::waits"), count(Some("Scene::waits"), measure)), (1, 2));
    let (_, methods) = table("calls", "");
    for path in [twice, factorial, measure, "Scene::waits"] {
        let value = |column| number(&methods.value(RowKey::Site(site(&store, path)), column));
        assert!(
            value("self") <= value("total") && value("total") > 0,
            "{path}: {} of {}",
            value("self"),
            value("total")
        );
    }
}

#[test]
fn the_times_of_callers_add_up_to_that_of_the_method_also_where_methods_call_each_other() {
    let _alone = alone();
    let spying = crate::install(Calls::default());
    let scene = Scene::new(&[1]);
    scene.factorial(12);
    assert!(scene.is_even(30) && scene.is_odd(9));
    scene.twice();
    drop(spying);
    let (store, methods) = table("calls", "");
    // Of the same store: each converts ticks by the calibration that it has read.
    let profile = store.profile("calls").expect("it was installed");
    let callers = profile.table("callers").expect("it was declared");
    assert!(methods.rows.len() >= 5, "{methods:?}");
    for method in &methods.rows {
        let callers_of: Vec<_> =
            callers.rows.iter().filter(|row| row.key.site() == method.key.site()).collect();
        let own = number(&methods.value(method.key, "self"));
        let total = number(&methods.value(method.key, "total"));
        let path = store.site_path(method.key.site());
        assert!(own <= total, "{path}: {own} of {total}");
        let sum: u64 = callers_of.iter().map(|row| number(&callers.value(row.key, "total"))).sum();
        // Each is rounded down.
        assert!((sum..=sum + callers_of.len() as u64).contains(&total), "{path}: {sum} of {total}");
    }
}

/// How deep calls of `measure` are among what it selects, and who called them.
#[derive(Default)]
struct Deep(std::sync::Mutex<Vec<(usize, bool)>>);

impl MethodProfiler for Deep {
    const NAME: &'static str = "deep";
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn selects(&self, facts: &method_profilers::Facts) -> bool {
        facts.name == "measure"
    }

    fn before(&self, _: &MethodSpy<Self>, call: &Call<'_>) {
        self.0.lock().expect("no holder panicked").push((call.level(), call.caller().is_some()));
    }
}

#[test]
fn what_another_profiler_selects_is_not_around_a_call() {
    let _alone = alone();
    let (deep, all) = (crate::install(Deep::default()), crate::install(Calls::default()));
    Scene::new(&[1]).twice();
    assert_eq!(*deep.profiler().0.lock().expect("no holder panicked"), [(0, false)]);
    drop((deep, all));
}

/// Counts calls of `measure` by object.
#[derive(Default)]
struct Objects(SubjectTable);

impl MethodProfiler for Objects {
    const NAME: &'static str = "objects";
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.0 = tables.by_subject("objects", [Column::new("calls")]);
    }

    fn selects(&self, facts: &method_profilers::Facts) -> bool {
        facts.name == "measure"
    }

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        self.0.row(spy.site, call.subject()).put(0, 1);
    }
}

#[test]
fn the_subject_of_a_call_is_its_receiver() {
    let _alone = alone();
    let spying = crate::install(Objects::default());
    let scene = Scene::new(&[1]);
    scene.twice();
    scene.measure();
    drop(spying);
    let (store, objects) = table("objects", "objects");
    let [row] = &objects.rows[..] else { panic!("{objects:?}") };
    let RowKey::Subject(_, subject) = row.key else { panic!("{row:?}") };
    assert_eq!(subject.key, std::ptr::from_ref(&scene).addr() as u64);
    assert!(
        store.kind(subject.kind).is_some_and(|kind| kind.name.ends_with("Scene")),
        "{subject:?}"
    );
    assert_eq!(number(&objects.value(row.key, "calls")), 2);
}

/// Keeps something around each call, and remembers how calls ended.
#[derive(Default)]
struct Around(std::sync::Mutex<Vec<(String, Outcome, String)>>);

static OPEN: AtomicUsize = AtomicUsize::new(0);

struct Kept;

impl Drop for Kept {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

impl MethodProfiler for Around {
    const NAME: &'static str = "around";
    type Package = ();
    type Type = ();
    type Method = std::sync::Mutex<String>;
    type Around = Kept;

    fn selects(&self, facts: &method_profilers::Facts) -> bool {
        facts.name != "measure"
    }

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        for argument in call.arguments() {
            argument.show(&mut *spy.data.lock().expect("no holder panicked"));
        }
    }

    fn around(&self, _: &MethodSpy<Self>, _: &Call<'_>) -> Option<Kept> {
        OPEN.fetch_add(1, Ordering::Relaxed);
        Some(Kept)
    }

    fn after(&self, spy: &MethodSpy<Self>, _: &Call<'_>, ended: &CallEnd<'_>) {
        assert_ne!(OPEN.load(Ordering::Relaxed), 0, "it is dropped after this");
        let mut shown = String::new();
        ended.show(&mut shown);
        let ended = (spy.facts.name.clone(), ended.outcome(), shown);
        self.0.lock().expect("no holder panicked").push(ended);
    }
}

#[test]
fn what_is_kept_is_dropped_when_the_call_has_ended_however_it_did() {
    let _alone = alone();
    let spying = crate::install(Around::default());
    let mut scene = Scene::new(&[]);
    scene.measure();
    let _ = (scene.first(false), scene.first(true), scene.factorial(1));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scene.fails()));
    let mut pending = Box::pin(scene.waits(1));
    assert!(
        pending
            .as_mut()
            .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
            .is_pending()
    );
    drop(pending);
    assert_eq!(OPEN.load(Ordering::Relaxed), 0);
    let ended = std::mem::take(&mut *spying.profiler().0.lock().expect("no holder panicked"));
    let ended: Vec<(&str, Outcome, &str)> = ended
        .iter()
        .map(|(name, outcome, shown)| (name.as_str(), *outcome, shown.as_str()))
        .collect();
    let expected = [
        ("new", Outcome::Returned, ""),
        ("first", Outcome::Failed, "Err(\"none\")"),
        ("first", Outcome::Succeeded, "Ok(7)"),
        ("factorial", Outcome::Returned, ""),
        ("factorial", Outcome::Returned, ""),
        ("fails", Outcome::Panicked, ""),
        ("waits", Outcome::Cancelled, ""),
    ];
    assert_eq!(ended, expected);
    let (_, mirror) = spying.uninstall();
    let shown = |name: &str| {
        let method =
            mirror.methods().iter().find(|method| method.facts.name == name).expect("it is there");
        method.data.lock().expect("no holder panicked").clone()
    };
    assert_eq!(
        (shown("first").as_str(), shown("factorial").as_str(), shown("waits").as_str()),
        ("falsetrue", "10", "1")
    );
}
