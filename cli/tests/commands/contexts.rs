//! The tree of calling contexts: as text, as JSON and as stacks.

use metaspy_core::method_profilers::Contexts;
use metaspy_core::{Profiler, Recording, Subject};
use serde_json::Value;

use crate::market::{PACK, SELL, call};
use crate::schemas::assert_changes_are_noticed;
use crate::{ended, fixture, text};

/// Boxes within boxes.
fn pack(boxes: u32) {
    if boxes > 0 {
        call(&PACK, Subject::NONE, || pack(boxes - 1));
    }
}

#[test]
fn a_recording_has_a_tree_of_calling_contexts_that_reports_and_exports_print() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("contexts.spy");
    let recording =
        Recording::file(&path).budget(4 << 20).collector(false).start().expect("a small recording");
    let profiler = Profiler::new("tree")
        .method_profiler(Contexts::default())
        .install()
        .expect("there is room");
    pack(1);
    for _ in 0..4 {
        call(&SELL, Subject::NONE, || pack(3));
    }
    drop(profiler);
    recording.close();
    let path = text(&path);

    let print = |arguments: &[&str]| {
        let (code, out, error) = ended(&[&["report", path, "--contexts"], arguments].concat());
        assert_eq!((code, error.as_str()), (0, ""), "{arguments:?}");
        out
    };
    let tree = "calls   share  context\n\
        \x20   4  94.1 %  market::Stall::sell\n\
        \x20   4  70.6 %    market::Box::pack\n\
        \x20   4  47.1 %      market::Box::pack\n\
        \x20   4  23.5 %        market::Box::pack\n\
        \x20   1   5.9 %  market::Box::pack\n";
    assert_eq!(print(&[]), tree);
    let folded = "calls  recursive   share  context\n\
        \x20   4          0  94.1 %  market::Stall::sell\n\
        \x20  12          8  70.6 %    market::Box::pack\n\
        \x20   1          0   5.9 %  market::Box::pack\n";
    assert_eq!(print(&["--folded"]), folded);
    let outer = print(&["--depth", "1", "--threshold", "10"]);
    assert!(outer.contains("Stall::sell\n4 more contexts: "), "{outer}");

    let json: Value = serde_json::from_str(&print(&["--json"])).expect("it is JSON");
    assert_changes_are_noticed(&["metaspy", "report", "--contexts", "--json"], &json);
    assert_eq!((&json["calls"], &json["cut"], &json["lost"]), (&17.into(), &0.into(), &0.into()));
    let contexts = json["contexts"].as_array().expect("there is a list");
    assert_eq!(
        (contexts.len(), &contexts[2]["parent"], &contexts[2]["calls"]),
        (5, &1.into(), &4.into())
    );

    let (code, stacks, _) = ended(&["export", path, "--to", "contexts"]);
    let mut stacks: Vec<&str> = stacks.lines().collect();
    stacks.sort_unstable();
    let expected = [
        "market::Box::pack 1",
        "market::Stall::sell 4",
        "market::Stall::sell;market::Box::pack 4",
        "market::Stall::sell;market::Box::pack;market::Box::pack 4",
        "market::Stall::sell;market::Box::pack;market::Box::pack;market::Box::pack 4",
    ];
    assert_eq!((code, stacks), (0, expected.to_vec()));
}

#[test]
fn a_recording_without_contexts_is_answered_with_what_to_do() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("without_contexts.spy");
    drop(fixture::begin(Recording::file(&path), 1));
    let (code, _, error) = ended(&["report", text(&path), "--contexts"]);
    assert!(code == 2 && error.contains("METASPY_PROFILE=contexts"), "{error}");
    let (code, _, error) = ended(&["report", text(&path), "--folded"]);
    assert!(code == 2 && error.contains("--contexts"), "{error}");
}
