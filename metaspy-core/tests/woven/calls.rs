//! `Calls`: who calls whom, and what is kept around a call.

use std::sync::atomic::{AtomicUsize, Ordering};

use metaspy_core::Outcome;
use metaspy_core::method_profilers::{self, Call, CallEnd, Calls, Edge, MethodProfiler, MethodSpy, Value};

use crate::alone;
use crate::domain::{Layout, Scene, block_on};

#[test]
fn callers_are_counted_and_recursion_counts_once() {
    let _alone = alone();
    let spying = method_profilers::install(Calls::default());
    let scene = Scene::new(&[1]);
    for _ in 0..3 {
        scene.twice();
    }
    scene.measure();
    assert_eq!(scene.factorial(5), 120);
    block_on(scene.waits(2));
    let edges = spying.profiler().edges();
    let mirror = spying.uninstall();
    let place =
        |name: &str| mirror.methods().iter().find(|method| method.facts.name == name).expect("it is there").place;
    let count = |caller: Option<&str>, callee: &str| {
        let (caller, callee) = (caller.map(&place), place(callee));
        edges.iter().find(|edge| (edge.caller, edge.callee) == (caller, callee)).map_or(0, |edge: &Edge| edge.count)
    };
    assert_eq!((count(Some("twice"), "measure"), count(None, "measure"), count(None, "twice")), (3, 1, 3));
    assert_eq!((count(None, "factorial"), count(Some("factorial"), "factorial")), (1, 5));
    assert_eq!((count(None, "waits"), count(Some("waits"), "measure")), (1, 2));
    let timed = |name: &str| &mirror.methods()[place(name)].data;
    assert_eq!(timed("factorial").executions.get(), 6);
    for name in ["twice", "factorial", "measure", "waits"] {
        let (total, own) = (timed(name).total.get(), timed(name).own.get());
        assert!(own <= total && total > 0, "{name}: {own} of {total}");
    }
    assert!(
        timed("twice").total.get()
            >= timed("twice").own.get()
                + edges.iter().filter(|edge| { edge.caller == Some(place("twice")) }).count() as u64
    );
}

#[test]
fn the_times_of_callers_add_up_to_that_of_the_method_also_where_methods_call_each_other() {
    let _alone = alone();
    let spying = method_profilers::install(Calls::default());
    let scene = Scene::new(&[1]);
    scene.factorial(12);
    assert!(scene.is_even(30) && scene.is_odd(9));
    scene.twice();
    let profiler = spying.profiler();
    let mirror = spying.uninstall();
    for (method, told) in mirror.methods().iter().zip(profiler.tell_all(mirror)) {
        let name = &method.facts.name;
        let number = |of: &method_profilers::Map<String, Value>, key: &str| of[key].as_u64().expect("it is a number");
        let sum = |key: &str| {
            let callers = told["callers"].as_array().expect("there is a list").iter();
            callers.map(|caller| number(caller.as_object().expect("it is an object"), key)).sum::<u64>()
        };
        let (total, own) = (number(&told, "total_ns"), number(&told, "self_ns"));
        assert!(own <= total, "{name}: {own} of {total}");
        assert_eq!(sum("count"), number(&told, "executions"), "{name}");
        // Each is rounded down.
        let (rounded, callers) = (sum("total_ns"), told["callers"].as_array().map_or(0, Vec::len) as u64);
        assert!((rounded..=rounded + callers).contains(&total), "{name}: {rounded} of {total}");
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
        self.0.lock().expect("nobody panicked").push((call.level(), call.caller().is_some()));
    }
}

#[test]
fn what_another_profiler_selects_is_not_around_a_call() {
    let _alone = alone();
    let (deep, all) = (method_profilers::install(Deep::default()), method_profilers::install(Calls::default()));
    Scene::new(&[1]).twice();
    assert_eq!(*deep.profiler().0.lock().expect("nobody panicked"), [(0, false)]);
    drop((deep, all));
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
            argument.show(&mut *spy.data.lock().expect("nobody panicked"));
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
        self.0.lock().expect("nobody panicked").push(ended);
    }
}

#[test]
fn what_is_kept_is_dropped_when_the_call_has_ended_however_it_did() {
    let _alone = alone();
    let spying = method_profilers::install(Around::default());
    let mut scene = Scene::new(&[]);
    scene.measure();
    let _ = (scene.first(false), scene.first(true), scene.factorial(1));
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scene.fails()));
    let mut pending = Box::pin(scene.waits(1));
    assert!(pending.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending());
    drop(pending);
    assert_eq!(OPEN.load(Ordering::Relaxed), 0);
    let ended = std::mem::take(&mut *spying.profiler().0.lock().expect("nobody panicked"));
    let ended: Vec<(&str, Outcome, &str)> =
        ended.iter().map(|(name, outcome, shown)| (name.as_str(), *outcome, shown.as_str())).collect();
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
    let mirror = spying.uninstall();
    let shown = |name: &str| {
        let method = mirror.methods().iter().find(|method| method.facts.name == name).expect("it is there");
        method.data.lock().expect("nobody panicked").clone()
    };
    assert_eq!(
        (shown("first").as_str(), shown("factorial").as_str(), shown("waits").as_str()),
        ("falsetrue", "10", "1")
    );
}
