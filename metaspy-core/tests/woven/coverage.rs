//! `TestCoverage`: what ran, on how many objects, in which tests, and what it returned.

use metaspy_core::method_profilers::{self, MethodSpy, Mirror, TestCoverage};

use crate::domain::{Layout, Scene, a_long_test, a_test, block_on, stays};
use crate::{alone, executions, is_apart, tests};

fn of<'m>(mirror: &'m Mirror<TestCoverage>, path: &str) -> &'m MethodSpy<TestCoverage> {
    let path = format!("woven::domain::{path}");
    mirror
        .methods()
        .iter()
        .find(|method| method.facts.path() == path)
        .unwrap_or_else(|| panic!("{path} is there"))
}

#[test]
fn every_method_is_in_the_mirror_and_what_ran_is_counted() {
    let _alone = alone();
    let before = Scene::new(&[1]);
    before.measure();
    let spying = crate::install(TestCoverage::default());
    let scenes: Vec<Scene> = (0..150).map(|n| Scene::new(&[n])).collect();
    for scene in &scenes {
        scene.twice();
    }
    std::thread::scope(|scope| {
        for part in scenes.chunks(50) {
            scope.spawn(move || {
                part.iter().for_each(|scene| assert_eq!(scene.measure(), scene.nodes[0]))
            });
        }
    });
    let (profile, mirror) = spying.uninstall();
    before.measure();
    let ran = |path: &str| executions(&profile, path);
    assert_eq!(
        (ran("Scene::new"), ran("Layout::twice"), ran("Scene::Layout::measure")),
        (150, 150, 300)
    );
    assert_eq!(ran("Scene::never"), 0, "what never ran is listed");
    let receivers = &of(&mirror, "Scene::Layout::measure").data.receivers;
    assert!(receivers.is_full() && receivers.len() == 100, "at least a hundred");
    assert!(of(&mirror, "Scene::new").data.receivers.is_empty());
    assert_eq!(of(&mirror, "Layout::twice").data.calls.get(), 150);

    let types: Vec<(&str, bool, &[String])> = mirror
        .types()
        .iter()
        .map(|it| (it.name.as_str(), it.is_trait, it.traits.as_slice()))
        .collect();
    let (hash, sized, layout) = (["Hash".to_owned()], ["Sized".to_owned()], ["Layout".to_owned()]);
    assert_eq!(
        types,
        [("Key", false, &hash[..]), ("Layout", true, &sized), ("Scene", false, &layout)]
    );
    let packages: Vec<&str> = mirror.packages().iter().map(|it| it.path.as_str()).collect();
    assert_eq!(packages, ["woven", "woven::domain"]);
    let scene = &mirror.types()[2];
    let all = profile.methods_run();
    assert!(
        of(&mirror, "Scene::new").is_covered(&all) && !of(&mirror, "Scene::never").is_covered(&all)
    );
    let methods =
        |type_: &_| mirror.methods_of(type_).filter(|method| !method.facts.is_test).count() as u32;
    let ratio = mirror.ratio_of_type(scene, &all);
    assert_eq!((ratio.methods, ratio.types, ratio.covered_types), (methods(scene), 1, 1));
    assert_eq!(ratio.covered, 2, "new and measure");
    let whole = mirror.ratio(&all);
    assert_eq!((whole.types, whole.covered_types), (3, 2));
    assert_eq!(mirror.ratio_of_package(&mirror.packages()[0], &all), whole);
    assert!(
        whole.covered < whole.methods
            && whole.rate() == f64::from(whole.covered) / f64::from(whole.methods)
    );
    let associated = mirror.methods_of(scene).filter(|method| method.is_associated());
    assert_eq!(associated.map(|method| method.facts.name.as_str()).collect::<Vec<_>>(), ["new"]);
    assert!(
        mirror.methods().iter().all(|method| !method.facts.is_test),
        "a test that nobody selected"
    );
}

#[test]
fn packages_have_types_and_types_have_methods() {
    let _alone = alone();
    let mirror = crate::install(TestCoverage::default()).mirror();
    let methods = mirror.methods().len();
    let [woven, domain] = mirror.packages() else { panic!("a crate and its module") };
    assert_eq!(
        (mirror.types_of(woven).count(), mirror.methods_within(woven).count()),
        (0, methods)
    );
    assert_eq!(
        (mirror.types_of(domain).count(), mirror.methods_within(domain).count()),
        (3, methods)
    );
    assert_eq!(
        mirror.packages_of(woven).map(|it| it.path.as_str()).collect::<Vec<_>>(),
        ["woven::domain"]
    );
    assert_eq!(mirror.packages_of(domain).count(), 0);
    assert!(domain.is_within(woven) && !woven.is_within(domain));
}

#[test]
fn a_test_is_attributed_on_its_thread_and_on_others_if_it_runs_alone() {
    let _alone = alone();
    let scene = Scene::new(&[1]);
    let spying = crate::install(TestCoverage::default());
    scene.never();
    a_test(&scene);
    drop(spying);
    assert_eq!(tests("Layout::twice"), ["woven::domain::a_test"]);
    // The harness calls this thread as the test that it runs.
    let own = "coverage::a_test_is_attributed_on_its_thread_and_on_others_if_it_runs_alone";
    assert!(
        tests("Scene::never").iter().all(|test| test.ends_with(own)),
        "{:?}",
        tests("Scene::never")
    );
}

