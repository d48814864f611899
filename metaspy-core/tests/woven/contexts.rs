//! `Contexts`: the tree of calling contexts.

use std::thread;

use metaspy_core::method_profilers::{Calls, Contexts};
use metaspy_core::store::{ProfileTable, RowKey};
use metaspy_core::{Profiler, Store};

use crate::domain::{Layout, Scene, block_on};
use crate::{alone, executions, number, table};

/// The contexts below one, by path: name and calls, callees indented.
fn tree() -> String {
    let (store, table) = table("contexts", "tree");
    let mut text = String::new();
    write(&store, &table, 0, 0, &mut text);
    text
}

fn write(store: &Store, table: &ProfileTable, around: u64, depth: usize, text: &mut String) {
    let mut below: Vec<(&str, u64, u64, u64)> = Vec::new();
    for row in &table.rows {
        let RowKey::Context(site, above) = row.key else { panic!("{row:?} is a context") };
        if above == around && site.0 != 0 {
            let value = |column| number(&table.value(row.key, column));
            let path = store.site_path(site);
            let name = path.split_once("::domain::").map_or(path, |(_, name)| name);
            below.push((name, value("calls"), value("cut"), value("context")));
        }
    }
    below.sort_unstable();
    for (name, calls, cut, id) in below {
        let cut = if cut > 0 { format!(" cut {cut}") } else { String::new() };
        text.push_str(&format!("{}{name} {calls}{cut}\n", "  ".repeat(depth)));
        write(store, table, id, depth + 1, text);
    }
}

#[test]
fn a_method_has_a_context_for_each_path_of_calls() {
    let _alone = alone();
    let spying = crate::install(Contexts::default());
    let scene = Scene::new(&[1]);
    for _ in 0..3 {
        scene.twice();
    }
    scene.measure();
    scene.factorial(2);
    let (profile, _) = spying.uninstall();
    let expected = "Layout::twice 3\n  Scene::Layout::measure 3\n\
        Scene::Layout::measure 1\n\
        Scene::factorial 1\n  Scene::factorial 1\n    Scene::factorial 1\n\
        Scene::new 1\n";
    assert_eq!(tree(), expected);
    let measured = executions(&profile, "woven::domain::Scene::Layout::measure");
    assert_eq!(measured, 4, "the tally counts what contexts count");
}

#[test]
fn contexts_of_threads_with_the_same_path_are_one() {
    let _alone = alone();
    let spying = crate::install(Contexts::default());
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let scene = Scene::new(&[1]);
                for _ in 0..1_000 {
                    scene.twice();
                }
            });
        }
    });
    drop(spying);
    assert_eq!(tree(), "Layout::twice 4000\n  Scene::Layout::measure 4000\nScene::new 4\n");
}

#[test]
fn async_calls_are_below_the_call_that_awaits_them_and_their_callees_below_them() {
    let _alone = alone();
    let spying = crate::install(Contexts::default());
    let scene = Scene::new(&[1]);
    block_on(scene.waits(2));
    drop(spying);
    assert_eq!(tree(), "Scene::new 1\nScene::waits 1\n  Scene::Layout::measure 2\n");
}

#[test]
fn beside_other_profilers_the_tree_is_the_same_and_has_times() {
    let _alone = alone();
    let profiler = Profiler::new("both")
        .method_profiler(Contexts::default())
        .method_profiler(Calls::default());
    let spying = profiler.install().expect("both are installed");
    let scene = Scene::new(&[1]);
    scene.twice();
    block_on(scene.waits(2));
    drop(spying);
    let expected = "Layout::twice 1\n  Scene::Layout::measure 1\nScene::new 1\nScene::waits 1\n  Scene::Layout::measure 2\n";
    assert_eq!(tree(), expected);
    let (_, table) = table("contexts", "tree");
    for row in &table.rows {
        let value = |column| number(&table.value(row.key, column));
        assert!(value("self") <= value("total") && value("total") > 0, "{row:?}");
    }
}

#[test]
fn many_calls_by_two_callers_in_turns_are_counted_exactly_and_again_after_an_installation() {
    let _alone = alone();
    let scene = Scene::new(&[1]);
    for round in 1..=2 {
        let profiler = Profiler::new("both")
            .method_profiler(Contexts::default())
            .method_profiler(Calls::default());
        let spying = profiler.install().expect("both are installed");
        for _ in 0..500 * round {
            scene.twice();
            scene.measure();
        }
        drop(spying);
        let (once, text) = (500 * round, tree());
        assert_eq!(
            text,
            format!(
                "Layout::twice {once}\n  Scene::Layout::measure {once}\nScene::Layout::measure {once}\n"
            )
        );
        let (store, callers) = table("calls", "callers");
        let calls =
            |row: &metaspy_core::store::ProfileRow| number(&callers.value(row.key, "calls"));
        let is_measured = |path: &str| path.ends_with("Layout::measure");
        let rows = callers.rows.iter().filter(|row| is_measured(store.site_path(row.key.site())));
        assert_eq!(rows.map(calls).collect::<Vec<_>>(), [once, once], "by `twice`, and by nobody");
    }
}

#[test]
fn calls_that_are_nested_too_deep_are_cut_and_counted() {
    let _alone = alone();
    let spying = crate::install(Contexts::default());
    // Address sanitizers make frames large.
    let deep =
        std::thread::Builder::new().stack_size(64 << 20).spawn(|| Scene::new(&[1]).is_even(3_000));
    assert!(deep.expect("there is memory").join().expect("it has room"));
    drop(spying);
    let (_, table) = table("contexts", "tree");
    let sum =
        |column| table.rows.iter().map(|row| number(&table.value(row.key, column))).sum::<u64>();
    assert_eq!((sum("calls"), sum("cut")), (1 + 1_024, 3_001 - 1_024));
}

#[test]
fn a_panic_leaves_the_contexts_that_it_unwinds() {
    let _alone = alone();
    let spying = crate::install(Contexts::default());
    let scene = Scene::new(&[1]);
    let failed = std::panic::catch_unwind(|| Scene::new(&[]).fails());
    assert!(failed.is_err(), "it panics on purpose");
    scene.measure();
    let (profile, _) = spying.uninstall();
    assert_eq!(tree(), "Scene::Layout::measure 1\nScene::fails 1\nScene::new 2\n");
    let counts = profile.counts().by_site();
    let fails = counts.at("woven::domain::Scene::fails").expect("it ran");
    assert_eq!((fails.measure.count, fails.measure.panicked), (1, 1));
}

#[test]
fn a_second_tree_is_refused() {
    let _alone = alone();
    let _spying = crate::install(Contexts::default());
    let second = Profiler::new("second").method_profiler(Contexts::default()).install();
    assert_eq!(
        second.expect_err("it is refused").to_string(),
        "a profiler of calling contexts is installed; uninstall it first"
    );
}