#[test]
fn threads_work_for_the_test_that_runs_alone_and_for_none_of_several() {
    // Tests of this program run at once.
    if !is_apart("coverage::threads_work_for_the_test_that_runs_alone_and_for_none_of_several") {
        return;
    }
    let spying = crate::install(TestCoverage::default());
    let on_a_thread = |run: &(dyn Fn() + Sync)| {
        std::thread::scope(|scope| scope.spawn(run).join().expect("it ends"))
    };
    on_a_thread(&|| {
        let scene = Scene { nodes: vec![1] };
        a_long_test(&|| {
            on_a_thread(&|| {
                a_test(&Scene { nodes: vec![2] });
                scene.area();
            });
            on_a_thread(&|| _ = scene.never());
        });
        on_a_thread(&|| _ = scene.name());
    });
    // What macros make of tests is known by its thread: the harness calls this one as the test that
    // it runs.
    let scene = Scene::new(&[1]);
    on_a_thread(&|| _ = scene.count());
    on_a_thread(&|| a_long_test(&|| on_a_thread(&|| _ = scene.factorial(0))));
    drop(spying);
    assert_eq!(tests("Layout::twice"), ["woven::domain::a_test"]);
    assert_eq!(tests("Scene::area"), ["woven::domain::a_long_test"], "that which ended is over");
    assert_eq!(tests("Scene::never"), ["woven::domain::a_long_test"]);
    assert!(tests("Scene::name").is_empty(), "none runs");
    let own =
        ["woven::coverage::threads_work_for_the_test_that_runs_alone_and_for_none_of_several"];
    assert_eq!(
        (tests("Scene::new").as_slice(), tests("Scene::count").as_slice()),
        (&own.map(str::to_owned)[..], &own.map(str::to_owned)[..])
    );
    assert!(tests("Scene::factorial").is_empty(), "two run");
}

#[test]
fn methods_that_always_return_the_same_are_distinguished() {
    let _alone = alone();
    let spying = crate::install(TestCoverage::default());
    let mut scene = Scene::new(&[1, 2]);
    for _ in 0..2 {
        scene.name();
        scene.area();
        scene.count();
        scene.closure()();
        scene.opaque()();
        assert_eq!(scene.first(true), Ok(7));
    }
    Scene::new(&[]).area();
    scene.push(3).push(4);
    scene.count();
    let (_, mirror) = spying.uninstall();
    let verdict = |path: &str| of(&mirror, path).data.returns.verdict(of(&mirror, path).facts);
    assert_eq!(verdict("Scene::name"), Some("constant"), "by its hash, as it is borrowed");
    assert_eq!(verdict("Scene::area"), Some("constant"), "for each receiver, by comparison");
    assert_eq!(verdict("Scene::count"), Some("varies"));
    assert_eq!(verdict("Scene::push"), Some("self"));
    assert_eq!(verdict("Scene::first"), Some("constant"));
    assert_eq!(verdict("Scene::closure"), Some("not-comparable"));
    assert_eq!(verdict("Scene::fails"), Some("unit"));
    assert_eq!(verdict("Scene::new"), None, "nobody saw what it returns");
}

#[test]
fn async_calls_are_one_however_often_they_are_polled() {
    let _alone = alone();
    let spying = crate::install(TestCoverage::default());
    let scene = Scene::new(&[1, 2]);
    for _ in 0..2 {
        assert_eq!(block_on(stays(scene.waits(3))), 2);
    }
    drop(scene.waits(1));
    let (profile, mirror) = spying.uninstall();
    let waits = of(&mirror, "Scene::waits");
    assert_eq!((executions(&profile, "Scene::waits"), waits.data.calls.get()), (2, 6));
    assert_eq!(waits.data.returns.verdict(waits.facts), Some("constant"));
}

#[test]
fn a_profiler_that_panics_changes_no_result() {
    struct Fails;
    impl method_profilers::MethodProfiler for Fails {
        const NAME: &'static str = "fails";
        type Package = ();
        type Type = ();
        type Method = method_profilers::Count;
        type Around = ();

        fn before(&self, spy: &MethodSpy<Self>, _: &method_profilers::Call<'_>) {
            spy.data.add(1);
            Scene::new(&[]);
            panic!("in a profiler");
        }
    }
    let _alone = alone();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let spying = crate::install(Fails);
    let scene = Scene::new(&[4]);
    assert_eq!(scene.measure(), 4);
    let caught = std::panic::catch_unwind(|| Scene::new(&[]).fails());
    std::panic::set_hook(hook);
    assert!(caught.is_err());
    let (_, mirror) = spying.uninstall();
    let ran: u64 = mirror.methods().iter().map(|method| method.data.get()).sum();
    assert_eq!(ran, 4, "what a profiler calls is not spied on");
}
